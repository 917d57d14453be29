# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a Lustre server through lctl: its targets, and what each client and each job did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Self, TypeGuard

from pydantic import Field, model_validator

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._privileges import rights_remedy
from stripewise.centre.monitor._records import Metric, Reading, TargetJobs
from stripewise.centre.monitor.collectors._base import (
    FirstTexts,
    Problem,
    Sums,
)
from stripewise.centre.monitor.collectors.lustre._job_stats import JobStatsReader
from stripewise.centre.monitor.collectors.lustre._parameters import (
    Parameters,
    TargetName,
    excerpt,
    parse_count,
    parse_export,
    parse_target,
    problem_of,
)
from stripewise.centre.monitor.collectors.lustre._quota import QUOTA_PATTERNS, Quota
from stripewise.centre.monitor.collectors.lustre._state import (
    LOCK_PATTERNS,
    SERVICE_PATTERNS,
    LustreCollector,
    LustreSettings,
    connection_readings,
    health_readings,
    lock_readings,
    service_readings,
    space_readings,
)
from stripewise.centre.monitor.collectors.lustre._stats import (
    METADATA_KINDS,
    Target,
    brw_readings,
    bytes_of,
    named_problems,
    parse_stats,
    stats_readings,
)

_TARGET_PATTERNS = (
    *("obdfilter.*.num_exports", "obdfilter.*.stats", "obdfilter.*.recovery_status"),
    *("mdt.*.num_exports", "mdt.*.md_stats", "mdt.*.stats", "mdt.*.recovery_status"),
    *("osd-*.*.kbytestotal", "osd-*.*.kbytesfree", "osd-*.*.kbytesavail"),
    *("osd-*.*.filestotal", "osd-*.*.filesfree", "osd-*.*.brw_stats"),
)
_OF_QUOTA = ("quota_slave.acct_", ".glb-")
_SLOW = (".job_stats", ".brw_stats", ".quota_slave.", ".exports.")
_DAY_SECONDS = 86400.0
_EARLY_SHARE, _EARLY_SECONDS = 0.1, 6.0
"""A reading with an interval of its own takes place in the round closest to its due time."""


class LustreServerSettings(LustreSettings):
    """Settings in [collectors.lustre-server].

    Attributes:
        jobs: Whether to read counters of jobs.
        job_interval_seconds: How often jobs, exports and I/O histograms are read, which take
            longer. It must be at most half of Lustre's job_cleanup_interval (600 s), after which
            jobs disappear.
        most_jobs: Maximum total number of jobs on targets to remember.
        exports / most_clients: Whether to read counters of clients, and of how many.
        quota / most_ids: Whether to read quotas, and of how many users, groups and projects each.
        quota_interval_seconds: How often quotas are read, which have most lines and change slowly.
        services / locks: Whether to read services and locks.
    """

    jobs: bool = True
    job_interval_seconds: float = Field(default=60.0, ge=1.0, le=3600.0)
    most_jobs: int = Field(default=100_000, ge=1, le=10_000_000)
    exports: bool = False
    most_clients: int = Field(default=5000, ge=1, le=1_000_000)
    quota: bool = True
    most_ids: int = Field(default=2000, ge=1, le=1_000_000)
    quota_interval_seconds: float = Field(default=300.0, ge=1.0, le=86400.0)
    services: bool = True
    locks: bool = True

    @model_validator(mode="after")
    def _intervals_fit(self) -> Self:
        if self.job_interval_seconds < self.interval_seconds:
            raise ValueError(
                f"job_interval_seconds {self.job_interval_seconds:g} is shorter than "
                f"interval_seconds {self.interval_seconds:g}: make it at least as long"
            )
        return self


class LustreServer(LustreCollector):
    """Counters of the targets that this server serves.

    The MGS is not a target of a file system, and is left out.
    """

    name = "lustre-server"
    summary = "Lustre servers: targets, jobs, quota, locks, services, clients"
    metrics = tuple(
        one for one in metrics.metrics_named("lustre_") if not one.name.startswith("lustre_mount_")
    )
    settings_class = LustreServerSettings
    settings: LustreServerSettings
    signs = (*_TARGET_PATTERNS[:1], *_TARGET_PATTERNS[3:4])
    nothing = "no targets: mount a target of Lustre on this server, or leave this collector out"

    def __init__(self, settings: LustreServerSettings) -> None:
        """Store the settings."""
        super().__init__(settings)
        long = max(settings.timeout_seconds, settings.job_interval_seconds)
        self._jobs = Jobs(settings.most_jobs, long)
        self._exports = Exports(settings.most_clients)
        self._quota = Quota(settings.most_ids, long)
        self._seen: dict[TargetName, None] = {}
        self._slow_at: dict[str, float] = {}
        self._kept: dict[str, list[Reading | Problem]] = {}

    def patterns(self) -> tuple[str, ...]:
        """Return the patterns of all parameters that it reads, according to its settings."""
        own = self.settings
        return (
            *("health_check", *_TARGET_PATTERNS),
            *(LOCK_PATTERNS if own.locks else ()),
            *(SERVICE_PATTERNS if own.services else ()),
            *(JOB_PATTERNS if own.jobs else ()),
            *(QUOTA_PATTERNS if own.quota else ()),
            *(EXPORT_PATTERNS if own.exports else ()),
        )

    def has_something(self, names: Sequence[str]) -> bool:
        """Return whether parameters belong to targets."""
        return bool(targets_of(names))

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read the counters of all targets, and those with an interval of their own when due."""
        self._parameters.begin(host)
        names = self._parameters.names
        fast = [name for name in names if not _is_slow(name) and not _is_of_management(name)]
        values: dict[str, str] = {}
        yield from self.read(host, fast, values)
        yield from health_readings(values)
        names = self._parameters.names
        targets = targets_of(names)
        yield from self._presence(targets)
        yield from _hidden(targets, names)
        for target in targets:
            yield from stats_readings(target, values)
            yield from space_readings(target, values)
            yield from connection_readings(target, values)
        yield from lock_readings(values)
        yield from service_readings(values)
        yield from self._slow(host, names, values)

    def _presence(self, targets: Sequence[Target]) -> Iterator[Reading]:
        """Report, for each target that this process has seen, whether it is still there."""
        there = {TargetName(*target.labels) for target in targets}
        self._seen.update(dict.fromkeys(sorted(there)))
        for target in self._seen:
            is_missing = float(target not in there)
            yield Reading(metrics.TARGET_MISSING, tuple(target), is_missing)

    def _slow(
        self, host: Host, names: Sequence[str], values: Mapping[str, str]
    ) -> Iterator[Reading | TargetJobs | Problem]:
        """Read slow parameters that are due, and repeat the last readings of the others.

        Denied parameters are repeated as well; otherwise they would seem to come and go.
        """
        own = self.settings
        self._exports.is_repeated = self.is_repeated
        wanted_seconds = min(self.settled_seconds, _DAY_SECONDS)
        self._jobs.settled_each = round(wanted_seconds / own.job_interval_seconds)
        for part, seconds, patterns, read in (
            ("jobs", own.job_interval_seconds, (".job_stats",), self._jobs.collect),
            ("histograms", own.job_interval_seconds, (".brw_stats",), _histograms),
            ("quota", own.quota_interval_seconds, _OF_QUOTA, self._quota.collect),
            ("exports", own.job_interval_seconds, (".exports.",), self._exports.collect),
        ):
            now, last = self.monotonic(), self._slow_at.get(part)
            if last is not None and now - last < _least_wait(seconds):
                yield from self._kept[part]
                continue
            self._slow_at[part] = now
            if part == "jobs":
                yield from lost_jobs(values, seconds)
            kept = self._kept[part] = []
            chosen = [name for name in names if _has(name, patterns)]
            for found in read(host, self._parameters, chosen):
                if isinstance(found, Reading) or _is_denied(found):
                    kept.append(found)
                yield found


def _is_denied(found: Reading | TargetJobs | Problem) -> TypeGuard[Problem]:
    return isinstance(found, Problem) and found.reason == "denied"


def _least_wait(seconds: float) -> float:
    return seconds - min(seconds * _EARLY_SHARE, _EARLY_SECONDS)


def _histograms(
    host: Host, parameters: Parameters, names: Sequence[str]
) -> Iterator[Reading | Problem]:
    """Read the histograms of all targets, which count I/O at their disks."""
    chosen = [name for name in names if not _is_of_management(name)]
    for values, problems in parameters.parts(host, chosen) if chosen else ():
        yield from problems
        for name in chosen:
            yield from brw_readings(name, values)


def targets_of(names: Sequence[str]) -> list[Target]:
    """Return the targets in names of parameters, in order."""
    devices: dict[TargetName, str] = {}
    roots: dict[TargetName, str] = {}
    for name in names:
        kind, _, rest = name.partition(".")
        target = parse_target(rest.partition(".")[0])
        if target is None:
            continue
        root = f"{kind}.{target.fs}-{target.target}"
        if kind.startswith("osd-"):
            devices.setdefault(target, root)
        elif kind == ("mdt" if target.target.startswith("MDT") else "obdfilter"):
            roots.setdefault(target, root)
    listed = set(names)
    return [
        Target(*target, root, devices.get(target, ""), _stats_of(target, root, listed))
        for target, root in roots.items()
    ]


def _stats_of(target: TargetName, root: str, listed: set[str]) -> tuple[str, ...]:
    kinds = ("md_stats", "stats") if target.target.startswith("MDT") else ("stats",)
    return tuple(name for name in (f"{root}.{kind}" for kind in kinds) if name in listed)


def _has(name: str, parts: tuple[str, ...]) -> bool:
    return any(part in name for part in parts)


def _is_slow(name: str) -> bool:
    return _has(name, _SLOW) or name.startswith("qmt.")


def _is_of_management(name: str) -> bool:
    return name.startswith("osd-") and ".MGS." in name


def _hidden(targets: Sequence[Target], names: Sequence[str]) -> Iterator[Problem]:
    """Report parameters of targets that are not listed because Lustre shows them only to root."""
    listed = set(names)
    for what, count in (
        ("stats", sum(not target.stats for target in targets)),
        ("brw_stats", sum(bool(each.osd) and f"{each.osd}.brw_stats" not in listed
                          for each in targets)),
    ):  # fmt: skip
        if count:
            who = "1 target lists" if count == 1 else f"{count} targets list"
            reason = f"{who} no {what}, which root alone may read: {rights_remedy()}"
            yield Problem(reason, "denied")


# Counters of exports: what each client did to this server.

EXPORT_PATTERNS = ("obdfilter.*.exports.*.stats", "mdt.*.exports.*.stats")
Client = tuple[str, str]
"""File system and NID."""


class Exports:
    """Counters of clients, summed over the targets of this server.

    A client that reconnects counts from zero on that target; the sums continue (see `Sums`).
    """

    def __init__(self, most_clients: int) -> None:
        """Set the maximum number of clients to report, those that are seen first."""
        self._most = most_clients
        self.is_repeated = False
        self._firsts = FirstTexts()
        self._sums: dict[Metric, Sums[Client]] = {
            metric: Sums(most_clients)
            for metric in (
                metrics.EXPORT_READ_BYTES,
                metrics.EXPORT_WRITE_BYTES,
                metrics.EXPORT_METADATA_OPERATIONS,
            )
        }

    def collect(
        self, host: Host, parameters: Parameters, names: Sequence[str]
    ) -> Iterator[Reading | Problem]:
        """Read all exports and return the sums of each client.

        Raises:
            HostError: `lctl` takes too long.
        """
        seen: dict[str, set[Client]] = {}
        clients: set[Client] = set()
        for name in names:
            export = parse_export(name)
            if export is None:
                yield Problem(f"{excerpt(name)}: this is not an export of a client")
                continue
            client = (export[0].fs, export[1])
            clients.add(client)
            seen.setdefault(_part(name), set()).add(client)
        for values, problems in parameters.parts(host, names) if names else ():
            yield from problems
            for name, text in values.items():
                yield from self._take(name, text)
        self._forget(seen)
        self._firsts.end(names)
        if len(clients) > self._most:
            yield Problem(
                f"{len(clients)} clients are connected, but only the first {self._most} are "
                "reported: raise most_clients, or switch exports off"
            )
        for metric, sums in self._sums.items():
            for client, value in sums.items():
                yield Reading(metric, client, value)

    def _take(self, name: str, text: str) -> Iterator[Problem]:
        export = parse_export(name)
        if export is None:
            return
        stats = parse_stats(text)
        yield from named_problems(name, stats.problems)
        part, client = _part(name), (export[0].fs, export[1])
        is_base = self.is_repeated and self._firsts.is_base(name)
        for metric, kind in (
            (metrics.EXPORT_READ_BYTES, "read_bytes"),
            (metrics.EXPORT_WRITE_BYTES, "write_bytes"),
        ):
            value = bytes_of(stats.rows, kind, stats.is_whole)
            if value is not None:
                self._sums[metric].add(part, client, value, is_base=is_base)
        if stats.is_whole and name.startswith("mdt."):
            found = [row.samples for kind, row in stats.rows.items() if kind in METADATA_KINDS]
            metadata = self._sums[metrics.EXPORT_METADATA_OPERATIONS]
            metadata.add(part, client, sum(found), is_base=is_base)
        if stats.is_whole:
            self._firsts.note(name)

    def _forget(self, seen: dict[str, set[Client]]) -> None:
        for sums in self._sums.values():
            for part in sums.parts():
                there = seen.get(str(part), set())
                sums.forget(part, [key for key in sums.known(part) if key not in there])


def _part(name: str) -> str:
    return name.partition(".exports.")[0]


# Counters of jobs on the targets of a server: job_stats.

JOB_PATTERNS = (
    *("obdfilter.*.job_stats", "mdt.*.job_stats"),
    *("obdfilter.*.job_cleanup_interval", "mdt.*.job_cleanup_interval"),
)
_LEAST_ENTRIES = 1000


def lost_jobs(values: Mapping[str, str], interval_seconds: float) -> Iterator[Problem]:
    """Warn if jobs may disappear between two readings, together with what they did in between."""
    for name, text in values.items():
        if not name.endswith(".job_cleanup_interval"):
            continue
        seconds = parse_count(text)
        if seconds and seconds < 2 * interval_seconds:  # 0: they stay
            yield Problem(
                f"{name} is {seconds} s, and jobs are read every {interval_seconds:g} s: what "
                f"jobs do last may be missed; set job_interval_seconds to {seconds / 2:g} or less"
            )
            return


class Jobs:
    """Readers of job_stats, one for each target, for as long as the agent runs.

    Each text is requested separately: job ids are chosen by users, and a separate text cannot
    pretend to be another parameter; besides, a text may be far larger than memory allows.

    Attributes:
        settled_each: One of so many readings returns everything that jobs did; the others only
            return jobs that began or paused.
    """

    def __init__(self, most_jobs: int, timeout_seconds: float) -> None:
        """Set about how many jobs, shared by the targets, are remembered."""
        self.settled_each = 1
        self._unsettled = 0
        self._most_jobs = most_jobs
        self._timeout_seconds = timeout_seconds
        self._readers: dict[TargetName, JobStatsReader] = {}

    def collect(
        self, host: Host, parameters: Parameters, names: Sequence[str]
    ) -> Iterator[Reading | TargetJobs | Problem]:
        """Read the jobs of all targets, one after the other.

        Raises:
            HostError: `lctl` takes too long, as it would for the other targets.
        """
        self._unsettled += 1
        is_settled = self._unsettled >= self.settled_each
        if is_settled:
            self._unsettled = 0
        for name in names:
            target = parse_target(name.split(".")[1])
            if target is None:
                continue
            if target not in self._readers:
                self._readers[target] = self._reader(len(names))
            try:
                pieces = parameters.pieces(host, name, self._timeout_seconds)
                found = self._readers[target].read(pieces, is_settled=is_settled)
            except HostError as error:
                if error.reason == "slow":
                    raise HostError("slow", f"{name}: {error}") from error
                yield problem_of(name, error)
                continue
            yield from named_problems(name, found.problems)
            yield TargetJobs(
                *target, found.changed, found.gone, found.count, found.is_first, found.is_settled
            )
            yield Reading(metrics.JOBS, tuple(target), found.count)

    def _reader(self, targets: int) -> JobStatsReader:
        most = max(_LEAST_ENTRIES, self._most_jobs // max(1, targets))
        return JobStatsReader(most_entries=most)
