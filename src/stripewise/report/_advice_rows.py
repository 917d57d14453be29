# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Limits and laws of a storage as rows, for all forms in which advice is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from stripewise.advice import AdviceBook
from stripewise.machines import Storage
from stripewise.simulation import rate_text

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
