# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the presets to those cells of published tables that may be used for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.optimize import approx_fprime

from published._plans import REASONS, Free
from published._predict import Predictor
from published._tables import Cell, Table, load_table
from stripewise.storage.fit._fit import STEP, Vector, minimised, with_values
from stripewise.storage.machines import SPEC_OF, Figure, FigureOrigin, Storage

REPEATED, SINGLE = 0.12, 0.2
"""Relative error of a published number: a median of repeats, or one run or the best.  Assumed."""
ROUNDS = 60
"""Maximum number of steps of a descent."""
TOLD = 0.8
"""Largest share of the expected spread at which a figure counts as fitted by the cells."""
WIDTH = 1.96
UNTOLD = "assumed, as the marked cells do not tell it"
CHANGES = 6
"""Number of times that the best configurations of tuned cells are searched again."""


def fit_published(
    storage: Storage,
    tables: Sequence[str],
    free: Sequence[Free],
    *,
    starts: int = 4,
    seed: int = 0,
) -> tuple[Storage, float]:
    """Fit figures to the cells of tables that are marked for it.

    Args:
        storage: Initial description; figures that are not free are kept.
        tables: Names of published tables of this machine.
        free: Figures that may change.
        starts: Number of starting points: the expected one, and others around it.
        seed: Seed of the starting points.

    Returns:
        The fitted description and the remaining loss.
    """
    cells = [(table, cell) for name in tables for table in [load_table(name)]
             for cell in table.cells if cell.calibrate]  # fmt: skip
    random = np.random.default_rng(seed)
    expected = np.log([one.value for one in free])
    spreads = np.array([one.spread for one in free])
    best: tuple[Vector, float] | None = None
    for number in range(starts):
        found = expected + (random.normal(0, 0.5, len(free)) * (spreads > 0.3) if number else 0.0)
        predictor = Predictor()
        loss = float("inf")
        for _ in range(CHANGES):
            found, again = minimised(
                partial(_residuals, predictor, storage, free, cells), found, ROUNDS
            )
            predictor.forget()
            if abs(loss - again) < 1e-3 * max(again, 1e-9):
                break
            loss = again
        if best is None or again < best[1]:
            best = found, again
    assert best is not None
    spread = spreads_at(partial(_residuals, Predictor(), storage, free, cells), best[0])
    fitted = described(storage, free, best[0], spread, tables)
    told = [one for one in free if fitted.figures[one.name].kind is FigureOrigin.MEASURED]
    if len(told) in (0, len(free)):
        return fitted, best[1]
    return fit_published(fitted, tables, told, starts=starts, seed=seed)


def _residuals(
    predictor: Predictor,
    storage: Storage,
    free: Sequence[Free],
    cells: Sequence[tuple[Table, Cell]],
    place: Vector,
) -> Vector:
    """Return the errors of cells, and the deviations of figures from their expected values."""
    far = [(value - np.log(one.value)) / one.spread
           for one, value in zip(free, place, strict=True)]  # fmt: skip
    moved = with_values(storage, {one.name: float(np.exp(value))
                                  for one, value in zip(free, place, strict=True)})  # fmt: skip
    errors = []
    for table, cell in cells:
        found = predictor.value(moved, table, cell)
        unsure = REPEATED if cell.repeats else SINGLE
        errors.append(0.0 if found is None else np.log(found / cell.value) / unsure)
    return np.concatenate([errors, far])


def spreads_at(residuals: Callable[[Vector], Vector], place: Vector) -> Vector:
    """Return the standard deviations of fitted parameters, shape (k,), to first order.

    Args:
        residuals: Residuals in standard deviations of what is compared.
        place: Their minimum, shape (k,).
    """
    slopes = approx_fprime(place, residuals, STEP)
    normal = slopes.T @ slopes + 1e-12 * np.eye(len(place))
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(normal))), dtype=np.float64)


def described(
    storage: Storage, free: Sequence[Free], place: Vector, spread: Vector, tables: Sequence[str]
) -> Storage:
    """Return a storage with fitted figures, their intervals of 95 % and their sources.

    A figure about which the cells say little keeps its expected value, and stays assumed.
    """
    figures = dict(storage.figures)
    fitted = f"fitted to the marked cells of {', '.join(tables)}, docs/validation.md"
    for one, value, width in zip(free, place, spread, strict=True):
        if width > TOLD * one.spread:
            kind = FigureOrigin.DOCUMENTED if one.source else FigureOrigin.ASSUMED
            source = one.source or f"{UNTOLD}, because {REASONS[one.name]}"
            figures[one.name] = Figure(one.value, kind, source)
            continue
        low, middle, high = (float(np.exp(value + side * WIDTH * width)) for side in (-1, 0, 1))
        most = SPEC_OF[one.name].most
        figures[one.name] = Figure(
            min(middle, most), FigureOrigin.MEASURED, fitted, low, min(high, most)
        )
    return replace(storage, figures=figures)
