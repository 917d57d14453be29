# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers in texts of counters, and names that are there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

_MOST = (1 << 64) - 1
_DIGITS = 20

_Record = TypeVar("_Record")


def whole(word: str) -> int:
    """Return a counter: ASCII digits alone, at most 2^64 - 1.

    Raises:
        ValueError: It is none.
    """
    if not (word.isascii() and word.isdigit()) or len(word) > _DIGITS or int(word) > _MOST:
        raise ValueError(f"{shown(word)} is no counter")
    return int(word)


def fraction(word: str) -> float:
    """Return a number of digits and at most one point.

    Raises:
        ValueError: It is none.
    """
    if not word.isascii() or not word.replace(".", "", 1).isdigit() or len(word) > _DIGITS:
        raise ValueError(f"{shown(word)} is no number")
    return float(word)


def shown(word: str) -> str:
    """Show a word of a text in a message: short, and without characters that act."""
    return ascii(word if len(word) <= 24 else f"{word[:21]}...")


def once(
    records: Iterable[_Record], name: Callable[[_Record], str]
) -> tuple[list[_Record], list[str]]:
    """Leave out what is there more than once: nobody can tell which is right.

    Returns:
        The records, and a sentence for each name that was left out.
    """
    kept = list(records)
    several = [one for one, count in Counter(map(name, kept)).items() if count > 1]
    wrong = frozenset(several)
    return (
        [record for record in kept if name(record) not in wrong],
        [f"{shown(one)} is there more than once and is left out" for one in several],
    )
