# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Work of jobs that is not in a row yet, and which of it becomes rows.  Pure.

Times are seconds since 1970 as `SinkClock` has them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from stripewise.monitor.sinks._store_work import Work

PAUSE_SECONDS = 60.0
"""A row holds no longer pause of a job: so runs of a job that was requeued do not share one."""
PENDING_SECONDS = 1800.0
"""A job that does little waits so long for its row at most."""
TagKey = tuple[str, str]
"""File system and name of the job."""


class JobRow(NamedTuple):
    """What one job did in an interval, all targets of a file system together."""

    key: TagKey
    kind: str
    at: int
    seconds: float
    work: Work


class _Pending:
    """One job's work since its last row."""

    __slots__ = ("changed", "is_over", "since", "works")

    def __init__(self, since: float) -> None:
        self.since = since
        self.changed = since
        self.works: dict[str, Work] = {}
        self.is_over = False


class PendingWork:
    """Work of all jobs that is not in a row yet."""

    def __init__(self, top_jobs: int) -> None:
        """Begin without any; rows are made of so many jobs of each kind at every cut."""
        self._top = top_jobs
        self._open: dict[TagKey, _Pending] = {}
        self._over: list[tuple[TagKey, _Pending]] = []

    def __len__(self) -> int:
        return len(self._open)

    def add(self, key: TagKey, works: Mapping[str, Work], since: float, now: float) -> None:
        """Add what a job did between two readings."""
        one = self._open.get(key)
        if one is not None and since - one.changed >= PAUSE_SECONDS:
            self._over.append((key, self._open.pop(key)))
            one = None
        if one is None:
            one = self._open[key] = _Pending(since)
        one.since = min(one.since, since)
        one.changed = max(one.changed, now)
        for kind, work in works.items():
            if kind in one.works:
                one.works[kind].add(work)
            else:
                one.works[kind] = work

    def end(self, key: TagKey) -> None:
        """Note that a job's counters are gone from a target."""
        if (one := self._open.get(key)) is not None:
            one.is_over = True

    def cut(self, now: float) -> list[JobRow]:
        """Return rows of the jobs that did most, that paused or are gone, or that waited long.

        Args:
            now: Of the last reading.
        """
        due = self._over
        self._over = []
        most = self._most()
        for key, one in list(self._open.items()):
            idle = now - one.changed >= PAUSE_SECONDS
            waited = now - one.since >= PENDING_SECONDS
            if idle or waited or one.is_over or key in most:
                due.append((key, self._open.pop(key)))
        return [row for key, one in due for row in _rows(key, one)]

    def _most(self) -> set[TagKey]:
        """Return the jobs that did most, of each kind."""
        found: set[TagKey] = set()
        for kind in ("read", "write", "metadata"):
            some = (
                (one.works[kind].size, key) for key, one in self._open.items() if kind in one.works
            )
            found |= {key for _, key in heapq.nlargest(self._top, some)}
        return found

    def as_list(self) -> list[Any]:
        """Return plain data."""
        return [
            [*key, one.since, one.changed, one.is_over,
             {kind: work.as_list() for kind, work in one.works.items()}]
            for key, one in (*self._over, *self._open.items())
        ]  # fmt: skip

    def restore(self, rows: Iterable[Any]) -> None:
        """Go on from plain data.

        Raises:
            ValueError: They are none of these.
        """
        try:
            for file_system, tag, since, changed, is_over, works in rows:
                one = _Pending(float(since))
                one.changed = float(changed)
                one.is_over = bool(is_over)
                one.works = {str(kind): Work(*work) for kind, work in works.items()}
                key = (str(file_system), str(tag))
                if key in self._open:
                    self._over.append((key, self._open.pop(key)))
                self._open[key] = one
        except (TypeError, AttributeError) as error:
            raise ValueError(f"the stored work of jobs is damaged: {error}") from error


def _rows(key: TagKey, one: _Pending) -> list[JobRow]:
    begin, end = int(one.since), int(one.changed)
    return [
        JobRow(key, kind, begin, float(max(end - begin, 0)), work)
        for kind, work in one.works.items()
        if any(work.size)
    ]
