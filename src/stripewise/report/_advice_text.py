# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advice as lines of a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stripewise.advice import Advice, AdviceBook
from stripewise.report._advice_rows import concern_text, limit_rows, origin_text
from stripewise.report._columns import aligned
from stripewise.text import finite


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
