# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advice as a Markdown page for a centre's user guide."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stripewise.advice import Advice, AdviceBook
from stripewise.report._advice_rows import limit_rows, origin_text
from stripewise.text import printable

_ACTS = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_LANGUAGES = {"command": "bash", "variable": "bash", "directive": "bash"}


def advice_markdown(book: AdviceBook) -> str:
    """Return the page; nothing in it depends on when it was made."""
    return "\n".join(_lines(book)) + "\n"


def marked(text: str) -> str:
    """Return foreign text that Markdown shows as it is."""
    return _ACTS.sub(r"\\\1", printable(text))


def _lines(book: AdviceBook) -> Iterator[str]:
    storage = book.basis.storage
    yield f"# Input and output on {marked(storage.title or storage.name)}"
    yield ""
    yield marked(origin_text(book))
    for topic, group in book.topics.items():
        yield ""
        yield f"## {marked(topic)}"
        for one in group:
            yield ""
            yield from _advice(one)
    rows = list(limit_rows(storage))
    if rows:
        yield ""
        yield "## What limits a job"
        yield ""
        yield "| | at most | interval of 95 % | known by |"
        yield "|---|--:|---|---|"
        for row in rows:
            span = marked(row.span) or "-"
            yield f"| {marked(row.words)} | {marked(row.value)} | {span} | {row.kind} |"


def _advice(one: Advice) -> Iterator[str]:
    text = marked(one.sentence)
    yield f"**Warning.** {text}" if one.is_warning else text
    if not one.how:
        return
    yield ""
    yield f"```{_LANGUAGES.get(one.how[0].kind, 'text')}"
    for how in one.how:
        # A line cannot end the block that it stands in.
        yield printable(how.text).replace("```", "'''")
    yield "```"
