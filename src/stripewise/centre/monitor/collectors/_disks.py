# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads local disks from /proc/diskstats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host
from stripewise.centre.monitor._records import Reading, TargetJobs
from stripewise.centre.monitor.collectors._base import (
    Collector,
    CollectorSettings,
    Problem,
    damages,
    once,
    shown,
    usual,
    whole_lines,
    wholes,
)

_PATH = "/proc/diskstats"
_BLOCK = "/sys/block"
_NOT_DISKS = ("loop*", "ram*", "zram*", "sr*", "fd*", "nvme*c*n*", "zd*")
"""Files, memory, removable media, the paths of a multipath disk, and ZFS volumes, which do not
report on which disks they are."""


class DiskSettings(CollectorSettings):
    """Settings in [collectors.disks].

    Attributes:
        devices: Names or patterns of devices: "sd*", "dm-3"; empty for all disks that are not
            built on other devices.
    """

    devices: tuple[str, ...] = ()


class Disks(Collector):
    """Counters of whole disks since the host was started.

    Partitions are parts of disks, and devices that are built on others (dm-*, md*) move the same
    bytes again: both are left out, the latter unless `devices` names them. Times begin again at
    zero after 2^32 ms of requests; on 32-bit kernels, all counters do so. Sinks take that for a
    restart, so that the growth of one interval is reported too small, never too large.
    """

    name = "disks"
    summary = "local disks, from /proc/diskstats"
    metrics = metrics.metrics_named("disk_")
    settings_class = DiskSettings
    settings: DiskSettings

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read, or ""."""
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
    yield Reading(metrics.DISK_READ_BYTES, device, line.read_bytes)
    yield Reading(metrics.DISK_WRITE_BYTES, device, line.write_bytes)
    yield Reading(metrics.DISK_BUSY_SECONDS, device, line.busy_ms / 1000)
    for direction, count, milliseconds in (
        ("read", line.reads, line.read_ms),
        ("write", line.writes, line.write_ms),
        ("discard", line.discards, line.discard_ms),
        ("flush", line.flushes, line.flush_ms),
    ):
        if count is not None and milliseconds is not None:
            labels = (line.name, direction)
            yield Reading(metrics.DISK_OPERATIONS, labels, count)
            yield Reading(metrics.DISK_OPERATION_SECONDS, labels, milliseconds / 1000)
    if line.in_flight is None:
        yield Problem(f"{_PATH}: requests in flight of {line.name} are not a number", "malformed")
    else:
        yield Reading(metrics.DISK_IN_FLIGHT, device, line.in_flight)


# Format of `/proc/diskstats`: counters of block devices since the host was started.
#
# Lines have 14 columns (Linux up to 4.17), 18 (4.18, with discards) or 20 (5.5, with flushes). A
# sector is 512 bytes there, whatever the disk has. Times are whole milliseconds and begin again at
# zero after 2^32 of them (the kernel casts them to 32 bits); on 32-bit kernels all counters do. A
# kernel formats all lines alike: major and minor number, name, and counters, with a blank before
# each.
#
# Source: Documentation/admin-guide/iostats.rst and block/genhd.c of Linux 6.12.

SECTOR_BYTES = 512
_COLUMNS = (14, 18, 20)
_LINE = re.compile(r" *\d{1,4} +\d{1,8} (\S{1,32}) ([0-9 ]+)", re.ASCII)
_MOST_IN_FLIGHT = 1 << 31
"""From this value on it is a negative number that was written without its sign."""


class DiskLine(NamedTuple):
    """Counters of one device or partition.

    Attributes:
        name: Name as in `/sys/block`, where "!" stands for the "/" of "cciss/c0d0".
        reads, writes: Number of completed requests.
        read_bytes, write_bytes: Bytes that they moved.
        read_ms, write_ms: Sum of their times.
        in_flight: Number of requests at the disk; None if the kernel's number is invalid.
        busy_ms: Time in which there were any.
        discards, discard_ms: As for reads; None if not reported.
        flushes, flush_ms: As for reads; None if not reported.
    """

    name: str
    reads: int
    read_bytes: int
    read_ms: int
    writes: int
    write_bytes: int
    write_ms: int
    in_flight: int | None
    busy_ms: int
    discards: int | None = None
    discard_ms: int | None = None
    flushes: int | None = None
    flush_ms: int | None = None


def read_diskstats(text: str) -> tuple[list[DiskLine], list[str]]:
    """Parse the file.

    Returns:
        Its lines, and what was left out, one sentence each.
    """
    found = []
    lines, problems = whole_lines(text)
    columns = usual(len(line.split()) for line in lines if line.strip())
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(_line(line, columns))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    kept, doubled = once(found, lambda one: one.name)
    return kept, problems + doubled


def _line(line: str, usual_columns: int) -> DiskLine:
    columns = len(line.split())
    if columns not in _COLUMNS and columns < _COLUMNS[-1]:
        raise ValueError(f"{columns} columns, not 14, 18 or 20")
    if columns != usual_columns:
        raise ValueError(f"{columns} columns, not as many as most lines have")
    found = _LINE.fullmatch(line)
    if not found or not found[1].isprintable() or not found[1].isascii():
        raise ValueError(f"{shown(line.strip())} is not a device")
    name, counts = found[1].replace("/", "!"), wholes(found[2])
    reads, _, read_sectors, read_ms, writes, _, write_sectors, write_ms = counts[:8]
    in_flight, busy_ms = counts[8:10]
    return DiskLine(
        name,
        *(reads, read_sectors * SECTOR_BYTES, read_ms),
        *(writes, write_sectors * SECTOR_BYTES, write_ms),
        in_flight if in_flight < _MOST_IN_FLIGHT else None,
        busy_ms,
        *((counts[11], counts[14]) if len(counts) >= 15 else (None, None)),
        *((counts[15], counts[16]) if len(counts) >= 17 else (None, None)),
    )
