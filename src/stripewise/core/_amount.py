# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents figures that may be unknown or only partly known, with the reason.

An unknown amount is never zero: if nothing is known there is no value, and if a part is missing
the value is a lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

UNKNOWN = "unknown"
NO_REASON = "not told"
_MOST_REASONS = 3


@dataclass(frozen=True)
class Amount:
    """A figure that may be unknown or only partly known.

    Attributes:
        value: The known part; None if nothing is known.
        why: Why the figure is incomplete; empty if the value is exact.
    """

    value: float | None
    why: str = ""

    @classmethod
    def of(cls, known: float | None, why: str = "") -> Amount:
        """Create an amount from a known part; zero with a reason means that nothing is known."""
        if known is None or not math.isfinite(known) or (why and not known):
            return cls(None, why or NO_REASON)
        return cls(known, why)

    @property
    def is_exact(self) -> bool:
        """Whether the value is exact."""
        return not self.why

    @property
    def least(self) -> float:
        """The lower bound of the figure."""
        return self.value or 0.0

    @property
    def most(self) -> float:
        """The upper bound of the figure, which is infinite if a part is unknown."""
        return math.inf if self.why or self.value is None else self.value

    def words(self, show: Callable[[float], str]) -> str:
        """Format the amount: "3 MiB", "at least 3 MiB", "unknown"."""
        if self.value is None:
            return UNKNOWN
        return f"{'at least ' if self.why else ''}{show(self.value)}"


NOTHING = Amount(0)


def total(amounts: Iterable[Amount]) -> Amount:
    """Add up amounts; if one is unknown, the sum of the others is a lower bound."""
    parts = tuple(amounts)
    known = [part.value for part in parts if part.value is not None]
    why = reasons(part.why for part in parts)
    return Amount.of(sum(known) if known or not parts else None, why)


def reasons(texts: Iterable[str]) -> str:
    """Join reasons into one text, without duplicates and at most three."""
    every = tuple(dict.fromkeys(text for text in texts if text))
    more = len(every) - _MOST_REASONS
    return "; ".join(every[:_MOST_REASONS]) + (f"; and {more} more reasons" if more > 0 else "")


class Figured:
    """Mix-in for records with figures, some of which may be unknown or incomplete.

    Attributes:
        missing: Name of an unknown or incomplete figure to the reason.
    """

    missing: Mapping[str, str]

    def amount(self, name: str) -> Amount:
        """Return a figure as an amount, with the reason if it is incomplete."""
        return Amount.of(getattr(self, name), self.missing.get(name, ""))


def with_unknown(data: Any, figures: Figured) -> Any:
    """Return the plain data of a record, with None for unknown figures."""
    unknown = (name for name in figures.missing if figures.amount(name).value is None)
    return data | dict.fromkeys(unknown)


class ReportedPart(IntFlag):
    """The parts of a run that a source may not report."""

    READ_BYTES = 1
    WRITE_BYTES = 2
    SECONDS = 4
    CALLS = 8
    """Calls that move no data, and the files they act on."""
    BYTES = READ_BYTES | WRITE_BYTES
    ALL = BYTES | SECONDS | CALLS


@dataclass(frozen=True)
class Gap:
    """Something that a source does not report.

    Attributes:
        parts: The parts of a run that are missing.
        why: The reason, in words.
        files: Indices of the files concerned; empty if the gap concerns files that the source does
            not name.
    """

    parts: ReportedPart
    why: str
    files: frozenset[int] = frozenset()
