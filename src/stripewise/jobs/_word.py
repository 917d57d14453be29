# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A word of a command.

Texts are bytes decoded as Latin-1: one character is one byte, so that all positions are those in
the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A word of a command.

    Attributes:
        start / end: Its bytes.
        text: Without its quotes; variables and substitutions as they are written.
        is_plain: The shell takes the text as it is.
        is_open: It may become several words, or none: a variable or a substitution by itself.
        variable: The name, where a variable is the whole word.
        is_split: It becomes several words where blanks are in what is expanded in it.
    """

    start: int
    end: int
    text: str
    is_plain: bool = True
    is_open: bool = False
    variable: str = ""
    is_split: bool = False


class WordText:
    """What a word says, while it is read."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._plain = True
        self._open = True  # nothing but expansions so far
        self._expansions: list[str] = []
        self._whole = False  # something in quotes that must not be split

    def literal(self, text: str, plain: bool = True) -> None:
        """Add text without quotes; not plain if the shell may take it for a pattern."""
        self._parts.append(text)
        self._plain = self._plain and plain
        self._open = False

    def quoted(self, text: str) -> None:
        """Add text in quotes."""
        self._parts.append(text)
        self._open = self._open and not text
        self._whole = self._whole or not text.isprintable() or " " in text

    def expansion(self, text: str, quoted: bool) -> None:
        """Add a variable or a substitution."""
        self._parts.append(text)
        self._plain = False
        self._expansions.append(text)
        if quoted and not _several(text):
            self._open = False
            self._whole = True

    def word(self, start: int, end: int) -> Word:
        """The word that was read."""
        text = "".join(self._parts)
        name = re.fullmatch(r"\$(\w+)|\$\{(\w+)\}", text)
        return Word(
            start=start,
            end=end,
            text=text,
            is_plain=self._plain,
            is_open=self._open and bool(self._expansions),
            variable=(name[1] or name[2]) if name and self._expansions == [text] else "",
            is_split=bool(self._expansions) and not self._whole,
        )


def _several(text: str) -> bool:
    """Whether an expansion may be several words in double quotes too."""
    return text == "$@" or text.startswith("${@") or "[@]" in text or text.endswith("@}")
