# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a title, a conclusion and blocks as Markdown, for the pages of a user guide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import singledispatch

from stripewise.present._printable import printable
from stripewise.present.blocks import (
    NUMBERS,
    Block,
    Content,
    Drawings,
    Notice,
    Points,
    Table,
    written,
)

_ACTS = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def as_markdown(content: Content) -> str:
    """Return the page; nothing in it depends on when it was made."""
    parts = [f"# {_marked(content.title)}", _marked(content.lead)]
    for block in content.blocks:
        parts += [f"## {_marked(block.title)}" if block.title else "", *_parts(block)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _marked(text: str) -> str:
    """Return foreign text that Markdown shows as it is."""
    return _ACTS.sub(r"\\\1", printable(text))


@singledispatch
def _parts(block: Block) -> Iterator[str]:
    """Yield the paragraphs of a block; what Markdown cannot show is left out."""
    yield from ()


@_parts.register
def _points(block: Points) -> Iterator[str]:
    for item in block.items:
        yield f"{'**Warning.** ' if item.tone == 'warn' else ''}{_marked(item.text)}"
        if item.lines:
            # A line cannot end the fence that it stands in.
            code = [printable(line).replace("```", "'''") for line in item.lines]
            yield "\n".join([f"```{item.language}", *code, "```"])
    yield _marked(block.note)


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
    for row in block.rows:
        missing = row.get("missing", {})
        lines.append(" | ".join(
            _marked(written(row.get(one.name), row[one.kinds] if one.kinds else one.kind,
                           missing.get(one.name, "")))
            for one in shown
        ))  # fmt: skip
    yield "\n".join(f"|{line}|" if line.startswith("-") else f"| {line} |" for line in lines)
