# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lustre's servers: targets, jobs, clients, quota, locks and services, through `lctl`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Self, TypeGuard

from pydantic import Field, model_validator

from stripewise.monitor._host import Host, HostError
from stripewise.monitor._privileges import rights_remedy
from stripewise.monitor._records import TargetJobs
from stripewise.monitor.collectors._base import Collector, CollectorSettings, Problem
from stripewise.monitor.collectors._lctl import LctlCommand, Parameters
from stripewise.monitor.collectors._lustre_exports import EXPORT_PATTERNS, Exports
from stripewise.monitor.collectors._lustre_health import server_readings, version_problem
from stripewise.monitor.collectors._lustre_jobs import JOB_PATTERNS, Jobs, lost_jobs
from stripewise.monitor.collectors._lustre_quota import QUOTA_PATTERNS, Quota
from stripewise.monitor.collectors._lustre_services import SERVICE_PATTERNS, service_readings
from stripewise.monitor.collectors._lustre_state import (
    LOCK_PATTERNS,
    connection_readings,
    lock_readings,
    space_readings,
)
from stripewise.monitor.collectors._lustre_stats import Target, brw_readings, stats_readings
from stripewise.monitor.metrics import Reading, lustre
from stripewise.monitor.texts.lustre import TargetName, parse_target

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
"""What has an interval of its own is read in the round that begins nearest to its end."""


class LustreServerSettings(CollectorSettings):
    """Settings of `lustre-server`.

    Attributes:
        lctl: Path or name of the command.
        timeout_seconds: Of one call of it.
        jobs: Whether to read counters of jobs.
        job_interval_seconds: How often jobs, exports and histograms of I/O are read, which take
            longer.  At most half of Lustre's job_cleanup_interval (600 s), after which jobs
            disappear.
        most_jobs: How many jobs on targets are remembered, in all.
        exports / most_clients: Whether to read counters of clients, and of how many.
        quota / most_ids: Whether to read quota, and of how many users, groups and projects each.
        quota_interval_seconds: How often quota is read, which has most lines and changes slowly.
        services / locks: Whether to read those.
    """

    lctl: LctlCommand = "lctl"
    timeout_seconds: float = Field(default=10.0, gt=0.0, le=600.0)
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


class LustreServer(Collector):
    """Counters of the targets that this server serves.

    The MGS is not a target of a file system, and left out.
    """

    name = "lustre-server"
    summary = "Lustre servers: targets, jobs, quota, locks, services, clients"
    metrics = lustre.OF_SERVER
    settings_class = LustreServerSettings

    def __init__(self, settings: CollectorSettings) -> None:
        super().__init__(settings)
        if not isinstance(settings, LustreServerSettings):
            raise TypeError("lustre-server takes LustreServerSettings")
        self._own = settings
        self.monotonic = time.monotonic
        patterns = _patterns(settings)
        self._parameters = Parameters(
            settings.lctl, patterns, settings.timeout_seconds, lambda: self.monotonic()
        )
        long = max(settings.timeout_seconds, settings.job_interval_seconds)
        self._jobs = Jobs(settings.most_jobs, long)
        self._exports = Exports(settings.most_clients)
        self._quota = Quota(settings.most_ids, long)
        self._seen: dict[TargetName, None] = {}
        self._slow_at: dict[str, float] = {}
        self._kept: dict[str, list[Reading | Problem]] = {}
        self._version = ""

    def missing(self, host: Host) -> str:
        parameters = Parameters(
            self._own.lctl, _TARGET_PATTERNS[:1] + _TARGET_PATTERNS[3:4], self._own.timeout_seconds
        )
        try:
            parameters.begin(host)
        except HostError as error:
            return str(error)
        if targets_of(parameters.names):
            return ""
        return (
            f"{self._own.lctl} lists no targets: mount a target of Lustre on this server, or "
            "leave this collector out"
        )

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        self._parameters.begin(host)
        names = self._parameters.names
        fast = [name for name in names if not _is_slow(name) and not _is_of_management(name)]
        values, problems = self._parameters.read(host, fast)
        yield from problems
        values.setdefault("version", self._version)
        yield from server_readings(values)
        yield from version_problem(values, self._version)
        self._version = values["version"]
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
        """Say of each target that this process has seen whether it is still there."""
        there = {TargetName(*target.labels) for target in targets}
        self._seen.update(dict.fromkeys(sorted(there)))
        for target in self._seen:
            is_missing = float(target not in there)
            yield Reading(lustre.TARGET_MISSING, tuple(target), is_missing)

    def _slow(
        self, host: Host, names: Sequence[str], values: Mapping[str, str]
    ) -> Iterator[Reading | TargetJobs | Problem]:
        """Read what takes longer, where that is due; repeat the last readings of the rest.

        What is denied is repeated as well: it would else seem to come and go.
        """
        own = self._own
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
    """Read those of all targets, which count I/O at their disks."""
    chosen = [name for name in names if not _is_of_management(name)]
    for values, problems in parameters.parts(host, chosen) if chosen else ():
        yield from problems
        for name in chosen:
            yield from brw_readings(name, values)


def targets_of(names: Sequence[str]) -> list[Target]:
    """Return the targets of names of parameters, in order."""
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


def _patterns(settings: LustreServerSettings) -> tuple[str, ...]:
    return (
        *("health_check", *_TARGET_PATTERNS),
        *(LOCK_PATTERNS if settings.locks else ()),
        *(SERVICE_PATTERNS if settings.services else ()),
        *(JOB_PATTERNS if settings.jobs else ()),
        *(QUOTA_PATTERNS if settings.quota else ()),
        *(EXPORT_PATTERNS if settings.exports else ()),
    )


def _has(name: str, parts: tuple[str, ...]) -> bool:
    return any(part in name for part in parts)


def _is_slow(name: str) -> bool:
    return _has(name, _SLOW) or name.startswith("qmt.")


def _is_of_management(name: str) -> bool:
    return name.startswith("osd-") and ".MGS." in name


def _hidden(targets: Sequence[Target], names: Sequence[str]) -> Iterator[Problem]:
    """Say what targets have that is not listed: Lustre shows it to root alone."""
    listed = set(names)
    for what, count in (
        ("stats", sum(not target.stats for target in targets)),
        ("brw_stats", sum(bool(each.osd) and f"{each.osd}.brw_stats" not in listed
                          for each in targets)),
    ):  # fmt: skip
        if count:
            who = "1 target lists" if count == 1 else f"{count} targets list"
            told = f"{who} no {what}, which root alone may read: {rights_remedy()}"
            yield Problem(told, "denied")
