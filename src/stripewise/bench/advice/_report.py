# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows advice, limits and laws as lines of a terminal, JSON, Markdown and a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from stripewise.bench.advice._advise import AdviceBook
from stripewise.bench.advice.rules._base import Advice
from stripewise.present import aligned, finite, page_template, printable
from stripewise.storage.machines import Storage
from stripewise.storage.simulation import rate_text

_DATA = (
    ("client.process_write", "One process writes"), ("client.process_read", "One process reads"),
    ("client.file_write", "One node writes into one file"),
    ("client.file_read", "One node reads from one file"),
    ("client.node_write", "One node writes"), ("client.node_read", "One node reads"),
    ("servers.target_write", "One target takes"), ("servers.target_read", "One target gives"),
    ("servers.whole_write", "The whole storage takes"),
    ("servers.whole_read", "The whole storage gives"),
)  # fmt: skip
_OPERATIONS = (
    ("metadata.create", "All together create"), ("metadata.open", "All together open"),
    ("metadata.stat", "All together look at (stat)"),
    ("metadata.remove", "All together remove"),
)  # fmt: skip


@dataclass(frozen=True)
class LimitRow:
    """One limit for a table.

    Attributes:
        figure: Name in a description.
        words: What does it.
        value: With its unit.
        span: Its interval of 95 %; "": not known.
        kind: "measured", "documented" or "assumed".
    """

    figure: str
    words: str
    value: str
    span: str
    kind: str


def limit_rows(storage: Storage) -> Iterator[LimitRow]:
    """Yield the limits that a storage's description has, from the process to the whole."""
    for name, words in _DATA:
        figure = storage.figures.get(name)
        if figure is not None and figure.value < 1e14:
            span = ""
            if figure.low is not None and figure.high is not None:
                span = f"{rate_text(figure.low)} to {rate_text(figure.high)}"
            yield LimitRow(name, words, rate_text(figure.value), span, str(figure.kind))
    for name, words in _OPERATIONS:
        figure = storage.figures.get(name)
        if figure is not None and figure.value > 0:
            span = ""
            if figure.low and figure.high:
                span = f"{1 / figure.high:,.0f} to {1 / figure.low:,.0f} files/s"
            value = f"{1 / figure.value:,.0f} files/s"
            yield LimitRow(name, words, value, span, str(figure.kind))


def origin_text(book: AdviceBook) -> str:
    """Return in one sentence what the advice follows from."""
    basis = book.basis
    if basis.limits:
        cases = len({one.case.key for one in basis.figures})
        text = f"The figures follow from limits that a campaign of {cases} cases found"
        if basis.limits.error == basis.limits.error:
            text += f"; cases left out of the fit were predicted within {basis.limits.error:.0%}"
            text += " (median)"
        text += "."
        if isfinite(basis.unproven_above):
            text += (
                " No case loaded the whole storage: above "
                f"{rate_text(basis.unproven_above)}, the most that was written, figures are what "
                "its targets together would take, and their ranges begin there."
            )
        return text
    return "The figures are predicted from the description of the storage; nothing was run."


def concern_text(book: AdviceBook) -> str:
    """Return for whom the advice is; "" if for everybody."""
    program = book.basis.program
    return f"Only what concerns {program.name} is shown." if program else ""


# Advice as lines of a terminal, and as JSON.


def advice_lines(book: AdviceBook, *, why_not: bool = False) -> Iterator[str]:
    """Yield advice as lines.

    Args:
        book: All advice.
        why_not: Also say what is missing for more.
    """
    storage = book.basis.storage
    yield f"Advice to users of {storage.name}: {storage.title}"
    yield " ".join(filter(None, (origin_text(book), concern_text(book))))
    for topic, group in book.topics.items():
        yield ""
        yield topic
        for one in group:
            yield f"  {'! ' if one.is_warning else '- '}{one.sentence}"
            for how in one.how:
                yield f"      {how.text}"
    rows = [("Limit", "Value", "Interval of 95 %", "Known by")]
    rows += [(one.words, one.value, one.span or "-", one.kind) for one in limit_rows(storage)]
    if len(rows) > 1:
        yield ""
        yield from aligned(rows)
    laws = book.basis.limits.laws if book.basis.limits else ()
    if laws:
        yield ""
        yield "Laws"
        yield from (f"  {'+' if one.holds else '-'} {one.sentence}" for one in laws)
    if book.basis.limits and book.missing and not why_not:
        yield ""
        yield (
            "More advice needs what these cases do not tell: --why-not says what; --like MACHINE "
            "takes it from a description."
        )
    if why_not:
        yield ""
        yield "No advice on"
        yield from (f"  {name}: {why}" for name, why in book.missing.items())
        yield from (f"  {name}: no choice makes a difference here" for name in book.silent)
        yield from (f"  {name}: it does not concern the program" for name in book.aside)


def advice_json(book: AdviceBook) -> dict[str, Any]:
    """Return all advice as plain data, with what is missing for more."""
    basis = book.basis
    limits = basis.limits
    document = {
        "storage": basis.storage.name,
        "title": basis.storage.title,
        "from": "campaign" if limits else "description",
        "program": basis.program.name if basis.program else None,
        "advice": [_one(one) for one in book.advice],
        "limits": [
            {"figure": one.figure, "words": one.words, "value": one.value, "interval": one.span,
             "known_by": one.kind}
            for one in limit_rows(basis.storage)
        ],
        "laws": [
            {"name": one.name, "sentence": one.sentence, "holds": one.holds, "error": one.error,
             "evidence": list(one.evidence)}
            for one in (limits.laws if limits else ())
        ],
        "site_defaults": {name: value for name, (value, _) in book.defaults.items()},
        "missing": dict(book.missing),
        "no_difference": list(book.silent),
        "does_not_concern": list(book.aside),
    }  # fmt: skip
    result: dict[str, Any] = finite(document)
    return result


def _one(one: Advice) -> dict[str, Any]:
    return {
        "rule": one.rule, "topic": one.topic, "sentence": one.sentence,
        "is_warning": one.is_warning, "value": one.value, "low": one.low, "high": one.high,
        "unit": one.unit, "evidence": list(one.evidence),
        "how": [{"kind": how.kind, "text": how.text} for how in one.how],
        "site_defaults": dict(one.defaults),
    }  # fmt: skip


# Advice as a Markdown page for a centre's user guide.

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


# Advice as one self-contained page.


def advice_page(book: AdviceBook) -> str:
    """Render the page; the same advice gives the same page."""
    limits = book.basis.limits
    return page_template("advice.html.j2", {}).render(
        storage=book.basis.storage,
        origin=origin_text(book),
        concern=concern_text(book),
        topics=book.topics,
        limits=list(limit_rows(book.basis.storage)),
        laws=limits.laws if limits else (),
        defaults=[(name, value, one) for name, (value, one) in book.defaults.items()],
        missing=book.missing,
    )
