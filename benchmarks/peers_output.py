# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the comparison with IOR and benchio as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GOAL = 0.97
"""Goal relative to the peer's bandwidth: within 3 %, or faster."""
HEADER = (
    "case", "peer", "MPI", "operation", "ours / peer", "95 % interval", "best / best", "ours",
    "peer's", "within 3 %",
)  # fmt: skip
_WIDTHS = (34, 8, 8, 9, 11, 15, 11, 11, 11, 10)


@dataclass(frozen=True)
class Figure:
    """One row of the table.

    Attributes:
        ratio / low / high: Our bandwidth relative to the peer's, with its interval of 95 %.
        best: The same for the best run of each, which other programs disturb least.
        ours / theirs: Median seconds.
    """

    name: str
    peer: str
    mpi: str
    operation: str
    ratio: float
    low: float
    high: float
    best: float
    ours: float
    theirs: float
    pairs: int


def verdict(figure: Figure) -> str:
    """Return "yes", "no", or "open" if the interval contains the goal."""
    if figure.low >= GOAL:
        return "yes"
    return "no" if figure.high < GOAL else "open"


def row(figure: Figure) -> list[str]:
    """Return the cells of one row."""
    spread = f"{figure.low:.3f} to {figure.high:.3f}"
    times = [f"{one * 1e3:.2f} ms" for one in (figure.ours, figure.theirs)]
    words = [figure.name, figure.peer, figure.mpi, figure.operation, f"{figure.ratio:.3f}"]
    return [*words, spread, f"{figure.best:.3f}", *times, verdict(figure)]


def table(figures: Sequence[Figure], *, header: bool) -> str:
    """Return lines for a terminal."""
    lines = [list(HEADER)] if header else []
    lines += [row(one) for one in figures]
    return "\n".join("  ".join(map(str.ljust, line, _WIDTHS)).rstrip() for line in lines)
