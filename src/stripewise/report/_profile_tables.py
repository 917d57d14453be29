# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of files with their request sizes, and request sizes before and after MPI-IO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from stripewise.diagnosis import FileRow, size_labels
from stripewise.model import SIZE_EDGES, IoLayer, RunProfile

MOST_FILES = 25
MOST_VARIANCE = 30
MOST_REQUESTS = 30


@dataclass(frozen=True)
class Rest:
    """What the rows that are not shown add up to."""

    number: int
    read_bytes: int
    write_bytes: int
    calls: int
    meta_operations: int
    seconds: float


@dataclass(frozen=True)
class SizeRow:
    """Requests of one size: in the program and beneath MPI-IO; shares of the largest count."""

    label: str
    counts: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class SizeTable:
    """Request sizes of one direction, side by side."""

    direction: str
    columns: tuple[str, ...]
    rows: tuple[SizeRow, ...]
    totals: tuple[int, ...]


def histogram(row: FileRow) -> Markup | None:
    """Draw the sizes of a file's requests as ten pairs of bars; None without requests."""
    groups = ((row.write_sizes, "write"), (row.read_sizes, "read"))
    top = max((max(counts, default=0) for counts, _ in groups), default=0)
    if top <= 0:
        return None
    bars = []
    for place, (counts, colour) in enumerate(groups):
        for number, count in enumerate(counts):
            if count:
                height = max(2.0, 30 * count / top)
                bars.append(
                    f'<rect class="{colour}" x="{12 * number + 5 * place + 1}" '
                    f'y="{31 - height:.3g}" width="5" height="{height:.3g}"/>'
                )
    words = "; ".join(
        f"{label}: {name} {count}"
        for name, counts in (("written", row.write_sizes), ("read", row.read_sizes))
        for label, count in zip(size_labels(), counts, strict=False)
        if count
    )
    return Markup(
        '<svg class="sizes" viewBox="0 0 120 32" width="120" height="32" role="img" '
        f'aria-label="Requests by size. {words}"><title>{words}</title>'
        f'<path class="base" d="M0 31.5H120"/>{"".join(bars)}</svg>'
    )


def rest_of(rows: Sequence[FileRow]) -> Rest | None:
    """Sum the files that found no row."""
    if not rows:
        return None
    return Rest(
        number=len(rows),
        read_bytes=sum(row.read_bytes for row in rows),
        write_bytes=sum(row.write_bytes for row in rows),
        calls=sum(row.read_calls + row.write_calls for row in rows),
        meta_operations=sum(row.meta_operations for row in rows),
        seconds=sum(row.cumulated_seconds for row in rows),
    )


def size_tables(profile: RunProfile) -> tuple[SizeTable, ...]:
    """Sizes of the requests of MPI-IO and of the system, for files that MPI-IO opened."""
    counters = profile.counters
    above = counters[counters["layer"] == IoLayer.MPIIO]
    if not len(above):
        return ()
    beneath = counters[counters["layer"] == IoLayer.POSIX]
    beneath = beneath[np.isin(beneath["file"], above["file"])]
    tables = []
    for direction in ("write", "read"):
        counts = [rows[f"{direction}_sizes"].sum(axis=0) for rows in (above, beneath)]
        if sum(int(part.sum()) for part in counts):
            tables.append(_size_table(direction, counts))
    return tuple(tables)


def _size_table(direction: str, counts: Sequence[NDArray[Any]]) -> SizeTable:
    tops = [max(int(part.max(initial=0)), 1) for part in counts]
    rows = tuple(
        SizeRow(
            label,
            tuple(int(part[place]) for part in counts),
            tuple(int(part[place]) / top for part, top in zip(counts, tops, strict=True)),
        )
        for place, label in enumerate(size_labels()[: len(SIZE_EDGES)])
    )
    used = [place for place, row in enumerate(rows) if any(row.counts)]
    return SizeTable(
        direction,
        ("asked of MPI-IO", "reached the file system (POSIX)"),
        rows[min(used) : max(used) + 1],
        tuple(int(part.sum()) for part in counts),
    )
