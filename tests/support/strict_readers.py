# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Second readers of texts of counters: slow and strict, written apart from the product's.

Each returns what a text says as it stands, by name, and whether all of it could be read.  Where
damage cannot be told from a right text, it reads what the product should: both say the same.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Said = dict[Any, Any]
Strict = Callable[[str], tuple[Said, bool]]
Read = Callable[[str], tuple[Mapping[Any, Any], Sequence[str]]]
_LONGEST_SENTENCE = 800


class Format(NamedTuple):
    """One format of texts.

    Attributes:
        read: What the product reads, by name, and the problems it tells.
        strict: The second reader.
        texts: Right ones.
    """

    read: Read
    strict: Strict
    texts: tuple[str, ...]


def reading(strict: Strict, text: str) -> tuple[Said, bool]:
    """Read strictly; what is refused as a whole says nothing."""
    try:
        return strict(text)
    except (Damaged, ValueError, IndexError, KeyError):
        return {}, False


def check(form: Format, text: str) -> bool:
    """Hold a reading against the second reader's; return whether nothing was left out."""
    found, problems = form.read(text)
    said, is_whole = reading(form.strict, text)
    for name, value in found.items():
        assert name in said, f"nothing tells of {name!r}"
        assert value == said[name], f"{name!r} is {said[name]!r}, not {value!r}"
    if not problems:
        assert said.keys() == found.keys(), f"{said.keys() - found.keys()} lost without a word"
        assert is_whole, "damage without a word"
    for problem in problems:
        assert problem.isprintable()
        assert len(problem) < _LONGEST_SENTENCE
    return not problems


class Damaged(Exception):
    """A part of a text that cannot be believed."""


def expect(is_so: object) -> None:
    """Refuse what is not so."""
    if not is_so:
        raise Damaged


def digits(word: str, most: int = 20) -> int:
    """Read ASCII digits."""
    expect(word and set(word) <= set(string.digits) and len(word) <= most)
    return int(word)


def number(word: str) -> int:
    """Read a counter as `%llu` prints it."""
    value = digits(word)
    expect(value < 1 << 64 and word == str(value))
    return value


def lines_of(text: str) -> tuple[list[str], bool]:
    """Return the lines that have an end, and whether all have."""
    *lines, rest = text.split("\n")
    return lines, not rest.strip()


def each(lines: Iterable[str], read: Callable[[str], tuple[Any, Any]]) -> tuple[Said, bool]:
    """Read each line; what is there twice says nothing."""
    found, is_whole = [], True
    for line in lines:
        try:
            found.append(read(line))
        except (Damaged, ValueError, IndexError, KeyError):
            is_whole = False
    names = Counter(name for name, _ in found)
    is_whole = is_whole and len(names) == len(found)
    return {name: value for name, value in found if names[name] == 1}, is_whole


def most_have(widths: Sequence[int]) -> int:
    """Return the width that more than half have; 0: none."""
    return next((one for one in set(widths) if 2 * widths.count(one) > len(widths)), 0)
