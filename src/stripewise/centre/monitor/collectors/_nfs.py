# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads NFS clients from /proc/self/mountstats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import Field, field_validator

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host, HostError
from stripewise.centre.monitor._records import Reading, TargetJobs
from stripewise.centre.monitor.collectors._base import (
    Collector,
    CollectorSettings,
    GivenName,
    Names,
    Problem,
    damages,
    shown,
    usual,
    whole_lines,
    wholes,
)

_STATS, _INFO = "/proc/self/mountstats", "/proc/self/mountinfo"
_USUAL = frozenset(
    "READ WRITE COMMIT OPEN CLOSE GETATTR SETATTR LOOKUP ACCESS READDIR READDIRPLUS CREATE REMOVE "
    "RENAME MKDIR RMDIR".split()
)
"""Operations that are reported even if zero, so that their growth is complete."""


class NfsSettings(CollectorSettings):
    """Settings in [collectors.nfs].

    Attributes:
        names: Names of file systems by mount point: { "/home" = "home" }; others are named after
            the last part of their mount point.
        most_mounts: Maximum number of file systems that are reported; later ones are left out.
    """

    names: dict[str, GivenName] = Field(default_factory=dict)
    most_mounts: int = Field(default=200, ge=1, le=10_000)

    @field_validator("names")
    @classmethod
    def _are_paths(cls, names: dict[str, str]) -> dict[str, str]:
        for point in names:
            if not point.startswith("/"):
                raise ValueError(f"{point!r} is not a mount point: begin it with /")
        return names


class Nfs(Collector):
    """Counters of NFS file systems of this client since they were mounted.

    Mounts that share a superblock (bind mounts, several directories of one export) share their
    statistics, and each shows all of them: only the first one is reported, or the one with a name
    in the configuration. Exports that are mounted with different options are separate, and both
    count. Programs' bytes exclude access through mapped memory; the server's bytes exclude data
    that goes directly to the storage (pNFS with blocks).
    """

    name = "nfs"
    summary = "NFS file systems of this client, from /proc/self/mountstats"
    metrics = metrics.metrics_named("nfs_")
    settings_class = NfsSettings
    settings: NfsSettings

    def __init__(self, settings: NfsSettings) -> None:
        """Store the settings."""
        super().__init__(settings)
        self._names = Names(settings.names, settings.most_mounts)
        self._seen: dict[str, set[str]] = {}

    def missing(self, host: Host) -> str:
        """Return why there is nothing to read, or ""."""
        if not host.names(_STATS):
            return f"{_STATS} is not there: mount /proc"
        try:
            is_mounted = bool(read_devices(host.text(_INFO)))
        except HostError as error:
            return f"NFS mounts cannot be determined: {error}"
        if not is_mounted:
            return "no NFS file system is mounted: leave [collectors.nfs] out"
        return ""

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read all mounts."""
        text = host.text(_STATS)
        mounts, problems = read_mountstats(text, read_devices(host.text(_INFO)))
        yield from damages(_STATS, problems)
        unnamed = 0
        reported: set[str] = set()
        for mount in self._apart(mounts):
            point = unescaped(mount.point)
            name = self._names.of(point, point.rstrip("/").rpartition("/")[2])
            if name is None:
                unnamed += 1
            elif name in reported:
                yield Problem(f"{_STATS}: {name} is the name of two file systems: change `names`")
            else:
                reported.add(name)
                yield from self._readings(mount, name)
        self._seen = {name: seen for name, seen in self._seen.items() if name in reported}
        if unnamed:
            yield Problem(
                f"{unnamed} NFS mounts beyond the first {self.settings.most_mounts} are left out: "
                "raise `most_mounts` of [collectors.nfs]"
            )

    def _apart(self, mounts: list[NfsMount]) -> list[NfsMount]:
        """Return one mount for each superblock."""
        chosen: dict[str, NfsMount] = {}
        for mount in mounts:
            first = chosen.setdefault(mount.device, mount)
            given = self.settings.names
            if unescaped(mount.point) in given and unescaped(first.point) not in given:
                chosen[mount.device] = mount
        return list(chosen.values())

    def _readings(self, mount: NfsMount, name: str) -> Iterator[Reading]:
        if mount.bytes_moved:
            read, write, direct_read, direct_write, server_read, server_write = mount.bytes_moved
            yield Reading(metrics.NFS_READ_BYTES, (name,), server_read)
            yield Reading(metrics.NFS_WRITE_BYTES, (name,), server_write)
            yield Reading(metrics.NFS_PROGRAM_READ_BYTES, (name,), read + direct_read)
            yield Reading(metrics.NFS_PROGRAM_WRITE_BYTES, (name,), write + direct_write)
        seen = self._seen.setdefault(name, set())
        for operation, counts in mount.operations.items():
            if operation in _USUAL or operation in seen or counts.calls or counts.timeouts:
                seen.add(operation)
                yield from _operation_readings((name, operation), counts)


def _operation_readings(labels: tuple[str, str], counts: NfsOperation) -> Iterator[Reading]:
    yield Reading(metrics.NFS_OPERATIONS, labels, counts.calls)
    yield Reading(metrics.NFS_OPERATION_SECONDS, labels, counts.total_ms / 1000)
    yield Reading(metrics.NFS_QUEUE_SECONDS, labels, counts.queue_ms / 1000)
    yield Reading(metrics.NFS_TIMEOUTS, labels, counts.timeouts)
    if counts.errors is not None:
        yield Reading(metrics.NFS_ERRORS, labels, counts.errors)


# Format of `/proc/self/mountstats` and `/proc/self/mountinfo`: statistics of NFS clients.
#
# Mounts of one superblock share their statistics, and mountstats repeats them for each; mountinfo
# shows which mounts these are, by the device number. In both, the kernel writes blanks in names as
# \040.
#
# For each NFS mount there are, in this order and each with a leading tab: options, age, bytes and
# others, then "per-op statistics" and a line for each operation, with one blank between numbers.
#
# Source: fs/nfs/super.c (nfs_show_stats), fs/proc_namespace.c, net/sunrpc/stats.c of Linux 6.12;
# statistics of version 1.0 and 1.1; operations have 8 numbers, 9 since Linux 5.3 (errors).

_MOUNT = re.compile(r"device (\S+) mounted on (\S+) with fstype (\S+)(?: statvers=(\S+))?")
_OPERATION = re.compile(r"\t *([A-Z0-9][A-Z0-9_]{0,31}): ((?:\d{1,20} ){7,11}\d{1,20})", re.ASCII)
_MOVED = re.compile(r"\tbytes:\t([0-9 ]*[0-9]) ?", re.ASCII)
_PARTS = ("opts:", "age:", "bytes:", "per-op statistics")
"""Prefixes of lines that occur once for each mount, in this order."""
_DEVICE = re.compile(r"\d{1,6}:\d{1,8}", re.ASCII)
_VERSIONS = ("1.0", "1.1")
_ESCAPE = re.compile(r"\\([0-7]{3})")
_KINDS = ("nfs", "nfs4")
_BYTES = 8
_TITLE = "\tper-op statistics"


class NfsOperation(NamedTuple):
    """Counters of one kind of operation.

    Attributes:
        calls: Number of operations that ended.
        timeouts: How often the server did not answer in time.
        queue_ms: Sum of the times before they were sent.
        total_ms: Sum of the times from request to end.
        errors: Number of operations that failed; None if not reported.
    """

    calls: int
    timeouts: int
    queue_ms: int
    total_ms: int
    errors: int | None


class NfsMount(NamedTuple):
    """Statistics of one mount.

    Attributes:
        point: Mount point.
        device: Number of its superblock, such as "0:50".
        bytes_moved: Bytes read and written by programs through the cache, directly, and on the
            wire: read, write, direct read, direct write, server read, server write; () if not
            reported.
        operations: Counters by name: READ, WRITE, ...
    """

    point: str
    device: str
    bytes_moved: tuple[int, ...]
    operations: dict[str, NfsOperation]


def unescaped(name: str) -> str:
    r"""Return a name without the kernel's \040 for blanks."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), name)


def read_mountstats(stats: str, devices: dict[str, list[str]]) -> tuple[list[NfsMount], list[str]]:
    """Parse statistics of NFS mounts, including those that share them.

    Args:
        stats: Text of `/proc/self/mountstats`.
        devices: Result of `read_devices`.

    Returns:
        The mounts in the kernel's order, and what was left out, one sentence each.
    """
    found: list[NfsMount] = []
    lines, problems = whole_lines(stats)
    blocks = list(_blocks(lines, problems))
    there = Counter(point for point, _, _ in blocks)
    unlike = [
        point for point in {**there, **devices} if there[point] != len(devices.get(point, ()))
    ]
    problems += [f"{_place(point)} came or went while it was read" for point in unlike]
    waiting = {point: iter(devices[point]) for point in there if point not in unlike}
    for point, version, rest in blocks:
        if point not in waiting:
            continue
        device = next(waiting[point])
        if version not in _VERSIONS:
            problems.append(f"{_place(point)} has statistics of version {shown(version)}")
        elif not _is_in_order(rest):
            problems.append(f"{_place(point)} has lines that are not at their places")
        else:
            found.append(_mount(point, device, rest, problems))
    return found, problems


def read_devices(text: str) -> dict[str, list[str]]:
    """Parse `/proc/self/mountinfo`: device numbers of NFS mounts by mount point, in order."""
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        before, dash, after = line.partition(" - ")
        words = before.split(" ")
        is_mount = dash and len(words) >= 6 and after.split(" ")[0] in _KINDS
        if is_mount and _DEVICE.fullmatch(words[2]):
            found.setdefault(words[4], []).append(words[2])
    return found


def _place(point: str) -> str:
    """Return only the last part of a mount point, since messages must not contain paths."""
    return f"the mount {shown(unescaped(point).rstrip('/').rpartition('/')[2] or 'root')}"


def _blocks(lines: list[str], problems: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield mount point, version and lines of each NFS mount."""
    point, version, block = "", "", list[str]()
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("\t"):
            block.append(line)
            continue
        if point:
            yield point, version, block
        was_of_nfs, point, version, block = bool(point), "", "", []
        head = _MOUNT.fullmatch(line)
        if head is not None and head[3] in _KINDS:
            point, version = head[2], head[4] or "none"
        elif head is None and (was_of_nfs or line.startswith("device ")) and line[:3] != "no ":
            problems.append(
                f"line {number}: {shown(line)} is not a mount"
            )  # nor is what follows it
    if point:
        yield point, version, block


def _is_in_order(lines: list[str]) -> bool:
    """Return whether these are the lines of one mount, and not of two that were merged."""
    parts = [part for line in lines for part in _PARTS if line.startswith(f"\t{part}")]
    is_one = parts == [part for part in _PARTS if part in parts]
    before_blank = lines[: lines.index("")] if "" in lines else lines
    return is_one and parts[:1] == ["opts:"] and not any(lines[len(before_blank) :])


def _mount(point: str, device: str, lines: list[str], problems: list[str]) -> NfsMount:
    start = lines.index(_TITLE) + 1 if _TITLE in lines else len(lines)
    rows = [line for line in lines[start:] if line]
    columns = usual(len(line.split()) - 1 for line in rows)
    moved: tuple[int, ...] = ()
    operations: dict[str, NfsOperation] = {}
    doubled: set[str] = set()
    for line in [*(line for line in lines[:start] if line.startswith("\tbytes:")), *rows]:
        try:
            if line.startswith("\tbytes:"):
                moved = _moved(line)
            else:
                name, counts = _operation(line, columns)
                doubled |= {name} & set(operations)
                operations[name] = counts
        except ValueError as error:
            problems.append(f"{_place(point)}: {error}")
    if not moved or not rows:
        problems.append(f"{_place(point)} has no bytes or no operations that can be believed")
    problems += [f"{_place(point)}: {name} is there twice" for name in sorted(doubled)]
    kept = {name: counts for name, counts in operations.items() if name not in doubled}
    return NfsMount(point, device, moved, kept)


def _moved(line: str) -> tuple[int, ...]:
    found = _MOVED.fullmatch(line)
    counts = wholes(found[1]) if found else []
    if len(counts) != _BYTES:
        raise ValueError(f"{shown(line.strip())} is not {_BYTES} numbers of bytes")
    return tuple(counts[:6])


def _operation(line: str, columns: int) -> tuple[str, NfsOperation]:
    """Parse operations, transmissions, timeouts, sent, received, queue, round trip, total."""
    found = _OPERATION.fullmatch(line)
    if found is None:
        raise ValueError(f"{shown(line.strip())} is not an operation")
    counts = wholes(found[2])
    if len(counts) != columns:
        raise ValueError(f"{found[1]} has {len(counts)} numbers, not as many as most have")
    errors = counts[8] if len(counts) > 8 else None
    return found[1], NfsOperation(counts[0], counts[2], counts[5], counts[7], errors)
