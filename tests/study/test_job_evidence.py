# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tells of the runs of a job script beside the library."""

from __future__ import annotations

import json
import shutil
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest

from stripewise.core import Measurement, ProgramFacts, RunStatus
from stripewise.evidence.readers import read_evidence
from stripewise.run.launch import Outcome
from stripewise.settings import load_policy
from stripewise.study.plan import StudyOptions
from stripewise.study.plan._options import JobOptions
from stripewise.study.runs import _job_evidence
from stripewise.study.runs._job_evidence import JobEvidence, darshan_directory
from stripewise.study.runs._local_tools import search_space
from stripewise.study.runs._looking import look, measure_first_run
from stripewise.study.workspace import InputSnapshot, OutputSet, RunLocation
from support.cray_output import cray_output

JOB = 4373053
WORKED_IN = "/scratch2/scratchdirs/glock/tokioabc-s.4478544"
"""Of the program in the log."""


@pytest.fixture(scope="module")
def real() -> Path:
    package = Path(pytest.importorskip("darshan").__file__).parent
    return package / "examples/example_logs/example.darshan"


class FakeWorkspace:
    """Knows the outputs of one run."""

    snapshot = InputSnapshot(Path("/nowhere"), Path("/nowhere"), {})

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def outputs(self, run_id: str) -> OutputSet:
        return OutputSet.of(self.directory)


class Run:
    """A run in a job that has ended, without containers."""

    def __init__(self, directory: Path, real: Path) -> None:
        self.real, self.logs = real, directory / "logs"
        self.profile = read_evidence(real).profile
        self.begin = self.profile.start - 3
        self.elapsed = self.profile.elapsed_seconds + 5
        self.place = RunLocation(
            directory / "run", directory / "record", command=("srun", "./prog")
        )
        for folder in (self.place.directory, self.place.record_directory, self.logs):
            folder.mkdir()
        self.record("result.json", job_id=JOB, directory=WORKED_IN)
        self.evidence = JobEvidence(FakeWorkspace(self.place.directory), self.logs)

    def record(self, name: str, **data: object) -> None:
        (self.place.record_directory / name).write_text(json.dumps(data))

    def log(self, *, job: int = JOB, program: str = "u_prog", after: float = 0.0) -> Path:
        at = time.localtime(self.profile.start + after)
        second = at.tm_hour * 3600 + at.tm_min * 60 + at.tm_sec
        day = self.logs / f"{at.tm_year}/{at.tm_mon}/{at.tm_mday}"
        day.mkdir(parents=True, exist_ok=True)
        name = f"{program}_id{job}-7_{at.tm_mon}-{at.tm_mday}-{second}-123_1.darshan"
        return Path(shutil.copy(self.real, day / name))

    def look(self, **given: object) -> Measurement:
        outcome = Outcome(RunStatus.OK, 0, self.elapsed, self.begin)
        return look("run", self.place, replace(outcome, **given), self.evidence)


@pytest.fixture
def run(tmp_path, real, monkeypatch) -> Run:
    monkeypatch.setattr(_job_evidence, "_WAIT_SECONDS", 0.0)
    return Run(tmp_path, real)


# ---- Darshan --------------------------------------------------------------------------------


def test_a_run_that_the_library_did_not_see_is_read_from_its_log(run) -> None:
    run.log()
    seen = run.look()
    assert (seen.status, seen.message) == (RunStatus.OK, "")
    assert seen.io_seconds == run.profile.io_seconds > 0
    assert seen.write_bytes == run.profile.write_bytes > 0
    assert seen.files[0].path == "vpicio/vpicio.hdf5"
    assert seen.files[0].write_bytes > 0
    assert 0 < seen.files[0].io_seconds <= seen.io_seconds
    assert seen.files[0].writers == 0  # a shared file's ranks are one record


def test_without_a_log_a_run_stays_unseen(run) -> None:
    run.log(job=JOB + 1)
    assert run.look().status is RunStatus.UNSEEN
    run.evidence = replace(run.evidence, darshan=None)
    assert run.look().status is RunStatus.UNSEEN


def test_a_log_of_another_run_in_the_same_allocation_does_not_count(run) -> None:
    run.log()
    run.begin += 10
    assert run.look().status is RunStatus.UNSEEN
    run.begin -= 20 + run.elapsed
    assert run.look().status is RunStatus.UNSEEN


def test_short_runs_one_after_the_other_are_told_apart(run, monkeypatch) -> None:
    """A start with a fraction is taken as it is; one without may be up to a second later."""
    run.log()
    run.begin, known = run.profile.start + 0.5, read_evidence(run.real)
    assert run.look().ok
    precise = replace(known, profile=replace(run.profile, start=run.profile.start + 0.25))
    monkeypatch.setattr(_job_evidence, "read_evidence", lambda path: precise)
    assert run.look().status is RunStatus.UNSEEN
    run.begin -= 0.5
    assert run.look().ok


def test_programs_that_the_script_starts_one_after_the_other_add_up(run) -> None:
    run.log()
    run.log(after=1)
    assert run.look().write_bytes == 2 * run.profile.write_bytes


def test_a_failed_run_stays_one(run) -> None:
    run.log()
    seen = run.look(status=RunStatus.FAILED, exit_code=3, message="exit code 3")
    assert (seen.status, seen.message, seen.io_seconds) == (RunStatus.FAILED, "exit code 3", 0.0)


def test_a_damaged_log_tells_nothing(run) -> None:
    run.log().write_bytes(b"nothing")
    assert run.look().status is RunStatus.UNSEEN


def test_what_the_program_does_is_read_from_the_log_too(run) -> None:
    run.log()
    seen = measure_first_run(run.evidence.workspace, run.place, run.look(), job=run.evidence)
    assert not seen.problem
    assert not seen.facts.in_reach
    assert seen.facts.n_ranks == run.profile.n_ranks
    assert seen.facts.mpi_family == "other"
    assert seen.facts.io_seconds == run.profile.io_seconds
    assert any("Darshan's logs in" in text for text in seen.warnings)


def test_the_directory_of_the_logs(tmp_path) -> None:
    program = tmp_path / "darshan-config"
    program.write_text(f'#!/bin/sh\n[ "$1" = --log-path ] && echo "{tmp_path}/told"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    search = {"PATH": f"{tmp_path}:/bin"}
    assert darshan_directory(search) is None  # it is told, and not there
    for name in ("told", "named"):
        (tmp_path / name).mkdir()
    assert darshan_directory(search) == tmp_path / "told"
    named = {**search, "DARSHAN_LOGPATH": str(tmp_path / "named")}
    assert darshan_directory(named) == tmp_path / "named"
    assert darshan_directory({"DARSHAN_LOGPATH": "relative"}) is None
    program.write_text("#!/bin/sh\nexit 3\n")
    assert darshan_directory(search) is None


# ---- MPI's own output -----------------------------------------------------------------------


def test_tables_in_the_output_belong_to_the_run(run) -> None:
    run.log()
    name = run.look().files[0].path
    (run.place.record_directory / "stderr").write_text(cray_output(name, system_writes=64))
    seen = run.look()
    assert seen.mpiio[0].write.system_calls == 64
    assert seen.files[0].writers == 4
    assert seen.files[0].reported["striping_unit"] == "4194304"
    first = measure_first_run(run.evidence.workspace, run.place, seen, job=run.evidence)
    assert first.facts.uses_cray_mpich
    assert first.facts.mpi_family == "mpich"


def test_a_log_beside_the_files_is_read_where_mpi_was_asked_to_print(run) -> None:
    run.log()
    (run.place.directory / "solve.log").write_text(cray_output("a"))
    assert run.look().mpiio == ()
    run.record("request.json", mpi_prints=True)
    assert [file.path for file in run.look().mpiio] == ["a"]


# ---- what may be tried ----------------------------------------------------------------------

FACTS = ProgramFacts(
    n_ranks=8,
    n_hosts=2,
    mpi_family="mpich",
    mpi_version="CRAY MPICH version 8",
    mpiio_implementation="romio",
    collective_bytes=1 << 30,
    write_bytes=1 << 30,
    uses_hdf5=True,
    uses_parallel_hdf5=True,
)


@pytest.fixture
def searched(tmp_path):
    """Return the tunables that a study tries."""
    job = JobOptions("run.sh", bb_nodes=(1, 2))
    options = StudyOptions(("x",), tmp_path, origin=tmp_path, job=job)

    def names(own_hints: bool = False, **facts: object) -> set[str]:
        known = replace(FACTS, **facts)
        space = search_space(options, load_policy(), known, own_hints=own_hints)
        return {one.tunable.name for one in space.dimensions}

    return names


def test_out_of_reach_only_what_acts_from_outside_is_tried(searched) -> None:
    inside = searched()
    assert {"job.burst_buffer_nodes", "mpiio.cb_nodes"} <= inside
    assert any(name.startswith("hdf5.") for name in inside)
    outside = searched(in_reach=False)
    assert {"job.burst_buffer_nodes", "mpiio.cb_nodes"} <= outside
    assert {name.partition(".")[0] for name in outside} == {"job", "mpiio"}
    assert searched(in_reach=False, own_hints=True) == {"job.burst_buffer_nodes"}
    assert searched(in_reach=False, mpi_version="MPICH 4.0.2") == {"job.burst_buffer_nodes"}
