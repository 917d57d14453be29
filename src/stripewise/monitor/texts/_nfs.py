# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
r"""`/proc/self/mountstats` and `/proc/self/mountinfo`: statistics of NFS clients.

Mounts of one superblock share their statistics, and mountstats repeats them for each; mountinfo
tells which do, by the device number.  In both, the kernel writes blanks of names as \040.

Source: fs/nfs/super.c (nfs_show_stats), fs/proc_namespace.c, net/sunrpc/stats.c of Linux 6.12;
statistics of version 1.0 and 1.1; operations have 8 numbers, 9 since Linux 5.3 (errors).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from stripewise.monitor.texts._numbers import shown, whole

_MOUNT = re.compile(r"device (\S+) mounted on (\S+) with fstype (\S+)(?: statvers=(\S+))?\s*")
_OPERATION = re.compile(r"\s*([A-Z0-9][A-Z0-9_]{0,31}):((?: \d{1,20}){8,12})\s*")
_VERSIONS = ("1.0", "1.1")
_ESCAPE = re.compile(r"\\([0-7]{3})")
_KINDS = ("nfs", "nfs4")
_BYTES = 8


class NfsOperation(NamedTuple):
    """Counters of one kind of operation.

    Attributes:
        calls: Operations that ended.
        timeouts: Times that the server did not answer in time.
        queue_ms: Time before they were sent, summed up.
        total_ms: Time from request to end, summed up.
        errors: Operations that failed; None: not told.
    """

    calls: int
    timeouts: int
    queue_ms: int
    total_ms: int
    errors: int | None


class NfsMount(NamedTuple):
    """Statistics of one mount.

    Attributes:
        point: Where it is mounted.
        device: Number of its superblock, "0:50".
        bytes_moved: Read and written by programs through the cache, directly, and on the wire:
            read, write, direct read, direct write, server read, server write; (): not told.
        operations: By name, READ, WRITE, ...
    """

    point: str
    device: str
    bytes_moved: tuple[int, ...]
    operations: dict[str, NfsOperation]


def unescaped(name: str) -> str:
    r"""Return a name without the kernel's \040 for blanks."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), name)


def read_mountstats(stats: str, devices: dict[str, list[str]]) -> tuple[list[NfsMount], list[str]]:
    """Read statistics of NFS mounts, also of those that share them.

    Args:
        stats: `/proc/self/mountstats`.
        devices: As `read_devices` gives them.

    Returns:
        The mounts in the kernel's order, and what was left out, a sentence each.
    """
    found: list[NfsMount] = []
    problems: list[str] = []
    waiting = {point: list(numbers) for point, numbers in devices.items()}
    for point, version, lines in _blocks(stats, problems):
        numbers = waiting.get(point, [])
        device = numbers.pop(0) if numbers else ""
        if not device:
            problems.append(f"{_place(point)} came or went while it was read")
        elif version not in _VERSIONS:
            problems.append(f"{_place(point)} has statistics of version {shown(version)}")
        else:
            found.append(_mount(point, device, lines, problems))
    left = [point for point, numbers in waiting.items() for _ in numbers]
    problems += [f"{_place(point)} came or went while it was read" for point in left]
    return found, problems


def read_devices(text: str) -> dict[str, list[str]]:
    """Read `/proc/self/mountinfo`: device numbers of NFS mounts by mount point, in order."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        words = before.split(" ")
        if dash and len(words) >= 6 and after.split(" ")[0] in _KINDS:
            found.setdefault(words[4], []).append(words[2])
    return found


def _place(point: str) -> str:
    """Show the last part of a mount point alone: messages are no place for paths."""
    return f"the mount {shown(unescaped(point).rstrip('/').rpartition('/')[2] or 'root')}"


def _blocks(text: str, problems: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield mount point, version and lines of each NFS mount."""
    point, version, lines = "", "", list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith(("device ", "no device ")):
            lines.append(line)
            continue
        if point:
            yield point, version, lines
        point, version, lines = "", "", []
        if line.startswith("no "):
            continue
        head = _MOUNT.fullmatch(line)
        if head is None:
            problems.append(f"line {number}: {shown(line)} is no mount")
        elif head[3] in _KINDS:
            point, version = head[2], head[4] or "none"
    if point:
        yield point, version, lines


def _mount(point: str, device: str, lines: list[str], problems: list[str]) -> NfsMount:
    moved: list[tuple[int, ...]] = []
    operations: dict[str, NfsOperation] = {}
    doubled: set[str] = set()
    is_operation = False
    for line in lines:
        try:
            if line.strip().startswith("bytes:"):
                moved.append(_moved(line.split()[1:]))
            elif line.strip() == "per-op statistics":
                is_operation = True
            elif is_operation and line.strip():
                name, counts = _operation(line)
                doubled |= {name} & set(operations)
                operations[name] = counts
        except ValueError as error:
            problems.append(f"{_place(point)}: {error}")
    if len(moved) != 1 or not is_operation:
        problems.append(f"{_place(point)} has no bytes or no operations that can be believed")
    problems += [f"{_place(point)}: {name} is there twice" for name in sorted(doubled)]
    kept = {name: counts for name, counts in operations.items() if name not in doubled}
    return NfsMount(point, device, moved[0] if len(moved) == 1 else (), kept)


def _moved(words: list[str]) -> tuple[int, ...]:
    if len(words) != _BYTES:
        raise ValueError(f"{len(words)} numbers of bytes, not {_BYTES}")
    return tuple(whole(word) for word in words)[:6]


def _operation(line: str) -> tuple[str, NfsOperation]:
    """Columns: operations, transmissions, timeouts, sent, received, queue, round trip, all."""
    found = _OPERATION.fullmatch(line)
    if found is None:
        raise ValueError(f"{shown(line.strip())} is no operation")
    counts = [whole(word) for word in found[2].split()]
    errors = counts[8] if len(counts) > 8 else None
    return found[1], NfsOperation(counts[0], counts[2], counts[5], counts[7], errors)
