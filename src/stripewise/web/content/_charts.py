# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures over time: curves, and who was busy when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stripewise.web.content._block import Block, Grid


@dataclass(frozen=True)
class Line:
    """One curve of a chart; None: nothing is known there, and the curve has a gap."""

    name: str
    title: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Span:
    """Part of a chart's time that is marked: a job, an event."""

    title: str
    begin: float
    end: float


@dataclass(frozen=True)
class Chart(Block):
    """Curves over time.

    Attributes:
        at: Moments in seconds since 1970 (or since the start of a run, with `is_clock` False).
        lines: As long as `at`.
        kind: How values are written.
        spans: Parts of the time that are marked.
        description: The curves in words, for those who do not see them.
        style: "line", "steps" or "points".
    """

    at: Sequence[float]
    lines: Sequence[Line]
    kind: str = "number"
    is_clock: bool = True
    spans: Sequence[Span] = ()
    description: str = ""
    note: str = ""
    style: str = "line"
    empty: str = "Nothing was recorded in this time."

    def data(self) -> Any:
        """Return moments and curves."""
        return {"at": list(self.at), **{one.name: list(one.values) for one in self.lines}}

    def grid(self) -> Grid | None:
        """Return a row for each moment."""
        names = ["at", *(one.name for one in self.lines)]
        return names, list(zip(self.at, *(one.values for one in self.lines), strict=True))


@dataclass(frozen=True)
class Bars(Block):
    """How many there are of each class, as bars.

    Attributes:
        labels: Of the classes.
        counts: As long as `labels`.
        of_what: What is counted, in the plural: "requests".
    """

    labels: Sequence[str]
    counts: Sequence[int]
    of_what: str
    note: str = ""

    @property
    def shares(self) -> list[float]:
        """Share of each class in all."""
        whole = sum(self.counts)
        return [count / whole if whole else 0.0 for count in self.counts]

    def data(self) -> Any:
        """Return counts by label."""
        return dict(zip(self.labels, self.counts, strict=True))

    def grid(self) -> Grid | None:
        """Return a row for each class."""
        return ("label", "count"), list(zip(self.labels, self.counts, strict=True))


@dataclass(frozen=True)
class Heat(Block):
    """Who was busy when: a row of cells for each rank or node, 0 to 1.

    Attributes:
        labels: Of the rows.
        bin_seconds: Time that one column stands for.
        cells: Share of the time that was spent in I/O; rows by columns.
    """

    labels: Sequence[str]
    bin_seconds: float
    cells: Sequence[Sequence[float]]
    description: str = ""
    note: str = ""

    def data(self) -> Any:
        """Return labels and cells."""
        return {"labels": list(self.labels), "bin_seconds": self.bin_seconds,
                "cells": [list(row) for row in self.cells]}  # fmt: skip

    def grid(self) -> Grid | None:
        """Return a row for each row of cells."""
        width = max((len(row) for row in self.cells), default=0)
        names = [
            "label",
            *(f"at_{number * self.bin_seconds:g}_seconds" for number in range(width)),
        ]
        return names, [[label, *row] for label, row in zip(self.labels, self.cells, strict=True)]
