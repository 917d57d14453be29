# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of files, generalised to a glob that is not too wide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from stripewise.formats import literal_glob, matches

_DEPTH = 3
"""Components of a path that a glob has at most."""
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]*$")
_NUMBER = re.compile(r"\d+(?![A-Za-z\d])")
"""Digits that count something: not those of `2d` or `x86_64a`."""
_SOLID = re.compile(r"[A-Za-z0-9]")
_LEAST_SOLID = 2
"""Letters and digits that a glob of several kinds of names has at least: `*` alone has none."""


def file_family(name: str, number: str = "*") -> str:
    """Return the glob of the names that differ from this one by numbers only.

    Args:
        name: Of a file.
        number: Glob of a number.
    """
    return _general(name, number)


def glob_of(names: Sequence[str], seen: Sequence[str]) -> str:
    """Return a glob that matches these files and no other that was seen; "" without one.

    Args:
        names: Paths below the run's directory; numbers in them may differ from run to run.
        seen: The same of every file, these among them.
    """
    own = set(names)
    others = [name for name in seen if name not in own]
    for depth in range(1, _DEPTH + 1):
        tails = list(dict.fromkeys("/".join(name.split("/")[-depth:]) for name in names))
        for glob in _candidates(tails):
            if glob.isprintable() and _is_exact(glob, names, others):
                return glob
    return ""


def _is_exact(glob: str, names: Sequence[str], others: Sequence[str]) -> bool:
    return all(matches(glob, n) for n in names) and not any(matches(glob, n) for n in others)


def _candidates(tails: Sequence[str]) -> Iterator[str]:
    """Yield globs for these ends of paths, the most general first."""
    families = sorted({file_family(tail) for tail in tails})
    if len(families) == 1:
        yield from (families[0], _general(tails[0], "[0-9]*"))
        if len(tails) == 1:
            yield literal_glob(tails[0])
        return
    start = _common_start(families)
    end = _common_start([glob[len(start) :][::-1] for glob in families])[::-1]
    if len(_SOLID.findall(start + end)) >= _LEAST_SOLID:
        yield f"{start.rstrip('*')}*{end.lstrip('*')}"


def _common_start(texts: Sequence[str]) -> str:
    equal = (len(set(letters)) == 1 for letters in zip(*texts, strict=False))
    return texts[0][: sum(takewhile(bool, equal))]


def _general(path: str, number: str) -> str:
    return "/".join(_general_component(part, number) for part in path.split("/"))


def _general_component(name: str, number: str) -> str:
    extension = _EXTENSION.search(name)
    stem = name[: extension.start()] if extension else name
    text = number.join(literal_glob(part) for part in _NUMBER.split(stem))
    return text + (literal_glob(extension.group()) if extension else "")
