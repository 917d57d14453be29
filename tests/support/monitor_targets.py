# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A storage server that counts, as rounds of collectors tell of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from stripewise.centre.monitor import Reading, metrics
from stripewise.centre.monitor._records import JobEntry, OperationCount, Round, TargetJobs

T0 = 1_700_000_000.0


@dataclass
class Target:
    """One target: totals, and what each job did; they only grow."""

    name: str
    fs: str = "scratch"
    totals: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    jobs: dict[str, dict[str, int]] = field(default_factory=dict)
    started: dict[str, int] = field(default_factory=dict)

    def work(self, tag: str, kind: str, amount: int, at: float = T0) -> None:
        """Let a job move bytes, or do metadata operations."""
        job = self.jobs.setdefault(tag, defaultdict(int))
        self.started.setdefault(tag, int(at))
        job[kind] += amount
        job[f"n_{kind}"] += 1
        self.totals[kind] += amount

    def readings(self) -> list[Reading]:
        """Return its totals as a collector gives them."""
        place = (self.fs, self.name)
        kinds = {"read": metrics.TARGET_READ_BYTES, "write": metrics.TARGET_WRITE_BYTES}
        if self.name.startswith("MDT"):
            kinds["metadata"] = metrics.METADATA_OPERATIONS
        return [Reading(metric, place, self.totals[kind]) for kind, metric in kinds.items()]

    def entry(self, tag: str, *, starts: bool = True) -> JobEntry:
        """Return the counters of a job."""
        job, found = self.jobs[tag], {}
        for kind in ("read", "write"):
            if job[f"n_{kind}"]:
                size = ((1 << 20, job[f"n_{kind}"]),)
                found[f"{kind}_bytes"] = OperationCount(job[f"n_{kind}"], "bytes", job[kind], size)
                found[kind] = OperationCount(job[f"n_{kind}"], "usecs", 7 * job[f"n_{kind}"])
        if job["metadata"]:
            found["open"] = OperationCount(job["metadata"], "usecs", 3 * job["metadata"])
        return JobEntry(tag, None, self.started[tag] if starts else None, found)


class Reader:
    """What a collector remembers of the targets, and forgets when its agent ends."""

    def __init__(self, *, starts: bool = True) -> None:
        self._starts = starts
        self._seen: dict[tuple[str, str], dict[str, JobEntry]] = {}

    def round(self, targets: list[Target], now: float, *, shift: float = 0.0) -> Round:
        """Read all targets at a moment, by a clock of the host that may be wrong."""
        readings = [Reading(metrics.HOST_BUSY_SHARE, (), 0.5)]
        jobs = []
        for one in targets:
            readings += one.readings()
            place = (one.fs, one.name)
            last = self._seen.get(place)
            current = {tag: one.entry(tag, starts=self._starts) for tag in one.jobs}
            known = last or {}
            changed = tuple(e for tag, e in current.items() if known.get(tag) != e)
            gone = tuple(tag for tag in known if tag not in current)
            self._seen[place] = current
            jobs.append(TargetJobs(one.fs, one.name, changed, gone, len(current), last is None))
        monotonic = now - T0 + 1000.0
        return Round(
            "lustre-server", now + shift, monotonic, readings=tuple(readings), jobs=tuple(jobs)
        )
