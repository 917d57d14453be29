# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a title, a conclusion and blocks as the lines of a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import singledispatch

from stripewise.present._printable import printable
from stripewise.present._terminal import LABEL, TextTable, labelled
from stripewise.present.blocks import (
    NUMBERS,
    Block,
    Content,
    Drawings,
    Facts,
    Findings,
    Lines,
    Notice,
    Points,
    Section,
    Table,
    written,
)

_MARKS = {"": "- ", "good": "+ ", "bad": "- ", "warn": "! "}
_PATH_WIDTH = 44


def as_lines(content: Content, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a report; for `width` see `block_lines`."""
    yield printable(content.title)
    if content.lead:
        yield printable(content.lead)
    for block in content.blocks:
        yield ""
        if block.title:
            yield printable(block.title)
        yield from block_lines(block, width)


def block_lines(block: Block, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a block without its title, each printable.

    Args:
        block: Block of a page or report.
        width: Maximum width of all lines except lines to copy; None for no limit.
    """
    yield from map(printable, _body(block, width))


@singledispatch
def _body(block: Block, width: int | None) -> Iterator[str]:
    """Yield the lines of a block, without parts that a terminal cannot show."""
    yield from ()


@_body.register
def _section(block: Section, width: int | None) -> Iterator[str]:
    for number, one in enumerate(block.blocks):
        if number:
            yield ""
        if one.title:
            yield one.title
        yield from _body(one, width)


@_body.register
def _points(block: Points, width: int | None) -> Iterator[str]:
    for item in block.items:
        yield f"  {_MARKS[item.tone]}{item.text}"
        yield from (f"      {line}" for line in item.lines)
    yield from _note(block.note)


@_body.register
def _notice(block: Notice, width: int | None) -> Iterator[str]:
    for text in block.text:
        yield from _note(text, width)


@_body.register
def _lines(block: Lines, width: int | None) -> Iterator[str]:
    yield from _note(block.note, width)
    yield from (f"  {line}" for line in block.lines)


@_body.register
def _drawings(block: Drawings, width: int | None) -> Iterator[str]:
    yield from (f"  {one.description}" for one in block.charts)
    yield from _note(block.note)


@_body.register
def _findings(block: Findings, width: int | None) -> Iterator[str]:
    for number, item in enumerate(block.items, 1):
        yield f"{number}. {item.severity_words}: {item.title}   [{item.code}]"
        todo = f"What to do: {item.remedy}" if item.remedy else ""
        for text in (item.text, item.saving, todo):
            yield from (f"   {line}" for line in _note(text, width and width - 3))
        yield from (f"     $ {line}" for line in (*item.lines, item.command) if line)
    yield from _note("" if block.items else block.empty, width)


@_body.register
def _facts(block: Facts, width: int | None) -> Iterator[str]:
    longest = max((len(item.title) for item in block.items), default=0)
    left = max(LABEL, longest + 2)
    said = {"not known"}  # adds nothing to "unknown", as does a reason that was given before
    for item in block.items:
        note = item.why if item.why not in said else ""
        note = note or ("" if item.value is None else item.note)
        said.add(item.why)
        note = f" ({note})" if note else ""
        text = written(item.value, item.kind, item.why) + note
        yield from labelled(item.title.ljust(longest), _wrapped(text, width and width - left))


@_body.register
def _table(block: Table, width: int | None) -> Iterator[str]:
    if not block.rows:
        yield block.empty
        return
    if block.total:
        yield block.total
    kinds = [one.kind for one in block.shown]
    kept = [place for place, kind in enumerate(kinds) if kind != "picture"]
    left = {at for at, place in enumerate(kept) if kinds[place] not in NUMBERS}
    heads = [block.shown[place].title for place in kept]
    rows = [
        [_end(cells[place]) if kinds[place] == "path" else cells[place] for place in kept]
        for cells in map(block.texts, block.rows)
    ]
    for number, lines in enumerate(TextTable(heads, rows, left=frozenset(left)).blocks(width)):
        yield from lines if not number else ["", *lines]
    yield from _note(block.note, width)


def _end(path: str) -> str:
    """Return the end of a long path."""
    return path if len(path) <= _PATH_WIDTH else "…" + path[1 - _PATH_WIDTH :]


def _note(text: str, width: int | None = None) -> Iterator[str]:
    if text:
        yield from _wrapped(text, width)


def _wrapped(text: str, width: int | None) -> list[str]:
    """Return the wrapped lines of a text, printable and without breaks inside words and paths."""
    if width is None:
        return [text]
    return textwrap.wrap(printable(text), width, break_long_words=False, break_on_hyphens=False)
