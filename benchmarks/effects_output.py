# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The published effects as tables for a terminal and for a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from effects_cases import Effect

BEGIN = "<!-- effects: begin (python benchmarks/effects.py --into THIS FILE) -->"
END = "<!-- effects: end -->"
HEADER = ("effect", "setting", "published", "emulated", "simulated", "system writes")


class Figure(Protocol):
    """What one case gave."""

    @property
    def emulated(self) -> float:
        """MB/s, or seconds."""

    @property
    def simulated(self) -> float | None:
        """The same; None: there is nothing to simulate."""

    @property
    def requests(self) -> int:
        """System writes."""


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
    """Return an effect for a terminal."""
    body = [list(HEADER[1:]), *(row[1:] for row in rows(effect, figures))]
    widths = [max(len(row[i]) for row in body) for i in range(len(body[0]))]
    lines = ["", f"{effect.title} ({effect.source}) -> {'shown' if shown else 'NOT SHOWN'}"]
    lines += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in body]
    return "\n".join(lines)


def markdown(found: Sequence[tuple[Effect, Sequence[Figure]]]) -> str:
    """Return all effects as a part of a Markdown page."""
    lines = [f"| {' | '.join(HEADER)} |", "|---|---|--:|--:|--:|--:|"]
    for effect, figures in found:
        lines += [f"| {' | '.join(row)} |" for row in rows(effect, figures)]
    lines += [""]
    lines += [f"- *{effect.name}*: {effect.title} ({effect.source})" for effect, _ in found]
    return "\n".join(lines) + "\n"


def replace_marked(page: Path, part: str) -> None:
    """Put a part between the marks of a page; at its end if it has none."""
    replace_between(page, part, BEGIN, END)


def replace_between(page: Path, part: str, begin: str, end: str) -> None:
    """Put a part between two marks of a page; at its end if it has none."""
    text = page.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        text = f"{text.rstrip()}\n\n{begin}\n{end}\n"
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{begin}\n{part}{end}{after}", encoding="utf-8")


def _figure(value: float | None, *, small: bool) -> str:
    if value is None:
        return "–"
    return f"{value:.3f} s" if small else f"{value:.0f} MB/s"
