# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Words written so that a shell takes them as they are."""

from __future__ import annotations

import re

from stripewise.errors import UsageError
from stripewise.text import printable

_SAFE = re.compile(r"[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*")


def quote(word: str, kind: str = "sh") -> str:
    """Return a word as it is to be written in a script.

    Args:
        word: Any text without NUL.
        kind: "sh" or "csh", as of `JobScript.kind`.

    Raises:
        UsageError: No quotes can carry the word.
    """
    if "\0" in word:
        raise UsageError(f"{printable(word)!r} holds a NUL, which no shell can carry; take it out")
    if _SAFE.fullmatch(word):
        return word
    if kind != "csh":
        return "'" + word.replace("'", "'\"'\"'") + "'"
    if "\n" in word:
        raise UsageError(
            f"{printable(word)!r} holds a line break, which csh cannot quote; take it out, or use "
            "a script for sh"
        )
    return "'" + word.replace("'", "'\"'\"'").replace("!", "\\!") + "'"
