# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the scatter of repeated published numbers, which limits any prediction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from published._cases import case_of, like_of
from published._tables import Cell, Table
from published._validate import Score, Validation
from stripewise.storage.fit import ModelCase

DRAWS = 1000


@dataclass(frozen=True)
class Repeats:
    """Cells that were published more than once, and the resulting limit for a set.

    Attributes:
        number: Number of cases with more than one number.
        most: Largest ratio between two numbers of a case.
        score: Score, on the cells that are only predicted, of a model that knows every case's
            mean: medians over draws of the numbers with their scatter.
    """

    number: int
    most: float
    score: Score


def repeats(found: Iterable[Validation]) -> Repeats | None:
    """Return how far the numbers of some tables repeat; None if none was published twice.

    The scatter of logarithms is pooled over all cases, separately for default and tuned settings.
    If a set has no repeated case with default settings, that of tuned ones is used.
    """
    cells = [(one.table, each.cell) for one in found for each in one.cells if not each.cell.bound]
    cases: dict[tuple[str, ModelCase, bool], list[float]] = {}
    for table, cell in cells:
        if _repeatable(table, cell):
            key = table.machine, case_of(table, cell), _is_default(cell)
            cases.setdefault(key, []).append(float(np.log(cell.value)))
    several = {key: values for key, values in cases.items() if len(values) > 1}
    if not several:
        return None
    spread = {default: _pooled([v for key, v in several.items() if key[2] is default])
              for default in (False, True)}  # fmt: skip
    pooled = _pooled(list(several.values()))
    predicted = [cell for _, cell in cells if not cell.calibrate]
    truth = np.array([cell.value for cell in predicted])
    scatter = np.array([spread[_is_default(cell)] or pooled for cell in predicted])
    random = np.random.default_rng(0)
    errors, ranks = [], []
    for _ in range(DRAWS):
        measured = truth * np.exp(scatter * random.normal(size=truth.size))
        errors.append(np.median(np.abs(truth / measured - 1)))
        ranks.append(spearmanr(truth, measured).statistic)
    most = max(np.exp(max(values) - min(values)) for values in several.values())
    best = Score(truth.size, float(np.median(errors)), float(np.median(ranks)))
    return Repeats(len(several), float(most), best)


def _is_default(cell: Cell) -> bool:
    return cell.workload.get("mode") == "default"


def _repeatable(table: Table, cell: Cell) -> bool:
    """Return whether a cell has its own settings, or those found for the same workload."""
    if "like" not in cell.workload:
        return True
    return case_of(table, cell).workload == like_of(table, cell).workload


def _pooled(groups: list[list[float]]) -> float:
    """Return the standard deviation within groups; 0 if there is no group of two."""
    freedom = sum(len(values) - 1 for values in groups)
    squares = sum(float(((np.array(values) - np.mean(values)) ** 2).sum()) for values in groups)
    return float(np.sqrt(squares / freedom)) if freedom else 0.0
