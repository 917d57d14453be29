# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every knob keeps the contract."""

from __future__ import annotations

import dataclasses
from itertools import product

import pytest

from stripewise.errors import ConfigurationError, UsageError
from stripewise.model import ProgramFacts
from stripewise.tunables import Knob, Tunable, all_tunables, get, hint_text, reference_markdown

BUSY = ProgramFacts(
    n_ranks=8,
    mpi_family="openmpi",
    mpiio_implementation="ompio",
    mpiio_alternatives=("ompio", "romio321"),
    uses_hdf5=True,
    uses_parallel_hdf5=True,
    collective_bytes=1 << 30,
    independent_bytes=1 << 30,
    noncontiguous=True,
    read_bytes=1 << 30,
    write_bytes=1 << 30,
    matched_calls=True,
)
FACTS = (
    BUSY,
    ProgramFacts(),
    dataclasses.replace(BUSY, n_ranks=1),
    dataclasses.replace(BUSY, write_bytes=1 << 22, read_bytes=0),
    dataclasses.replace(BUSY, mpi_family="mpich", mpiio_implementation="romio", n_hosts=2),
    dataclasses.replace(BUSY, uses_parallel_hdf5=False, filesystem="lustre"),
    dataclasses.replace(
        BUSY,
        mpi_version="CRAY MPICH version 8.1",
        mpiio_implementation="romio",
        mpiio_alternatives=(),
        mpi_family="mpich",
        filesystem="lustre",
    ),
)
ids = [knob.name for knob in all_tunables()]


def test_names_are_unique_and_begin_with_the_layer():
    assert len(set(ids)) == len(ids)
    for knob in all_tunables():
        assert knob.name == f"{knob.layer.value}.{knob.key}"


def test_order_is_that_of_likely_effect():
    orders = [knob.effect_order for knob in all_tunables()]
    assert orders == sorted(orders)


@pytest.mark.parametrize("knob", all_tunables(), ids=ids)
def test_knob_is_documented(knob: Tunable):
    assert knob.summary
    assert knob.default
    assert knob.stacks
    assert knob.source.startswith(("measured", "documented", "assumed"))
    assert f"`{knob.key}`" in reference_markdown()


@pytest.mark.parametrize(("knob", "facts"), list(product(all_tunables(), FACTS)))
def test_rungs_are_values_of_the_knob(knob: Tunable, facts: ProgramFacts):
    rungs = knob.ladder(facts)
    assert len(set(rungs)) == len(rungs)
    for value in rungs:
        assert knob.check(value) == value
        assert knob.parse(hint_text(value)) == value
        for other, implied in knob.implies(value, facts).items():
            assert get(other).check(implied) == implied


@pytest.mark.parametrize("knob", all_tunables(), ids=ids)
def test_wrong_types_are_refused(knob: Tunable):
    wrong = {"int": True, "bool": 1, "enum": "nonsense", "ints": "1", "text": 5}[knob.kind]
    with pytest.raises(ConfigurationError, match="give"):
        knob.check(wrong)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mpiio.cb_buffer_size", "abc"),  # crashes the program under MPICH if let through
        ("mpiio.cb_buffer_size", ""),
        ("mpiio.cb_buffer_size", "1" * 400),
        ("mpiio.cb_nodes", "0"),
        ("mpiio.cb_nodes", "4.5"),
        ("mpiio.cb_nodes", "٤"),
        ("mpiio.romio_cb_write", "ENABLE"),
        ("mpiio.romio_no_indep_rw", "maybe"),
        ("mpiio.cb_config_list", "*:x"),
        ("hdf5.alignment", "1"),
        ("hdf5.alignment", "1,2,3"),
        ("hdf5.alignment", "1,,2"),
        ("hdf5.chunk", "0,4"),
    ],
)
def test_parse_refuses(name: str, text: str):
    with pytest.raises(ConfigurationError, match=name):
        get(name).parse(text)


def test_parse_accepts_blanks_in_lists():
    assert get("hdf5.alignment").parse(" 1048576, 8388608 ") == (1048576, 8388608)


def test_unknown_name_suggests():
    with pytest.raises(UsageError, match=r"mpiio\.cb_nodes"):
        get("cb_node")
    assert get("cb_nodes").name == "mpiio.cb_nodes"


def test_knob_is_a_tunable():
    assert all(isinstance(knob, Knob) for knob in all_tunables())
