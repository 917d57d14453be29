# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many configurations a training measures, at which scale, within which time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PUBLISHED = (336, 180, 96)
"""Configurations at 512, 1024 and 2048 cores: many where a run is cheap, fewer at scale."""
LEAST = 12
"""Fewer say nothing of a model with several terms."""


@dataclass(frozen=True)
class Wanted:
    """What is known of a cell before it is measured.

    Attributes:
        ranks: Its scale.
        run_seconds: That a run takes on average, as far as it can be told.
        possible: Configurations that can act.
    """

    ranks: int
    run_seconds: float
    possible: int


def share_out(
    cells: Sequence[Wanted], repeats: int, budget_seconds: float | None = None, most: int = 0
) -> list[int]:
    """Return how many configurations to measure of each cell.

    Args:
        cells: In any order.
        repeats: Runs of each configuration.
        budget_seconds: Of all runs together; None: no limit.
        most: At the smallest scale; 0: as published.
    """
    counts = published_counts({cell.ranks for cell in cells}, most or PUBLISHED[0])
    wanted = [min(counts[cell.ranks], cell.possible) for cell in cells]
    if budget_seconds is None or total_seconds(cells, wanted, repeats) <= budget_seconds:
        return wanted
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        within = total_seconds(cells, _scaled(wanted, middle), repeats) <= budget_seconds
        low, high = (middle, high) if within else (low, middle)
    return _scaled(wanted, low)


def total_seconds(cells: Sequence[Wanted], numbers: Sequence[int], repeats: int) -> float:
    """Return what so many configurations of each cell take, with a warm-up of each."""
    return sum(
        (number * repeats + 1) * cell.run_seconds
        for cell, number in zip(cells, numbers, strict=True)
    )


def published_counts(ranks: set[int], most: int) -> Mapping[int, int]:
    """Return the number of configurations of each scale, in the published proportions."""
    counts = list(PUBLISHED)
    while len(counts) < len(ranks):
        counts.append(max(round(counts[-1] * PUBLISHED[-1] / PUBLISHED[-2]), LEAST))
    return {
        scale: max(round(most * count / PUBLISHED[0]), 1)
        for scale, count in zip(sorted(ranks), counts, strict=False)
    }


def _scaled(wanted: Sequence[int], factor: float) -> list[int]:
    return [max(int(number * factor), min(LEAST, number)) for number in wanted]
