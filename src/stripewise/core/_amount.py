# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records figures that may be unknown, or known only in part, with the reason.

What is not known is never zero: where nothing is known of an amount there is no value, and where a
part is missing the value is the least that it can be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

UNKNOWN = "unknown"
NOT_TOLD = "not told"
_MOST_REASONS = 3


@dataclass(frozen=True)
class Amount:
    """A figure of which some may not be known.

    Attributes:
        value: What is known; None: nothing.
        why: Why not all is known; "": the value is exact.
    """

    value: float | None
    why: str = ""

    @classmethod
    def of(cls, known: float | None, why: str = "") -> Amount:
        """Make one of what was found: with a reason, zero is nothing that is known."""
        if known is None or not math.isfinite(known) or (why and not known):
            return cls(None, why or NOT_TOLD)
        return cls(known, why)

    @property
    def is_exact(self) -> bool:
        """Whether all of it is known."""
        return not self.why

    @property
    def least(self) -> float:
        """The least that the figure can be."""
        return self.value or 0.0

    @property
    def most(self) -> float:
        """The most that the figure can be: infinite where some of it is not known."""
        return math.inf if self.why or self.value is None else self.value

    def words(self, show: Callable[[float], str]) -> str:
        """Format it: "3 MiB", "at least 3 MiB", "unknown"."""
        if self.value is None:
            return UNKNOWN
        return f"{'at least ' if self.why else ''}{show(self.value)}"


NOTHING = Amount(0)


def total(amounts: Iterable[Amount]) -> Amount:
    """Add amounts up: where one is not known, the sum is at least that of the others."""
    parts = tuple(amounts)
    known = [part.value for part in parts if part.value is not None]
    why = reasons(part.why for part in parts)
    return Amount.of(sum(known) if known or not parts else None, why)


def reasons(texts: Iterable[str]) -> str:
    """Put reasons into one text, each once, and not more than three."""
    every = tuple(dict.fromkeys(text for text in texts if text))
    more = len(every) - _MOST_REASONS
    return "; ".join(every[:_MOST_REASONS]) + (f"; and {more} more reasons" if more > 0 else "")


class Figured:
    """Mixed into records with figures: `missing` says why some are not, or not all, known.

    Attributes:
        missing: Name of a figure -> why.
    """

    missing: Mapping[str, str]

    def amount(self, name: str) -> Amount:
        """Return a figure with what is missing of it."""
        return Amount.of(getattr(self, name), self.missing.get(name, ""))


def with_unknown(data: Any, figures: Figured) -> Any:
    """Return the plain data of a record, with None for those figures that are not known."""
    unknown = (name for name in figures.missing if figures.amount(name).value is None)
    return data | dict.fromkeys(unknown)


class Part(IntFlag):
    """What a source may not tell of a run."""

    READ_BYTES = 1
    WRITE_BYTES = 2
    SECONDS = 4
    CALLS = 8
    """Calls that move no data, and the files that they are on."""
    BYTES = READ_BYTES | WRITE_BYTES
    ALL = BYTES | SECONDS | CALLS


@dataclass(frozen=True)
class Gap:
    """Something that a source does not tell.

    Attributes:
        parts: Of what.
        why: In words.
        files: Indices of the files of which it is missing; empty: of others than those that the
            source names.
    """

    parts: Part
    why: str
    files: frozenset[int] = frozenset()
