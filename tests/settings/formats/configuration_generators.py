# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis strategies for configurations."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from stripewise.core import Configuration, DatasetRule, FileRule, JobSettings, Value
from stripewise.settings.tunables import DATASET_KEYS, Layer, Tunable, all_tunables

unicode_text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
)
names = st.one_of(
    st.sampled_from(
        ["*", "*.h5", "out.h5", "a*/b?.dat", "x[1-3]", "[*]", "é.nc", "back\\\\slash"]
    ),
    unicode_text.filter(bool),
)


def values(knob: Tunable) -> st.SearchStrategy[Value]:
    domain: Any = knob.domain
    if knob.domain.kind == "bool":
        return st.booleans()
    if knob.domain.kind == "int":
        return st.integers(domain.minimum, min(domain.maximum, 2**63 - 1))
    if knob.domain.kind == "float":
        return st.floats(domain.low, domain.high).map(lambda number: round(number, 3))
    if knob.domain.kind == "enum":
        return st.sampled_from(knob.domain.choices)
    if knob.domain.kind == "ints":
        if knob.key == "chunk":
            return st.lists(st.integers(1, 100), min_size=1, max_size=4).map(tuple)
        element = domain.element
        low = st.integers(max(element.minimum, 1), min(element.maximum, 2**40))
        return st.tuples(low, low).map(lambda pair: tuple(sorted(pair)))
    return st.just(domain.example)


def settings(
    layer: Layer, keys: frozenset[str] | None = None
) -> st.SearchStrategy[dict[str, Value]]:
    knobs = [k for k in all_tunables() if k.layer is layer and (keys is None or k.key in keys)]
    # These have rules among one another; the tests of tunables are for those.
    knobs = [k for k in knobs if k.key not in ("romio_no_indep_rw", "cray_cb_write_lock_mode")]
    knobs = [k for k in knobs if k.key != "romio_cb_pfr"]
    optional = {knob.key: values(knob) for knob in knobs}
    return st.lists(st.sampled_from(sorted(optional)), max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({key: optional[key] for key in chosen})
    )


unknown_hints = st.dictionaries(
    st.from_regex(r"[a-z]{3,8}_zzz", fullmatch=True), unicode_text, max_size=2
)
hints = st.builds(lambda known, other: {**known, **other}, settings(Layer.MPIIO), unknown_hints)
dataset_rules = st.builds(DatasetRule, names, settings(Layer.HDF5, DATASET_KEYS))
file_rules = st.builds(
    FileRule,
    names,
    hints,
    settings(Layer.HDF5),
    st.booleans(),
    st.lists(dataset_rules, max_size=2).map(tuple),
    settings(Layer.PNETCDF),
    settings(Layer.ADIOS2),
)
environments = st.dictionaries(
    st.from_regex(r"[A-Z][A-Z0-9_]{0,6}", fullmatch=True), unicode_text, max_size=2
)
counts = st.none() | st.integers(1, 2**31 - 1)
jobs = st.builds(JobSettings, settings(Layer.MCA), environments, counts, counts, counts)
configurations = st.builds(Configuration, st.lists(file_rules, max_size=3).map(tuple), jobs)


def fitting_configurations(name: str) -> st.SearchStrategy[Configuration]:
    """Configurations that a format can hold."""
    known = settings(Layer.MPIIO)
    if name == "mca":
        return st.builds(lambda mca: Configuration(job=JobSettings(mca)), settings(Layer.MCA))
    if name == "romio-hints":
        rule = st.builds(FileRule, st.just("*"), known)
    elif name == "mpich-hints":
        matches = st.sampled_from(["*", "*.h5", "out.h5", "x[1-3]"])
        rule = st.builds(FileRule, matches, known, override=st.just(True))
    else:
        rule = _plain_xml_rules(known) | _dataset_xml_rules()
    return st.lists(rule, max_size=5).map(lambda rules: Configuration(tuple(rules)))


def _plain_xml_rules(known: st.SearchStrategy[dict[str, Value]]) -> st.SearchStrategy[FileRule]:
    of_files = frozenset(k.key for k in all_tunables() if k.layer is Layer.HDF5) - DATASET_KEYS
    matches = st.sampled_from(["*", "out.h5", "xout.h5", "[*]"])
    return st.builds(FileRule, matches, known, settings(Layer.HDF5, of_files), st.just(True))


def _dataset_xml_rules() -> st.SearchStrategy[FileRule]:
    few = settings(Layer.HDF5, DATASET_KEYS)
    datasets = st.builds(DatasetRule, st.sampled_from(["*", "x", "/x", "/g/x", "Data2"]), few)
    several = st.lists(datasets, max_size=2).map(tuple)
    matches = st.sampled_from(["*", "*out.h5", "*xout.h5"])
    return st.builds(FileRule, matches, hdf5=few, override=st.just(True), datasets=several)
