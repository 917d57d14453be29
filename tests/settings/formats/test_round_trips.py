# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is written can be read; what a format cannot hold it says."""

from __future__ import annotations

import pytest
from configuration_generators import (
    configurations,
    fitting_configurations,
    hints,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.core import Configuration, FileRule, JobSettings
from stripewise.settings.formats import canonical, effective, get
from stripewise.settings.tunables import check_configuration

PATHS = ["out.h5", "xout.h5", "dir/out.h5", "a1/b2.dat", "x2", "*", "other", "é.nc"]
DATASETS = ["/x", "/g/x", "/Data2", "/*"]


def acting(configuration: Configuration, path: str) -> object:
    found = effective(configuration, path)
    return (
        dict(found.layers["mpiio"]),
        {
            k: v
            for k, v in found.layers["hdf5"].items()
            if k not in ("chunk", "fill_time", "alloc_time", "transfer")
        },
        {d: found.dataset(d) for d in DATASETS},
    )


@given(configurations)
def test_generated_configurations_are_valid(configuration: Configuration):
    assert check_configuration(configuration) == []


@pytest.mark.extended
@given(configurations)
def test_toml_is_lossless(configuration: Configuration):
    written = get("toml").write(configuration)
    assert written.lost == ()
    assert get("toml").read(written.text).configuration == configuration


@given(configurations)
def test_flat_is_lossless_but_for_the_job(configuration: Configuration):
    written = get("flat").write(configuration)
    assert bool(written.lost) == (configuration.job != JobSettings())
    assert get("flat").read(written.text).configuration.files == configuration.files
    assert all(byte >= 0x20 or byte in b"\t\n" for byte in written.text.encode())


@pytest.mark.extended
@pytest.mark.parametrize("name", ["mpich-hints", "romio-hints", "h5tuner", "mca"])
@settings(max_examples=100)
@given(data=st.data())
def test_nothing_lost_means_that_the_same_acts(name: str, data: st.DataObject):
    configuration = data.draw(fitting_configurations(name) | configurations)
    written = get(name).write(configuration)
    if not written.text:
        return
    again = get(name).read(written.text).configuration
    if not written.lost:
        for path in PATHS:
            assert acting(again, path) == acting(configuration, path)
        assert again.job == configuration.job


@pytest.mark.extended
@pytest.mark.parametrize("name", ["mpich-hints", "romio-hints", "h5tuner", "mca"])
@given(configuration=configurations)
def test_what_was_read_is_written_without_loss(name: str, configuration: Configuration):
    text = get(name).write(configuration).text
    if text:
        first = get(name).read(text).configuration
        written = get(name).write(first)
        second = get(name).read(written.text).configuration
        assert all("only end so" in line for line in written.lost)
        for path in PATHS:
            assert acting(second, path) == acting(first, path)


@given(hints, st.sampled_from(["*", "*.h5", "a/b"]))
def test_hints_line(mpiio: dict[str, object], match: str):
    configuration = canonical(Configuration((FileRule(match, mpiio=mpiio, override=True),)))  # type: ignore[arg-type]
    written = get("mpich-hints").write(configuration)
    if not written.lost and mpiio:
        assert get("mpich-hints").read(written.text).configuration == configuration


@pytest.mark.extended
@given(configurations)
def test_mca_is_lossless_for_the_job(configuration: Configuration):
    only = Configuration(job=JobSettings(configuration.job.mca))
    written = get("mca").write(only)
    assert written.lost == ()
    if written.text:
        assert get("mca").read(written.text).configuration == only


def test_names_that_are_not_utf8():
    name = "caf\udce9.h5"
    configuration = Configuration((FileRule(name, mpiio={"cb_nodes": 2}, override=True),))
    flat = get("flat").write(configuration).text
    assert get("flat").read(flat).configuration == configuration
    for member in ("toml", "mpich-hints", "h5tuner"):
        assert get(member).write(configuration).lost


def test_losses_are_named():
    configuration = Configuration(
        (
            FileRule("*.h5", {"cb_nodes": 2}, {"alignment": (1, 4096)}),
            FileRule("*", {"odd": "a#b"}, override=True),
        ),
        JobSettings({"io": "ompio"}, {"X": "1"}),
    )
    lost = "\n".join(get("mpich-hints").write(configuration).lost)
    for word in ("HDF5 properties", "override", "odd", "io", "X"):
        assert word in lost
    lost = "\n".join(get("romio-hints").write(configuration).lost)
    assert "*.h5" in lost
    lost = "\n".join(get("h5tuner").write(configuration).lost)
    assert "FileName is one name" in lost
    assert "odd" in lost


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("name", ["mpich-hints", "romio-hints", "h5tuner", "mca"])
@given(data=st.data())
def test_what_fits_is_not_lost(name: str, data: st.DataObject):
    written = get(name).write(data.draw(fitting_configurations(name)))
    assert all("always wins" in line for line in written.lost)
