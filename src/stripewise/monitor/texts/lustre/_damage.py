# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lines that could not be believed: counted all, and a few of them shown."""

from __future__ import annotations

MOST_BYTES = 1 << 64
"""Counters of Lustre have 64 bits."""
_SHOWN = 5
_EXCERPT_CHARACTERS = 60


def excerpt(line: str) -> str:
    """Return the beginning of a line, printable and quoted."""
    cut = line[:_EXCERPT_CHARACTERS]
    return ascii(cut) + ("..." if len(line) > len(cut) else "")


class Damage:
    """Collects what was left out of one text."""

    def __init__(self) -> None:
        self.count = 0
        self._sentences: list[str] = []

    def add(self, why: str, line: str) -> None:
        """Note that a line was left out, and why."""
        self.count += 1
        if len(self._sentences) < _SHOWN:
            self._sentences.append(f"{why}: {excerpt(line)}")

    def problems(self) -> tuple[str, ...]:
        """Return sentences; the last one counts those that are not shown."""
        more = self.count - len(self._sentences)
        rest = (f"{more} more lines were left out",) if more else ()
        return (*self._sentences, *rest)


def whole_lines(text: str, damage: Damage) -> list[str]:
    """Split a text into lines; a last line without its end is torn and left out."""
    lines = text.split("\n")
    if torn := lines.pop():
        damage.add("the text ends within a line", torn)
    return lines


def number(digits: str) -> int | None:
    """Return a counter of 64 bits; None: it is none, also with a zero before it."""
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 20:
        return None
    if digits[0] == "0" and digits != "0":
        return None
    value = int(digits)
    return value if value < MOST_BYTES else None
