# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Aligns columns of text, so that they stay readable on a terminal narrower than the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

_GAP = "  "
LABEL = 17
"""Width of the label column, including blanks."""

_Row = TypeVar("_Row")
Columns = Sequence[tuple[str, Callable[[_Row], str]]]
"""Columns of a table: the heading and the function that returns a row's cell."""


def line(label: str, text: str) -> str:
    """Return a summary line: a label column, then text."""
    return f" {label:<{LABEL - 2}} {text}".rstrip()


def labelled(label: str, texts: Iterable[str]) -> list[str]:
    """Return lines of which only the first has a label."""
    return [line("" if place else label, text) for place, text in enumerate(texts)]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return left-aligned lines of cells, in one block; the first row contains the headings."""
    every = frozenset(range(len(rows[0])))
    return next(TextTable(rows[0], rows[1:], left=every).blocks())


@dataclass(frozen=True)
class TextTable:
    """Rows of cells under headings.

    Attributes:
        headings: Heading of each column.
        rows: Cells of each row, as many as there are headings.
        keys: Number of leading columns that are repeated in every block.
        left: Left-aligned columns; all others are right-aligned.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    keys: int = 1
    left: frozenset[int] = frozenset({0})

    @classmethod
    def of(
        cls, columns: Columns[_Row], rows: Iterable[_Row], *, keys: int = 1, left: int = 1
    ) -> TextTable:
        """Create a table whose first `left` columns are left-aligned."""
        headings = [heading for heading, _ in columns]
        cells = [[show(row) for _, show in columns] for row in rows]
        return cls(headings, cells, keys, frozenset(range(left)))

    def blocks(self, width: int | None = None) -> Iterator[list[str]]:
        """Yield the lines of each block, headings first; one block if all fit in `width`."""
        cells = [self.headings, *self.rows]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        for columns in self._split(widths, width):
            yield [self._line(row, columns, widths) for row in cells]

    def _split(self, widths: Sequence[int], width: int | None) -> Iterator[list[int]]:
        """Yield the columns of each block; a column that is wider than a block is not split."""
        keys = list(range(self.keys))
        block = list(keys)
        for column in range(self.keys, len(widths)):
            needed = sum(widths[i] + len(_GAP) for i in block) + widths[column]
            if width is not None and needed > width and block != keys:
                yield block
                block = list(keys)
            block.append(column)
        yield block

    def _line(self, row: Sequence[str], columns: Iterable[int], widths: Sequence[int]) -> str:
        padded = []
        for column in columns:
            blanks = " " * (widths[column] - cell_len(row[column]))
            cell = row[column]
            padded.append(cell + blanks if column in self.left else blanks + cell)
        return _GAP.join(padded).rstrip()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for number, lines in enumerate(self.blocks(options.max_width)):
            if number:
                yield Text("")
            yield Text(lines[0], style="dim")
            yield from map(Text, lines[1:])
