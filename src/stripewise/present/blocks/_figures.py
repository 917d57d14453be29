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
        name: Key of the values in the rows.
        title: Heading for people.
        kind: Format of the values: a key of `_values.WRITERS`.
        kinds: Key in the rows of the format, if it differs from row to row; empty if `kind`
            applies to all.
        link: Key in the rows of the address that the value links to; empty for none.
        sort: Address that sorts the list by this column; empty if it cannot be sorted.
        sorted: Current order: "ascending" or "descending" if the list is currently sorted by this
            column.
        instead: Key in the rows of a text that is shown if the value is unknown; empty for none.
        is_shown: Whether people see the column; if false, only CSV and JSON contain it.
        small: Key in the rows of a text that pages show below the value; empty for none.
        order: Key in the rows of the number by which readers can sort; empty to sort by the text.
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

    The member "missing" of a row says why values are unknown or incomplete; "look" highlights the
    row as "best", "failed" or "doubtful".

    Attributes:
        columns: Columns, in order.
        rows: Values by column name, and addresses of links.
        note: Remark on the figures for readers.
        empty: Text that is shown if there are no rows.
        next: Address of the next page of rows; empty on the last page.
        total: Total number of rows, in words.
        is_sortable: Whether readers of a self-contained page can sort the table.
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
        """Whether readers can sort the table, which needs a script."""
        return self.is_sortable

    @property
    def shown(self) -> list[Column]:
        """Columns that people see."""
        return [one for one in self.columns if one.is_shown]

    def texts(self, row: Row) -> list[str]:
        """Return the text of each column that people see, where a cell is one text."""
        missing = row.get("missing", {})
        texts = []
        for one in self.shown:
            kind = row[one.kinds] if one.kinds else one.kind
            text = written(row.get(one.name), kind, missing.get(one.name, ""))
            small = row[one.small] if one.small else ""
            texts.append(f"{text} ({small})".lstrip() if small else text)
        return texts

    def data(self) -> Any:
        """Return the rows, and the address of the next ones in the same format."""
        names = [one.name for one in self.columns]
        names += dict.fromkeys(one.link for one in self.columns if one.link)
        rows = [{name: row.get(name) for name in names} | self._missing(row) for row in self.rows]
        following = f"{self.next.partition('#')[0]}&as=json" if self.next else None
        return {"rows": rows, "next": following}

    def grid(self) -> Grid | None:
        """Return the rows; if values are incomplete, a last column gives the reasons."""
        names = [one.name for one in self.columns]
        rows = [[row.get(name) for name in names] for row in self.rows]
        if not any("missing" in row for row in self.rows):
            return names, rows
        why = [_reasons_text(self._missing(row).get("missing", {})) for row in self.rows]
        return [*names, "missing"], [[*row, text] for row, text in zip(rows, why, strict=True)]

    def _missing(self, row: Row) -> dict[str, dict[str, str]]:
        """Return the reasons for missing values of a row, for its columns only."""
        if "missing" not in row:
            return {}
        names = {one.name for one in self.columns}
        return {"missing": {name: why for name, why in row["missing"].items() if name in names}}


def _reasons_text(missing: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in missing.items())


@dataclass(frozen=True)
class Fact:
    """One figure.

    Attributes:
        value: Value of the figure; None if unknown, with the reason in `note`.
        kind: Format of the value.
        link: Address that the value links to.
        why: Why the value is unknown or only a lower bound; empty if it is known or not
            applicable.
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
    """Named figures.

    Attributes:
        items: Figures; one without a title continues the one before.
        is_large: Whether the figures are the most important ones, shown in large type.
        is_listed: Whether each figure has its own line beside its title, since they are long.
    """

    items: Sequence[Fact]
    is_large: bool = False
    is_listed: bool = False

    def data(self) -> Any:
        """Return the values by name, and the reasons for those that are unknown or incomplete."""
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
    """One figure of several subjects, formatted as `kind` says; None if unknown.

    `whys` says for each value why it is unknown or only a lower bound; it may be empty.
    """

    name: str
    title: str
    values: Sequence[Any]
    kind: str = "text"
    note: str = ""
    whys: Sequence[str] = ()


@dataclass(frozen=True)
class Comparison(Block):
    """Figures of several subjects side by side.

    Attributes:
        heads: Names of the subjects that are compared.
        rows: Figures, each with a value for every subject.
        links: Address of each subject; () for none.
    """

    heads: Sequence[str]
    rows: Sequence[Compared]
    note: str = ""
    empty: str = "There is nothing to compare."
    links: Sequence[str] = ()

    def data(self) -> Any:
        """Return the values of each figure by name."""
        return {"heads": list(self.heads), **{one.name: list(one.values) for one in self.rows}}

    def grid(self) -> Grid | None:
        """Return a row for each figure."""
        return ("name", *self.heads), [(one.name, *one.values) for one in self.rows]


@dataclass(frozen=True)
class Part:
    """Part of a whole; its colour is a name such as "io", "read", "write" or "rest"."""

    name: str
    title: str
    value: float
    colour: str


@dataclass(frozen=True)
class Split(Block):
    """A whole divided into parts, as one bar.

    Attributes:
        kind: Format of the values.
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


# Figures over time: curves, and the activity of ranks or nodes.


@dataclass(frozen=True)
class Line:
    """One curve of a chart; None marks a gap where nothing is known."""

    name: str
    title: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Span:
    """Marked part of a chart's time: a job or an event."""

    title: str
    begin: float
    end: float


@dataclass(frozen=True)
class Chart(Block):
    """Curves over time.

    Attributes:
        at: Times in seconds since 1970 (or since the start of a run if `is_clock` is false).
        lines: Curves, each with as many values as `at`.
        kind: Format of the values.
        spans: Parts of the time that are marked.
        description: Description of the curves, for readers who cannot see them.
        style: Style of the curves: "line", "steps" or "points".
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
        """Return times and curves."""
        return {"at": list(self.at), **{one.name: list(one.values) for one in self.lines}}

    def grid(self) -> Grid | None:
        """Return a row for each time."""
        names = ["at", *(one.name for one in self.lines)]
        return names, list(zip(self.at, *(one.values for one in self.lines), strict=True))


@dataclass(frozen=True)
class Bars(Block):
    """Number of items in each class, as bars.

    Attributes:
        labels: Labels of the classes.
        counts: Number of items in each class, as many as `labels`.
        of_what: Name of the counted items, in the plural: "requests".
    """

    labels: Sequence[str]
    counts: Sequence[int]
    of_what: str
    note: str = ""

    @property
    def shares(self) -> list[float]:
        """Share of each class in the total."""
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
    """Heat map of activity over time: a row of cells, from 0 to 1, for each rank or node.

    Attributes:
        labels: Labels of the rows.
        bin_seconds: Time covered by one column.
        cells: Share of the time that was spent in I/O, by row and column.
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
    """Charts of any kind, which a page draws and a text describes.

    Attributes:
        charts: Charts, one below the other or, with `is_grid`, side by side.
        legend: Glyph, colour and name of each entry of the common legend.
    """

    charts: Sequence[chart.Chart]
    note: str = ""
    legend: Sequence[tuple[str, str, str]] = ()
    is_grid: bool = False

    @property
    def needs_script(self) -> bool:
        """Whether there are any charts."""
        return bool(self.charts)

    def data(self) -> Any:
        """Return the data of the charts."""
        return [one.description for one in self.charts]
