# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One line: `start name (arguments) result duration`.

    1396296304.23708 H5Sselect_hyperslab (67108867,0,{0;0},{1;1},{6;24},NULL) 0 0.00002

Vectors are {a;b;c}; the start, the result and the duration may be missing.  Source: the lines
printed in Behzad et al., "Pattern-driven parallel I/O tuning" (PDSW 2015).
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from stripewise.readers.sources._base import LONGEST_LINE

MOST_DIMENSIONS = 32
_LINE = re.compile(
    r"\s*(?:(?P<start>\d{1,12}(?:\.\d{0,12})?)\s+)?(?P<name>[A-Za-z_]\w{0,80})\s*\((?P<rest>.*)"
)
_TAIL = re.compile(
    r"\s*(?P<result>[^\s()]{1,200})?(?:\s+(?P<duration>\d{1,12}(?:\.\d{0,12})?(?:[eE]-?\d{1,3})?))?\s*"
)
_TIMED = re.compile(r"\s*\d+\.\d+\s+[A-Za-z_]\w*\s+\(.*\)\s+\S+\s+\d+\.\d+\s*")
_WHOLE = re.compile(r"\s*(\d{1,19})\s*")


class Line(NamedTuple):
    """A call; `start` and `duration` in seconds, nan where the line has none."""

    start: float
    duration: float
    name: str
    arguments: tuple[str, ...]
    result: str


def is_timed(line: str) -> bool:
    """Whether a line has every part of this form."""
    return len(line) <= LONGEST_LINE and _TIMED.fullmatch(line) is not None


def parse_line(text: str) -> Line | None:
    """One call; None if the line is none."""
    match = _LINE.fullmatch(text.rstrip("\r\n"))
    if match is None:
        return None
    rest = match["rest"]
    close = rest.rfind(")")
    if close < 0:
        return None
    tail = _TAIL.fullmatch(rest[close + 1 :])
    if tail is None:
        return None
    return Line(
        float(match["start"]) if match["start"] else math.nan,
        float(tail["duration"]) if tail["duration"] else math.nan,
        match["name"],
        split_arguments(rest[:close]),
        tail["result"] or "",
    )


def split_arguments(text: str) -> tuple[str, ...]:
    """Arguments between commas that are in no braces."""
    if not text.strip():
        return ()
    found: list[str] = []
    depth = begin = 0
    for place, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(depth - 1, 0)
        elif character == "," and not depth:
            found.append(text[begin:place].strip())
            begin = place + 1
    found.append(text[begin:].strip())
    return tuple(found)


def vector(text: str) -> tuple[int, ...] | None:
    """`{a;b;c}` as numbers; None for NULL and what is no vector."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    parts = [part for part in re.split(r"[;,]", text[1:-1]) if part.strip()]
    if len(parts) > MOST_DIMENSIONS:
        return None
    numbers = []
    for part in parts:
        match = _WHOLE.fullmatch(part)
        if match is None or int(match[1]) >= 1 << 62:
            return None
        numbers.append(int(match[1]))
    return tuple(numbers)
