# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns that never ran: cases with the rates that a test gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stripewise.bench import Case, CaseRun, RunFigure
from stripewise.bench.campaign import Campaign, Suite

GIB = float(1 << 30)
Rates = Mapping[str, Sequence[float]]
"""Operation -> rates of each repeat."""


def campaign(
    cells: Sequence[tuple[Case, Rates]], *, amount: float = GIB, **about: Any
) -> Campaign:
    """Return a campaign in which the runs of a round follow each other, a second apart."""
    runs = []
    for place, (case, rates) in enumerate(cells):
        for number in range(max(map(len, rates.values()))):
            samples = tuple(
                RunFigure(name, amount, amount / each[number]) for name, each in rates.items()
            )
            begin = 1e9 + number * len(cells) + place
            runs.append(CaseRun(case.key, number + 1, "ok", samples, started_unix_seconds=begin))
    suite = Suite("s", "S", "", {}, tuple(case for case, _ in cells))
    machine = about.pop("machine", "")
    return Campaign("c", suite, tuple(runs), machine=machine, about=about)


def with_circumstances(found: Campaign, **circumstances: Sequence[object]) -> Campaign:
    """Return the campaign with something else known of each run, in their order."""
    runs = [
        replace(run, circumstances={name: each[n] for name, each in circumstances.items()})
        for n, run in enumerate(found.runs)
    ]
    return replace(found, runs=tuple(runs))
