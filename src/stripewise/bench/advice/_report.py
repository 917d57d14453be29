# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents advice, limits and laws as terminal lines, JSON, Markdown and a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from stripewise.bench.advice._advise import AdviceBook
from stripewise.bench.advice.rules._base import Advice
from stripewise.present import finite, operations_text, percent_text, rate_text
from stripewise.present.blocks import Block, Column, Content, Lines, Notice, Point, Points, Table
from stripewise.present.renderers import as_lines, as_markdown, as_page, slug
from stripewise.storage.machines import Storage

_LIMITS = {
    "client.process_write": "Writes of one process", "client.process_read": "Reads of one process",
    "client.file_write": "Writes of one node into one file",
    "client.file_read": "Reads of one node from one file",
    "client.node_write": "Writes of one node", "client.node_read": "Reads of one node",
    "servers.target_write": "Writes to one target", "servers.target_read": "Reads from one target",
    "servers.whole_write": "Writes to the whole storage",
    "servers.whole_read": "Reads from the whole storage",
    "metadata.create": "File creation, all processes", "metadata.open": "File open, all processes",
    "metadata.stat": "File stat, all processes", "metadata.remove": "File removal, all processes",
}  # fmt: skip
_UNLIMITED = 1e14
"""Rate, in bytes per second, from which a described figure means that there is no limit."""


def limit_rows(storage: Storage) -> Iterator[dict[str, str]]:
    """Yield the limits in the description of a storage, from the process to the whole."""
    for name, words in _LIMITS.items():
        figure = storage.figures.get(name)
        is_time = name.startswith("metadata.")  # seconds of one operation
        if figure is None or figure.value >= _UNLIMITED or (is_time and figure.value <= 0):
            continue
        text = _files_per_second if is_time else rate_text
        ends = (figure.high, figure.low) if is_time else (figure.low, figure.high)
        known = [end for end in ends if end is not None and (end or not is_time)]
        span = " to ".join(map(text, known)) if len(known) == 2 else ""
        yield {"figure": name, "words": words, "value": text(figure.value), "interval": span,
               "known_by": str(figure.kind)}  # fmt: skip


def _files_per_second(seconds: float) -> str:
    """Return how many files per second correspond to an operation time."""
    return operations_text(1 / seconds, "files")


def origin_text(book: AdviceBook) -> str:
    """Return the basis of the advice in one sentence."""
    basis = book.basis
    if basis.limits:
        cases = len({one.case.key for one in basis.figures})
        text = f"The figures follow from limits that a campaign of {cases} cases found"
        if basis.limits.error == basis.limits.error:
            error = percent_text(basis.limits.error)
            text += f"; cases left out of the fit were predicted within {error} (median)"
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
    """Return for whom the advice is; empty if it is for everybody."""
    program = book.basis.program
    return f"Only what concerns {program.name} is shown." if program else ""


# Advice as blocks, and its output forms.

_LANGUAGES = {"command": "bash", "variable": "bash", "directive": "bash"}


def advice_lines(book: AdviceBook, *, why_not: bool = False) -> Iterator[str]:
    """Yield advice as terminal lines.

    Args:
        book: All advice.
        why_not: Whether to add what is missing for more advice.
    """
    blocks = [*_topics(book), *_limits(book), *_laws(book)]
    if why_not:
        blocks.append(Points.of("missing", "No advice on", [
            *(f"{name}: {why}" for name, why in book.missing.items()),
            *(f"{name}: no choice makes a difference here" for name in book.silent),
            *(f"{name}: it does not concern the program" for name in book.aside),
        ]))  # fmt: skip
    elif book.basis.limits and book.missing:
        blocks.append(Notice("missing", "", [
            (
                "More advice needs figures that these cases do not provide: --why-not lists "
                "them; --like MACHINE takes them from a description."
            )
        ]))  # fmt: skip
    return as_lines(_content(book, blocks))


def advice_markdown(book: AdviceBook) -> str:
    """Return the page for a centre's user guide, which does not depend on the time."""
    return as_markdown(_content(book, [*_topics(book), *_limits(book)]))


def advice_page(book: AdviceBook) -> str:
    """Return the HTML page; the same advice gives the same page."""
    blocks = [*_topics(book), *_limits(book), *_laws(book)]
    if book.defaults:
        lines = [f"export {name}={value}" for name, (value, _) in book.defaults.items()]
        note = (
            "A site can set these for all its users; they make no size of job slower, and "
            "users can override them."
        )
        blocks.append(Lines("defaults", "Defaults for all users", lines, note))
    if book.missing:
        texts = [f"{name}: {why}" for name, why in book.missing.items()]
        blocks.append(Points.of("missing", "What is not known", texts))
    return as_page(_content(book, blocks))


def _content(book: AdviceBook, blocks: Sequence[Block]) -> Content:
    storage = book.basis.storage
    lead = " ".join(filter(None, (origin_text(book), concern_text(book))))
    title = f"Input and output on {storage.title or storage.name}"
    return Content(title, lead, blocks, subject=f"Advice to users · {storage.name}")


def _topics(book: AdviceBook) -> Iterator[Block]:
    for topic, group in book.topics.items():
        yield Points(f"topic-{slug(topic)}", topic, [_point(one) for one in group])


def _point(one: Advice) -> Point:
    return Point(
        one.sentence,
        "warn" if one.is_warning else "",
        [how.text for how in one.how],
        _LANGUAGES.get(one.how[0].kind, "text") if one.how else "text",
        "; ".join(one.evidence),
    )


def _limits(book: AdviceBook) -> Iterator[Block]:
    rows = list(limit_rows(book.basis.storage))
    if rows:
        columns = (
            Column("words", "Limit"),
            Column("value", "At most", "figure"),
            Column("interval", "Interval of 95 %"),
            Column("known_by", "Basis"),
        )
        yield Table("limits", "What limits a job", columns, rows)


def _laws(book: AdviceBook) -> Iterator[Block]:
    laws = book.basis.limits.laws if book.basis.limits else ()
    if laws:
        points = [Point(one.sentence, "good" if one.holds else "bad") for one in laws]
        yield Points("laws", "Laws", points)


# Advice as plain data.


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
        "limits": list(limit_rows(basis.storage)),
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
    names = ("rule", "topic", "sentence", "is_warning", "value", "low", "high", "unit")
    return {
        **{name: getattr(one, name) for name in names},
        "evidence": list(one.evidence),
        "how": [{"kind": how.kind, "text": how.text} for how in one.how],
        "site_defaults": dict(one.defaults),
    }
