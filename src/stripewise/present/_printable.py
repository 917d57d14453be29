# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes foreign text safe to show or write to CSV, and formats sizes, times and ratios."""

from __future__ import annotations

import logging
import math
import unicodedata
from pathlib import Path
from typing import Any

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories that act on a terminal or a page instead of standing in it."""
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_FORMULA = ("=", "+", "-", "@", "\t", "\r", *"\uff1d\uff0b\uff0d\uff20")
"""The last four are the wide forms of the first, which a spreadsheet in Japanese takes for them.
Source: OWASP, CSV Injection."""


def text_of(path: Path, errors: str = "replace") -> str:
    """Return what a file holds as text; "" if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors=errors)
    except OSError:
        return ""


def printable(text: str) -> str:
    r"""Make any text safe to show on one line.

    Bytes that are not UTF-8 (surrogates) and control characters become \xNN, characters that
    change the direction or the breaking of text \uNNNN.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_show, text))


def _show(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if unicodedata.category(character) not in _HIDDEN:
        return character
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Count a noun: "1 run", "3 runs"; `nouns` where an s is not enough."""
    return f"{number} {noun if number == 1 else nouns or f'{noun}s'}"


def format_ratio(value: float) -> str:
    """Format a speed-up without its sign: 5.2, 1.04, 18."""
    if not math.isfinite(value):
        return "?"
    if value >= 9.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1.995 else f"{value:.2f}"


def size_text(size_bytes: int) -> str:
    """Return a size in its unit: 767 B, 1.5 MiB."""
    for unit, name in _UNITS:
        if size_bytes >= unit:
            number = size_bytes / unit
            return f"{number:.0f} {name}" if number >= 999.5 else f"{number:.3g} {name}"
    return f"{size_bytes} B"


def csv_cell(value: Any) -> Any:
    """Return a cell of CSV that no spreadsheet takes for a formula; numbers stay as they are."""
    if not isinstance(value, str):
        return value
    shown = printable(value)
    return f"'{shown}" if value.startswith(_FORMULA) else shown


def finite(data: Any) -> Any:
    """Return the same data with every number that JSON cannot hold as None."""
    kind = type(data)  # most are plain numbers and texts: nothing else is asked of them
    if kind is float:
        return data if math.isfinite(data) else None
    if kind is str or kind is int:
        return data
    if isinstance(data, float) and not math.isfinite(data):
        return None
    if isinstance(data, dict):
        return {str(key): finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple | set | frozenset):
        return [finite(value) for value in data]
    if data is None or isinstance(data, bool | int | float | str):
        return data
    return str(data)


def duration_text(seconds: float) -> str:
    """Return a time for people: "20 us", "9.4 ms", "3 s", "95 s", "12 min", "2.5 h"."""
    if 0 < seconds < 1e-3:
        return f"{seconds * 1e6:.3g} us"
    if 0 < seconds < 0.1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.3g} h"


# Logs of what runs for long: the agent and the portal.


class OneLine(logging.Formatter):
    """Formats each record of a log as one line; those of a traceback stand behind a bar below it.

    Texts of others are in many messages: none of them begins a line.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        record.message = printable(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        """Return the lines of a traceback."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  | {printable(line)}" for line in lines)
