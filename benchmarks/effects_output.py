# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the published effects as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from effects_cases import Effect

HEADER = ("effect", "setting", "published", "emulated", "simulated", "system writes")


class Figure(Protocol):
    """Result of one case."""

    @property
    def emulated(self) -> float:
        """MB/s, or seconds."""

    @property
    def simulated(self) -> float | None:
        """The same from simulation; None if it cannot be simulated."""

    @property
    def requests(self) -> int:
        """Number of system writes."""


def rows(effect: Effect, figures: Sequence[Figure]) -> list[list[str]]:
    """Return a row for each case, and one for the ratio."""
    found = []
    for case, figure in zip(effect.cases, figures, strict=True):
        seen = (figure.emulated, figure.simulated)
        words = [_figure(value, small=case.figure == "small") for value in seen]
        found.append([effect.name, case.setting, case.published, *words, str(figure.requests)])
    over, under = (figures[number] for number in effect.ratio)
    setting = " over ".join(effect.cases[number].setting for number in effect.ratio)
    simulated = over.simulated / under.simulated if over.simulated and under.simulated else 0.0
    ratios = [f"{over.emulated / under.emulated:.2f}", f"{simulated:.2f}"]
    return [*found, [effect.name, setting, effect.published, *ratios, ""]]


def table(effect: Effect, figures: Sequence[Figure], shown: bool) -> str:
    """Return the table of an effect for a terminal."""
    body = [list(HEADER[1:]), *(row[1:] for row in rows(effect, figures))]
    widths = [max(len(row[i]) for row in body) for i in range(len(body[0]))]
    lines = ["", f"{effect.title} ({effect.source}) -> {'shown' if shown else 'NOT SHOWN'}"]
    lines += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in body]
    return "\n".join(lines)


def _figure(value: float | None, *, small: bool) -> str:
    if value is None:
        return "–"
    return f"{value:.3f} s" if small else f"{value:.0f} MB/s"
