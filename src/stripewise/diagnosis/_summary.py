# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A run in one line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stripewise.diagnosis._records import Figures, Finding
from stripewise.diagnosis._words import number, percent, seconds, size, things

_MOST_REMEDY = 110


def summary(figures: Figures, findings: Sequence[Finding]) -> str:
    """One line: the share of I/O, the costliest finding and its remedy, or that all is well."""
    if not figures.n_files:
        return "no I/O was seen"
    costly = [found for found in findings if found.cost_seconds is not None]
    if costly:
        return f"{_share(figures)}, {_worst(figures, costly)}"
    moved = figures.read_bytes + figures.write_bytes
    speed = f"{size(figures.rate_bytes_per_second)}/s to " if moved else ""
    files = things(figures.n_files, "file")
    whole = f" of {seconds(figures.run_seconds)}" if math.isfinite(figures.run_seconds) else ""
    end = f"{things(len(findings), 'remark')}, no loss" if findings else "nothing stands out"
    return f"{_share(figures)} ({seconds(figures.io_seconds)}{whole}, {speed}{files}); {end}"


def _share(figures: Figures) -> str:
    if not math.isfinite(figures.io_share):
        return f"{seconds(figures.io_seconds)} of I/O"
    least = "at most " if not figures.io_exact else ""
    return f"{least}{percent(min(figures.io_share, 1.0))} of the run was I/O"


def _worst(figures: Figures, findings: Sequence[Finding]) -> str:
    worst = findings[0]
    part = f"{number(worst.stake_seconds)} of {seconds(figures.io_seconds)} in {worst.phrase}"
    first = worst.remedy.split(". ")[0].split("; ")[0].rstrip(".")
    advice = first[:1].lower() + first[1:]
    if worst.lines and worst.lines[0].startswith("export"):
        advice = f"add `{worst.lines[0].split('   #')[0]}`"
    if len(advice) > _MOST_REMEDY:
        advice = advice[:_MOST_REMEDY].rsplit(" ", 1)[0] + " …"
    more = len(findings) - 1
    rest = f" (and {things(more, 'more finding')}: `stripewise profile`)" if more else ""
    return f"{part}; {advice}{rest}"
