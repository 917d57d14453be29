# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sizes as burst buffers are asked for them and as Slurm prints them: 16GiB, 20G, 10737418240.

Source: Slurm 22.05, bb_get_size_num: k, m, g, t, p and kib to pib are powers of 1024, kb to pb
powers of 1000, in either case; a number alone is bytes.
"""

from __future__ import annotations

import re

_LETTERS = "kmgtp"
_FACTORS = {"": 1, "b": 1, "n": 1, "node": 1, "nodes": 1}
for _power, _letter in enumerate(_LETTERS, 1):
    _FACTORS[_letter] = _FACTORS[f"{_letter}ib"] = 1024**_power
    _FACTORS[f"{_letter}b"] = 1000**_power
_SIZE = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,9}))?\s?([A-Za-z]{0,5})")
_WRITTEN = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def burst_size_bytes(text: str) -> int | None:
    """Return a size in bytes (a number of nodes, "4N", as it stands); None if it is none."""
    found = _SIZE.fullmatch(text.strip())
    factor = _FACTORS.get(found.group(3).lower()) if found else None
    if found is None or factor is None:
        return None
    part = found.group(2) or ""
    return int(found.group(1) + part) * factor // int(10 ** len(part))


def burst_size_text(size_bytes: int) -> str:
    """Return a size exactly, a whole number of the largest unit that allows it: 16GiB."""
    for unit, factor in _WRITTEN:
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{unit}"
    return str(size_bytes)
