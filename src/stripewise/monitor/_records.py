# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What collectors give to sinks: readings, counters of jobs, problems.

Counters are given as they stand; growth is the sinks' to tell, each from what it delivered last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stripewise.monitor.metrics import Reading


class OperationCount(NamedTuple):
    """Counter of one kind of operation, as Lustre has it.

    Attributes:
        samples: How many.
        unit: Of the sum: "bytes", "usecs", "reqs"; "" if only samples are told.
        total: Sum; 0 where it is not told.
        sizes: (size, count) of a histogram, ascending; None: not told (before 2.15.53).
    """

    samples: int
    unit: str = ""
    total: int = 0
    sizes: tuple[tuple[int, int], ...] | None = None


class JobEntry(NamedTuple):
    """Counters of one job on one target.

    Attributes:
        tag: The job's id as Lustre has it, escapes resolved; at most 128 characters.
        snapshot_at: The target's clock when the entry was last changed or read; None: not told.
        start_at: When the entry began, by the target's clock; None: not told.
        operations: By Lustre's name: "read_bytes", "write", "open", ...; those without samples
            are left out.
        since / until: Of how many readings ago the counters were that were given before (1: those
            of the last one), and of how many ago these ones are.
    """

    tag: str
    snapshot_at: int | None
    start_at: int | None
    operations: Mapping[str, OperationCount]
    since: int = 1
    until: int = 0


@dataclass(frozen=True)
class TargetJobs:
    """Jobs of one target in one reading.

    Attributes:
        fs / target: Whose.
        changed: Entries with counters that were not given before.
        gone: Tags that were in the reading before and are no longer there: should they come
            again, their counters begin at zero.
        count: Entries in all.
        is_first: The reader knew of no reading before: all entries are in `changed`.
        is_settled: Whatever changed is in `changed`; else what jobs did that work all the time is
            given later.
    """

    fs: str
    target: str
    changed: tuple[JobEntry, ...] = ()
    gone: tuple[str, ...] = ()
    count: int = 0
    is_first: bool = False
    is_settled: bool = True


@dataclass(frozen=True)
class Round:
    """What one collector found.

    Attributes:
        collector: Its name.
        at: When it began, in seconds since 1970.
        monotonic: The same by the clock that never steps.
        seconds: How long it took.
        readings: Of metrics.
        jobs: Of targets that have counters of jobs.
        problems: What was left out, a sentence each.
        reason: Why it failed: "missing", "denied", "slow", "malformed", "error"; "": it did not.
            A round that failed may hold what was read before.
    """

    collector: str
    at: float
    monotonic: float
    seconds: float = 0.0
    readings: tuple[Reading, ...] = ()
    jobs: tuple[TargetJobs, ...] = ()
    problems: tuple[str, ...] = field(default=())
    reason: str = ""
