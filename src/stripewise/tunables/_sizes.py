# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sizes as people write them."""

from __future__ import annotations

import re

_SIZE = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,6})?)\s*([KMGTPE]i?)?B?\s*", re.IGNORECASE)
_POWERS = "KMGTPE"


def size_bytes(text: str) -> int | None:
    """Return the bytes of "16 MiB", "16MiB" or "100 GB" (decimal); None for anything else."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    number, unit = match.groups()
    factor = 1
    if unit:
        base = 1024 if unit.lower().endswith("i") else 1000
        factor = base ** (_POWERS.index(unit[0].upper()) + 1)
    return int(float(number) * factor) if "." in number else int(number) * factor
