# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the weights of likeness to outcomes: the cost of each difference of two cases.

    python benchmarks/likeness.py                                # outcomes (minutes), fit, table
    python benchmarks/likeness.py --outcomes likeness.json       # fit to stored outcomes

The best settings of one case are used for another one.  The loss is the logarithm to base 2 of
its time over its best time, at most 1, that is, an octave.  A distance is a sum of differences
with non-negative weights (least squares): the expected loss in octaves.  Errors are those of
whole families of cases that were left out of the fit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from likeness_outcomes import families, outcomes
from likeness_output import markdown
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import spearmanr

HERE = Path(__file__).resolve().parent
PATTERN = (
    "distribution", "run", "size", "ranks", "dimensions", "direction", "collective", "element",
)  # fmt: skip
COUNTED = ("shares", "read", "noncontiguous", "call", "calls")
SCALE = ("n_ranks", "n_hosts", "volume")
PLACE = (*SCALE, "mpi", "driver", "storage")
FOLDS, DRAWS = 10, 200
ASSUMED = {
    "distribution": 0.09, "run": 0.06, "size": 0.06, "ranks": 0.03, "dimensions": 0.015,
    "direction": 0.015, "collective": 0.015, "element": 0.006, "shares": 0.175, "read": 0.105,
    "noncontiguous": 0.105, "call": 0.105, "calls": 0.035, "n_ranks": 0.035, "n_hosts": 0.035,
    "volume": 0.03, "mpi": 0.5, "storage": 0.075,
}  # fmt: skip
"""Weights that were assumed for each difference before anything was fitted."""
NINETY = float(np.log2(1 / 0.9))
"""Loss in octaves of settings that reach 90 % of the best bandwidth."""
SLOWER = 0.05
Floats = NDArray[np.float64]


class Pairs:
    """Pairs of cases as arrays.

    Attributes:
        family: Number of the family, (n,) integers.
        lost / possible: Octaves each way, (n, 2): lost with the other's settings, and gained with
            the best settings relative to the default.
        y: Value to fit, (n,): mean of both ways, each at most an octave.
    """

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.rows = rows
        self.family = np.array([row["family"] for row in rows])
        self.lost = np.array([row["lost"] for row in rows], dtype=float)
        self.possible = np.array([row["possible"] for row in rows], dtype=float)
        self.y: Floats = np.minimum(self.lost, 1.0).mean(axis=1)

    def __getitem__(self, names: Sequence[str]) -> Floats:
        """Return the differences with the given names, (n, names)."""
        return np.array([[row["parts"][name] for name in names] for row in self.rows])


class Weights:
    """Costs of each difference, in octaves, where it is maximal.

    There are two steps, as in the product: the differences of patterns and those of counters are
    fitted separately (both with the place); then their weights where both are known.
    """

    def __init__(self, pairs: Pairs, chosen: NDArray[np.bool_] | None = None) -> None:
        of = np.ones(len(pairs.y), bool) if chosen is None else chosen
        y = pairs.y[of]
        self.pattern = _fit(pairs[PATTERN + PLACE][of], y)[: len(PATTERN)]
        self.counted = _fit(pairs[COUNTED + PLACE][of], y)[: len(COUNTED)]
        both = np.column_stack([self._two(pairs), pairs[PLACE]])
        (self.by_pattern, self.by_counted), self.place = np.split(_fit(both[of], y), [2])

    def _two(self, pairs: Pairs) -> Floats:
        return np.column_stack(
            [
                pairs[names] @ weights / max(weights.sum(), 1e-9)
                for names, weights in ((PATTERN, self.pattern), (COUNTED, self.counted))
            ]
        )

    def distances(self, pairs: Pairs) -> Floats:
        """Return the expected loss of each pair, in octaves."""
        behaviour = self._two(pairs) @ (self.by_pattern, self.by_counted)
        return np.asarray(behaviour + pairs[PLACE] @ self.place)

    def flat(self) -> dict[str, float]:
        """Return all weights by name, those of patterns and of counters as shares of their sum."""
        found = dict(zip(PATTERN, self.pattern / self.pattern.sum(), strict=True))
        counted = zip(COUNTED, self.counted / self.counted.sum(), strict=True)
        found |= {f"counted {name}": weight for name, weight in counted}
        found |= {"patterns": self.by_pattern, "counters": self.by_counted}
        return found | dict(zip(PLACE, self.place, strict=True))


def main() -> int:
    """Simulate or read the outcomes, fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--families", type=int, default=160)
    parser.add_argument("--members", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--outcomes", type=Path, help="kept outcomes: read, or written first")
    given = parser.parse_args()
    if given.outcomes and given.outcomes.exists():
        rows = json.loads(given.outcomes.read_text())
    else:
        rows = simulated(given.families, given.members, given.jobs)
        if given.outcomes:
            given.outcomes.write_text(json.dumps(rows))
    document = fitted(Pairs(rows))
    print(markdown(document))
    return 0


def simulated(number: int, members: int, jobs: int) -> list[dict[str, Any]]:
    """Return all pairs of all families, as plain data."""
    every = list(enumerate(families(number, members)))
    found: list[dict[str, Any]] = []
    with Pool(jobs) as pool:
        for n, rows in enumerate(pool.imap(outcomes, every), 1):
            found += rows
            print(f"\r{n} of {number} families", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def fitted(pairs: Pairs) -> dict[str, Any]:
    """Return weights, their intervals, errors of left-out families, and losses by distance."""
    rng = np.random.default_rng(0)
    fold = rng.integers(0, FOLDS, pairs.family.max() + 1)[pairs.family]
    left_out = np.zeros(len(pairs.y))
    for n in range(FOLDS):
        left_out[fold == n] = Weights(pairs, fold != n).distances(pairs)[fold == n]
    shipped = np.array([row["shipped"] for row in pairs.rows], dtype=float)
    return {
        "pairs": len(pairs.y),
        "families": len(set(pairs.family.tolist())),
        "weights": Weights(pairs).flat(),
        "intervals": _intervals(pairs, rng),
        "rho": _rank_correlation(left_out, pairs.y),
        "error": float(np.sqrt(np.mean((left_out - pairs.y) ** 2))),
        "spread": float(pairs.y.std()),
        "assumed_rho": _rank_correlation(pairs[list(ASSUMED)] @ list(ASSUMED.values()), pairs.y),
        "shipped_rho": _rank_correlation(shipped, pairs.y),
        "nearest": {
            "fitted": _nearest(left_out, pairs),
            "assumed": _nearest(pairs[list(ASSUMED)] @ list(ASSUMED.values()), pairs),
            "any": _nearest(None, pairs),
            "best": _nearest(pairs.lost, pairs),
        },
        "tenths": _tenths(left_out, pairs),
    }


def _intervals(pairs: Pairs, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return the 5 and 95 % quantiles of each weight, from families drawn with repetition."""
    members = [np.flatnonzero(pairs.family == one) for one in np.unique(pairs.family)]
    drawn = []
    for _ in range(DRAWS):
        chosen = np.concatenate([members[n] for n in rng.integers(0, len(members), len(members))])
        drawn.append(Weights(Pairs([pairs.rows[n] for n in chosen])).flat())
    return {
        name: tuple(np.quantile([one[name] for one in drawn], (0.05, 0.95)).tolist())
        for name in drawn[0]
    }


def _tenths(distances: Floats, pairs: Pairs) -> list[dict[str, float]]:
    """Return the outcomes of settings for each tenth of the distances, each pair both ways."""
    found = []
    for part in np.array_split(np.argsort(distances, kind="stable"), 10):
        lost, possible = pairs.lost[part].ravel(), pairs.possible[part].ravel()
        found.append(
            {
                "from": float(distances[part].min()),
                "to": float(distances[part].max()),
                "median": float(2 ** -np.median(lost)),
                "ninety": float(np.mean(lost <= NINETY)),
                "slower": float(np.mean(lost > possible + np.log2(1 + SLOWER))),
                "gain": float(2 ** np.median(possible - lost)),
            }
        )
    return found


def _nearest(distances: Floats | None, pairs: Pairs) -> float:
    """Return the mean loss, at most an octave, with settings of the nearest case of the family.

    Args:
        distances: (n,) for the pairs, or (n, 2) for each way; None for those of any case.
        pairs: Pairs of cases.
    """
    offers: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for n, row in enumerate(pairs.rows):
        for way in (0, 1):
            far = (
                0.0
                if distances is None
                else float(distances[n] if distances.ndim == 1 else distances[n, way])
            )
            target = (row["family"], row["cases"][1 - way])
            offers.setdefault(target, []).append((far, min(float(pairs.lost[n, way]), 1.0)))
    chosen = [
        np.mean([lost for far, lost in each if far == min(each)[0]]) for each in offers.values()
    ]
    return float(np.mean(chosen))


def _rank_correlation(x: Floats, y: Floats) -> float:
    return float(spearmanr(x, y)[0])


def _fit(x: Floats, y: Floats) -> Floats:
    return np.asarray(nnls(x, y)[0])


if __name__ == "__main__":
    sys.exit(main())
