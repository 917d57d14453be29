# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a title, a conclusion and blocks as Markdown, for the pages of a user guide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import singledispatch

from stripewise.present._printable import printable
from stripewise.present.blocks import (
    NUMBERS,
    Block,
    Content,
    Drawings,
    Facts,
    Lines,
    Notice,
    Points,
    Section,
    Table,
    written,
)

_ACTS = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def as_markdown(content: Content) -> str:
    """Return the page as Markdown, which does not depend on the time it is made."""
    parts = [f"# {_marked(content.title)}", _marked(content.lead)]
    for block in content.blocks:
        parts += [f"## {_marked(block.title)}" if block.title else "", *_parts(block)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _marked(text: str) -> str:
    """Return foreign text escaped, so that Markdown shows it unchanged."""
    return _ACTS.sub(r"\\\1", printable(text))


@singledispatch
def _parts(block: Block) -> Iterator[str]:
    """Yield the paragraphs of a block, without parts that Markdown cannot show."""
    yield from ()


@_parts.register
def _points(block: Points) -> Iterator[str]:
    for item in block.items:
        yield f"{'**Warning.** ' if item.tone == 'warn' else ''}{_marked(item.text)}"
        if item.lines:
            yield _fenced(item.lines, item.language)
    yield _marked(block.note)


def _fenced(lines: Sequence[str], language: str = "text") -> str:
    """Return lines to copy in a fence that none of them can end."""
    code = [printable(line).replace("```", "'''") for line in lines]
    return "\n".join([f"```{language}", *code, "```"])


@_parts.register
def _section(block: Section) -> Iterator[str]:
    for one in block.blocks:
        yield f"**{_marked(one.title)}**" if one.title else ""
        yield from _parts(one)


@_parts.register
def _lines(block: Lines) -> Iterator[str]:
    yield _marked(block.note)
    yield _fenced(block.lines)


@_parts.register
def _facts(block: Facts) -> Iterator[str]:
    lines = []
    for item in block.items:
        note = f" ({item.why or item.note})" if item.why or item.note else ""
        text = _marked(written(item.value, item.kind, item.why) + note)
        lines.append(f"- **{_marked(item.title)}**: {text}" if item.title else f"  {text}")
    yield "\n".join(lines)


@_parts.register
def _notice(block: Notice) -> Iterator[str]:
    yield from map(_marked, block.text)


@_parts.register
def _drawings(block: Drawings) -> Iterator[str]:
    yield from (_marked(one.description) for one in block.charts)


@_parts.register
def _table(block: Table) -> Iterator[str]:
    shown = block.shown
    lines = [
        " | ".join(_marked(one.title) for one in shown),
        "|".join("--:" if one.kind in NUMBERS else "---" for one in shown),
    ]
    lines += [" | ".join(map(_marked, block.texts(row))) for row in block.rows]
    yield "\n".join(f"|{line}|" if line.startswith("-") else f"| {line} |" for line in lines)
