# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes figures of a benchmark, differences with intervals, and prints their table."""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESAMPLES = 2000
SEED = 1


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes:
        low / high: 95 % interval of `value`.
        without: Cost for the program without the library, in `without_unit`.
        goal: Largest acceptable value; None if there is none.
    """

    name: str
    unit: str
    value: float
    low: float
    high: float
    without: float
    without_unit: str
    samples: int
    goal: float | None = None


def options_of(
    description: str, **more: tuple[str, Callable[[str], object]]
) -> argparse.Namespace:
    """Return the command line's options: `json`, `directory`, `quick`, and `more` (help, type)."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--directory", type=Path, help="file system to write to (default: temp)")
    parser.add_argument("--quick", action="store_true", help="fewer samples, for a first look")
    for name, (text, kind) in more.items():
        parser.add_argument(f"--{name}", type=kind, help=text)
    return parser.parse_args()


def difference(
    pairs: Sequence[tuple[float, float]],
    statistic: Callable[[Sequence[float]], float] = statistics.median,
) -> tuple[float, float, float]:
    """Return the difference of medians (with - without) and its 95 % interval by bootstrap."""
    value = statistic([w for w, _ in pairs]) - statistic([o for _, o in pairs])
    chance = random.Random(SEED)
    resampled = []
    for _ in range(RESAMPLES):
        sample = chance.choices(pairs, k=len(pairs))
        resampled.append(statistic([w for w, _ in sample]) - statistic([o for _, o in sample]))
    resampled.sort()
    return value, resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES) - 1]


def blockwise(pairs: Sequence[tuple[float, float]], size: int) -> tuple[float, float, float]:
    """Return the median of the blocks' differences of medians, and its 95 % interval."""
    blocks = [pairs[i : i + size] for i in range(0, len(pairs) - size + 1, size)]
    return middle(
        [
            statistics.median(w for w, _ in block) - statistics.median(o for _, o in block)
            for block in blocks
        ]
    )


def middle(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, and its 95 % interval by order statistics."""
    ordered = sorted(values)
    n = len(ordered)
    # Binomial(n, 1/2) within 1.96 standard deviations of its mean, rounded outwards.
    margin = 0.98 * math.sqrt(n) + 1
    low, high = max(0, int(n / 2 - margin)), min(n - 1, math.ceil(n / 2 + margin) - 1)
    return statistics.median(ordered), ordered[low], ordered[high]


def show(figures: Sequence[Figure], as_json: bool) -> None:
    """Print the table, or JSON."""
    if as_json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
        return
    print(f"{'':46} {'value':>10} {'95 % interval':>22} {'goal':>8} {'without':>14} {'n':>6}")
    for f in figures:
        goal = "" if f.goal is None else f"<{f.goal:g}"
        interval = f"{f.low:.3g} .. {f.high:.3g}"
        print(
            f"{f.name:46} {f.value:>7.3g} {f.unit:<3} {interval:>21} {goal:>8} "
            f"{f.without:>10.4g} {f.without_unit:<3} {f.samples:>6}"
        )
