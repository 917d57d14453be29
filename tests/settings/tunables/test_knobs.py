# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every tunable keeps the contract."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from stripewise.core import ProgramFacts
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.settings.tunables import Tunable, all_tunables, get
from support.tunable_suite import TunableSuite, busy_facts

BUSY = busy_facts()
FACTS = (
    BUSY,
    ProgramFacts(),
    dataclasses.replace(BUSY, n_ranks=1),
    dataclasses.replace(BUSY, write_bytes=1 << 22, read_bytes=0),
    dataclasses.replace(BUSY, mpi_family="mpich", mpiio_implementation="romio", n_hosts=2),
    dataclasses.replace(BUSY, uses_parallel_hdf5=False, filesystem="lustre"),
    dataclasses.replace(BUSY, uses_netcdf4=True, write_calls=3, n_hosts=3),
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
    orders = [knob.search.effect_order for knob in all_tunables()]
    assert orders == sorted(orders)


class AllFacts(TunableSuite):
    def facts(self) -> tuple[ProgramFacts, ...]:
        return FACTS


@pytest.mark.parametrize("knob", all_tunables(), ids=ids)
def test_conformance(knob: Tunable):
    suite = AllFacts()
    suite.tunable = knob
    for name in dir(AllFacts):
        if name.startswith("test_"):
            getattr(suite, name)()


def test_every_knob_is_in_the_reference():
    text = (Path(__file__).parents[3] / "docs/reference/tunables.md").read_text()
    assert all(f"| `{knob.key}` |" in text for knob in all_tunables())


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
        ("adios2.GrowthFactor", "nan"),
        ("adios2.GrowthFactor", "0.5"),
        ("adios2.GrowthFactor", "1e3"),
        ("adios2.AggregationType", "twolevelshm"),
        ("pnetcdf.nc_burst_buf", "true"),
        ("job.ranks", "0"),
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
