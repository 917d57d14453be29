# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Local disks, from `/proc/diskstats`."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from stripewise.monitor._host import Host
from stripewise.monitor._records import TargetJobs
from stripewise.monitor.collectors._base import Collector, CollectorSettings, Problem
from stripewise.monitor.collectors._shared import damages
from stripewise.monitor.metrics import Reading
from stripewise.monitor.metrics import others as m
from stripewise.monitor.texts import DiskLine, read_diskstats

_PATH = "/proc/diskstats"
_BLOCK = "/sys/block"
_NOT_DISKS = ("loop*", "ram*", "zram*", "sr*", "fd*", "nvme*c*n*", "zd*")
"""Files, memory, removable media, the paths of a disk that has several, and volumes of ZFS, which
stand on disks without saying on which."""


class DiskSettings(CollectorSettings):
    """[collectors.disks].

    Attributes:
        devices: Names or patterns of devices: "sd*", "dm-3"; none: all disks that stand on no
            other device.
    """

    devices: tuple[str, ...] = ()


class Disks(Collector):
    """Counters of whole disks since the host was started.

    Partitions are parts of disks, and devices that stand on others (dm-*, md*) move the same bytes
    again: both are left out, the latter unless `devices` names them.  Times begin again at zero
    after 2^32 ms of requests; kernels of 32 bits do so with all counters.  Sinks take that for a
    restart, so that the growth of one interval is told too small, never too large.
    """

    name = "disks"
    summary = "local disks, from /proc/diskstats"
    metrics = m.OF_DISKS
    settings_class = DiskSettings

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read."""
        if not host.names(_PATH):
            return f"{_PATH} is not there: mount /proc"
        if not self._wanted(host):
            return "no disk is there: name others in `devices` of [collectors.disks]"
        return ""

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read all disks."""
        lines, problems = read_diskstats(host.text(_PATH))
        yield from damages(_PATH, problems)
        wanted = self._wanted(host)
        for line in lines:
            if line.name in wanted:
                yield from _readings(line)

    def _wanted(self, host: Host) -> frozenset[str]:
        names = [path.rpartition("/")[2] for path in host.names(f"{_BLOCK}/*")]
        assert isinstance(self.settings, DiskSettings)
        if self.settings.devices:
            return frozenset(name for name in names if _is_of(name, self.settings.devices))
        stacked = {path.split("/")[3] for path in host.names(f"{_BLOCK}/*/slaves/*")}
        return frozenset(
            name for name in names if name not in stacked and not _is_of(name, _NOT_DISKS)
        )


def _is_of(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _readings(line: DiskLine) -> Iterator[Reading | Problem]:
    device = (line.name,)
    yield Reading(m.DISK_READ_BYTES, device, line.read_bytes)
    yield Reading(m.DISK_WRITE_BYTES, device, line.write_bytes)
    yield Reading(m.DISK_BUSY_SECONDS, device, line.busy_ms / 1000)
    for direction, count, milliseconds in (
        ("read", line.reads, line.read_ms),
        ("write", line.writes, line.write_ms),
        ("discard", line.discards, line.discard_ms),
        ("flush", line.flushes, line.flush_ms),
    ):
        if count is not None and milliseconds is not None:
            labels = (line.name, direction)
            yield Reading(m.DISK_OPERATIONS, labels, count)
            yield Reading(m.DISK_OPERATION_SECONDS, labels, milliseconds / 1000)
    if line.in_flight is None:
        yield Problem(f"{_PATH}: requests in flight of {line.name} are no number", "malformed")
    else:
        yield Reading(m.DISK_IN_FLIGHT, device, line.in_flight)
