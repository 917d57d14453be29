# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats numbers, names and lines for people, with one format for each quantity.

Sizes, times, rates and shares have three significant digits and no trailing zeros; speed-ups have
two digits.
"""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stripewise.present._printable import printable

if TYPE_CHECKING:
    from stripewise.core import Figured, Speedup, Value

_UNITS = (
    ("EiB", 2**60),
    ("PiB", 2**50),
    ("TiB", 2**40),
    ("GiB", 2**30),
    ("MiB", 2**20),
    ("KiB", 2**10),
)
_MOST_NAME = 40
_ASCII = str.maketrans(
    {
        "–": "-",
        "—": "-",
        "×": "x",
        "…": "...",
        "→": "->",
        "·": "|",
        "≥": ">=",
        "≤": "<=",
        "µ": "u",
        "✓": "ok",
        "✗": "x",
        "\u00a0": " ",
    }
)


def number_text(value: float) -> str:
    """Format a number: three significant digits, blanks from 10 000, exponents if tiny."""
    if not math.isfinite(value):
        return "?"
    magnitude = abs(value)
    if magnitude >= 99.95 or magnitude == 0.0:
        return count_text(value)
    if magnitude < 0.0995:
        return f"{value:.2g}"
    return f"{value:.{1 if magnitude >= 9.995 else 2}f}".rstrip("0").rstrip(".")


def count_text(number: float) -> str:
    """Format a whole number: 9999, 10 000."""
    return f"{number:,.0f}".replace(",", " ") if abs(number) >= 9999.5 else f"{number:.0f}"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: "1 run", "3 runs"; `nouns` is an irregular plural."""
    return f"{count_text(number)} {noun if number == 1 else nouns or f'{noun}s'}"


def size_text(size_bytes: float) -> str:
    """Format a size in the largest binary unit that fits: 767 B, 1.5 MiB."""
    for unit, scale in _UNITS:
        if abs(size_bytes) >= scale:
            return f"{number_text(size_bytes / scale)} {unit}"
    return f"{size_bytes:.0f} B" if math.isfinite(size_bytes) else "?"


def rate_text(bytes_per_second: float) -> str:
    """Format a bandwidth: 850 MiB/s, 1.1 GiB/s."""
    if not math.isfinite(bytes_per_second) or bytes_per_second <= 0:
        return "no bandwidth"
    return f"{size_text(bytes_per_second)}/s"


def operations_text(per_second: float, noun: str = "operations") -> str:
    """Format a rate of operations: 12 500 operations/s."""
    return f"{number_text(per_second)} {noun}/s"


def throughput_text(rate: float, *, of_data: bool) -> str:
    """Format the rate that a benchmark measured: bytes or operations per second."""
    if math.isinf(rate):
        return "any bandwidth" if of_data else "any rate"
    return rate_text(rate) if of_data else operations_text(rate)


def seconds_text(value: float) -> str:
    """Format a measured time in s, or in ms or µs below a tenth of a second."""
    if not math.isfinite(value):
        return "?"
    if value == 0 or abs(value) >= 0.0995:
        return f"{number_text(value)} s"
    if abs(value) >= 0.995e-4:
        return f"{number_text(value * 1e3)} ms"
    return f"{number_text(value * 1e6)} µs"


def duration_text(seconds: float) -> str:
    """Format a duration or an age: 9.4 ms, 95 s, 12 min, 2.5 h."""
    if not seconds >= 119.5:
        return seconds_text(round(seconds) if seconds >= 10 else seconds)
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{number_text(seconds / 3600)} h"


def percent_text(share: float) -> str:
    """Format a share: 12.5 %."""
    return f"{number_text(100 * share)} %"


def ratio_text(value: float) -> str:
    """Format a speed-up without the x: 5.2, 1.04, 18."""
    if not math.isfinite(value):
        return "?"
    if value >= 9.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1.995 else f"{value:.2f}"


def known(
    value: float | None, show: Callable[[float], str] = seconds_text, unknown: str = "not known"
) -> str:
    """Format a number, or return `unknown` for None, NaN and infinity."""
    return unknown if value is None or not math.isfinite(value) else show(value)


def amount_words(row: Figured, name: str, show: Callable[[float], str] = seconds_text) -> str:
    """Format a figure that may be incomplete: "3 s", "at least 3 s", "unknown"."""
    return row.amount(name).words(show)


def bandwidth_words(figures: Figured) -> str:
    """Format the bandwidth of figures: "3 GiB/s", or "bandwidth unknown" if a part is missing."""
    name = "bandwidth_bytes_per_second"
    missing = name in figures.missing
    return "bandwidth unknown" if missing else rate_text(getattr(figures, name))


def interval_text(speedup: Speedup) -> str:
    """Format the interval of a speed-up: "[4.6–5.7, 95 %, 6 paired runs]"."""
    runs = plural(speedup.n_pairs, "paired run")
    if not (math.isfinite(speedup.low) and math.isfinite(speedup.high)):
        return f"[{runs}: too few for an interval]"
    decimals = 0 if speedup.low >= 9.95 else 1 if speedup.low >= 1.995 else 2
    bounds = f"{speedup.low:.{decimals}f}–{speedup.high:.{decimals}f}"
    return f"[{bounds}, {100 * speedup.confidence:.0f} %, {runs}]"


def value_text(value: Value) -> str:
    """Format a setting's value: true, 4, 1 MiB,1 MiB.

    Integers of at least 64 KiB that are whole KiB are formatted as sizes.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return ",".join(value_text(item) for item in value)
    if isinstance(value, int) and value >= 65_536 and value % 1024 == 0:
        return size_text(value)
    return printable(str(value))


def command_line(command: Sequence[str]) -> str:
    """Return a command quoted for a shell, with only printable characters."""
    return printable(shlex.join(command))


def fit_encoding(line: str, encoding: str | None = None) -> str:
    """Return a line in which characters that an encoding lacks are replaced.

    Args:
        line: Line of text.
        encoding: Name of the encoding; None means that of the standard output.
    """
    name = encoding or getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        line.encode(name)
    except LookupError:
        name = "ascii"
    except UnicodeEncodeError:
        pass
    else:
        return line
    return line.translate(_ASCII).encode(name, "backslashreplace").decode(name)


def evidence_figure(value: float | int | str, name: str) -> str:
    """Format a number of a finding's evidence by its name: bytes, seconds, shares."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return "not known"
    if name.endswith("bytes_per_second"):
        return rate_text(value)
    if name.endswith("bytes"):
        return size_text(value)
    if name.endswith("seconds"):
        return seconds_text(value)
    if name.endswith("share"):
        return percent_text(value)
    return count_text(value) if value == int(value) else number_text(value)


# Names of files inside sentences.


def name_of(path: str) -> str:
    """Return the last part of a path, shortened and printable."""
    shown = printable(os.path.basename(path.rstrip("/")) or path)
    return shown if len(shown) <= _MOST_NAME else f"{shown[:24]}…{shown[-12:]}"


def files_of(paths: Sequence[str], n_files: int = 0) -> str:
    """Return file names in words: "out.h5", "a.dat and b.dat", "128 files (out.0 and others)"."""
    n_files = max(n_files, len(paths))
    if not paths:
        return "the files"
    if n_files == 1:
        return name_of(paths[0])
    if n_files == 2 and len(paths) == 2:
        return f"{name_of(paths[0])} and {name_of(paths[1])}"
    return f"{plural(n_files, 'file')} ({name_of(paths[0])} and others)"
