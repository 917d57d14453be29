# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A day of a storage server, as rounds of its collector: jobs begin, work, end and expire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stripewise.centre.monitor import Metric, Reading, metrics
from stripewise.centre.monitor._records import JobEntry, OperationCount, Round, TargetJobs

T0 = 1_700_006_400.0
_OF_TARGET: tuple[tuple[Metric, int], ...] = (
    (metrics.TARGET_READ_BYTES, 3 << 20), (metrics.TARGET_WRITE_BYTES, 5 << 20),
    (metrics.SERVICE_SECONDS, 1), (metrics.SERVICE_OPERATIONS, 8),
    (metrics.TARGET_TOTAL_BYTES, 0), (metrics.TARGET_USED_BYTES, 0),
    (metrics.TARGET_TOTAL_FILES, 0), (metrics.TARGET_USED_FILES, 0), (metrics.TARGET_MISSING, 0),
)  # fmt: skip
"""Series of an object storage target, and by what they grow."""


@dataclass(frozen=True)
class Day:
    """What a server sees in a day.

    Attributes:
        targets: Of one file system.
        jobs: That come in all; each works for `work_rounds`, then its counters expire.
        rounds: Readings; of a minute each.
        targets_of_job: On which each job works.
    """

    targets: int = 8
    jobs: int = 2000
    rounds: int = 1440
    work_rounds: int = 120
    targets_of_job: int = 8

    def moments(self) -> Iterator[Round]:
        """Give the rounds, one after the other; the last ones see no job any more."""
        for number in range(self.rounds + self.work_rounds + 45):
            yield self._round(number)

    def bytes_of_job(self) -> int:
        """Return what each job writes in all, and reads as well."""
        return self.work_rounds * self.targets_of_job << 20

    def _round(self, number: int) -> Round:
        readings = [Reading(metrics.HOST_BUSY_SHARE, (), 0.25)]
        for index in range(self.targets):
            place = ("scratch", f"OST{index:04x}")
            readings += [
                Reading(metric, place, number * step if step else 1 << 40)
                for metric, step in _OF_TARGET
            ]
        jobs = tuple(self._jobs(number, index) for index in range(self.targets))
        return Round(
            "lustre-server", T0 + 60.0 * number, 1000.0 + 60.0 * number,
            readings=tuple(readings), jobs=jobs,
        )  # fmt: skip

    def _jobs(self, number: int, index: int) -> TargetJobs:
        first, after = self._born(number - self.work_rounds), self._born(number)
        changed = tuple(
            self._entry(job, number) for job in range(first, after) if self._is_at(job, index)
        )
        ended = range(self._born(number - self.work_rounds - 1), first)
        gone = tuple(str(1_000_000 + job) for job in ended if self._is_at(job, index))
        return TargetJobs("scratch", f"OST{index:04x}", changed, gone, len(changed), number == 0)

    def _born(self, number: int) -> int:
        """Return how many jobs have begun by a round."""
        return max(0, min(number, self.rounds)) * self.jobs // self.rounds

    def _is_at(self, job: int, index: int) -> bool:
        return (index - job) % self.targets < self.targets_of_job

    def _entry(self, job: int, number: int) -> JobEntry:
        born = -(-(job + 1) * self.rounds // self.jobs)
        done = number - born + 1
        moved = OperationCount(done, "bytes", done << 20, ((1 << 20, done),))
        took = OperationCount(done, "usecs", done * 900)
        counters = {"read_bytes": moved, "write_bytes": moved, "read": took, "write": took}
        return JobEntry(str(1_000_000 + job), None, int(T0 + 60 * born) - 30, counters)
