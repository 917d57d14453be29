# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of I/O at a target: osd-*.*.brw_stats.

    snapshot_time:         1700000000.123456789 secs.nsecs

                               read      |     write
    pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %
    1:                       100  10  10   |   50   5   5

Up to eight such sections; one in which nothing was counted has no rows.  Lustre prints from the
first row that counts to the last one that does; shares are rounded and not read.

What a key means (lprocfs_oh_tally_log2): row K of a section by powers of two counts values v with
K/2 < v <= K, and row 1 those of 0 and 1, so K is an upper bound that is included.  A row of the
other sections counts the value K alone, which is then its upper bound as well.  A histogram has 32
buckets: key 31 of the latter and 2048M of the former hold everything above, too.  I/Os in flight
go by powers of two in newer versions; the bound is K either way.

What counts once (osd_io.c): a bulk request of a client in pages, discontiguous pages and blocks,
fragments and I/O time, which is that from its first I/O to the disks to the end of its last; an
I/O to the disks in its size and in those in flight, itself among them.  ZFS counts sizes by
request, and tells no I/O time of writes: it writes later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from stripewise.monitor.texts.lustre._damage import Damage, number, whole_lines

_TITLES = {
    "pages per bulk r/w rpcs": "pages",
    "discontiguous pages rpcs": "discontiguous_pages",
    "discontiguous blocks rpcs": "discontiguous_blocks",
    "disk fragmented I/Os ios": "fragments",
    "disk I/Os in flight ios": "in_flight",
    "I/O time (1/1000s) ios": "io_milliseconds",
    "disk I/O size ios": "io_bytes",
    "block maps msec maps": "block_map_milliseconds",
}
"""Titles with the unit of their counts."""
_LINEAR = {"discontiguous_pages", "discontiguous_blocks", "fragments"}
_HEADER = re.compile(
    r"(snapshot_time|start_time|elapsed_time):\s+(\d{1,12})\.\s{0,8}(\d{1,9})"
    r"(?: secs\.[nu]secs| \(secs\.[nu]secs\))?",
    re.ASCII,
)
_COLUMNS = re.compile(r"\s+read\s+\|\s+write\s*", re.ASCII)
_TITLE = re.compile(
    r"(\S.*?)\s+(rpcs|ios|maps)\s+%\s+cum\s+%\s+\|\s+\2\s+%\s+cum\s+%\s*", re.ASCII
)
_ROW = re.compile(
    r"(0|[1-9]\d{0,3})([KMG]?):\s+(\d+)\s+\d{1,20}\s+\d{1,20}\s+\|\s+(\d+)\s+\d{1,20}\s+\d{1,20}",
    re.ASCII,
)
_SCALES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_LAST_LINEAR, _LAST_SCALED = 31, 1 << 31


class Buckets(NamedTuple):
    """One section: (upper bound, count), ascending; the last bound may be infinite."""

    read: tuple[tuple[float, int], ...] = ()
    write: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True)
class BrwStats:
    """One text.

    Attributes:
        sections: By "pages", "discontiguous_pages", "discontiguous_blocks", "fragments",
            "in_flight", "io_milliseconds", "io_bytes", "block_map_milliseconds".
        start_seconds: When it began to count; None: not told.
        problems: What was left out; a section with a damaged row is left out as a whole.
    """

    sections: Mapping[str, Buckets]
    start_seconds: float | None = None
    problems: tuple[str, ...] = ()


class _Section:
    """Rows of one section as they come; Lustre prints them without a gap."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_bad = False
        self._rows: list[tuple[int, int, int]] = []
        self._may_be_linear = name in _LINEAR or name == "in_flight"
        self._may_be_scaled = name not in _LINEAR

    def add(self, key: int, read: int, write: int) -> bool:
        """Take a row; False: it does not follow the one before."""
        before = self._rows[-1][0] if self._rows else None
        self._may_be_linear &= key <= _LAST_LINEAR and before in (None, key - 1)
        is_power = key > 0 and key & (key - 1) == 0
        self._may_be_scaled &= is_power and (before is None or key == 2 * before)
        self._rows.append((key, read, write))
        return self._may_be_linear or self._may_be_scaled

    def buckets(self) -> Buckets:
        """Return what the section counts."""
        last = _LAST_LINEAR if self._may_be_linear else _LAST_SCALED
        bounds = [inf if key >= last else float(key) for key, _, _ in self._rows]
        return Buckets(
            tuple(zip(bounds, [row[1] for row in self._rows], strict=True)),
            tuple(zip(bounds, [row[2] for row in self._rows], strict=True)),
        )


def parse_brw_stats(text: str) -> BrwStats:
    """Parse a text of histograms; see the module for what keys mean."""
    damage = Damage()
    sections: dict[str, _Section] = {}
    times: dict[str, float] = {}
    current: _Section | None = None
    lines = whole_lines(text, damage)
    is_torn = damage.count > 0
    is_columns = False
    for line in lines:
        if line[:1].isdigit():  # most lines
            is_columns = False
            _row(line, current, damage)
            continue
        was_columns, is_columns = is_columns, bool(_COLUMNS.fullmatch(line))
        if is_columns:
            current = None
        elif not line:
            continue
        elif header := _HEADER.fullmatch(line):
            times[header[1]] = float(f"{header[2]}.{header[3]:0>9}")
        elif title := _TITLE.fullmatch(line):
            if current is not None:
                current.is_bad = True
            current = _section(f"{title[1]} {title[2]}", line, was_columns, sections, damage)
        else:
            _row(line, current, damage)
    if is_torn and current is not None:
        current.is_bad = True
    found = {name: each.buckets() for name, each in sections.items() if not each.is_bad}
    return BrwStats(found, times.get("start_time"), damage.problems())


def _section(
    title: str, line: str, is_placed: bool, sections: dict[str, _Section], damage: Damage
) -> _Section:
    """Begin a section; its title stands below that of the columns."""
    name = _TITLES.get(title, "")
    found = _Section(name)
    if not name:
        damage.add("a section that is not known", line)
    elif name in sections:
        damage.add("a section that is there twice", line)
        sections[name].is_bad = True
    else:
        sections[name] = found
        if not is_placed:
            damage.add("a title that is not at its place", line)
            found.is_bad = True
    return found


def _row(line: str, section: _Section | None, damage: Damage) -> None:
    found = _ROW.fullmatch(line)
    read, write = (number(found[3]), number(found[4])) if found else (None, None)
    if section is None or not found or read is None or write is None:
        damage.add("not a row of a histogram", line)
    elif section.add(int(found[1]) * _SCALES[found[2]], read, write):
        return
    else:
        damage.add("a row that does not follow the one before", line)
    if section is not None:
        section.is_bad = True
