# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is different about a run, compared with earlier runs of the same program.  Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SAME_FACTOR = 1.2
"""Amounts and times within this factor count as the same (chosen: I/O times of equal runs vary
by so much on a busy storage)."""
LOAD_FACTOR = 1.5
"""Loads of the storage within this factor count as the same (chosen)."""
NOT_SET = "not set"


@dataclass(frozen=True)
class RunFacts:
    """What can differ between two runs; None: not known.

    Attributes:
        io_seconds: I/O time.
        bytes_per_second: I/O rate.
        read_bytes / write_bytes / meta_operations / file_count: What it moved and called.
        rank_count / node_count: On what it ran.
        pattern: Of the file class that took most time.
        stripes: Layout of most of its data, in words.
        settings: Name of a setting to what acted; {}: not known.
        load_bytes_per_second: What its storage moved for everybody while it ran.
    """

    io_seconds: float | None = None
    bytes_per_second: float | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    meta_operations: int | None = None
    file_count: int | None = None
    rank_count: int | None = None
    node_count: int | None = None
    pattern: str | None = None
    stripes: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    load_bytes_per_second: float | None = None


@dataclass(frozen=True)
class Change:
    """One thing that differs.

    Attributes:
        name: As in `RunFacts`, or "setting NAME".
        before: Median, or the most common value, of the earlier runs.
        now: Of the run.
    """

    name: str
    before: Any
    now: Any


_AMOUNTS = ("read_bytes", "write_bytes", "meta_operations", "file_count")
_EXACT = ("rank_count", "node_count")
_WORDS = ("pattern", "stripes")


def changes(now: RunFacts, before: Sequence[RunFacts]) -> list[Change]:
    """Return what differs between a run and those before it; times and rates are results.

    A value that is not known on one side is no difference.
    """
    found = []
    for name in (*_WORDS, *_EXACT, *_AMOUNTS, "load_bytes_per_second"):
        value, usual = getattr(now, name), typical(name, before)
        if value is None or usual is None:
            continue
        if name in _EXACT or name in _WORDS:
            differs = value != usual
        else:
            factor = SAME_FACTOR if name in _AMOUNTS else LOAD_FACTOR
            differs = not are_close(value, usual, factor)
        if differs:
            found.append(Change(name, usual, value))
    return found + _settings(now.settings, [one.settings for one in before])


def typical(name: str, runs: Iterable[RunFacts]) -> Any:
    """Return the median of a figure over runs, or the most common word; None: not known.

    Counts of ranks and nodes are the lower median, so that it is a count which was used.
    """
    known = [value for run in runs if (value := getattr(run, name)) is not None]
    if not known:
        return None
    if name in _WORDS:
        return Counter(known).most_common(1)[0][0]
    return statistics.median_low(known) if name in _EXACT else statistics.median(known)


def are_close(one: float, other: float, factor: float = SAME_FACTOR) -> bool:
    """Whether two amounts are within a factor of each other; 0 is close to 0 alone."""
    low, high = sorted((one, other))
    return high <= factor * low


def _settings(now: Mapping[str, str], before: Sequence[Mapping[str, str]]) -> list[Change]:
    told = [one for one in before if one]
    if not now or not told:
        return []
    found = []
    for name in sorted(set(now).union(*told)):
        usual = Counter(one.get(name, NOT_SET) for one in told).most_common(1)[0][0]
        value = now.get(name, NOT_SET)
        if value != usual:
            found.append(Change(f"setting {name}", usual, value))
    return found
