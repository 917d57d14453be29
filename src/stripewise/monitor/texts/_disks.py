# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`/proc/diskstats`: counters of block devices since the host was started.

Lines have 14 columns (Linux up to 4.17), 18 (4.18, with discards) or 20 (5.5, with flushes).
A sector is 512 bytes there, whatever the disk has.  Times come in whole milliseconds and begin
again at zero after 2^32 of them (the kernel casts them to 32 bits); on 32-bit kernels all do.
One kernel prints all lines alike: major and minor number, name, and counters, a blank before each.

Source: Documentation/admin-guide/iostats.rst and block/genhd.c of Linux 6.12.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stripewise.monitor.texts._numbers import once, shown, usual, whole_lines, wholes

SECTOR_BYTES = 512
_COLUMNS = (14, 18, 20)
_LINE = re.compile(r" *\d{1,4} +\d{1,8} (\S{1,32}) ([0-9 ]+)", re.ASCII)
_MOST_IN_FLIGHT = 1 << 31
"""From there on it is a negative number that was written without its sign."""


class DiskLine(NamedTuple):
    """Counters of one device or partition.

    Attributes:
        name: As in `/sys/block`, where "!" stands for the "/" of "cciss/c0d0".
        reads, writes: Requests that were completed.
        read_bytes, write_bytes: Moved by them.
        read_ms, write_ms: Their times, summed up.
        in_flight: Requests that are with the disk; None: the kernel's number is none.
        busy_ms: Time in which there were any.
        discards, discard_ms: As for reads; None: not told.
        flushes, flush_ms: The same.
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
    """Read the file.

    Returns:
        Its lines, and what was left out, a sentence each.
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
        raise ValueError(f"{shown(line.strip())} is no device")
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
