# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cleans program output of terminal and launcher additions, and reads numbers and options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from io import StringIO
from math import isfinite

from stripewise.core.errors import UsageError
from stripewise.present import printable

LONGEST_LINE = 2000
"""Maximum characters of a line that are parsed; results are far shorter."""
MOST_RANKS = 100_000_000
MOST_BYTES = 1 << 62
"""Maximum bytes of one rank, or of one option."""
MOST_MOVED_BYTES = 1 << 80
"""Maximum bytes of all ranks together."""

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_TAG = re.compile(r"^(?:\[\d{1,8},\d{1,8}\]<std(?:out|err)>:? ?)", re.MULTILINE)
_LABEL = re.compile(r"^ *\d{1,7}: (?=IOR-|mdtest-|-- started|[ ]*Simple Parallel)", re.MULTILINE)
_LABELS = re.compile(r"^ *\d{1,7}: ?", re.MULTILINE)
_TIME = r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:?[ \t]"
_STAMPED = re.compile(rf"^{_TIME}(?=IOR-|mdtest-|-- started)", re.MULTILINE | re.ASCII)
_STAMPS = re.compile(rf"^{_TIME}", re.MULTILINE | re.ASCII)
_INDENTED = re.compile(r"^([ \t]{1,16})(?:IOR-\S|mdtest-\S)", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eEdD][+-]?\d{1,3})?", re.ASCII)
SIZES = {"bytes": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
         "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}  # fmt: skip
RATES = {f"{unit}/s": SIZES[unit] for unit in ("GiB", "MiB", "GB", "MB")}
"""Units of bandwidths in tables."""
_SIZE = re.compile(r"(\d{1,20}(?:\.\d{1,20})?) ?([A-Za-z]{1,5})", re.ASCII)
_LETTERS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_OPTION_SIZE = re.compile(r"(\d{1,20})([kmgtKMGT]?)", re.ASCII)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d{1,2}):(\d{2}):(\d{2}) (\d{4})", re.ASCII
)
_STAMP = re.compile(r"(\d{2})/(\d{2})/(\d{4}) (\d{2}):(\d{2}):(\d{2})", re.ASCII)


def cleaned(data: bytes) -> str:
    """Return the text of a file without what terminals, launchers and logs add to its lines.

    These are colours, carriage returns, labels, times, and an indentation of the whole text.
    """
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if "]<std" in text:
        text = _TAG.sub("", text)
    if _STAMPED.search(text):
        text = _STAMPS.sub("", text)
    if match := _INDENTED.search(text):
        text = re.sub(rf"^{match[1]}", "", text, flags=re.MULTILINE)
    return _LABELS.sub("", text) if _LABEL.search(text) else text


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines, cut to the maximum length of a result."""
    for line in StringIO(text, newline="\n"):
        yield line[:LONGEST_LINE].rstrip("\n")


def shown(text: str, most: int = 60) -> str:
    """Return external text shortened to one line, for a message."""
    text = printable(text.strip())
    return text if len(text) <= most else f"{text[:most]}..."


def number(text: str) -> float | None:
    """Return a finite number of C or Fortran; None if it is not one."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.translate({68: "e", 100: "e"}))
    return value if isfinite(value) else None


def half_digit(text: str) -> float:
    """Return half a unit of the last digit of a number as it is printed."""
    mantissa, _, exponent = text.lower().replace("d", "e").partition("e")
    power = int(exponent or 0) - len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** min(power, 300)


def whole(text: str, most: int = MOST_BYTES) -> int | None:
    """Return an integer of 0 to `most`; None if it is not one."""
    if not text.isascii() or not text.isdigit() or len(text) > 20:
        return None
    value = int(text)
    return value if value <= most else None


def size(text: str) -> tuple[int, bool] | None:
    """Return bytes of IOR's text ("1.50 GiB"), and whether they are exact; None if invalid."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[2] not in SIZES:
        return None
    value = float(match[1]) * SIZES[match[2]]
    return (round(value), "." not in match[1]) if 0 < value < MOST_MOVED_BYTES else None


def option_size(text: str) -> int | None:
    """Return the bytes of an option ("256k"); None if it is not a size."""
    match = _OPTION_SIZE.fullmatch(text)
    if match is None:
        return None
    value = int(match[1]) * _LETTERS[match[2].lower()]
    return value if 0 < value < MOST_BYTES else None


def clock(text: str) -> float:
    """Return seconds since 1970 of "Sat Nov 21 13:05:44 2026" or "11/21/2026 13:05:44".

    The programs print the local time without its zone; it is taken as UTC. 0 if invalid.
    """
    if found := _CLOCK.search(text):
        if found[1] not in _MONTHS:
            return 0.0
        parts = (found[6], str(_MONTHS.index(found[1]) + 1), *found.groups()[1:5])
    elif found := _STAMP.search(text):
        parts = (found[3], found[1], found[2], *found.groups()[3:])
    else:
        return 0.0
    try:
        year, month, day, hour, minute, second = map(int, parts)
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        return max(moment.timestamp(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


def ranks_in(name: str, what: str, text: str) -> int:
    """Return a number of ranks or nodes.

    Raises:
        UsageError: The number is impossible.
    """
    value = whole(text.strip(), MOST_RANKS)
    if not value:
        raise UsageError(
            f"{name}: {what} = {shown(text)!r} is not a number of 1 to {MOST_RANKS}: check that "
            "the file is complete"
        )
    return value


# Options on a command line that a program has printed.


def options_of(line: str, with_value: str) -> Mapping[str, str]:
    """Return the options of a command line as the program's parser reads them.

    Args:
        line: Program and options; words may be in quotes.
        with_value: Letters of the options that have a value.

    Returns:
        Last value by letter, or by long name without dashes; empty for a flag.
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
    """Store the flags of a word; return the option at its end that has a value, and the value."""
    for place, letter in enumerate(word):
        if letter in with_value:
            return letter, word[place + 1 :].removeprefix("=")
        found[letter] = ""
    return "", ""
