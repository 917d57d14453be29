# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The state of a campaign: nothing but the records of its journal, applied one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stripewise.bench._case import case_of
from stripewise.bench._plan import PlannedRun
from stripewise.bench._sample import CaseRun, Sample
from stripewise.bench._suite import Place, Suite
from stripewise.errors import StudyError
from stripewise.launch import Handle
from stripewise.owned import Journal, JournalForm, Record

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
    """A run that was planned and has not ended as far as the journal knows."""

    run_id: str
    number: int
    key: str
    repeat: int
    handle: Handle | None = None


class Ledger:
    """Appends to the journal and keeps what it says.

    Attributes:
        first: The first record: suite and options; None in a new journal.
        about: What is known of the system.
        runs: Those that have ended, in order.
        open_runs: Those that have not, by run_id.
        ended_because: Why the campaign has ended; "": it has not.
        planned: Runs that were begun so far.
        active_seconds: Time that sessions of this campaign were at work, up to the last record.
    """

    def __init__(self, path: Path, records: Sequence[Record], journal: Journal | None) -> None:
        """Apply records.

        Args:
            path: Of the journal, for messages.
            records: That it holds.
            journal: To append to; None: it is only read.

        Raises:
            StudyError: A record does not fit those before it.
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
                    f"not fit what is before it ({error!r}); restore it from a copy, or begin "
                    "anew with --force"
                ) from error

    @classmethod
    def opened(cls, path: Path) -> Ledger:
        """Open the journal of a campaign, or make one.

        Raises:
            StudyError: It is damaged.
            StorageError: It cannot be read or written.
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
        """What was repaired when it was opened; "" if nothing."""
        return self._journal.note if self._journal is not None else ""

    def append(self, kind: str, **data: Any) -> None:
        """Write one record and apply it; it is on the disk when this returns.

        Raises:
            StorageError: The disk is full, read-only, or refuses.
        """
        assert self._journal is not None
        self._apply(self._journal.append(kind, **data))

    def begin(self, suite: Suite, options: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Record what is measured, and how."""
        words = {"suite": suite_to_json(suite), "options": dict(options), "about": dict(about)}
        self.append(FORM.what, version=FORM.version, **words)

    def plan(self, planned: PlannedRun, run_id: str) -> int:
        """Record that a run is about to be made; return its number in the campaign."""
        number = self.planned + 1
        key, repeat = planned.identity
        self.append("run-planned", run_id=run_id, number=number, key=key, repeat=repeat)
        return number

    def finish(self, run_id: str, run: CaseRun) -> None:
        """Record what a run gave."""
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
        TypeError: It lacks a key, or has another one.
    """
    samples = tuple(Sample(**one) for one in data["samples"])
    return CaseRun(**{**data, "samples": samples})


def suite_to_json(suite: Suite) -> dict[str, Any]:
    """Return a suite as plain data, with the cases that are wanted."""
    return {
        "name": suite.name,
        "title": suite.title,
        "about": suite.about,
        "directories": {name: asdict(place) for name, place in suite.directories.items()},
        "cases": [case.as_json() for case in suite.cases],
        "text": suite.text,
    }


def suite_of(data: Mapping[str, Any]) -> Suite:
    """Return a suite from plain data.

    Raises:
        TypeError: It has another key.
        KeyError: It lacks one.
    """
    return Suite(
        name=data["name"],
        title=data["title"],
        about=data["about"],
        directories={name: Place(**one) for name, one in data["directories"].items()},
        cases=tuple(case_of(one) for one in data["cases"]),
        text=data["text"],
    )
