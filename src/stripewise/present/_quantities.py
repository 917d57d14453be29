# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and names inside sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence

from stripewise.present._printable import printable

_MOST_NAME = 40
_UNITS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def number(value: float) -> str:
    """Two or three significant digits, never an exponent."""
    if value != value or value in (float("inf"), float("-inf")):
        return "?"
    if abs(value) >= 99.5 or value == int(value):
        return f"{value:.0f}"
    if abs(value) >= 9.95:
        return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"
    return f"{value:.1f}" if abs(value) >= 0.95 else f"{value:.2g}"


def size(value: float) -> str:
    """Bytes in the largest binary unit that fits: "4 KiB", "1.2 GiB"."""
    for unit, scale in _UNITS:
        if abs(value) >= scale:
            return f"{number(value / scale)} {unit}"
    return f"{value:.0f} B"


def seconds(value: float) -> str:
    """A duration: s, ms below a tenth of a second, µs below a tenth of a millisecond."""
    if value == 0 or abs(value) >= 0.095 or value != value:
        return f"{number(value)} s"
    return f"{number(value * 1e3)} ms" if abs(value) >= 1e-4 else f"{number(value * 1e6)} µs"


def percent(value: float) -> str:
    """A share: "34 %", "0.4 %"."""
    return f"{number(100 * value)} %" if value == value else "? %"


def count(value: int) -> str:
    """A number of things, with blanks between thousands from 10 000 on."""
    return f"{value:,}".replace(",", " ") if value >= 10_000 else str(value)


def things(value: int, noun: str) -> str:
    """Count things: "1 file", "3 files"."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def name_of(path: str) -> str:
    """Last part of a path, shortened and printable."""
    shown = printable(os.path.basename(path.rstrip("/")) or path)
    return shown if len(shown) <= _MOST_NAME else f"{shown[:24]}…{shown[-12:]}"


def files_of(paths: Sequence[str], n_files: int = 0) -> str:
    """Name files: "out.h5", "a.dat and b.dat", "128 files (out.0 and others)"."""
    n_files = max(n_files, len(paths))
    if not paths:
        return "the files"
    if n_files == 1:
        return name_of(paths[0])
    if n_files == 2 and len(paths) == 2:
        return f"{name_of(paths[0])} and {name_of(paths[1])}"
    return f"{things(n_files, 'file')} ({name_of(paths[0])} and others)"
