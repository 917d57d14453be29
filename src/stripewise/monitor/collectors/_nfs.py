# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""NFS clients, from `/proc/self/mountstats`."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, field_validator

from stripewise.monitor._host import Host, HostError
from stripewise.monitor._records import TargetJobs
from stripewise.monitor.collectors._base import Collector, CollectorSettings, Problem
from stripewise.monitor.collectors._names import GivenName, Names
from stripewise.monitor.collectors._shared import damages
from stripewise.monitor.metrics import Reading
from stripewise.monitor.metrics import others as m
from stripewise.monitor.texts import (
    NfsMount,
    NfsOperation,
    read_devices,
    read_mountstats,
    unescaped,
)

_STATS, _INFO = "/proc/self/mountstats", "/proc/self/mountinfo"
_USUAL = frozenset(
    "READ WRITE COMMIT OPEN CLOSE GETATTR SETATTR LOOKUP ACCESS READDIR READDIRPLUS CREATE REMOVE "
    "RENAME MKDIR RMDIR".split()
)
"""Told also while they are zero, so that growth is seen from the first one on."""


class NfsSettings(CollectorSettings):
    """[collectors.nfs].

    Attributes:
        names: Names of file systems by mount point: { "/home" = "home" }; others are called by the
            last part of their mount point.
        most_mounts: How many file systems are told; what comes later is left out.
    """

    names: dict[str, GivenName] = Field(default_factory=dict)
    most_mounts: int = Field(default=200, ge=1, le=10_000)

    @field_validator("names")
    @classmethod
    def _are_paths(cls, names: dict[str, str]) -> dict[str, str]:
        for point in names:
            if not point.startswith("/"):
                raise ValueError(f"{point!r} is no mount point: begin it with /")
        return names


class Nfs(Collector):
    """Counters of NFS file systems of this client since they were mounted.

    Mounts that share a superblock (bind mounts, several directories of one export) share their
    statistics, and each shows all of them: only the first is told, or the one that has a name in
    the configuration.  Exports that are mounted with different options are apart, and both count.
    Programs' bytes leave out what they reach through mapped memory; bytes of the server leave out
    what goes directly to the storage (pNFS with blocks).
    """

    name = "nfs"
    summary = "NFS file systems of this client, from /proc/self/mountstats"
    metrics = m.OF_NFS
    settings_class = NfsSettings

    def __init__(self, settings: CollectorSettings) -> None:
        """Take its settings."""
        super().__init__(settings)
        assert isinstance(settings, NfsSettings)
        self._given = settings.names
        self._most = settings.most_mounts
        self._names = Names(settings.names, settings.most_mounts)
        self._seen: dict[str, set[str]] = {}

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read."""
        if not host.names(_STATS):
            return f"{_STATS} is not there: mount /proc"
        try:
            is_mounted = bool(read_devices(host.text(_INFO)))
        except HostError as error:
            return f"NFS mounts cannot be told: {error}"
        if not is_mounted:
            return "no NFS file system is mounted: leave [collectors.nfs] out"
        return ""

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read all mounts."""
        text = host.text(_STATS)
        mounts, problems = read_mountstats(text, read_devices(host.text(_INFO)))
        yield from damages(_STATS, problems)
        unnamed = 0
        told: set[str] = set()
        for mount in self._apart(mounts):
            point = unescaped(mount.point)
            name = self._names.of(point, point.rstrip("/").rpartition("/")[2])
            if name is None:
                unnamed += 1
            elif name in told:
                yield Problem(f"{_STATS}: {name} is the name of two file systems: change `names`")
            else:
                told.add(name)
                yield from self._readings(mount, name)
        self._seen = {name: seen for name, seen in self._seen.items() if name in told}
        if unnamed:
            yield Problem(
                f"{unnamed} NFS mounts beyond the first {self._most} are left out: raise "
                f"`most_mounts` of [collectors.nfs]"
            )

    def _apart(self, mounts: list[NfsMount]) -> list[NfsMount]:
        """Return one mount for each superblock."""
        chosen: dict[str, NfsMount] = {}
        for mount in mounts:
            first = chosen.setdefault(mount.device, mount)
            if unescaped(mount.point) in self._given and unescaped(first.point) not in self._given:
                chosen[mount.device] = mount
        return list(chosen.values())

    def _readings(self, mount: NfsMount, name: str) -> Iterator[Reading]:
        if mount.bytes_moved:
            read, write, direct_read, direct_write, server_read, server_write = mount.bytes_moved
            yield Reading(m.NFS_READ_BYTES, (name,), server_read)
            yield Reading(m.NFS_WRITE_BYTES, (name,), server_write)
            yield Reading(m.NFS_PROGRAM_READ_BYTES, (name,), read + direct_read)
            yield Reading(m.NFS_PROGRAM_WRITE_BYTES, (name,), write + direct_write)
        seen = self._seen.setdefault(name, set())
        for operation, counts in mount.operations.items():
            if operation in _USUAL or operation in seen or counts.calls or counts.timeouts:
                seen.add(operation)
                yield from _operation((name, operation), counts)


def _operation(labels: tuple[str, str], counts: NfsOperation) -> Iterator[Reading]:
    yield Reading(m.NFS_OPERATIONS, labels, counts.calls)
    yield Reading(m.NFS_OPERATION_SECONDS, labels, counts.total_ms / 1000)
    yield Reading(m.NFS_QUEUE_SECONDS, labels, counts.queue_ms / 1000)
    yield Reading(m.NFS_TIMEOUTS, labels, counts.timeouts)
    if counts.errors is not None:
        yield Reading(m.NFS_ERRORS, labels, counts.errors)
