# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, names and lines as people read them."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stripewise.present._printable import format_ratio as format_ratio
from stripewise.present._printable import plural as plural
from stripewise.present._printable import printable

if TYPE_CHECKING:
    from stripewise.core import Figured, Speedup, Value

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


def significant(value: float) -> str:
    """Format with three significant digits and no exponent up to 9999."""
    if not math.isfinite(value):
        return "?"
    magnitude = abs(value)
    if magnitude >= 99.95 or magnitude == 0.0:
        return f"{value:,.0f}".replace(",", " ") if magnitude >= 10_000 else f"{value:.0f}"
    if magnitude >= 9.995:
        return f"{value:.1f}"
    if magnitude >= 0.0995:
        return f"{value:.2f}"
    return f"{value:.2g}"


def format_seconds(value: float) -> str:
    """Format a duration: s, or ms and µs below a tenth of a second."""
    if not math.isfinite(value):
        return "?"
    if value == 0 or abs(value) >= 0.1:
        return f"{significant(value)} s"
    if abs(value) >= 1e-4:
        return f"{significant(value * 1e3)} ms"
    return f"{significant(value * 1e6)} µs"


def known(
    value: float | None, show: Callable[[float], str] = format_seconds, unknown: str = "not known"
) -> str:
    """Format a number, or say that it is not known (None, NaN, infinite)."""
    return unknown if value is None or not math.isfinite(value) else show(value)


def amount_words(row: Figured, name: str, show: Callable[[float], str] = format_seconds) -> str:
    """Format a figure with what is missing of it: "3 s", "at least 3 s", "unknown"."""
    return row.amount(name).words(show)


def format_percent(share: float) -> str:
    """Format a share: 12.5 %."""
    return f"{significant(100 * share)} %"


def format_count(number: float) -> str:
    """Format a count with narrow gaps between thousands, as pages do."""
    return f"{number:,.0f}".replace(",", "\u202f")


def format_bytes(value: float) -> str:
    """Format a size in the largest binary unit that fits."""
    if not math.isfinite(value):
        return "?"
    for unit, scale in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(value) >= scale:
            number = value / scale
            digits = f"{number:.0f}" if number == int(number) else significant(number)
            return f"{digits} {unit}"
    return f"{value:.0f} B"


def format_bandwidth(bytes_per_second: float) -> str:
    """Format a bandwidth: MiB/s, GiB/s from 1 GiB/s on, KiB/s below 0.1 MiB/s."""
    if not math.isfinite(bytes_per_second) or bytes_per_second <= 0:
        return "no bandwidth"
    if bytes_per_second >= 2**30:
        return f"{significant(bytes_per_second / 2**30)} GiB/s"
    if bytes_per_second >= 0.1 * 2**20:
        return f"{significant(bytes_per_second / 2**20)} MiB/s"
    return f"{significant(bytes_per_second / 2**10)} KiB/s"


def bandwidth_words(figures: Figured) -> str:
    """Format the bandwidth of figures: "3 GiB/s"; "bandwidth unknown" where a part is missing."""
    name = "bandwidth_bytes_per_second"
    missing = name in figures.missing
    return "bandwidth unknown" if missing else format_bandwidth(getattr(figures, name))


def format_interval(speedup: Speedup) -> str:
    """Format the evidence: "[4.6–5.7, 95 %, 6 paired runs]"."""
    runs = plural(speedup.n_pairs, "paired run")
    if not (math.isfinite(speedup.low) and math.isfinite(speedup.high)):
        return f"[{runs}: too few for an interval]"
    decimals = 0 if speedup.low >= 9.95 else 1 if speedup.low >= 1.995 else 2
    bounds = f"{speedup.low:.{decimals}f}–{speedup.high:.{decimals}f}"
    return f"[{bounds}, {100 * speedup.confidence:.0f} %, {runs}]"


def format_value(value: Value) -> str:
    """Format a setting's value: true, 4, 1 MiB,1 MiB.

    Integers from 64 KiB on that are whole KiB are sizes.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return ",".join(format_value(item) for item in value)
    if isinstance(value, int) and value >= 65_536 and value % 1024 == 0:
        return format_bytes(value)
    return printable(str(value))


def command_line(command: Sequence[str]) -> str:
    """Quote a command for a shell, printable."""
    return printable(shlex.join(command))


def fit_encoding(line: str, encoding: str | None = None) -> str:
    """Replace what an encoding cannot show.

    Args:
        line: Text.
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
        return format_bandwidth(value)
    if name.endswith("bytes"):
        return format_bytes(value)
    if name.endswith("seconds"):
        return format_seconds(value)
    if name.endswith("share"):
        return format_percent(value)
    return format_count(value) if value == int(value) else significant(value)
