# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of one value: counts, the version, health."""

from __future__ import annotations

import re

from stripewise.monitor.texts.lustre._damage import number

_VERSION = re.compile(r"(?:lustre: *)?([0-9][0-9A-Za-z._+~-]{0,63})", re.ASCII)


def parse_count(text: str) -> int | None:
    """Return the count that a text is; None: it is none.

    The text ends with a line break: without it, digits may be lost.
    """
    value, end, rest = text.partition("\n")
    return None if not end or rest else number(value)


def parse_version(text: str) -> str:
    """Return Lustre's version, "2.15.5"; "": the text has none, or its line has no end.

    Old ones print "lustre: 2.12.9" and more lines.
    """
    line, end, _ = text.partition("\n")
    found = _VERSION.fullmatch(line.strip(" "))
    return found[1] if found and end else ""


def parse_health(text: str) -> bool | None:
    """Return whether Lustre says that it is healthy; None: it says neither."""
    if text.strip(" \n") == "healthy":
        return True
    is_bad = "NOT HEALTHY" in text or "LBUG" in text or "reported unhealthy" in text
    return False if is_bad else None
