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
    if not figures.n_files:
        return "No I/O was seen."
    if costly := _costly(findings):
        return f"{_share(figures)}: {_worst(figures, costly[0])}."
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


def _moved(figures: Figures) -> str:
    parts = [
        f"{size(value)} {verb}"
        for value, verb in ((figures.read_bytes, "read"), (figures.write_bytes, "written"))
        if value
    ]
    return f"{' and '.join(parts) or 'No data'} in {things(figures.n_files, 'file')}"


def _share(figures: Figures) -> str:
    if not math.isfinite(figures.io_share):
        return f"{seconds(figures.io_seconds)} of I/O"
    text = f"{percent(min(figures.io_share, 1.0))} of the run was I/O"
    return text if figures.io_exact else f"At most {text}"


def _worst(figures: Figures, worst: Finding) -> str:
    part = f"{number(worst.stake_seconds)} of {seconds(figures.io_seconds)}"
    return f"{part} in {worst.phrase}. {worst.advice}"
