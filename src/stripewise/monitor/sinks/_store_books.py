# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All that the store knows of a server between two deliveries: series, jobs, the clock.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stripewise.monitor._records import Round
from stripewise.monitor.sinks._store_clock import SinkClock
from stripewise.monitor.sinks._store_jobs import JobBook
from stripewise.monitor.sinks._store_queue import Batch
from stripewise.monitor.sinks._store_series import DAY_SECONDS, SeriesBook, Told

_NEARLY = 0.9
"""An interval may be shorter by that much: readings do not come on the dot."""


class Limits(NamedTuple):
    """Intervals in seconds, and bounds; as in the settings."""

    sample_interval_seconds: float
    job_interval_seconds: float
    top_jobs: int
    most_jobs: int


class Books:
    """Series and jobs of a server, since their state was read."""

    def __init__(
        self,
        limits: Limits,
        renamed: Mapping[str, str],
        parts: Mapping[str, bytes],
        found: Round,
        told_at: float = 0.0,
    ) -> None:
        """Go on from a state, with the first round.

        Args:
            limits: Of it.
            renamed: Names of file systems as servers have them -> as the database has them.
            parts: The state; {}: there is none.
            found: Of any collector.
            told_at: When the state was written, in seconds since 1970.

        Raises:
            ValueError: The state is damaged, or of a later version.
        """
        least = told_at if told_at - found.at <= DAY_SECONDS else 0.0
        self.clock = SinkClock(found.at, found.monotonic, least)
        self.series = SeriesBook(limits.sample_interval_seconds, renamed)
        self.jobs = JobBook(limits.top_jobs, limits.most_jobs, renamed)
        self._limits = limits
        self.now = self._cut_at = found.monotonic
        self._jobs_cut_at: float | None = None
        self._jobs_settled_at: float | None = None
        """When jobs were read last, if all that they did was taken in then."""
        self._pauses: list[Told] = []
        if "series" in parts:
            self.series.restore(parts["series"], self.clock, found.monotonic)
        self.jobs.restore(parts)

    def take(self, found: Round) -> None:
        """Take a round."""
        self.now = max(self.now, found.monotonic)
        self.jobs.move(self.clock.note(found.at, found.monotonic))
        self.series.take(found.readings, found.monotonic, self.clock)
        now = self.clock.wall(found.monotonic)
        if found.jobs:
            is_settled = all(jobs.is_settled for jobs in found.jobs)
            self._jobs_settled_at = found.monotonic if is_settled else None
        for file_system, since in self.jobs.take(found.jobs, found.readings, now):
            key = (file_system, "", "jobs")
            self._pauses.append(Told(key, "", True, int(since), now - since, None))

    def cut(self) -> tuple[Batch, dict[str, bytes]] | None:
        """Return what is due and the state after it; None: nothing is."""
        batch = Batch()
        parts: dict[str, bytes] = {}
        if self.now - self._cut_at >= self._limits.sample_interval_seconds - 0.5:
            self._cut_at = self.now
            batch.told, self._pauses = self.series.cut(self.clock) + self._pauses, []
            parts = {"series": self.series.state()}
        if self._are_jobs_due():
            self._jobs_cut_at = self._jobs_settled_at
            batch.rows = self.jobs.cut(self.clock.wall(self.now))
            parts |= self.jobs.state()
        return (batch, parts) if parts else None

    def _are_jobs_due(self) -> bool:
        """Whether it is an interval; rows are made when all that jobs did was taken in."""
        last, settled = self._jobs_cut_at, self._jobs_settled_at
        if settled is None:
            return False
        return last is None or settled - last >= _NEARLY * self._limits.job_interval_seconds
