# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes foreign text safe to show or to write to CSV."""

from __future__ import annotations

import math
import unicodedata
from pathlib import Path
from typing import Any

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories that act on a terminal or a page instead of standing in it."""
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
