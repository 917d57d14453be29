# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the options of a campaign, orders its runs, and keeps their state in a journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from stripewise.bench._case import Case, CaseRun, RunFigure, case_of
from stripewise.bench.campaign import DirectoryStriping, Suite
from stripewise.core import Journal, JournalForm, Record
from stripewise.core.errors import StudyError
from stripewise.run.launch import Handle
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions

JOURNAL = "journal.jsonl"
FORM = JournalForm(
    "campaign",
    1,
    {
        "campaign": {"suite": dict, "options": dict, "about": dict},
        "resumed": {"note": str},
        "run-planned": {"run_id": str, "number": int, "key": str, "repeat": int},
        "run-submitted": {"run_id": str, "handle": dict},
        "run-finished": {"run_id": str, "run": dict},
        "run-dropped": {"run_id": str, "why": str},
        "about": {"about": dict},
        "end": {"because": str},
    },
)
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError)


@dataclass
class OpenRun:
    """Run that was planned and has not ended according to the journal."""

    run_id: str
    number: int
    key: str
    repeat: int
    handle: Handle | None = None


class CampaignLedger:
    """State of a campaign, which is appended to its journal.

    Attributes:
        first: First record with suite and options; None in a new journal.
        about: Facts about the system.
        runs: Runs that have ended, in order.
        open_runs: Runs that have not ended, by run_id.
        ended_because: Why the campaign has ended; empty if it has not.
        planned: Number of runs that were begun.
        active_seconds: Active time of all sessions of this campaign up to the last record.
    """

    def __init__(self, path: Path, records: Sequence[Record], journal: Journal | None) -> None:
        """Apply existing records.

        Args:
            path: Path of the journal, for messages.
            records: Records in the journal.
            journal: Journal to append to; None if it is only read.

        Raises:
            StudyError: A record contradicts the earlier ones.
        """
        self._path, self._journal = path, journal
        self.first: Record | None = None
        self.about: dict[str, Any] = {}
        self.runs: list[CaseRun] = []
        self.open_runs: dict[str, OpenRun] = {}
        self.ended_because = ""
        self.planned = 0
        self.active_seconds = 0.0
        self._last_at: float | None = None
        for line, record in enumerate(records, start=1):
            try:
                self._apply(record)
            except _DAMAGE as error:
                raise StudyError(
                    f"line {line} of the campaign's journal {path} ({record.get('kind')}) does "
                    f"not match the records before it ({error!r}); restore it from a copy, or "
                    "start over with --force"
                ) from error

    @classmethod
    def opened(cls, path: Path) -> CampaignLedger:
        """Open the journal of a campaign, or create one.

        Raises:
            StudyError: The journal is damaged.
            StorageError: The journal cannot be read or written.
        """
        journal = Journal(path, FORM)
        ledger = cls(path, journal.records, journal)
        journal.records.clear()
        return ledger

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()

    @property
    def note(self) -> str:
        """Repairs when it was opened; empty if there were none."""
        return self._journal.note if self._journal is not None else ""

    def append(self, kind: str, **data: Any) -> None:
        """Apply one record and flush it to disk.

        Raises:
            StorageError: The journal cannot be written.
        """
        assert self._journal is not None
        self._apply(self._journal.append(kind, **data))

    def begin(self, suite: Suite, options: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Record what is measured and how."""
        words = {
            "suite": {**suite.as_json(), "cases": [case.as_json() for case in suite.cases]},
            "options": dict(options),
            "about": dict(about),
        }
        self.append(FORM.what, version=FORM.version, **words)

    def plan(self, planned: PlannedRun, run_id: str) -> int:
        """Record that a run is about to be made; return its number in the campaign."""
        number = self.planned + 1
        key, repeat = planned.identity
        self.append("run-planned", run_id=run_id, number=number, key=key, repeat=repeat)
        return number

    def finish(self, run_id: str, run: CaseRun) -> None:
        """Record the result of a run."""
        self.append("run-finished", run_id=run_id, run=asdict(run))

    def done(self) -> set[tuple[str, int]]:
        """Return the identities of the runs that have been made."""
        return {(run.key, run.repeat) for run in self.runs}

    def _apply(self, record: Record) -> None:
        kind, at = record["kind"], float(record["at"])
        if self._last_at is not None and kind != "resumed":
            self.active_seconds += max(at - self._last_at, 0.0)
        self._last_at = at
        if kind == FORM.what:
            self.first, self.about = record, dict(record["about"])
        elif kind == "resumed":
            self.ended_because = ""
        elif kind == "run-planned":
            words = (record["run_id"], record["number"], record["key"], record["repeat"])
            self.open_runs[record["run_id"]] = OpenRun(*words)
            self.planned = max(self.planned, record["number"])
        elif kind == "run-submitted":
            self.open_runs[record["run_id"]].handle = Handle(**record["handle"])
        elif kind == "run-finished":
            del self.open_runs[record["run_id"]]
            self.runs.append(run_of(record["run"]))
        elif kind == "run-dropped":
            del self.open_runs[record["run_id"]]
        elif kind == "about":
            self.about |= record["about"]
        elif kind == "end":
            self.ended_because = record["because"]


# ---- plain data --------------------------------------------------------------------------------


def run_of(data: Mapping[str, Any]) -> CaseRun:
    """Return a run from plain data.

    Raises:
        TypeError: A key is missing or unknown.
    """
    samples = tuple(RunFigure(**one) for one in data["samples"])
    return CaseRun(**{**data, "samples": samples})


def suite_of(data: Mapping[str, Any]) -> Suite:
    """Return a suite from plain data.

    Raises:
        TypeError: A key is unknown.
        KeyError: A key is missing.
    """
    return Suite(
        name=data["name"],
        title=data["title"],
        about=data["about"],
        directories={name: DirectoryStriping(**one) for name, one in data["directories"].items()},
        cases=tuple(case_of(one) for one in data["cases"]),
        text=data["text"],
    )


# Order of a campaign's runs.


@dataclass(frozen=True)
class PlannedRun:
    """One planned run of a case.

    Attributes:
        case: Case to run.
        repeat: Number of the run, from 1.
    """

    case: Case
    repeat: int

    @property
    def identity(self) -> tuple[str, int]:
        """Identity of the run within the campaign."""
        return self.case.key, self.repeat


def plan_runs(cases: Sequence[Case], seed: int = 0) -> list[PlannedRun]:
    """Return all runs in rounds, each with every case that has another repeat.

    The repeats of a case are spread and the order of a round is random, so that changes of the
    storage affect all cases equally; the same seed gives the same order.
    """
    runs = []
    for repeat in range(1, max((case.repeats for case in cases), default=0) + 1):
        one = [PlannedRun(case, repeat) for case in cases if repeat <= case.repeats]
        Random(f"{seed}/{repeat}").shuffle(one)
        runs += one
    return runs


def left_of(plan: Iterable[PlannedRun], done: Iterable[tuple[str, int]]) -> list[PlannedRun]:
    """Return the runs that have not been made, in order."""
    made = set(done)
    return [run for run in plan if run.identity not in made]


# Options of a campaign.

LAUNCHERS = ("local", "slurm", "simulated")
TIMEOUT_SECONDS = 1800.0
SUFFIX = ".campaign"


@dataclass(frozen=True)
class CampaignOptions:
    """Options of a campaign.

    Attributes:
        suite: Suite with the selected cases.
        directory: Directory of the campaign: journal, records, pages.
        inside: Directory on the storage, in which the campaign creates its own.
        launcher: "local" (this host, or the allocation of this process), "slurm" (jobs are
            submitted), "simulated" (nothing is run, a model predicts the times).
        storage: Storage that is emulated or simulated; None for the real one.
        family: MPI: "mpich", "openmpi", "openmpi-5"; empty for that of mpiexec, or the first
            built.
        mpiexec: Command that starts the ranks; empty for that of the family, and on emulated
            Lustre for that of the MPICH with ROMIO's Lustre driver, if it is built.
        launcher_options: Options for mpiexec or srun, before the program.
        job_options: Options for sbatch.
        wall_seconds: Time limit of an allocation; None for the partition's default.
        seed: Seed of the order of the runs, and of noise.
        timeout_seconds: Time limit of one run.
        budget_seconds / budget_bytes / budget_node_seconds: Limits of the whole campaign; None for
            no limit.
        rank_bytes: Bytes of each rank of a case; 0 for those of the suite, or less in slow motion.
        nodes_named: Whether the user named numbers of nodes: too many are refused, not left out.
        resume: Whether to resume the existing campaign.
        force: Whether to set aside the existing campaign.
    """

    suite: Suite
    directory: Path
    inside: Path
    launcher: str = "local"
    storage: EmulationOptions | None = None
    family: str = ""
    mpiexec: str = ""
    launcher_options: tuple[str, ...] = ()
    job_options: tuple[str, ...] = ()
    wall_seconds: float | None = None
    seed: int = 0
    timeout_seconds: float = TIMEOUT_SECONDS
    budget_seconds: float | None = None
    budget_bytes: float | None = None
    budget_node_seconds: float | None = None
    rank_bytes: int = 0
    nodes_named: bool = False
    resume: bool = False
    force: bool = False

    def storage_of(self, case: Case) -> EmulatedStorage | None:
        """Return the storage of a case, whose nodes have as many ranks as in the case.

        Raises:
            UsageError: A node does not have that many.
        """
        if self.storage is None:
            return None
        return EmulatedStorage.find(replace(self.storage, ranks_per_node=case.ranks_per_node))
