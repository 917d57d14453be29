# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the state of the database sink between deliveries, and merges what overfills its queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stripewise.centre.monitor._records import Round
from stripewise.centre.monitor.sinks._store_jobs import REST, JobBook
from stripewise.centre.monitor.sinks._store_pending import JobRow, TagKey, Work
from stripewise.centre.monitor.sinks._store_series import (
    DAY_SECONDS,
    SeriesBook,
    SeriesKey,
    SeriesSample,
    SinkClock,
)

_NEARLY = 0.9
"""Share of an interval after which it counts as complete, since readings are not on the dot."""


class StoreLimits(NamedTuple):
    """Intervals in seconds, and limits, as in the settings."""

    sample_interval_seconds: float
    job_interval_seconds: float
    top_jobs: int
    most_jobs: int


class Books:
    """Series and jobs of a server, since their state was read."""

    def __init__(
        self,
        limits: StoreLimits,
        renamed: Mapping[str, str],
        parts: Mapping[str, bytes],
        found: Round,
        told_at: float = 0.0,
    ) -> None:
        """Continue from a state, with the first round.

        Args:
            limits: Intervals and limits of the settings.
            renamed: Name in the database for each name of a file system on the servers.
            parts: The state; {} if there is none.
            found: A round of any collector.
            told_at: Time when the state was written, in seconds since 1970.

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
        """Time of the last reading of jobs, if it included everything that they did."""
        self._pauses: list[SeriesSample] = []
        if "series" in parts:
            self.series.restore(parts["series"], self.clock, found.monotonic)
        self.jobs.restore(parts)

    def take(self, found: Round) -> None:
        """Process a round."""
        self.now = max(self.now, found.monotonic)
        self.jobs.move(self.clock.note(found.at, found.monotonic))
        self.series.take(found.readings, found.monotonic, self.clock)
        now = self.clock.wall(found.monotonic)
        if found.jobs:
            is_settled = all(jobs.is_settled for jobs in found.jobs)
            self._jobs_settled_at = found.monotonic if is_settled else None
        for file_system, since in self.jobs.take(found.jobs, found.readings, now):
            key = (file_system, "", "jobs")
            self._pauses.append(SeriesSample(key, "", True, int(since), now - since, None))

    def cut(self) -> tuple[Batch, dict[str, bytes]] | None:
        """Return what is due and the state after it, or None if nothing is due."""
        batch = Batch()
        parts: dict[str, bytes] = {}
        if self.now - self._cut_at >= self._limits.sample_interval_seconds - 0.5:
            self._cut_at = self.now
            batch.samples, self._pauses = self.series.cut(self.clock) + self._pauses, []
            parts = {"series": self.series.state()}
        if self._are_jobs_due():
            self._jobs_cut_at = self._jobs_settled_at
            batch.rows = self.jobs.cut(self.clock.wall(self.now))
            parts |= self.jobs.state()
        return (batch, parts) if parts else None

    def _are_jobs_due(self) -> bool:
        """Return whether an interval is complete, and everything that jobs did has been read."""
        last, settled = self._jobs_cut_at, self._jobs_settled_at
        if settled is None:
            return False
        return last is None or settled - last >= _NEARLY * self._limits.job_interval_seconds


# Batches that wait for the database, within limits: they are merged, never dropped.
#
# A database that cannot be reached for long costs resolution, not amounts: intervals become
# longer, and finally small jobs become part of the rest.


@dataclass
class Batch:
    """What was cut at one time."""

    samples: list[SeriesSample] = field(default_factory=list)
    rows: list[JobRow] = field(default_factory=list)


class WaitingBatches:
    """Batches that are not in the database yet, oldest first.

    Attributes:
        merged: Number of batches that have lost their own times.
    """

    def __init__(self, most: int, most_rows: int) -> None:
        """Start without any batches.

        Args:
            most: Maximum number of waiting batches.
            most_rows: Maximum number of waiting rows of jobs, over all batches.
        """
        self._most = most
        self._most_rows = most_rows
        self._every: list[Batch] = []
        self._sent = 0
        self.merged = 0

    def __len__(self) -> int:
        return len(self._every)

    def add(self, batch: Batch) -> None:
        """Add a batch; if there are too many, two are merged."""
        self._every.append(batch)
        if len(self._every) - self._sent > self._most:
            self._merge(self._sent)
        while self._rows() > self._most_rows:
            if len(self._every) - self._sent > 1:
                self._merge(self._sent)
            elif not self._fold(self._every[self._sent]):
                break

    def send(self) -> list[Batch]:
        """Return all batches; they stay unchanged until the outcome is known."""
        self._sent = len(self._every)
        return list(self._every)

    def sent(self) -> None:
        """Record that those of the last `send` are in the database."""
        del self._every[: self._sent]
        self._sent = 0

    def _rows(self) -> int:
        return sum(len(one.rows) for one in self._every[self._sent :])

    def _merge(self, index: int) -> None:
        first, second = self._every[index], self._every.pop(index + 1)
        self._every[index] = Batch(
            _merged_samples([*first.samples, *second.samples]),
            _merged_rows([*first.rows, *second.rows]),
        )
        self.merged += 1

    def _fold(self, batch: Batch) -> bool:
        """Merge the jobs with least work into the rest, and return whether that saves rows."""
        before = len(batch.rows)
        ordered = sorted(batch.rows, key=lambda row: row.work.size, reverse=True)
        kept = ordered[: self._most_rows // 2]
        rest = [row._replace(key=(row.key[0], REST)) for row in ordered[len(kept) :]]
        batch.rows = _merged_rows([*kept, *rest])
        return len(batch.rows) < before


def _merged_samples(every: Iterable[SeriesSample]) -> list[SeriesSample]:
    """Return samples merged by series; pauses are kept."""
    found: dict[SeriesKey, SeriesSample] = {}
    pauses = []
    for one in every:
        last = found.get(one.key)
        if one.value is None:
            pauses.append(one)
        elif last is None or last.value is None or last.is_counter != one.is_counter:
            found[one.key] = one
        else:
            seconds = last.seconds + one.seconds
            value = last.value + one.value
            if not one.is_counter:
                value = (last.value * last.seconds + one.value * one.seconds) / seconds
            found[one.key] = last._replace(seconds=seconds, value=value)
    return [*found.values(), *pauses]


def _merged_rows(every: Iterable[JobRow]) -> list[JobRow]:
    found: dict[tuple[TagKey, str], JobRow] = {}
    for row in every:
        place = (row.key, row.kind)
        last = found.get(place)
        if last is None:
            found[place] = row
            continue
        work = Work(*last.work.as_list())
        work.add(row.work)
        at = min(last.at, row.at)
        until = max(last.at + last.seconds, row.at + row.seconds)
        found[place] = last._replace(at=at, seconds=until - at, work=work)
    return list(found.values())
