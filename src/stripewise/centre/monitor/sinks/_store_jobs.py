# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Follows the jobs of a server's targets for the statistics database: their counters' growth.

Jobs beyond a limit are not distinguished: their work is the remainder of the targets' totals, and
is stored in rows without a name. Times are seconds since 1970 by `SinkClock`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._records import Reading, TargetJobs
from stripewise.centre.monitor.sinks._store_growth import (
    EntryState,
    JobGrowth,
    KeptCounts,
    decode,
    encode,
    grow_entries,
)
from stripewise.centre.monitor.sinks._store_pending import JobRow, PendingWork, Work, works_of
from stripewise.centre.monitor.sinks._store_series import DAY_SECONDS, LARGEST
from stripewise.centre.monitor.sinks._store_state import pack_rows, unpack_rows

_TOTALS = {
    metrics.TARGET_READ_BYTES.name: "read",
    metrics.TARGET_WRITE_BYTES.name: "write",
    metrics.METADATA_OPERATIONS.name: "metadata",
}
"""Totals of a target with which those of its jobs are compared."""
_MOST_TIMES = 4096
REST = ""
"""Name of the row for jobs beyond the limit."""


class _Target:
    """State of one target: the last counters of its jobs, and the remainder of its totals.

    Attributes:
        times: Times of its readings since the last settled one, and of that one.
    """

    __slots__ = (
        "has_left_out", "is_restored", "rest", "rest_since", "state", "times", "totals",
    )  # fmt: skip

    def __init__(self, state: EntryState, last: float) -> None:
        self.state = state
        self.times = [last]
        self.has_left_out = self.is_restored = False
        self.totals: dict[str, int] = {}
        self.rest: dict[str, int] = {}
        self.rest_since = last

    @property
    def last(self) -> float:
        """Time of the last reading."""
        return self.times[-1]

    def note(self, now: float, *, is_settled: bool) -> None:
        """Record a reading."""
        if is_settled:
            self.times.clear()
        self.times.append(now)
        del self.times[:-_MOST_TIMES]

    def moment(self, readings: int, now: float) -> float:
        """Return the time of a reading by the number of later readings; 0 stands for now."""
        return min(self.times[-min(readings, len(self.times))], now) if readings else now


class JobBook:
    """Jobs of all targets of a server."""

    def __init__(self, top_jobs: int, most_jobs: int, renamed: Mapping[str, str]) -> None:
        """Start without any jobs.

        Args:
            top_jobs: Number of jobs that get a row of each kind at every cut.
            most_jobs: Number of jobs on targets that are distinguished.
            renamed: Name in the database for each name of a file system on the servers.
        """
        self._most = most_jobs
        self._renamed = renamed
        self._pending = PendingWork(top_jobs)
        self._targets: dict[tuple[str, str], _Target] = {}
        self._began_at: float | None = None
        self._read_at: float | None = None
        self.left_out = 0

    def __len__(self) -> int:
        return sum(len(one.state) for one in self._targets.values())

    def move(self, seconds: float) -> None:
        """Move open readings forward by so many seconds, because time was set forward."""
        for one in self._targets.values() if seconds else ():
            one.times = [moment + seconds for moment in one.times]
            one.rest_since += seconds
        self._began_at = None if self._began_at is None else self._began_at + seconds
        self._read_at = None if self._read_at is None else self._read_at + seconds

    def take(
        self, every: Iterable[TargetJobs], readings: Iterable[Reading], now: float
    ) -> list[tuple[str, float]]:
        """Process what a round read of jobs.

        Args:
            every: Jobs of each target.
            readings: Readings of the same round.
            now: Time of the round.

        Returns:
            File systems, each with the time since which its jobs were not read for over a day:
            what was done in the meantime cannot be dated.
        """
        every = list(every)
        self._began_at = now if self._began_at is None else self._began_at
        totals = _totals(readings) if every else {}
        pauses = []
        for jobs in every:
            since = self._grow(jobs, totals.get((jobs.fs, jobs.target), {}), now)
            if since is not None:
                pauses.append((self._name(jobs.fs), since))
        self._read_at = now if every else self._read_at
        if all(jobs.is_settled for jobs in every):
            self._pending.settle()
        return pauses

    def _name(self, file_system: str) -> str:
        return self._renamed.get(file_system, file_system)

    def _grow(self, jobs: TargetJobs, totals: Mapping[str, int], now: float) -> float | None:
        place = (jobs.fs, jobs.target)
        one = self._targets.get(place)
        if one is None:
            one = self._targets[place] = self._new(now)
        since = one.moment(1, now)
        is_dated, is_restored, one.is_restored = now - since <= DAY_SECONDS, one.is_restored, False
        within = self._within(one, jobs, now)  # changes the state
        grown, one.state = grow_entries(one.state, within)
        tracked: dict[str, int] = {}
        is_reported = False
        for growth in grown:
            works = works_of(jobs.target, growth.operations)
            for kind, work in works.items():
                tracked[kind] = tracked.get(kind, 0) + _amount(kind, work)
            end = one.moment(growth.until, now)
            begin = _begin(growth, one.moment(growth.since, now), end)
            if works and end - begin <= DAY_SECONDS:
                self._pending.add((self._name(jobs.fs), growth.tag), works, begin, end)
            elif works:
                is_reported = True
        for tag in jobs.gone:
            self._pending.end((self._name(jobs.fs), tag))
        one.note(now, is_settled=jobs.is_settled)
        _leave(one, totals, tracked, is_dated)
        return since if is_reported or (is_restored and not is_dated) else None

    def _new(self, now: float) -> _Target:
        """Return the state of a target that was not on this server before.

        It may have come from another server: entries that began since this server is monitored
            were done here completely, and no other server has reported them.
        """
        began = now if self._began_at is None else self._began_at
        last = began if self._read_at is None else self._read_at
        return _Target(EntryState(began), max(last, now - DAY_SECONDS))

    def _within(self, one: _Target, jobs: TargetJobs, now: float) -> TargetJobs:
        """Return the entries that are distinguished, up to the limit.

        If an entry that was left out is included later, its work until then is part of the rest.
        """
        known = one.state.packed
        if all(entry.tag in known for entry in jobs.changed):
            return jobs
        room = self._most - len(self) + sum(1 for tag in jobs.gone if tag in known)
        kept = []
        for entry in jobs.changed:
            if entry.tag not in known:
                if room <= 0:
                    if not one.has_left_out:
                        one.has_left_out, one.rest, one.rest_since = True, {}, one.last
                    self.left_out += 1
                    continue
                room -= 1
                if one.has_left_out and not _began_after(entry.start_at, one.state.since_at):
                    base = {entry.tag: KeptCounts.of(entry.start_at, entry.operations)}
                    one.state = replace(one.state, packed={**one.state.packed, **base})
                    continue
            kept.append(entry)
        if len(kept) < len(jobs.changed):
            one.state = replace(one.state, is_whole=False, since_at=now)
        return replace(jobs, changed=tuple(kept))

    def cut(self, now: float) -> list[JobRow]:
        """Return the rows of jobs that are due."""
        rows = self._pending.cut(now)
        for (file_system, _), one in self._targets.items():
            rows += _rest_rows(self._name(file_system), one)
        return rows

    def state(self) -> dict[str, bytes]:
        """Return the state for the database, part by part."""
        targets = [
            [*place, one.times[0], one.has_left_out, one.totals, one.rest, one.rest_since]
            for place, one in self._targets.items()
        ]
        parts = {
            "jobs": pack_rows(targets),
            "pending": pack_rows(self._pending.rows()),
        }
        for number, one in enumerate(self._targets.values()):
            parts[f"jobs/{number}"] = encode(one.state)
        return parts

    def restore(self, parts: Mapping[str, bytes]) -> None:
        """Continue from a state.

        Raises:
            ValueError: It is damaged, or of a later version.
        """
        try:
            if "jobs" in parts:
                for number, row in enumerate(unpack_rows(parts["jobs"], "jobs")):
                    self._restore_target(row, parts[f"jobs/{number}"])
            if "pending" in parts:
                self._pending.restore(unpack_rows(parts["pending"], "pending work"))
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"the stored state of jobs is damaged: {error}") from error

    def _restore_target(self, row: list[Any], state: bytes) -> None:
        file_system, target, last, has_left_out, totals, rest, rest_since = row
        one = _Target(decode(state), float(last))
        one.has_left_out, one.is_restored = bool(has_left_out), True
        one.totals, one.rest = dict(totals), dict(rest)
        one.rest_since = float(rest_since)
        self._targets[str(file_system), str(target)] = one


def _begin(growth: JobGrowth, since: float, now: float) -> float:
    """Return when a job's work began, which is not before its counters began."""
    if not growth.is_new or growth.start_at is None:
        return since
    return min(max(since, growth.start_at), now)


def _began_after(start_at: int | None, moment: float) -> bool:
    return start_at is not None and start_at > moment


def _totals(readings: Iterable[Reading]) -> dict[tuple[str, str], dict[str, int]]:
    found: dict[tuple[str, str], dict[str, int]] = {}
    for reading in readings:
        kind = _TOTALS.get(reading.metric.name)
        value = reading.value
        if kind is not None and isinstance(value, int | float) and abs(value) <= LARGEST:
            fs, target = reading.labels[:2]
            found.setdefault((fs, target), {}).setdefault(kind, int(value))
    return found


def _amount(kind: str, work: Work) -> int:
    return (work.operations if kind == "metadata" else work.moved_bytes) or 0


def _leave(
    one: _Target, totals: Mapping[str, int], tracked: Mapping[str, int], is_dated: bool
) -> None:
    """Record the remainder of the totals; a negative remainder is offset by later ones."""
    if one.has_left_out and is_dated:
        for kind, total in totals.items():
            if kind in one.totals:
                before = one.totals[kind]
                grown = total if total < before else total - before
                one.rest[kind] = one.rest.get(kind, 0) + grown - tracked.get(kind, 0)
    one.totals = {**one.totals, **totals}


def _rest_rows(file_system: str, one: _Target) -> list[JobRow]:
    begin, end = int(one.rest_since), int(one.last)
    if end <= begin:
        return []
    rows = []
    for kind, amount in one.rest.items():
        if amount > 0:
            work = Work(amount) if kind == "metadata" else Work(None, amount)
            rows.append(JobRow((file_system, REST), kind, begin, float(end - begin), work))
            one.rest[kind] = 0
    one.rest_since = one.last
    return rows
