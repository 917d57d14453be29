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
    Lines,
    Notice,
    Points,
    Table,
    written,
)

_MARKS = {"": "- ", "good": "+ ", "bad": "- ", "warn": "! "}


def as_lines(content: Content) -> Iterator[str]:
    """Yield the lines of a report."""
    yield printable(content.title)
    if content.lead:
        yield printable(content.lead)
    for block in content.blocks:
        yield ""
        if block.title:
            yield printable(block.title)
        yield from block_lines(block)


def block_lines(block: Block) -> Iterator[str]:
    """Yield the lines of a block without its title, each printable."""
    yield from map(printable, _body(block))


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
def _facts(block: Facts) -> Iterator[str]:
    for item in block.items:
        note = f" ({item.why or item.note})" if item.why or item.note else ""
        yield from labelled(item.title, [written(item.value, item.kind, item.why) + note])


@_body.register
def _table(block: Table) -> Iterator[str]:
    if not block.rows:
        yield block.empty
        return
    if block.total:
        yield block.total
    rows = []
    for row in block.rows:
        texts = []
        for one in block.shown:
            kind = row[one.kinds] if one.kinds else one.kind
            text = written(row.get(one.name), kind, row.get("missing", {}).get(one.name, ""))
            small = row[one.small] if one.small else ""
            texts.append(f"{text} ({small})".lstrip() if small else text)
        rows.append(texts)
    left = {place for place, one in enumerate(block.shown) if one.kind not in NUMBERS}
    heads = [one.title for one in block.shown]
    yield from next(TextTable(heads, rows, left=frozenset(left)).blocks())
    yield from _note(block.note)


def _note(text: str) -> Iterator[str]:
    if text:
        yield text
