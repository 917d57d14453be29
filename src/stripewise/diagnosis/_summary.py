# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A run in one line, in whole sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stripewise.diagnosis._records import Figures, Finding, Severity
from stripewise.diagnosis._words import number, percent, seconds, size, things


def headline(figures: Figures, findings: Sequence[Finding]) -> str:
    """The share of I/O, the costliest finding and what to do first, or that all is well."""
    why = figures.why_missing if _is_partly_seen(figures) else ""
    if not figures.n_files:
        return f"What the program read and wrote is unknown: {why}." if why else "No I/O was seen."
    if costly := _costly(findings):
        return f"{_share(figures)}: {_worst(figures, costly[0])}.{_but(why)}"
    if why:
        seen = _moved(figures) if figures.amount("io_seconds").value is None else _share(figures)
        remarks = f"; {things(len(findings), 'remark')}" if findings else ""
        return f"{seen}{remarks}.{_but(why)}"
    if not math.isfinite(figures.io_seconds):
        return f"{_moved(figures)}; times are not known; {_end(findings)}."
    rate = figures.rate_bytes_per_second
    speed = f"{size(rate)}/s to " if rate > 0 else ""
    whole = f" of {seconds(figures.run_seconds)}" if math.isfinite(figures.run_seconds) else ""
    files = things(figures.n_files, "file")
    return (
        f"{_share(figures)} ({seconds(figures.io_seconds)}{whole}, {speed}{files}); "
        f"{_end(findings)}."
    )


def further(findings: Sequence[Finding]) -> str:
    """How many findings there are beside the one that the headline names; "" if none."""
    more = len(findings) - 1
    if more < 1 or not _costly(findings):
        return ""
    return f" {things(more, 'more finding')}: `stripewise profile`."


def _costly(findings: Sequence[Finding]) -> list[Finding]:
    return [found for found in findings if found.severity is not Severity.INFO]


def _end(findings: Sequence[Finding]) -> str:
    return things(len(findings), "remark") if findings else "nothing stands out"


def _but(why: str) -> str:
    return f" Not all of the run is known: {why}." if why else ""


def _is_partly_seen(figures: Figures) -> bool:
    """Whether a part of the I/O is missing: more than times that the source never has."""
    return any(figures.missing.get(name) for name in ("read_bytes", "write_bytes")) or (
        "io_seconds" in figures.missing and math.isfinite(figures.io_seconds)
    )


def _moved(figures: Figures) -> str:
    parts = [
        f"{amount.words(size)} {verb}"
        for name, verb in (("read_bytes", "read"), ("write_bytes", "written"))
        if (amount := figures.amount(name)).value
    ]
    nothing = "Unknown amounts" if _is_partly_seen(figures) else "No data"
    said = " and ".join(parts)
    return f"{said[:1].upper()}{said[1:] or nothing} in {things(figures.n_files, 'file')}"


def _share(figures: Figures) -> str:
    least = not figures.amount("io_seconds").is_exact
    known = figures.io_low_seconds if least else figures.io_seconds
    if not math.isfinite(figures.io_share):
        return f"{'At least ' if least else ''}{seconds(known)} of I/O"
    text = f"{percent(min(known / figures.run_seconds, 1.0))} of the run was I/O"
    if least:
        return f"At least {text}"
    return text if figures.io_exact else f"At most {text}"


def _worst(figures: Figures, worst: Finding) -> str:
    part = f"{number(worst.stake_seconds)} of {seconds(figures.io_seconds)}"
    return f"{part} in {worst.phrase}. {worst.advice}"
