# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading of directives: "#DW jobdw type=scratch capacity=16GiB"."""

from __future__ import annotations

import os
from collections.abc import Sequence

from stripewise.errors import UsageError
from stripewise.text import printable
from stripewise.tiers._sizes import burst_size_bytes


def options_of(words: Sequence[str]) -> dict[str, str]:
    """Return the KEY=VALUE words."""
    pairs = (word.partition("=") for word in words)
    return {key: value for key, equals, value in pairs if equals}


def capacity_of(options: dict[str, str]) -> int:
    """Return the capacity in bytes; 0 if none is given.

    Raises:
        UsageError: It is no size.
    """
    text = options.get("capacity", "")
    size_bytes = burst_size_bytes(text) if text else 0
    if size_bytes is None:
        raise UsageError(
            f"capacity={printable(text)} in the job script is no size: write it as 16GiB"
        )
    return size_bytes


def place_in(path: str, variable: str) -> str | None:
    """Return the place below "$VARIABLE/"; None if the path is elsewhere."""
    for root in (f"${variable}", f"${{{variable}}}"):
        if path == root:
            return ""
        if path.startswith(root + "/"):
            return path[len(root) + 1 :].strip("/")
    return None


def copied_of(line: str, variable: str) -> tuple[str, str]:
    """Return source and place of a line that copies a file or a directory to a tier.

    Raises:
        UsageError: It copies a list, or to another tier, or its source is not there.
    """
    options = options_of(line.split()[2:])
    source, place = options.get("source", ""), place_in(options.get("destination", ""), variable)
    kind = options.get("type", "file")
    if place is None or ".." in place.split("/") or kind not in ("file", "directory"):
        raise UsageError(
            f"`{printable(line)}` copies what a study cannot copy anew for each run: let it copy "
            f"a file or a directory (type=file, type=directory) to ${variable}"
        )
    if not os.path.isabs(source) or not os.path.exists(source):
        raise UsageError(
            f"`{printable(line)}`: {printable(source)!r} is no file or directory that is there: "
            "give an absolute path"
        )
    return source, place


def below(variable: str, place: str) -> str:
    """Return "$VARIABLE/PLACE"."""
    return f"${variable}/{place}"
