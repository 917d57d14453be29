# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a title, a conclusion and blocks as the lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from stripewise.present._printable import printable
from stripewise.present._terminal import TextTable, labelled
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
    Table,
    written,
)

_MARKS = {"": "- ", "good": "+ ", "bad": "- ", "warn": "! "}
_PATH_WIDTH = 44


def as_lines(content: Content, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a report.

    Args:
        content: Of the report.
        width: Of the terminal: a table that is wider comes in several blocks of columns; None:
            every table is one.
    """
    yield printable(content.title)
    if content.lead:
        yield printable(content.lead)
    for block in content.blocks:
        yield ""
        if block.title:
            yield printable(block.title)
        yield from block_lines(block, width)


def block_lines(block: Block, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a block without its title, each printable; `width` as of `as_lines`."""
    lines = _table(block, width) if isinstance(block, Table) else _body(block)
    yield from map(printable, lines)


@singledispatch
def _body(block: Block) -> Iterator[str]:
    """Yield the lines of a block; what cannot be drawn is left out."""
    yield from ()


@_body.register
def _points(block: Points) -> Iterator[str]:
    for item in block.items:
        yield f"  {_MARKS[item.tone]}{item.text}"
        yield from (f"      {line}" for line in item.lines)
    yield from _note(block.note)


@_body.register
def _notice(block: Notice) -> Iterator[str]:
    yield from block.text


@_body.register
def _lines(block: Lines) -> Iterator[str]:
    yield from _note(block.note)
    yield from (f"  {line}" for line in block.lines)


@_body.register
def _drawings(block: Drawings) -> Iterator[str]:
    yield from (f"  {one.description}" for one in block.charts)
    yield from _note(block.note)


@_body.register
def _findings(block: Findings) -> Iterator[str]:
    for number, item in enumerate(block.items, 1):
        yield f"{number}. {item.severity_words}: {item.title}   [{item.code}]"
        yield from (f"   {text}" for text in (item.text, item.saving) if text)
        if item.remedy:
            yield f"   What to do: {item.remedy}"
        yield from (f"     $ {line}" for line in (*item.lines, item.command) if line)
    yield from _note("" if block.items else block.empty)


@_body.register
def _facts(block: Facts) -> Iterator[str]:
    longest = max((len(item.title) for item in block.items), default=0)
    for item in block.items:
        note = f" ({item.why or item.note})" if item.why or item.note else ""
        text = written(item.value, item.kind, item.why) + note
        yield from labelled(item.title.ljust(longest), [text])


def _table(block: Table, width: int | None) -> Iterator[str]:
    if not block.rows:
        yield block.empty
        return
    if block.total:
        yield block.total
    shown = [one for one in block.shown if one.kind != "picture"]
    rows = []
    for row in block.rows:
        texts = []
        for one in shown:
            kind = row[one.kinds] if one.kinds else one.kind
            text = written(row.get(one.name), kind, row.get("missing", {}).get(one.name, ""))
            if kind == "path" and len(text) > _PATH_WIDTH:
                text = "…" + text[1 - _PATH_WIDTH :]
            small = row[one.small] if one.small else ""
            texts.append(f"{text} ({small})".lstrip() if small else text)
        rows.append(texts)
    left = {place for place, one in enumerate(shown) if one.kind not in NUMBERS}
    heads = [one.title for one in shown]
    for number, lines in enumerate(TextTable(heads, rows, left=frozenset(left)).blocks(width)):
        yield from [""] * (number > 0)
        yield from lines
    yield from _note(block.note)


def _note(text: str) -> Iterator[str]:
    if text:
        yield text
