# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes foreign text safe to display or to write to CSV."""

from __future__ import annotations

import math
import unicodedata
from pathlib import Path
from typing import Any

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that control a terminal or a page instead of being shown."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", *"\uff1d\uff0b\uff0d\uff20")
"""Characters that begin a formula; the last four are full-width forms, which a Japanese
spreadsheet accepts too. Source: OWASP, CSV Injection."""


def text_of(path: Path, errors: str = "replace") -> str:
    """Return the content of a file as text; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors=errors)
    except OSError:
        return ""


def printable(text: str) -> str:
    r"""Make any text safe to show on one line.

    Bytes that are not UTF-8 (surrogates) and control characters become \xNN; characters that
    change the direction or line breaks of text become \uNNNN.
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
    """Return a CSV cell that no spreadsheet interprets as a formula; numbers stay unchanged."""
    if not isinstance(value, str):
        return value
    shown = printable(value)
    return f"'{shown}" if value.startswith(_FORMULA) else shown


def finite(data: Any) -> Any:
    """Return the data with None for every number that JSON cannot represent."""
    kind = type(data)  # most values are plain numbers and texts, which need no further checks
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
