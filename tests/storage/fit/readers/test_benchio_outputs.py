# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""benchio's outputs of each generation, with the figures that are printed in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.storage.results import Data, Test, read_results, read_tests

DATA = Path(__file__).parent / "data"
GIB, MIB = 1 << 30, 1 << 20


def outputs_in(name: str, ranks_per_node: int = 0) -> tuple[Test, ...]:
    return read_tests([DATA / name], ranks_per_node).tests


def test_five_methods_in_three_directories() -> None:
    tests = outputs_in("benchio-methods.txt")
    assert len(tests) == 15
    assert [(one.work.backend, one.work.layout, one.work.mode) for one in tests[::3]] == [  # type: ignore[union-attr]
        ("posix", "shared", "serial"),
        ("posix", "per-process", "independent"),
        ("posix", "per-node", "independent"),
        ("mpiio", "shared", "collective"),
        ("hdf5", "shared", "collective"),
    ]
    assert [one.striping for one in tests[:3]] == ["unstriped", "striped", "fullstriped"]
    assert (tests[9].nodes, tests[9].ranks) == (1, 4)
    assert tests[9].timed[0].rate == pytest.approx(7.7050557711001472e-02 * GIB)
    assert tests[9].timed[0].amount == MIB
    assert tests[9].work.shape == (32, 32, 32)  # type: ignore[union-attr]


def test_a_library_that_failed() -> None:
    good, bad = outputs_in("benchio-failed.txt")
    assert good.timed[0].rate == pytest.approx(0.13641526427353146 * GIB)
    assert bad.timed == ()
    assert "stand-in: NetCDF is not built" in bad.failed
    found = read_results([DATA / "benchio-failed.txt"])
    assert len(found.measured) == 1
    assert any("netcdf.dat is left out" in one for one in found.notes)


def test_a_global_size_that_was_truncated() -> None:
    (first, _) = outputs_in("benchio-global.txt")
    assert first.work.shape == (32, 65, 65)  # type: ignore[union-attr]
    assert first.timed[0].amount == 2 * 32 * 65 * 65 * 8


def test_netcdf_and_adios2_on_two_nodes() -> None:
    tests = outputs_in("benchio-libraries-as-documented.txt")
    assert [one.work.backend for one in tests] == ["netcdf4", "netcdf4", "adios2", "adios2"]  # type: ignore[union-attr]
    assert {(one.nodes, one.ranks) for one in tests} == {(2, 8)}
    found = read_results([DATA / "benchio-libraries-as-documented.txt"])
    assert len(found.measured) == 2
    assert any("no model of ADIOS2" in one for one in found.notes)


def test_repeats_of_2018() -> None:
    tests = outputs_in("benchio-2018-fpp-as-documented.txt", 4)
    assert [one.work.layout for one in tests] == ["per-process"] * 3  # type: ignore[union-attr]
    assert [round(one.rate / MIB, 2) for one in tests[0].timed] == [1454.55, 1333.33, 1221.37]
    assert [one.repeat for one in tests[0].timed] == [1, 2, 3]


def test_the_one_that_reads() -> None:
    (test,) = outputs_in("benchio-reads-as-documented.txt", 4)
    write, read = test.timed
    assert (write.operation, read.operation) == ("write", "read")
    assert write.amount == 3 * 1024 * MIB  # three repeats are timed as one
    assert write.rate == pytest.approx(957.01 * MIB)
    assert read.rate == pytest.approx(2007.84 * MIB)


def test_tables_by_nodes() -> None:
    with pytest.raises(UsageError, match="--ranks-per-node"):
        outputs_in("benchio-hdf5-lockmode2-as-documented.csv")
    one, two, three = outputs_in("benchio-hdf5-lockmode2-as-documented.csv", 128)
    assert (one.nodes, one.ranks, two.nodes) == (1, 128, 2)
    assert dict(one.settings) == {
        "mpiio.cray_cb_write_lock_mode": 2, "mpiio.cray_cb_nodes_multiplier": 1,
    }  # fmt: skip
    assert three.settings["mpiio.cray_cb_nodes_multiplier"] == 2
    assert [rate / GIB for rate in one.rates("write")] == [1.25, 1.5, 1.375]
    adios = outputs_in("benchio-adios2-as-documented.csv", 128)
    assert [test.settings["adios2.NumAggregators"] for test in adios] == [2, 8]
    assert isinstance(adios[0].work, Data)


def test_a_table_of_something_else(tmp_path: Path) -> None:
    file = tmp_path / "lammps_disk.csv"
    file.write_text(
        "Mode = serial\nNodes, performance (timesteps/second) repeat measurements\n1, 2,\n"
    )
    with pytest.raises(UsageError, match="timesteps/second is not a bandwidth"):
        read_tests([file], 128)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("GiB/s", "MiB/s", "the file is damaged"),
        ("0.75044570489189266", "7.5044570489189266", "the file is damaged"),
        ("1.3013099996896926E-003", "NaN", "impossible"),
        ("1.3013099996896926E-003", "-1.3013099996896926E-003", "impossible"),
        ("0.75044570489189266", "Infinity", "impossible"),
    ],
)
def test_a_damaged_figure_is_left_out_and_named(tmp_path: Path, old, new, says) -> None:
    text = (DATA / "benchio-methods.txt").read_text()
    assert old in text
    file = tmp_path / "out"
    file.write_text(text.replace(old, new, 1))
    found = read_tests([file])
    assert found.tests[0].failed
    assert says in " ".join(found.notes)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Array size is   (          32", "Array size is   (          64", "check that the file"),
        ("Running on            4", "Running on            0", "processes = '0'"),
        ("Running on            1  node", "Running on            9  node", "9 nodes"),
    ],
)
def test_sizes_that_contradict_are_one_line(tmp_path: Path, old, new, says) -> None:
    text = (DATA / "benchio-methods.txt").read_text()
    assert old in text
    file = tmp_path / "out"
    file.write_text(text.replace(old, new))
    with pytest.raises(UsageError) as caught:
        read_tests([file])
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
