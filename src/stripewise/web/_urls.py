# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of the portal: whatever comes into one is quoted."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode


def address(path: str, words: Mapping[str, object] | None = None) -> str:
    """Return a path with words behind it; words that are None or "" are left out.

    Args:
        path: Begins with a slash; its parts are quoted already, see `part`.
        words: Of the query.
    """
    asked = {name: str(value) for name, value in (words or {}).items() if value not in (None, "")}
    return f"{path}?{urlencode(asked)}" if asked else path


def part(text: object) -> str:
    """Return one part of a path, quoted; slashes too."""
    return quote(str(text), safe="")


def is_own(target: str) -> bool:
    """Whether an address leads to a page of this portal, and nowhere else."""
    is_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    return is_path and target.isprintable() and "\\" not in target
