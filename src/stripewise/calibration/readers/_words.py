# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Options on a command line that a program has printed."""

from __future__ import annotations

from collections.abc import Mapping


def options_of(line: str, with_value: str) -> Mapping[str, str]:
    """Return the options of a command line as the program's parser takes them.

    Args:
        line: Program and options; words may be in quotes.
        with_value: Letters of the options that take a value.

    Returns:
        Letter, or long name without dashes -> its last value; "" of a flag.
    """
    words = [word.strip("'\"") for word in line.split()[1:]]
    found: dict[str, str] = {}
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            found[name] = value
        elif len(word) > 1 and word[0] == "-":
            letter, rest = _cluster(word[1:], with_value, found)
            if letter and not rest and place < len(words):
                rest = words[place]
                place += 1
            if letter:
                found[letter] = rest
    return found


def _cluster(word: str, with_value: str, found: dict[str, str]) -> tuple[str, str]:
    """Note the flags of a word; return the option at its end that takes a value, and that."""
    for place, letter in enumerate(word):
        if letter in with_value:
            return letter, word[place + 1 :].removeprefix("=")
        found[letter] = ""
    return "", ""
