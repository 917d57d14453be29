# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A recording's failed runs, and what it may be gone on with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from stripewise.core import FailureCause, Measurement, RunStatus
from stripewise.core.errors import ProgramError, StudyError
from stripewise.study.training import (
    RecordingObserver,
    RecordingOptions,
    Surface,
    SurfaceRun,
    SurfaceWriter,
    record_surface,
)
from stripewise.study.training._recording import _carry_out, check_same
from support.surfaces import save_surface, synthetic_surface

VARY = {"mpiio.cb_nodes": (2, 4)}
ABOUT = {
    "mpi": "MPICH 4.0.2",
    "mpiio": "romio",
    "cpu": "Fast 1",
    "filesystem": "ext4",
    "synced": "yes",
    "timeout_seconds": "90",
}
SURFACE = replace(
    synthetic_surface(lambda settings: 1.0, VARY),
    provenance=ABOUT,
    plan={"repeats": 5, "seed": 0, "control_every": 20, "configurations": 3, "impossible": 0},
)
PLAN = [
    SurfaceRun({"mpiio.cb_nodes": 2}, 0.0, 0.0, round=1, sequence=number)
    for number in range(1, 31)
]


@dataclass
class Scripted:
    """Runs that end as a text says, `+` or `-`; `^` is a signal, `~` a failure of the host."""

    ends: str
    unchanged_ok: bool = True
    unchanged: int = 0

    def one(self, settings) -> Measurement:
        if not settings:
            self.unchanged += 1
            return self._ended(self.unchanged_ok)
        end, self.ends = self.ends[0], self.ends[1:]
        if end == "^":
            raise KeyboardInterrupt
        if end == "~":
            return replace(self._ended(False), cause=FailureCause.HOST)
        return self._ended(end == "+")

    def _ended(self, ok: bool) -> Measurement:
        status = RunStatus.OK if ok else RunStatus.FAILED
        return Measurement("run", status=status, message="" if ok else "exit code 1")


@dataclass
class Heard(RecordingObserver):
    runs: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def recorded(self, run) -> None:
        self.runs.append(run.sequence)

    def noted(self, text) -> None:
        self.notes.append(text)


def carried_out(path: Path, runs: Scripted) -> Heard:
    heard = Heard()
    with SurfaceWriter(path, replace(SURFACE, runs=())) as writer:
        _carry_out(PLAN[: len(runs.ends)], writer, runs, heard)
    return heard


def recorded(path: Path) -> str:
    runs = Surface.load(path).runs
    assert [run.sequence for run in runs] == list(range(1, len(runs) + 1))
    return "".join("+" if run.status is RunStatus.OK else "-" for run in runs)


@pytest.mark.parametrize("ends", ["+-+", "---------+", "++---------"])
def test_failed_runs_are_in_the_file_in_their_order(tmp_path, ends):
    heard = carried_out(tmp_path / "a", Scripted(ends))
    assert recorded(tmp_path / "a") == ends
    assert heard.runs == list(range(1, len(ends) + 1))


def test_an_interrupt_writes_what_was_held_back(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        carried_out(tmp_path / "a", Scripted("+--^+"))
    assert recorded(tmp_path / "a") == "+--"


def test_failures_that_say_nothing_of_the_settings_are_made_again(tmp_path):
    runs, heard = Scripted("+~~+~~~-"), Heard()
    with SurfaceWriter(tmp_path / "a", replace(SURFACE, runs=())) as writer:
        _carry_out(PLAN[:4], writer, runs, heard)
    assert [(r.sequence, r.status) for r in Surface.load(tmp_path / "a").runs] == [
        (1, RunStatus.OK), (2, RunStatus.OK), (4, RunStatus.FAILED),
    ]  # fmt: skip
    assert heard.notes == ["run 3 is not recorded: exit code 1"]


def test_a_command_that_works_no_more_leaves_no_failures(tmp_path):
    with pytest.raises(ProgramError, match=r"10 runs in a row failed \(exit code 1\), and so"):
        carried_out(tmp_path / "a", Scripted("++" + "-" * 12, unchanged_ok=False))
    assert recorded(tmp_path / "a") == "++"


def test_settings_that_fail_do_not_stop_a_recording(tmp_path):
    runs = Scripted("+" + "-" * 25 + "+")
    heard = carried_out(tmp_path / "a", runs)
    assert recorded(tmp_path / "a") == "+" + "-" * 25 + "+"
    assert runs.unchanged == len(heard.notes) == 2


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"mpi": "MPICH 4.2"}, "MPI: MPICH 4.0.2, now MPICH 4.2"),
        ({"mpiio": "ompio"}, "MPI-IO: romio, now ompio"),
        ({"hdf5": "1.14.5"}, "HDF5: none, now 1.14.5"),
        ({"cpu": "Slow 2"}, "the processor: Fast 1, now Slow 2"),
        ({"filesystem": "lustre"}, "the file system: ext4, now lustre"),
    ],
)
def test_other_circumstances_are_refused(now, said):
    with pytest.raises(StudyError, match=said):
        check_same(SURFACE, SURFACE.facts, {**ABOUT, **now}, "a.jsonl")


def test_other_ranks_are_refused():
    facts = replace(SURFACE.facts, n_ranks=SURFACE.facts.n_ranks + 1)
    with pytest.raises(StudyError, match="ranks: "):
        check_same(SURFACE, facts, ABOUT, "a.jsonl")


def test_what_may_differ():
    check_same(SURFACE, SURFACE.facts, {**ABOUT, "date": "today", "memory": "1 kB"}, "a.jsonl")
    check_same(replace(SURFACE, provenance={}), SURFACE.facts, ABOUT, "a.jsonl")


@pytest.mark.parametrize("given", [{"command": ("other",)}, {"vary": {"mpiio.cb_nodes": (8,)}}])
def test_another_recording_is_not_continued(tmp_path, given):
    path = tmp_path / "a.jsonl"
    save_surface(SURFACE, path)
    same = RecordingOptions(SURFACE.command, path, VARY, tmp_path, tmp_path)
    with pytest.raises(StudyError, match=r"another command .* or of other tunables"):
        record_surface(replace(same, **given))


def test_a_recording_stops_when_its_time_is_over(tmp_path):
    with SurfaceWriter(tmp_path / "a", replace(SURFACE, runs=())) as writer:
        _carry_out(PLAN[:3], writer, Scripted("+++"), Heard(), until=0.0)
    assert not recorded(tmp_path / "a")
