# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses stats, md_stats and brw_stats of Lustre, and turns them into readings of a target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._records import Histogram, Metric, Reading
from stripewise.centre.monitor.collectors._base import Problem, number
from stripewise.centre.monitor.collectors.lustre._parameters import (
    Damage,
    parse_target,
    whole_lines,
)

METADATA_KINDS = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr"),
    *("setattr", "getxattr", "setxattr", "statfs", "sync"),
)
"""Operations that clients request from a metadata target, as the statistics database counts them.
Lustre counts renames within and across directories a second time; they are not included here."""
USECS_PER_SECOND = 1e6
_DATA_KINDS = ("read", "write")
_BYTES = {"read_bytes": "read", "write_bytes": "write"}
_EARLIEST_SECONDS = 1e9
"""Times before 2001 are times since the server was booted (LU-16231)."""


class Target(NamedTuple):
    """A target of this server.

    Attributes:
        fs / target: Names as in labels.
        root: Prefix of its parameters, "obdfilter.scratch-OST0004".
        osd: Prefix for its object storage device, "osd-ldiskfs.scratch-OST0004"; "" if there is
            none.
        stats: Names of its texts of counters.
    """

    fs: str
    target: str
    root: str
    osd: str = ""
    stats: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, str]:
        """Values of the labels of its readings."""
        return self.fs, self.target

    @property
    def is_metadata(self) -> bool:
        """Return whether it is a metadata target."""
        return self.target.startswith("MDT")


def named_problems(name: str, problems: Sequence[str]) -> Iterator[Problem]:
    """Yield problems with the name of the parameter that they concern."""
    for problem in problems:
        yield Problem(f"{name}: {problem}")


def stats_readings(target: Target, values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Yield readings of a target's counters.

    A metadata target has md_stats, and in some versions also stats; counters of files whose data
    is on the metadata target may be in either. What is in both counts once.
    """
    rows: dict[str, StatsRow] = {}
    is_whole, starts = bool(target.stats), list[float]()
    for name in target.stats:
        if name not in values:
            is_whole = False
            continue
        stats = parse_stats(values[name])
        yield from named_problems(name, stats.problems)
        rows = {**stats.rows, **rows}
        is_whole = is_whole and stats.is_whole
        starts += [stats.start_seconds] if stats.start_seconds is not None else []
    if _EARLIEST_SECONDS < min(starts, default=0) and len(starts) == len(target.stats):
        yield Reading(metrics.TARGET_STARTED, target.labels, starts[0])
    yield from _bytes(target, rows, is_whole)
    for operation, row in operations_of(rows):
        labels = (*target.labels, operation)
        yield Reading(metrics.TARGET_OPERATIONS, labels, row.samples)
        if row.unit == "usecs" and row.total is not None:
            seconds = row.total / USECS_PER_SECOND
            yield Reading(metrics.TARGET_OPERATION_SECONDS, labels, seconds)
    if is_whole:
        yield from _sums(target, rows)


def operations_of(rows: Mapping[str, StatsRow]) -> Iterator[tuple[str, StatsRow]]:
    """Yield the counters of operations, by operation.

    Lustre 2.12 has only byte counters for reads and writes, which also count the operations.
    """
    has_times = any(row.unit == "usecs" for row in rows.values())
    for name, row in rows.items():
        if row.unit != "bytes":
            yield name, row
        elif name in _BYTES and not has_times and _BYTES[name] not in rows:
            yield _BYTES[name], row


def bytes_of(rows: Mapping[str, StatsRow], name: str, is_whole: bool) -> int | None:
    """Return the bytes of a counter; 0 if a complete text does not have it; None if unknown."""
    row = rows.get(name)
    if row is None:
        return 0 if is_whole else None
    return row.total if row.unit == "bytes" else None


def _bytes(target: Target, rows: Mapping[str, StatsRow], is_whole: bool) -> Iterator[Reading]:
    for metric, name in (
        (metrics.TARGET_READ_BYTES, "read_bytes"),
        (metrics.TARGET_WRITE_BYTES, "write_bytes"),
    ):
        value = bytes_of(rows, name, is_whole)
        if value is not None:
            yield Reading(metric, target.labels, value)


def _sums(target: Target, rows: Mapping[str, StatsRow]) -> Iterator[Reading]:
    """Yield sums over kinds, for complete texts: without a row, they would seem to fall."""
    kinds = METADATA_KINDS if target.is_metadata else _DATA_KINDS
    found = [rows[kind] for kind in kinds if kind in rows]
    if target.is_metadata:
        samples = sum(row.samples for row in found)
        yield Reading(metrics.METADATA_OPERATIONS, target.labels, samples)
    timed = [row for row in found if row.unit == "usecs" and row.total is not None]
    if not any(row.unit == "usecs" for row in rows.values()):
        return
    seconds = sum(row.total or 0 for row in timed) / USECS_PER_SECOND
    yield Reading(metrics.SERVICE_SECONDS, target.labels, seconds)
    yield Reading(metrics.SERVICE_OPERATIONS, target.labels, sum(row.samples for row in timed))


_HISTOGRAMS: dict[str, tuple[Metric, float]] = {
    "pages": (metrics.RPC_PAGES, 1.0),
    "discontiguous_pages": (metrics.DISCONTIGUOUS_PAGES, 1.0),
    "discontiguous_blocks": (metrics.DISCONTIGUOUS_BLOCKS, 1.0),
    "fragments": (metrics.FRAGMENTS, 1.0),
    "in_flight": (metrics.IN_FLIGHT, 1.0),
    "io_milliseconds": (metrics.IO_TIME, 1e3),
    "io_bytes": (metrics.IO_SIZE, 1.0),
}
"""Metric of each section of brw_stats, and how many units of a key make one base unit."""


def brw_readings(name: str, values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Yield histograms of a target's I/O, from its "osd-*.scratch-OST0004.brw_stats".

    Bounds are those by which Lustre counts, which are inclusive upper bounds: powers of two, so
    that the bucket of 4096 bytes counts sizes above 2048 and up to 4096.
    """
    target = parse_target(name.split(".")[1])
    if target is None or name not in values:
        return
    found = parse_brw_stats(values[name])
    yield from named_problems(name, found.problems)
    for section, (metric, units) in _HISTOGRAMS.items():
        if section in found.sections:
            buckets: Buckets = found.sections[section]
            for direction, counts in (("read", buckets.read), ("write", buckets.write)):
                bounds = tuple([(bound / units, count) for bound, count in counts])
                value = Histogram(bounds or ((float("inf"), 0),))
                yield Reading(metric, (*target, direction), value)


# Counters by operation: stats, md_stats, services, exports, llite.
#
#     snapshot_time             1700000000.123456789 secs.nsecs
#     start_time                1690000000.123456789 secs.nsecs      (2.14.56 and newer)
#     elapsed_time              10000000.000000000 secs.nsecs
#     read_bytes                10 samples [bytes] 4096 4194304 41943040 175921860444160
#     open                      7 samples [reqs]
#
# Lustre prints no row for a counter that is zero, so that a row missing from a complete text is a
# zero. A row of 2.12 may lack minimum, maximum and sum, and one of any version the sum of squares.
# Units are written in two ways: "usec" and "usecs".
#
# After the counters of a storage target, 2.12 prints those of calls within the server, from
# connect to ping (lprocfs_init_ops_stats). Some have the same names, so that "statfs" occurs
# twice: for requests of clients, and for calls by the server itself, as when a file of /proc is
# read. The latter do not belong to the target, and are left out.

_HEADER = re.compile(
    r"(snapshot_time|start_time|elapsed_time):?\s+(\d{1,12})\.\s{0,8}(\d{1,9})"
    r"(?: secs\.[nu]secs| \(secs\.[nu]secs\))?",
    re.ASCII,
)
_TIMES = ("snapshot_time", "start_time", "elapsed_time")
_ROW = re.compile(
    r"([a-z][a-z0-9_]{0,47}) +(\d+) samples \[([a-z]{1,12})\]"
    r"(?: (\d+) (\d+) (\d+)(?: -?\d{1,20})?)?",
    re.ASCII,
)
_UNITS = {"usec": "usecs", "sec": "secs", "req": "reqs", "regs": "reqs", "byte": "bytes"}
_BEGIN_CALLS = ("connect", "reconnect", "disconnect")
"""Names with which the counters of calls within the server begin; all later ones belong to it."""
_CALLS = ("statfs", "create", "destroy", "setattr", "getattr", "quotactl")
"""Those of them that clients also request from a target."""
_MOST_ROWS = 200
_IN_FLIGHT = 1024
"""Lustre sums counters of all processors while they are counting: so many operations may be in the
number and not yet in the sum, or vice versa."""


class StatsRow(NamedTuple):
    """One counter.

    Attributes:
        samples: Number of operations.
        unit: Unit of the sum: "bytes", "usecs", "reqs", "secs", "bufs", "pages", ...
        total: Sum; None if not reported.
    """

    samples: int
    unit: str
    total: int | None = None


@dataclass(frozen=True)
class Stats:
    """Content of one text of counters.

    Attributes:
        rows: Counters by name, only those with at least one sample.
        start_seconds: When counting began, by the server's clock; None if not reported.
        problems: What was left out.
    """

    rows: Mapping[str, StatsRow]
    start_seconds: float | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether nothing was left out, so that a missing row is a zero."""
        return not self.problems


def parse_stats(text: str) -> Stats:
    """Parse a text of counters by operation.

    Damaged rows are left out, together with any other row of the same name.
    """
    damage = Damage()
    lines = whole_lines(text, damage)
    times: dict[str, float] = {}
    rows: dict[str, StatsRow] = {}
    doubled: set[str] = set()
    has_calls = False
    for line in lines:
        if header := _HEADER.fullmatch(line):
            if header[1] in times:
                damage.add("a second header", line)
                doubled.add(header[1])
            times[header[1]] = float(f"{header[2]}.{header[3]:0>9}")
        elif (row := _ROW.fullmatch(line)) and row[1] not in _TIMES:
            has_calls = has_calls or row[1] in _BEGIN_CALLS
            if not (has_calls and _is_call(row)):
                _add_row(row, rows, doubled, damage)
        else:
            damage.add("not a counter", line)
            doubled.add(line.partition(" ")[0])
    if "snapshot_time" not in times:
        damage.add("the text does not begin with snapshot_time", text)
    start = None if "start_time" in doubled else times.get("start_time")
    return Stats(_without(rows, doubled), start, damage.problems())


def _add_row(
    found: re.Match[str], rows: dict[str, StatsRow], doubled: set[str], damage: Damage
) -> None:
    name = found[1]
    row = _row(found)
    if name in rows or name in doubled:
        doubled.add(name)
        damage.add("a counter that is there twice", found[0])
    elif row is None:
        doubled.add(name)
        damage.add("a counter that contradicts itself", found[0])
    elif len(rows) >= _MOST_ROWS:
        damage.add(f"more than {_MOST_ROWS} counters", found[0])
    else:
        rows[name] = row


def _is_call(found: re.Match[str]) -> bool:
    return found[1] in _CALLS and found[3] == "reqs" and found[6] is None


def _row(found: re.Match[str]) -> StatsRow | None:
    unit = _UNITS.get(found[3], found[3])
    samples = number(found[2])
    if samples is None:
        return None
    if found[6] is None:
        return StatsRow(samples, unit)
    least, most, total = number(found[4]), number(found[5]), number(found[6])
    if least is None or most is None or total is None:
        return None
    lowest = max(0, samples - _IN_FLIGHT) * least
    highest = (samples + _IN_FLIGHT) * most
    if (samples > _IN_FLIGHT and least > most) or not lowest <= total <= highest:
        return None
    return StatsRow(samples, unit, total)


def _without(rows: dict[str, StatsRow], doubled: Iterable[str]) -> dict[str, StatsRow]:
    for name in doubled:
        rows.pop(name, None)
    return rows


# Histograms of I/O at a target: osd-*.*.brw_stats.
#
#     snapshot_time:         1700000000.123456789 secs.nsecs
#
#                                read      |     write
#     pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %
#     1:                       100  10  10   |   50   5   5
#
# There are up to eight such sections; a section that counted nothing has no rows. Lustre prints
# from the first row that counts to the last one that does; shares are rounded and not read.
#
# Meaning of keys (lprocfs_oh_tally_log2): row K of a section by powers of two counts values v with
# K/2 < v <= K, and row 1 counts 0 and 1, so that K is an inclusive upper bound. A row of the other
# sections counts only the value K, which is then its upper bound as well. A histogram has 32
# buckets: key 31 of the latter and 2048M of the former also contain everything above. I/Os in
# flight are counted by powers of two in newer versions; the bound is K either way.
#
# What counts once (osd_io.c): a bulk request of a client in pages, discontiguous pages and blocks,
# fragments and I/O time, which lasts from its first I/O to the disks to the end of its last one;
# an I/O to the disks in its size and in those in flight, including itself. ZFS counts sizes by
# request, and reports no I/O time of writes, because it writes later.

_HISTOGRAM_TITLES = {
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
_HISTOGRAM_HEADER = re.compile(
    r"(snapshot_time|start_time|elapsed_time):\s+(\d{1,12})\.\s{0,8}(\d{1,9})"
    r"(?: secs\.[nu]secs| \(secs\.[nu]secs\))?",
    re.ASCII,
)
_HISTOGRAM_COLUMNS = re.compile(r"\s+read\s+\|\s+write\s*", re.ASCII)
_HISTOGRAM_TITLE = re.compile(
    r"(\S.*?)\s+(rpcs|ios|maps)\s+%\s+cum\s+%\s+\|\s+\2\s+%\s+cum\s+%\s*", re.ASCII
)
_HISTOGRAM_ROW = re.compile(
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
    """Content of one text of histograms.

    Attributes:
        sections: Histograms by "pages", "discontiguous_pages", "discontiguous_blocks",
            "fragments", "in_flight", "io_milliseconds", "io_bytes", "block_map_milliseconds".
        start_seconds: When counting began; None if not reported.
        problems: What was left out; a section with a damaged row is left out as a whole.
    """

    sections: Mapping[str, Buckets]
    start_seconds: float | None = None
    problems: tuple[str, ...] = ()


class _Section:
    """Collects the rows of one section; Lustre prints them without a gap."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_bad = False
        self._rows: list[tuple[int, int, int]] = []
        self._may_be_linear = name in _LINEAR or name == "in_flight"
        self._may_be_scaled = name not in _LINEAR

    def add(self, key: int, read: int, write: int) -> bool:
        """Add a row; return False if it does not follow the one before."""
        before = self._rows[-1][0] if self._rows else None
        self._may_be_linear &= key <= _LAST_LINEAR and before in (None, key - 1)
        is_power = key > 0 and key & (key - 1) == 0
        self._may_be_scaled &= is_power and (before is None or key == 2 * before)
        self._rows.append((key, read, write))
        return self._may_be_linear or self._may_be_scaled

    def buckets(self) -> Buckets:
        """Return the histogram of the section."""
        last = _LAST_LINEAR if self._may_be_linear else _LAST_SCALED
        bounds = [inf if key >= last else float(key) for key, _, _ in self._rows]
        return Buckets(
            tuple(zip(bounds, [row[1] for row in self._rows], strict=True)),
            tuple(zip(bounds, [row[2] for row in self._rows], strict=True)),
        )


def parse_brw_stats(text: str) -> BrwStats:
    """Parse a text of histograms; see the comment above for the meaning of keys."""
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
            _histogram_row(line, current, damage)
            continue
        was_columns, is_columns = is_columns, bool(_HISTOGRAM_COLUMNS.fullmatch(line))
        if is_columns:
            current = None
        elif not line:
            continue
        elif header := _HISTOGRAM_HEADER.fullmatch(line):
            times[header[1]] = float(f"{header[2]}.{header[3]:0>9}")
        elif title := _HISTOGRAM_TITLE.fullmatch(line):
            if current is not None:
                current.is_bad = True
            current = _section(f"{title[1]} {title[2]}", line, was_columns, sections, damage)
        else:
            _histogram_row(line, current, damage)
    if is_torn and current is not None:
        current.is_bad = True
    found = {name: each.buckets() for name, each in sections.items() if not each.is_bad}
    return BrwStats(found, times.get("start_time"), damage.problems())


def _section(
    title: str, line: str, is_placed: bool, sections: dict[str, _Section], damage: Damage
) -> _Section:
    """Begin a section; its title is below that of the columns."""
    name = _HISTOGRAM_TITLES.get(title, "")
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


def _histogram_row(line: str, section: _Section | None, damage: Damage) -> None:
    found = _HISTOGRAM_ROW.fullmatch(line)
    read, write = (number(found[3]), number(found[4])) if found else (None, None)
    if section is None or not found or read is None or write is None:
        damage.add("not a row of a histogram", line)
    elif section.add(int(found[1]) * _SCALES[found[2]], read, write):
        return
    else:
        damage.add("a row that does not follow the one before", line)
    if section is not None:
        section.is_bad = True
