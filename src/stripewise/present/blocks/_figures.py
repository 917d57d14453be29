# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines blocks of figures: facts, tables, comparisons, shares, curves, bars and heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stripewise.present import chart
from stripewise.present.blocks._block import Block, Grid, Row
from stripewise.present.blocks._values import written


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: Key of the rows.
        title: For people.
        kind: How a value is written: see `_values.WRITERS`.
        kinds: Key of the rows with the kind, where it differs from row to row; "": `kind` it is.
        link: Key of the rows with the address that a value leads to; "" for none.
        sort: Address that sorts by this column; "" if the list cannot.
        sorted: "ascending" or "descending" if the list is sorted so now.
        instead: Key of the rows with a text that is shown where the value is not known; "": none.
        is_shown: False: it is in CSV and JSON alone.
        small: Key of the rows with a text below the value, on pages; "": none.
        order: Key of the rows with the number to sort by, where readers can; "": by the text.
    """

    name: str
    title: str
    kind: str = "text"
    kinds: str = ""
    link: str = ""
    sort: str = ""
    sorted: str = ""
    instead: str = ""
    is_shown: bool = True
    small: str = ""
    order: str = ""


@dataclass(frozen=True)
class Table(Block):
    """Rows with named columns.

    "missing" of a row says why some are not, or not all, known; "look" how it stands out: "best",
    "failed" or "doubtful".

    Attributes:
        columns: In their order.
        rows: Values by name of column, and addresses of links.
        note: What a reader should know of the figures.
        empty: What is said if there are no rows.
        next: Address of the next page of rows; "" at the end.
        total: How many there are in all, in words.
        is_sortable: Whether readers of a page by itself can sort it.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str = ""
    empty: str = "There is nothing to show."
    next: str = ""
    total: str = ""
    is_sortable: bool = False

    @property
    def needs_script(self) -> bool:
        """Whether it can be sorted."""
        return self.is_sortable

    @property
    def shown(self) -> list[Column]:
        """The columns that people see."""
        return [one for one in self.columns if one.is_shown]

    def texts(self, row: Row) -> list[str]:
        """Return what stands in each column that people see, where a cell is one text."""
        missing = row.get("missing", {})
        texts = []
        for one in self.shown:
            kind = row[one.kinds] if one.kinds else one.kind
            text = written(row.get(one.name), kind, missing.get(one.name, ""))
            small = row[one.small] if one.small else ""
            texts.append(f"{text} ({small})".lstrip() if small else text)
        return texts

    def data(self) -> Any:
        """Return rows, and where the next ones are in the same form."""
        names = [one.name for one in self.columns]
        names += dict.fromkeys(one.link for one in self.columns if one.link)
        rows = [{name: row.get(name) for name in names} | self._missing(row) for row in self.rows]
        following = f"{self.next.partition('#')[0]}&as=json" if self.next else None
        return {"rows": rows, "next": following}

    def grid(self) -> Grid | None:
        """Return the rows; where some are not all known, the last column says why."""
        names = [one.name for one in self.columns]
        rows = [[row.get(name) for name in names] for row in self.rows]
        if not any("missing" in row for row in self.rows):
            return names, rows
        why = [_said(self._missing(row).get("missing", {})) for row in self.rows]
        return [*names, "missing"], [[*row, said] for row, said in zip(rows, why, strict=True)]

    def _missing(self, row: Row) -> dict[str, dict[str, str]]:
        """Return the reasons of a row, of its columns alone; nothing where rows have none."""
        if "missing" not in row:
            return {}
        names = {one.name for one in self.columns}
        return {"missing": {name: why for name, why in row["missing"].items() if name in names}}


def _said(missing: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in missing.items())


@dataclass(frozen=True)
class Fact:
    """One figure.

    Attributes:
        value: None: not known; `note` says why.
        kind: How it is written.
        link: Address that it leads to.
        why: Why it is not known, or the least that it can be; "": it is known, or does not apply.
    """

    name: str
    title: str
    value: Any
    kind: str = "text"
    note: str = ""
    link: str = ""
    why: str = ""


@dataclass(frozen=True)
class Facts(Block):
    """Figures with names.

    Attributes:
        items: An item without a title goes on with the one before.
        is_large: They are the few that matter most.
        is_listed: Each stands in a line of its own, beside its title: they are long.
    """

    items: Sequence[Fact]
    is_large: bool = False
    is_listed: bool = False

    def data(self) -> Any:
        """Return values by name, and why some are not, or not all, known."""
        missing = {item.name: item.why for item in self.items if item.why}
        return {item.name: item.value for item in self.items} | (
            {"missing": missing} if missing else {}
        )

    def grid(self) -> Grid | None:
        """Return a row for each figure."""
        rows = [(item.name, item.value, item.why) for item in self.items]
        return ("name", "value", "missing"), rows


@dataclass(frozen=True)
class Compared:
    """One figure of several things; each value is written as `kind` says, None is not known.

    `whys` says of each value why it is not known, or the least; (): nothing is said.
    """

    name: str
    title: str
    values: Sequence[Any]
    kind: str = "text"
    note: str = ""
    whys: Sequence[str] = ()


@dataclass(frozen=True)
class Comparison(Block):
    """Figures of several things side by side.

    Attributes:
        heads: What is compared, in words.
        rows: Each has a value for each of them.
        links: Address of each; () for none.
    """

    heads: Sequence[str]
    rows: Sequence[Compared]
    note: str = ""
    empty: str = "There is nothing to compare."
    links: Sequence[str] = ()

    def data(self) -> Any:
        """Return the values of each figure, by its name."""
        return {"heads": list(self.heads), **{one.name: list(one.values) for one in self.rows}}

    def grid(self) -> Grid | None:
        """Return a row for each figure."""
        return ("name", *self.heads), [(one.name, *one.values) for one in self.rows]


@dataclass(frozen=True)
class Part:
    """Part of a whole; colours are "io", "rest", "read", "write", "meta", "cost", "stake"."""

    name: str
    title: str
    value: float
    colour: str


@dataclass(frozen=True)
class Split(Block):
    """A whole in its parts, as one bar.

    Attributes:
        kind: How values are written.
    """

    parts: Sequence[Part]
    kind: str = "seconds"
    note: str = ""

    def data(self) -> Any:
        """Return the parts by name."""
        return {part.name: part.value for part in self.parts}

    def grid(self) -> Grid | None:
        """Return a row for each part."""
        return ("name", "value"), [(part.name, part.value) for part in self.parts]


# Figures over time: curves, and who was busy when.


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

    @property
    def needs_script(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.at)

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

    @property
    def needs_script(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.cells)

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


@dataclass(frozen=True)
class Drawings(Block):
    """Charts of any kind, which a page draws and text describes.

    Attributes:
        charts: One below the other, or with `is_grid` side by side.
        legend: Glyph, colour and name of what they share.
    """

    charts: Sequence[chart.Chart]
    note: str = ""
    legend: Sequence[tuple[str, str, str]] = ()
    is_grid: bool = False

    @property
    def needs_script(self) -> bool:
        """Whether there is any."""
        return bool(self.charts)

    def data(self) -> Any:
        """Return what the charts show."""
        return [one.description for one in self.charts]
