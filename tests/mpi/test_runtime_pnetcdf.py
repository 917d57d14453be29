# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""PnetCDF and netCDF-4 under the library: counters, hints whose effect is in the file, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from io_libraries import FAMILY, library_program
from runtime_harness import Ran, flat, run, run_plain

from stripewise.core import Configuration, FileRule
from stripewise.evidence.facts import cannot_act, observed_files, program_facts
from stripewise.evidence.patterns import find_patterns
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import FileFlag, IoLayer, Op, SettingsKind, accesses

pytestmark = pytest.mark.mpi

PNETCDF = IoLayer.PNETCDF
VARIABLE = 64 * 128 * 8
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
READS = (Op.READ, Op.READ_COLLECTIVE)
ALIGNED = flat("file *.nc 0", "pnetcdf nc_var_align_size 65536")


def write(where: Path, *options: str, n_ranks: int = 2, **more: object) -> Ran:
    """Run the PnetCDF program; it checks what it reads back."""
    command = [library_program("pnwriter.c"), "out.nc", *options]
    ran = run(FAMILY, n_ranks, command, where, **more)  # type: ignore[arg-type]
    assert (ran.code, ran.err) == (0, "")
    return ran


def offsets(out: str) -> dict[str, int]:
    """Where the variables begin, as the program says."""
    return {name: int(at) for name, at in (line.split() for line in out.splitlines())}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_calls_bytes_and_time_are_counted(n_ranks: int, tmp_path: Path) -> None:
    ran = write(tmp_path, n_ranks=n_ranks)
    assert ran.bytes(PNETCDF, "out.nc", Op.WRITE) == VARIABLE
    assert ran.bytes(PNETCDF, "out.nc", Op.WRITE_COLLECTIVE) == VARIABLE
    assert ran.bytes(PNETCDF, "out.nc", *READS) == 2 * VARIABLE
    assert (ran.profile.write_bytes, ran.profile.read_bytes) == (2 * VARIABLE, 2 * VARIABLE)
    for record in ran.records(PNETCDF, "out.nc"):
        assert record["count"][[Op.OPEN, Op.CLOSE, Op.SYNC]].tolist() == [1, 1, 1]
        assert record["count"][Op.WRITE] == 64 // n_ranks
        assert record["outermost_seconds"] == pytest.approx(record["seconds"].sum())
    assert all(r["outermost_seconds"] == 0 for r in ran.records(IoLayer.MPIIO, "out.nc"))


def test_posted_calls_count_their_bytes_and_the_wait_their_time(tmp_path: Path) -> None:
    ran = write(tmp_path, "post", extra={"STRIPEWISE_CAPTURE": "all"})
    assert ran.bytes(PNETCDF, "out.nc", *WRITES) == 2 * VARIABLE
    trace = read_evidence(next(tmp_path.glob("containers-*"))).trace
    assert trace is not None
    names = np.array(trace.names)[trace.rows["name"]]
    for record in ran.records(PNETCDF, "out.nc"):
        rank = ran.profile.processes["rank"][record["process"]]  # processes come by pid
        of_rank = (trace.rows["rank"] == rank) & (trace.rows["layer"] == IoLayer.PNETCDF)
        (wait,) = trace.rows[of_rank & (names == "ncmpi_wait_all")]
        meta = trace.rows[of_rank & (trace.rows["op"] == Op.META) & (names != "ncmpi_wait_all")]
        assert record["seconds"][Op.WRITE_COLLECTIVE] > wait["busy_ns"] * 1e-9
        assert record["count"][list(WRITES)].tolist() == [0, 2]
        assert record["seconds"][Op.META] == pytest.approx(meta["busy_ns"].sum() * 1e-9)


@pytest.mark.extended(keep=2)
@pytest.mark.parametrize(
    ("how", "writes", "reads"),
    [
        ("all", (0, 8), (0, 0)),
        ("across", (0, 8), (0, 0)),
        ("wait", (8, 0), (0, 0)),
        ("single", (0, 8), (0, 0)),
        ("define", (0, 8), (0, 0)),
        ("cancel", (4, 4), (0, 0)),
        ("get", (0, 8), (0, 8)),
    ],
)
def test_posted_calls_are_collective_if_their_wait_is(
    how: str, writes: tuple[int, int], reads: tuple[int, int], tmp_path: Path
) -> None:
    command = [library_program("pnposted.c"), "out.nc", how]
    ran = run(FAMILY, 2, command, tmp_path, extra={"STRIPEWISE_CAPTURE": "all"})
    assert (ran.code, ran.err) == (0, "")
    row = 128 * 4
    for record in ran.records(PNETCDF, "out.nc"):
        assert tuple(record["count"][list(WRITES)]) == writes
        assert tuple(record["bytes"][list(WRITES)]) == (writes[0] * row, writes[1] * row)
        assert tuple(record["count"][list(READS)]) == reads
        assert (record["flags"] & FileFlag.POSTED) != 0
        idle = [op for op in (*WRITES, *READS) if not record["count"][op]]
        assert not record["seconds"][idle].any()
    evidence = read_evidence(next(tmp_path.glob("containers-*")))
    assert evidence.trace is not None
    (writing,) = [one for one in find_patterns(accesses(evidence.trace)) if one.writing]
    assert writing.collective == (how != "wait")


def test_a_datatype_that_moves_nothing_is_not_looked_at(tmp_path: Path) -> None:
    command = [library_program("pnwriter.c"), "plain.nc", "nothing"]
    plain = run_plain(FAMILY, 1, command, tmp_path)
    assert (plain.returncode, plain.stderr) == (0, "")
    ran = write(tmp_path, "nothing", n_ranks=1)
    assert ran.bytes(PNETCDF, "out.nc", *WRITES) == 2 * VARIABLE


def test_fortran_calls_the_same_functions(tmp_path: Path) -> None:
    ran = run(FAMILY, 2, [library_program("pnwriter.F90")], tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.bytes(PNETCDF, "fortran.nc", *WRITES) == 2 * 2 * 16 * 4
    assert ran.bytes(PNETCDF, "fortran.nc", *READS) == 2 * 16 * 4


def test_facts_and_what_was_observed(tmp_path: Path) -> None:
    profile = write(tmp_path).profile
    facts = program_facts(profile)
    assert (facts.uses_pnetcdf, facts.uses_hdf5, facts.uses_netcdf4) == (True, False, False)
    (file,) = observed_files(profile, tmp_path)
    assert (file.path, file.interface, file.requested) == ("out.nc", "pnetcdf", {})
    assert file.reported["nc_var_align_size"] == "4"


def test_a_hint_moves_the_variables(tmp_path: Path) -> None:
    plain = offsets(write(tmp_path).out)
    ran = write(tmp_path, configuration=ALIGNED)
    assert offsets(ran.out)["b"] % 65536 == 0 != plain["b"] % 65536
    assert ran.applied(PNETCDF) == {"nc_var_align_size": {"65536"}}
    wanted = Configuration((FileRule("*.nc", pnetcdf={"nc_var_align_size": 65536}),))
    files = observed_files(ran.profile, tmp_path)
    assert cannot_act(wanted, files, program_facts(ran.profile)) == []


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("override", "alignment"), [(0, 4096), (1, 65536)])
def test_the_programs_own_hint(override: int, alignment: int, tmp_path: Path) -> None:
    text = flat(f"file * {override}", "pnetcdf nc_var_align_size 65536")
    ran = write(tmp_path, "align", "4096", configuration=text)
    assert offsets(ran.out)["a"] == alignment
    program = ran.settings(SettingsKind.PROGRAM, PNETCDF)
    assert program == {"nc_var_align_size": {"4096"}}


def test_hints_of_mpi_io_act_below(tmp_path: Path) -> None:
    ran = write(tmp_path, configuration=flat("file * 0", "mpiio cb_nodes 1"))
    assert ran.applied() == {"cb_nodes": {"1"}}
    assert ran.applied(PNETCDF) == {}


def test_the_variable_that_pnetcdf_reads_wins_and_is_named(tmp_path: Path) -> None:
    hints = {"PNETCDF_HINTS": "romio_ds_write=disable;nc_var_align_size=8192"}
    ran = write(tmp_path, configuration=ALIGNED, extra=hints)
    assert offsets(ran.out)["a"] == 8192
    assert any("PNETCDF_HINTS sets it" in note for note in ran.profile.notes)


def test_the_file_is_the_same_as_without(tmp_path: Path) -> None:
    command = [library_program("pnwriter.c"), "out.nc"]
    assert run_plain(FAMILY, 2, command, tmp_path).returncode == 0
    expected = (tmp_path / "out.nc").read_bytes()
    write(tmp_path)
    assert (tmp_path / "out.nc").read_bytes() == expected


def test_errors_are_the_programs_own(tmp_path: Path) -> None:
    command = [library_program("pnwriter.c"), "out.nc", "errors"]
    plain = run_plain(FAMILY, 1, command, tmp_path)
    ran = run(FAMILY, 1, command, tmp_path, configuration=ALIGNED)
    assert (ran.code, ran.out, ran.err) == (0, plain.stdout, plain.stderr)
    assert "handler 1" in ran.out
    assert ran.bytes(PNETCDF, "out.nc", *WRITES) == 8  # of the value that was too large


def test_netcdf_4_is_seen_as_hdf5(tmp_path: Path) -> None:
    text = flat("file *.nc 0", "hdf5 alignment 0,4096")
    ran = run(FAMILY, 2, [library_program("ncwriter.c"), "four.nc"], tmp_path, configuration=text)
    assert (ran.code, ran.err) == (0, "")
    facts = program_facts(ran.profile)
    assert (facts.uses_netcdf4, facts.uses_parallel_hdf5, facts.uses_pnetcdf) == (
        True,
        True,
        False,
    )
    assert ran.applied(IoLayer.HDF5) == {"alignment": {"0,4096"}}
    assert ran.profile.write_bytes == 2 * 1024 * 8
