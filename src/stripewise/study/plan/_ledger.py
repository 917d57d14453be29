# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Restores the state of a study from its journal, so that it can continue after a kill.

The procedure of a study is written as if it ran without interruption.  Every run and every
value that cannot be recomputed passes through the ledger under a name that is the same after a
restart; what the journal already contains is returned instead of being made again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from stripewise.core import (
    Decision,
    Measurement,
    Record,
    RunEntry,
    RunRole,
    from_json,
    is_settled,
    to_json,
)
from stripewise.core.errors import StudyError
from stripewise.run.launch import Handle
from stripewise.study.plan._journal import DAMAGE, Journal, check_record, described, need
from stripewise.study.plan._slot import RunSlot

_CONCLUSIONS = ("search-stopped", "search-end", "final-noise", "verdict")
"""Names of values and decisions that are discarded when the budget is extended."""


@dataclass
class OpenRun:
    """Run that was planned and has not ended according to the journal."""

    run_id: str
    slot: str
    handle: Handle | None = None
    case: str = ""


class StudyLedger:
    """State of a study, which is appended to its journal.

    Attributes:
        is_replaying: Whether everything so far came from the journal.
        study: First record with command and options; None in a new journal.
        complete: Whether the study has ended.
        budgets: Limits that were extended since the study began.
        reopened: Number of times that the budget of the finished study was extended.
        trials_before: Number of trials that were judged before the last extension.
        active_seconds: Active time of all sessions of this study up to the last record.
        halves: State of the pairs of which only one run has ended.
    """

    def __init__(self, journal: Journal) -> None:
        """Replay the existing records.

        Raises:
            StudyError: A record contradicts the earlier ones.
        """
        self._journal = journal
        self.study: Record | None = None
        self.complete = False
        self.budgets: dict[str, Any] = {}
        self.reopened = 0
        self.trials_before = 0
        self.active_seconds = 0.0
        self.halves = Halves()
        self._planned: dict[str, Record] = {}
        self._open_runs: dict[str, OpenRun] = {}
        self._entries: list[RunEntry] = []
        self._by_slot: dict[str, Measurement] = {}
        self._values: dict[str, Any] = {}
        self._decisions: dict[str, Decision] = {}
        self._warnings: dict[str, str] = {}
        self._last_slots: dict[int, str] = {}
        self._last_entries: dict[int, RunEntry] = {}
        self._last_clock: float | None = None
        self._is_session = False  # whether the last record was written in this session
        self.is_replaying = bool(journal.records)
        for number, record in enumerate(journal.records, start=1):
            try:
                check_record(record)
                self._apply(record)
            except DAMAGE as error:
                raise StudyError(
                    f"line {number} of the study's journal ({record['kind']}) does not match the "
                    f"records before it ({described(error)}); restore it from a copy, or start "
                    "over with --force"
                ) from error
        journal.records.clear()
        self._last_slots.clear()

    @property
    def entries(self) -> tuple[RunEntry, ...]:
        """All finished runs, in order."""
        return tuple(self._entries)

    @property
    def open_runs(self) -> tuple[OpenRun, ...]:
        """Runs that have not ended according to the journal."""
        return tuple(self._open_runs.values())

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions, in order."""
        return tuple(self._decisions.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings, in order."""
        return tuple(self._warnings.values())

    def last_slot(self, place: int) -> str:
        """Return the run that ended last in a place in this session; empty after a restart."""
        return self._last_slots.get(place, "")

    def last_entry(self, place: int) -> RunEntry:
        """Return the run that ended last in a place; the last run of all if there was none."""
        return self._last_entries.get(place, self._entries[-1])

    def seconds_so_far(self) -> float:
        """Return `active_seconds` until now, not only until the last record."""
        begun = self._last_clock if self._is_session else None
        return self.active_seconds + (max(0.0, time.monotonic() - begun) if begun else 0.0)

    def begin(self, data: Record) -> None:
        """Record what is studied."""
        self._append("study", **data)

    def resumed(self) -> None:
        """Record a new session, and what was repaired at its start."""
        self._append("resumed", note=self._journal.note)

    def extend(self, budgets: Mapping[str, Any]) -> None:
        """Record an extended budget; conclusions drawn with the old one are open again."""
        self._append("extended", budgets=dict(budgets))

    def end(self, stopped_because: str) -> None:
        """Record that the study has ended."""
        if not self.complete:
            self._append("end", stopped_because=stopped_because)

    def measurement(self, slot: str) -> Measurement | None:
        """Return the finished run of a slot."""
        return self._by_slot.get(slot)

    def case_of(self, run_id: str) -> str:
        """Return the name of the case that a run belongs to."""
        return str(self._planned[run_id].get("case", ""))

    def role_of(self, run_id: str) -> RunRole:
        """Return the role of a run."""
        return RunRole(self._planned[run_id]["role"])

    def plan(self, slot: RunSlot, run_id: str, place: int = 0) -> None:
        """Record that a run is about to be submitted."""
        self.is_replaying = False
        where = {"place": place} if place else {}
        self._append(
            "run-planned",
            run_id=run_id,
            slot=slot.name,
            role=slot.role.value,
            trial=slot.trial_number,
            pair=slot.pair_number,
            settings=to_json(slot.settings),
            sync=slot.sync,
            case=slot.case,
            **where,
        )

    def open_run(self, slot: str) -> OpenRun | None:
        """Return the run of a slot that has not ended."""
        return next((run for run in self.open_runs if run.slot == slot), None)

    def submitted(self, run_id: str, handle: Handle) -> None:
        """Record the handle with which a run can be found again."""
        self._append("run-submitted", run_id=run_id, handle=to_json(handle))

    def finished(self, run_id: str, measurement: Measurement, *, late: bool = False) -> None:
        """Record the result of a run; `late` means that it had ended before this session."""
        self._append("run-finished", run_id=run_id, measurement=to_json(measurement), late=late)

    def dropped(self, run_id: str, reason: str) -> None:
        """Record that a run was cancelled, so that it counts as never run."""
        self._append("run-dropped", run_id=run_id, reason=reason)

    def remember(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a recorded JSON value; if there is none, compute and record it."""
        if name not in self._values:
            self._append("value", name=name, value=compute())
        return self._values[name]

    def recall(self, name: str) -> Any | None:
        """Return a recorded value; None if there is none."""
        return self._values.get(name)

    def recall_all(self, prefix: str) -> list[Any]:
        """Return the recorded values whose names begin with a prefix, in order."""
        return [v for name, v in self._values.items() if name.startswith(prefix)]

    def decide(self, name: str, text: str) -> bool:
        """Record a decision unless it is already recorded; return whether it is new."""
        if name in self._decisions:
            return False
        self._append("decision", name=name, text=text)
        return True

    def warn(self, text: str) -> bool:
        """Record a warning unless it is already recorded; return whether it is new."""
        if text in self._warnings:
            return False
        self._append("warning", text=text)
        return True

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def _append(self, kind: str, **data: Any) -> None:
        self._apply(self._journal.append(kind, **data))
        self._is_session = True

    def _apply(self, record: Record) -> None:
        if record["kind"] != "resumed" and self._last_clock is not None:
            self.active_seconds += max(0.0, record.get("clock", 0.0) - self._last_clock)
        self._last_clock = record.get("clock")
        getattr(self, "_on_" + record["kind"].replace("-", "_"))(record)

    def _on_study(self, record: Record) -> None:
        need(self.study is None, "a second beginning")
        self.study = record

    def _on_resumed(self, record: Record) -> None:
        del record
        self.halves.session += 1

    def _on_run_planned(self, record: Record) -> None:
        need(self.study is not None, "a run before the beginning")
        need(record["run_id"] not in self._planned, "a run that was planned before")
        self._planned[record["run_id"]] = record
        self.halves.plan(record)
        self._open_runs[record["run_id"]] = OpenRun(
            record["run_id"], record["slot"], case=record.get("case", "")
        )

    def _on_run_submitted(self, record: Record) -> None:
        self._open_runs[record["run_id"]].handle = from_json(Handle, record["handle"])

    def _on_run_finished(self, record: Record) -> None:
        plan = self._planned[record["run_id"]]
        measurement = from_json(Measurement, record["measurement"])
        need(measurement.run_id == record["run_id"], "the measurement of another run")
        need(plan["slot"] not in self._by_slot, f"{plan['slot']} has ended before")
        del self._open_runs[record["run_id"]]
        self._by_slot[plan["slot"]] = measurement
        place = plan.get("place", 0)
        late = record.get("late", False)
        self._last_slots[place] = "" if late else plan["slot"]
        self.halves.finish(plan, measurement, late=late)
        role, case = RunRole(plan["role"]), plan.get("case", "")
        entry = RunEntry(role, measurement, plan["trial"], plan["pair"], case)
        self._entries.append(entry)
        self._last_entries[place] = entry

    def _on_run_dropped(self, record: Record) -> None:
        del self._open_runs[record["run_id"]]
        plan = self._planned[record["run_id"]]
        self._last_slots.pop(plan.get("place", 0), None)
        self.halves.drop(plan)

    def _on_value(self, record: Record) -> None:
        need(record["name"] not in self._values, f"{record['name']} is there already")
        self._values[record["name"]] = record["value"]

    def _on_decision(self, record: Record) -> None:
        self._decisions[record["name"]] = Decision(record["at"], record["text"])

    def _on_warning(self, record: Record) -> None:
        self._warnings[record["text"]] = record["text"]

    def _on_extended(self, record: Record) -> None:
        self.budgets |= record["budgets"]
        self.trials_before = sum(name.startswith("trial/") for name in self._values)
        self.reopened += self.complete
        self.complete = False
        for name in _CONCLUSIONS:
            self._values.pop(name, None)
        number = sum(name.startswith("budget/") for name in self._decisions)
        self._decisions = {
            f"{name}/{number}" if name in _CONCLUSIONS else name: decision
            for name, decision in self._decisions.items()
        }
        shown = ", ".join(f"{name} {value:g}" for name, value in record["budgets"].items())
        text = f"budget extended by --resume: {shown.replace('time_seconds', 'seconds')}"
        self._decisions[f"budget/{number + 1}"] = Decision(record["at"], text)

    def _on_end(self, record: Record) -> None:
        del record
        self.complete = True


# Pairs that were interrupted by a restart: a ratio never combines runs of two sessions.
#
# The load of the machine and of the storage cancels within a pair only if its runs follow each
# other immediately.  A restart may come a day later, so both halves of an interrupted pair are
# run again under another name.

_AGAIN = re.compile(r"/again/\d+$")


@dataclass
class Halves:
    """Runs that have ended, with the session in which each began, to detect torn pairs.

    Attributes:
        session: Number of the present session, from 0.

    A run that continues while the tuner is dead belongs to the session that sees it end.  A pair
    is torn unless its second run was begun in the session in which the first ended.
    """

    session: int = 0
    _planned: dict[str, int] = field(default_factory=dict)
    _in_flight: set[str] = field(default_factory=set)
    _given: dict[str, tuple[int, bool]] = field(default_factory=dict)
    _attempts: dict[str, list[Measurement]] = field(default_factory=dict)

    def plan(self, plan: Mapping[str, Any]) -> None:
        """Record that a run begins in this session."""
        self._planned[plan["run_id"]] = self.session
        self._in_flight.add(_slot(plan))

    def drop(self, plan: Mapping[str, Any]) -> None:
        """Record that a run counts as never made."""
        self._in_flight.discard(_slot(plan))

    def finish(self, plan: Mapping[str, Any], measurement: Measurement, *, late: bool) -> None:
        """Record the result of a run; a failed one is repeated until its cause is settled.

        Args:
            plan: Record of the planned run.
            measurement: Result of the run.
            late: Whether it had ended before this session.
        """
        slot = _slot(plan)
        self._in_flight.discard(slot)
        attempts = self._attempts.setdefault(slot, [])
        attempts.append(measurement)
        if measurement.ok or (plan["settings"] and is_settled(attempts)):
            session = self._planned[measurement.run_id] if late else self.session
            self._given[slot] = session, measurement.ok

    def are_torn(self, first: str, second: str) -> bool:
        """Return whether the first slot ended in an earlier session and the second never began."""
        session, ok = self._given.get(_AGAIN.sub("", first), (self.session, False))
        begun = second in self._given or second in self._in_flight
        return ok and session != self.session and not begun

    def whole(
        self, name: str, slots: Callable[[str], tuple[RunSlot, RunSlot]]
    ) -> tuple[RunSlot, RunSlot]:
        """Return the slots of a pair that was not interrupted by a restart.

        Args:
            name: Name of the pair.
            slots: Returns the two slots for a pair's name, in the order in which they run.
        """
        for attempt in count():
            first, second = slots(f"{name}/anew/{attempt}" if attempt else name)
            if not self.are_torn(first.name, second.name):
                return first, second
        raise AssertionError


def _slot(plan: Mapping[str, Any]) -> str:
    """Return the slot of a run, which is the same for all attempts."""
    return _AGAIN.sub("", plan["slot"])
