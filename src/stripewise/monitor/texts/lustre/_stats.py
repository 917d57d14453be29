# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters by operation: stats, md_stats, services, exports, llite.

    snapshot_time             1700000000.123456789 secs.nsecs
    start_time                1690000000.123456789 secs.nsecs      (2.14.56 and newer)
    elapsed_time              10000000.000000000 secs.nsecs
    read_bytes                10 samples [bytes] 4096 4194304 41943040 175921860444160
    open                      7 samples [reqs]

Lustre prints no row of a counter that is zero, so an absent row of a text that is whole is a zero.
A row of 2.12 may have no minimum, maximum and sum, and one of any version no sum of squares.
Units are written in two ways: "usec" and "usecs".

Behind the counters of a storage target, 2.12 prints those of calls within the server, from connect
to ping (lprocfs_init_ops_stats).  Some have names of the former, so "statfs" is there twice: how
often clients asked, and how often the server itself did, as when a file of /proc is read.  The
latter are not of the target, and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from stripewise.monitor.texts.lustre._damage import Damage, number, whole_lines

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
"""Counters of calls within the server; those that follow are others of these."""
_CALLS = ("statfs", "create", "destroy", "setattr", "getattr", "quotactl")
"""Of those, what clients ask a target for as well."""
_MOST_ROWS = 200
_IN_FLIGHT = 1024
"""Lustre adds up counters of all processors while they count on: so many operations may be in the
number and not yet in the sum, or the other way round."""


class StatsRow(NamedTuple):
    """One counter.

    Attributes:
        samples: How many operations.
        unit: Of the sum: "bytes", "usecs", "reqs", "secs", "bufs", "pages", ...
        total: Sum; None: not told.
    """

    samples: int
    unit: str
    total: int | None = None


@dataclass(frozen=True)
class Stats:
    """One text.

    Attributes:
        rows: By name; only those that count at least one.
        start_seconds: When it began to count, by the server's clock; None: not told.
        problems: What was left out.
    """

    rows: Mapping[str, StatsRow]
    start_seconds: float | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out, so that an absent row is a zero."""
        return not self.problems


def parse_stats(text: str) -> Stats:
    """Parse a text of counters by operation.

    Rows that are damaged are left out, and with them any other row of the same name.
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
