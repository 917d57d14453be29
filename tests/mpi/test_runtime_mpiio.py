# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPI-IO under the library: what is counted, and hints whose effect is observed."""

from __future__ import annotations

from pathlib import Path

import pytest
from runtime_harness import FAMILIES, Ran, flat, plugins, program, require, run, run_plain

from stripewise.evidence.facts import program_facts
from stripewise.evidence.trace import FileFlag, IoLayer, Op, SettingsKind

pytestmark = pytest.mark.mpi

MPIIO = IoLayer.MPIIO
BLOCK, BLOCKS = 4096, 64
SHARE = BLOCK * BLOCKS
READS = (Op.READ, Op.READ_COLLECTIVE)
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
# One aggregator per rank, and 64 KiB per round: seen as system writes of that size.
AGGREGATORS = (
    "mpiio cb_nodes 2",
    "mpiio cb_config_list *:*",
    "mpiio cb_buffer_size 65536",
    "mpiio romio_cb_write enable",
)


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    require(f"mpicc.{request.param}", f"mpiexec.{request.param}", "cmake")
    return str(request.param)


def strided(
    family: str, where: Path, mode: str, *hints: str, n_ranks: int = 2, **more: object
) -> Ran:
    """Run the interleaving program; it checks what it reads back."""
    (where / "out.dat").unlink(missing_ok=True)
    command = [program(family, "strided.c"), "out.dat", mode, str(BLOCK), str(BLOCKS), *hints]
    ran = run(family, n_ranks, command, where, **more)  # type: ignore[arg-type]
    assert ran.code == 0, ran.err
    assert ran.err == ""
    return ran


def romio(family: str) -> str:
    """Choice of ROMIO where there is a choice."""
    return "romio321" if family == "openmpi" else ""


@pytest.mark.extended(keep=4)
@pytest.mark.parametrize(
    ("mode", "write"),
    [
        ("independent", Op.WRITE),
        ("collective", Op.WRITE_COLLECTIVE),
        ("nonblocking", Op.WRITE),
        ("split", Op.WRITE_COLLECTIVE),
        ("at", Op.WRITE),
        ("ordered", Op.WRITE_COLLECTIVE),
    ],
)
@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_calls_and_bytes_are_counted(
    family: str, mode: str, write: Op, n_ranks: int, tmp_path: Path
) -> None:
    ran = strided(family, tmp_path, mode, n_ranks=n_ranks)
    assert ran.ranks() == list(range(n_ranks))
    records = ran.records(MPIIO, "out.dat")
    assert len(records) == n_ranks
    for record in records:
        calls = BLOCKS if mode == "at" else 1
        assert record["count"][write] == calls
        assert record["bytes"][write] == SHARE
        assert record["count"][[Op.OPEN, Op.CLOSE, Op.SYNC]].tolist() == [1, 1, 1]
        assert record["outermost_write_bytes"] == SHARE
        assert record["outermost_read_bytes"] == SHARE
    assert ran.bytes(MPIIO, "out.dat", *READS) == n_ranks * SHARE
    assert ran.bytes(IoLayer.POSIX, "out.dat", Op.WRITE) >= n_ranks * SHARE
    assert ran.profile.write_bytes == n_ranks * SHARE
    assert ran.profile.io_seconds > 0


def test_large_counts_are_counted(tmp_path: Path) -> None:
    require("mpicc.mpich", "mpiexec.mpich", "cmake")
    ran = strided("mpich", tmp_path, "large")
    assert ran.bytes(MPIIO, "out.dat", Op.WRITE_COLLECTIVE) == 2 * SHARE


@pytest.mark.extended(keep=1)
def test_an_interleaved_view_is_flagged(family: str, tmp_path: Path) -> None:
    for mode, expected in (("collective", True), ("at", False)):
        ran = strided(family, tmp_path, mode)
        flags = [bool(r["flags"] & FileFlag.INTERLEAVED) for r in ran.records(MPIIO, "out.dat")]
        assert flags == [expected, expected]


@pytest.mark.extended(keep=1)
def test_explicit_offsets_give_the_alignment(family: str, tmp_path: Path) -> None:
    ran = strided(family, tmp_path, "at")
    aligned = sum(int(r["write_alignment"][12:].sum()) for r in ran.records(MPIIO, "out.dat"))
    assert aligned == 2 * BLOCKS


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("io", ["romio", "ompio"])
def test_the_file_is_the_same_as_without(family: str, io: str, tmp_path: Path) -> None:
    if io == "ompio" and family == "mpich":
        pytest.skip("MPICH has no OMPIO")
    component = romio(family) if io == "romio" else ""
    command = [program(family, "strided.c"), "out.dat", "collective", str(BLOCK), str(BLOCKS)]
    plain = run_plain(family, 2, command, tmp_path, component)
    assert plain.returncode == 0
    expected = (tmp_path / "out.dat").read_bytes()
    for configuration in ("", flat("file * 0", *AGGREGATORS)):
        strided(family, tmp_path, "collective", io=component, configuration=configuration)
        assert (tmp_path / "out.dat").read_bytes() == expected


@pytest.mark.extended(keep=1)
def test_hints_change_who_writes_and_how_much(family: str, tmp_path: Path) -> None:
    before = strided(family, tmp_path, "collective", io=romio(family))
    assert before.writers("out.dat") == {0}
    assert before.largest_write("out.dat") == 2 * SHARE
    after = strided(
        family,
        tmp_path,
        "collective",
        io=romio(family),
        configuration=flat("file *.dat 0", *AGGREGATORS),
    )
    assert after.writers("out.dat") == {0, 1}
    assert after.largest_write("out.dat") == 65536
    assert after.applied()["cb_nodes"] == {"2"}
    reported = after.settings(SettingsKind.REPORTED, MPIIO)
    assert "65536" in reported["cb_buffer_size"]


def test_aggregators_of_four_ranks(tmp_path: Path) -> None:
    require("mpicc.openmpi", "mpiexec.openmpi", "cmake")
    lines = (*AGGREGATORS[1:], "mpiio cb_nodes 3")
    ran = strided(
        "openmpi",
        tmp_path,
        "collective",
        n_ranks=4,
        io="romio321",
        configuration=flat("file *.dat 0", *lines),
    )
    assert len(ran.writers("out.dat")) == 3


def test_striping_unit_aligns_the_file_domains(tmp_path: Path) -> None:
    require("mpicc.mpich", "mpiexec.mpich", "cmake")
    lines = (*AGGREGATORS[:2], "mpiio romio_cb_write enable", "mpiio striping_unit 393216")
    ran = strided("mpich", tmp_path, "collective", configuration=flat("file *.dat 0", *lines))
    sizes = {int(r["write_max"]) for r in ran.records(IoLayer.POSIX, "out.dat")}
    assert sizes == {393216, 2 * SHARE - 393216}


def test_ompio_collects_as_told(tmp_path: Path) -> None:
    require("mpicc.openmpi", "mpiexec.openmpi", "cmake")
    ran = strided("openmpi", tmp_path, "collective", configuration=flat("file * 0", *AGGREGATORS))
    assert ran.applied()["cb_nodes"] == {"2"}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("override", "rounds"), [("0", 131072), ("1", 65536)])
def test_the_programs_own_hints(family: str, override: str, rounds: int, tmp_path: Path) -> None:
    ran = strided(
        family,
        tmp_path,
        "collective",
        "cb_buffer_size=131072",
        io=romio(family),
        configuration=flat(f"file *.dat {override}", *AGGREGATORS),
    )
    assert ran.settings(SettingsKind.PROGRAM, MPIIO) == {"cb_buffer_size": {"131072"}}
    assert ran.largest_write("out.dat") == rounds
    assert ("cb_buffer_size" in ran.applied()) == (override == "1")
    assert ran.writers("out.dat") == {0, 1}


@pytest.mark.extended(keep=1)
def test_hints_that_are_too_long_are_left_out(family: str, tmp_path: Path) -> None:
    lines = (f"mpiio {'k' * 300} 1", f"mpiio cb_nodes {'9' * 2000}", "mpiio striping_unit 65536")
    ran = strided(family, tmp_path, "collective", configuration=flat("file * 1", *lines))
    assert ran.applied() == {"striping_unit": {"65536"}}


@pytest.mark.extended(keep=1)
def test_other_files_are_left_alone(family: str, tmp_path: Path) -> None:
    ran = strided(family, tmp_path, "collective", configuration=flat("file *.nc 1", *AGGREGATORS))
    assert ran.applied() == {}


@pytest.mark.extended(keep=1)
def test_mpich_mpiio_hints(family: str, tmp_path: Path) -> None:
    hints = "*.nc:cb_nodes=1,*.dat:cb_nodes=2:cb_config_list=#*:*#,out*:cb_buffer_size=65536"
    ran = strided(
        family,
        tmp_path,
        "collective",
        "cb_buffer_size=131072",
        io=romio(family),
        extra={"MPICH_MPIIO_HINTS": hints},
    )
    assert ran.applied()["cb_config_list"] == {"*:*"}
    assert ran.largest_write("out.dat") == 65536


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("binding", ["WITH_F08", "WITH_MODULE", "WITH_INCLUDE"])
def test_fortran(family: str, binding: str, tmp_path: Path) -> None:
    require(f"mpif90.{family}")
    writer = program(family, "writer.F90", f"-D{binding}")
    ran = run(
        family,
        2,
        [writer, "out.dat"],
        tmp_path,
        io=romio(family),
        configuration=flat("file *.dat 0", *AGGREGATORS),
    )
    assert (ran.code, ran.err) == (0, "")
    assert ran.ranks() == [0, 1]
    assert ran.bytes(MPIIO, "out.dat", Op.WRITE_COLLECTIVE) == 2 * 65536 * 4
    assert ran.applied()["cb_nodes"] == {"2"}
    assert ran.largest_write("out.dat") == 65536


@pytest.mark.extended(keep=1)
def test_no_plugin_in_memory_after_the_run(family: str, tmp_path: Path) -> None:
    """The plug-in is found where the search path says, in any position."""
    ran = strided(
        family,
        tmp_path,
        "collective",
        extra={"STRIPEWISE_PLUGIN_PATH": f"/nowhere::{plugins(family)}"},
    )
    assert ran.ranks() == [0, 1]


@pytest.mark.extended(keep=1)
def test_large_counts_that_only_the_library_has(family: str, tmp_path: Path) -> None:
    """A weak reference finds our `_c` functions also where the MPI has none."""
    ran = run(family, 2, [program(family, "weak_counts.c"), "out.dat"], tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "out.dat").read_bytes() == (b"a" * 4096 + b"b" * 4096) * 4
    assert ran.bytes(MPIIO, "out.dat", *WRITES) == 2 * 4 * 4096


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("io", "expected"), [("", "ompio"), ("romio321", "romio"), ("^ompio", "romio")]
)
def test_ranks_tell_which_mpiio_their_own_environment_chose(
    tmp_path: Path, io: str, expected: str
) -> None:
    """A job's script may export it, which whoever reads the profile has not in its environment."""
    require("mpicc.openmpi", "mpiexec.openmpi", "cmake")
    ran = strided("openmpi", tmp_path, "collective", io=io)
    assert program_facts(ran.profile, environment={}).mpiio_implementation == expected
