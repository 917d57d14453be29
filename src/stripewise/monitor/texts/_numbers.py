# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lines and numbers in texts of counters, and names that are there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

_MOST = (1 << 64) - 1
_DIGITS = 20

_Record = TypeVar("_Record")


def whole(word: str) -> int:
    """Return a counter: ASCII digits alone, none before it that is zero, at most 2^64 - 1.

    Raises:
        ValueError: It is none.
    """
    is_digits = word.isascii() and word.isdigit() and len(word) <= _DIGITS
    if not is_digits or int(word) > _MOST or (word[0] == "0" and word != "0"):
        raise ValueError(f"{shown(word)} is no counter")
    return int(word)


def wholes(text: str) -> list[int]:
    """Return counters that are parted by one blank each, as the kernel prints them.

    Raises:
        ValueError: They are not: a blank too many may be a digit that is lost.
    """
    return [whole(word) for word in text.split(" ")]


def whole_lines(text: str) -> tuple[list[str], list[str]]:
    """Split a text into lines; a last one without its end is torn: its number may lack digits.

    Returns:
        Lines that are whole, and a sentence if one was left out.
    """
    *lines, torn = text.split("\n")
    return lines, [f"the text ends within a line, {shown(torn.strip())}"] if torn.strip() else []


def usual(counts: Iterable[int]) -> int:
    """Return the number that more than half of them are; -1: none is.

    A text whose lines are all written alike tells so which of them lost or gained a column.
    """
    found = Counter(counts)
    most = max(found, key=lambda count: found[count], default=-1)
    return most if 2 * found[most] > found.total() else -1


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
