# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ADIOS2 under the library: counters, engine parameters whose effect is in the directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from io_libraries import library_program
from runtime_harness import Ran, flat, run, run_plain
from stacks import ADIOS2_2_10, ADIOS2_2_12

from stripewise.core import Configuration, FileRule
from stripewise.evidence.facts import cannot_act, observed_files, program_facts, written_files
from stripewise.evidence.trace import IoLayer, Op, SettingsKind

pytestmark = [pytest.mark.mpi, pytest.mark.roots]

ADIOS2 = IoLayer.ADIOS2
ARRAY = 8192 * 8


@pytest.fixture(params=[ADIOS2_2_10, ADIOS2_2_12])
def stack(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def write(stack: str, where: Path, *options: str, n_ranks: int = 2, **more: object) -> Ran:
    """Run the C program; it checks what it reads back."""
    command = [library_program("adwriter.c", stack), "out.bp", *options]
    ran = run(stack, n_ranks, command, where, **more)  # type: ignore[arg-type]
    assert (ran.code, ran.err) == (0, "")
    return ran


def data_files(directory: Path) -> int:
    """Into how many files ADIOS2 wrote."""
    return len(list(directory.glob("data.*")))


def test_calls_bytes_and_time_are_counted(stack: str, tmp_path: Path) -> None:
    ran = write(stack, tmp_path)
    assert ran.bytes(ADIOS2, "out.bp", Op.WRITE) == 3 * 2 * ARRAY
    assert ran.bytes(ADIOS2, "out.bp", Op.READ) == 3 * 2 * ARRAY
    assert ran.profile.write_bytes == 2 * 3 * 2 * ARRAY
    for record in ran.records(ADIOS2, "out.bp"):
        assert record["count"][[Op.OPEN, Op.CLOSE]].tolist() == [2, 2]
        assert record["count"][Op.META] == 2 * 2 * 3  # begin and end of the steps
        assert record["outermost_seconds"] == pytest.approx(record["seconds"].sum())


def test_the_directory_counts_as_one_file(stack: str, tmp_path: Path) -> None:
    profile = write(stack, tmp_path).profile
    facts = program_facts(profile)
    assert (facts.uses_adios2, facts.posix_bytes) == (True, 0)
    assert facts.write_calls - 2 * 2 * 3 in (0, 1, 2)  # BP5 leaves its profile in /tmp
    files = {file.path: file for file in observed_files(profile, tmp_path)}
    assert set(files) == {"out.bp", "other-out.bp"}
    assert files["out.bp"].interface == "adios2"
    assert files["out.bp"].system_write_bytes >= files["out.bp"].write_bytes == 3 * 2 * ARRAY
    found = written_files(profile, tmp_path)
    assert Path("out.bp") not in found.written
    assert Path("out.bp/data.0") in found.written


def test_bytes_that_a_thread_writes_count_once(stack: str, tmp_path: Path) -> None:
    text = flat("file out.bp 0", "adios2 AsyncWrite Guided")
    ran = write(stack, tmp_path, configuration=text)
    assert ran.profile.write_bytes == 2 * 3 * 2 * ARRAY


@pytest.mark.parametrize("aggregators", [1, 2])
def test_a_parameter_acts_on_the_file_it_is_for(
    stack: str, aggregators: int, tmp_path: Path
) -> None:
    other = 3 - aggregators
    text = flat(
        "file * 0",
        f"adios2 NumAggregators {other}",
        "adios2 AggregationType TwoLevelShm",
        "file out.bp 0",
        f"adios2 NumAggregators {aggregators}",
    )
    ran = write(stack, tmp_path, configuration=text)
    assert data_files(tmp_path / "out.bp") == aggregators
    assert data_files(tmp_path / "other-out.bp") == other
    files = {file.path: file for file in observed_files(ran.profile, tmp_path)}
    assert files["out.bp"].reported == {"NumSubFiles": str(aggregators)}
    right = Configuration((FileRule("out.bp", adios2={"NumAggregators": aggregators}),))
    assert cannot_act(right, list(files.values()), program_facts(ran.profile)) == []


def test_the_engine_is_changed_for_one_file_only(stack: str, tmp_path: Path) -> None:
    ran = write(stack, tmp_path, configuration=flat("file out.bp 0", "adios2 engine BP4"))
    assert not (tmp_path / "out.bp" / "mmd.0").exists()  # only BP5 has it
    assert (tmp_path / "other-out.bp" / "mmd.0").exists()
    assert "engine File" in ran.out
    assert ran.applied(ADIOS2) == {"engine": {"BP4"}}


@pytest.mark.parametrize(("override", "n_files"), [(0, 1), (1, 2)])
def test_the_programs_own_parameter(
    stack: str, override: int, n_files: int, tmp_path: Path
) -> None:
    text = flat(f"file out.bp {override}", "adios2 NumAggregators 2")
    own = ("parameter", "numaggregators", "1", "parameter", "AggregationType", "TwoLevelShm")
    ran = write(stack, tmp_path, *own, configuration=text)
    assert data_files(tmp_path / "out.bp") == n_files
    assert data_files(tmp_path / "other-out.bp") == 1
    assert "numaggregators=1" in ran.out
    assert ran.settings(SettingsKind.PROGRAM, ADIOS2)["numaggregators"] == {"1"}


def test_parameters_are_read_only_where_one_is_set(stack: str, tmp_path: Path) -> None:
    text = flat("file other-out.bp 0", "adios2 NumAggregators 2")
    ran = write(stack, tmp_path, "parameter", "numaggregators", "1", configuration=text)
    own = [s for s in ran.profile.settings if s.layer == ADIOS2 and s.kind == SettingsKind.PROGRAM]
    assert {Path(ran.profile.paths[settings.path]).name for settings in own} == {"other-out.bp"}


@pytest.mark.parametrize(("override", "own"), [(0, True), (1, False)])
def test_the_programs_own_engine(stack: str, override: int, own: bool, tmp_path: Path) -> None:
    text = flat(f"file out.bp {override}", "adios2 engine BP5")
    ran = write(stack, tmp_path, "engine", "BP4", configuration=text)
    assert (tmp_path / "out.bp" / "mmd.0").exists() != own
    assert "engine BP4" in ran.out


def test_an_engine_that_would_change_the_format_is_refused(stack: str, tmp_path: Path) -> None:
    ran = write(stack, tmp_path, configuration=flat("file out.bp 0", "adios2 engine HDF5"))
    assert (tmp_path / "out.bp" / "mmd.0").exists()
    assert any("only BP3, BP4 and BP5" in note for note in ran.profile.notes)


def test_parameters_are_for_the_file_engines(stack: str, tmp_path: Path) -> None:
    text = flat("file * 0", "adios2 NumAggregators 1")
    command = [library_program("adwriter.c", stack), "out.bp", "engine", "null"]
    ran = run(stack, 1, command, tmp_path, configuration=text)  # it has nothing to read back
    assert ran.applied(ADIOS2) == {}
    assert any("uses another kind of engine" in note for note in ran.profile.notes)


def test_errors_are_the_programs_own(stack: str, tmp_path: Path) -> None:
    command = [library_program("adwriter.c", stack), "out.bp"]
    plain = run_plain(stack, 1, command, tmp_path)
    ran = run(stack, 1, command, tmp_path)
    assert (ran.code, ran.out) == (0, plain.stdout)
    assert "missing 1" in ran.out


def test_cxx_and_exceptions(stack: str, tmp_path: Path) -> None:
    text = flat("file * 0", "adios2 NumAggregators 1", "adios2 BurstBufferVerbose 0")
    command = [library_program("adwriter.cpp", stack), "out.bp"]
    ran = run(stack, 2, command, tmp_path, configuration=text)
    assert (ran.code, ran.out, ran.err) == (0, "caught 2 parameters 0 right\n", "")
    assert ran.bytes(ADIOS2, "out.bp", Op.WRITE) == 2 * (4096 * 4 + 4)
    assert ran.bytes(ADIOS2, "out.bp", Op.READ) == 2 * 2 * 4096 * 4
    for record in ran.records(ADIOS2, "out.bp"):
        assert record["count"][[Op.OPEN, Op.CLOSE, Op.META]].tolist() == [2, 2, 5]
    for rank in range(2):  # calls after an exception are outermost again
        (after,) = ran.records(IoLayer.POSIX, f"after-{rank}.txt")
        assert after["outermost_write_bytes"] == len("after\n")
