# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits models to samples: a regression or boosted trees for each class of patterns."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from stripewise.core.extras import missing, require
from stripewise.evidence.patterns import PatternClass
from stripewise.learning.performance._features import (
    AGGREGATORS,
    CO_RATIO,
    CONFIG_LIST,
    MULTIPLIER,
    OF_PROGRAM,
    OF_SETTINGS,
    RATIOS,
    STRIPE_COUNT,
    STRIPE_SIZE,
    class_of_program,
)
from stripewise.learning.performance._fitted import why_useless
from stripewise.learning.performance._judge import LEAST_LEFT, Fitter, Predictor, leave_out_groups
from stripewise.learning.performance._records import (
    BASES,
    BOOSTED,
    REGRESSION,
    Model,
    Range,
    Score,
    Term,
    Training,
    TrainingSample,
    Tree,
    added,
    regressed,
)
from stripewise.learning.performance._rows import Row, levels_of, samples_in_numbers

_SHOWN = 1000
_NEAR, _PHYSICS_REACH = 2.0, 32.0
"""Factor by which a feature may exceed its training range if no samples were left out beyond it
(assumed); the larger one for block and piece sizes, whose effect a simulation knows.
"""
_ALIKE = 1.1
"""Ratio of errors up to which the simpler kind of model is preferred (assumed)."""
_LEAST_DIFFERENT = 4
"""Least number of different values of a program feature; fewer only identify programs."""


def fit(training: Training) -> tuple[Model, ...]:
    """Fit a model for each class of patterns that has enough samples.

    If the storage is described, the model corrects its simulation, with trees if scikit-learn is
    installed, otherwise with a constant factor.  Without a description it is the regression.
    """
    classes: dict[PatternClass, list[TrainingSample]] = {}
    for sample in training.samples:
        found = class_of_program(sample.facts)
        if found is not None:
            classes.setdefault(found, []).append(sample)
    models = (_model_of_class(training, one, samples) for one, samples in classes.items())
    return tuple(model for model in models if model is not None)


def _model_of_class(
    training: Training, pattern_class: PatternClass, samples: Sequence[TrainingSample]
) -> Model | None:
    """Return the model of one class; None if there are too few samples."""
    levels = levels_of(samples)
    rows = samples_in_numbers(samples, training.ground, levels)
    share = len(rows) / max(len(training.samples), 1)
    empty = Model(
        training.ground, pattern_class, REGRESSION, way=training.way,
        runs=round(training.runs * share), run_seconds=training.run_seconds * share,
        trained_unix_seconds=time.time(),
    )  # fmt: skip
    found = []
    simulated = [row for row in rows if row.simulated is not None]
    if len(simulated) >= LEAST_LEFT:
        found.append(_best_correction(replace(empty, levels=levels), simulated, samples))
    plain = [row for row in rows if row.physical]
    if len(plain) >= LEAST_LEFT and not any(not why_useless(one) for one in found):
        found.append(_regression(empty, plain, samples))
    return next((one for one in found if not why_useless(one)), found[0] if found else None)


def _best_correction(empty: Model, rows: list[Row], samples: Sequence[TrainingSample]) -> Model:
    """Return the simulation corrected by a constant factor, or by trees if their error is less."""
    constant = _boosted(empty, rows, samples, trees=False)
    if missing("models"):
        return constant
    trees = _boosted(empty, rows, samples, trees=True)
    return trees if _error(constant) > _error(trees) * _ALIKE else constant


def _error(model: Model) -> float:
    return 0.0 if model.error is None else model.error


def _regression(empty: Model, rows: list[Row], samples: Sequence[TrainingSample]) -> Model:
    def fitted(rest: Sequence[Row]) -> Predictor:
        terms = fit_terms([row.features for row in rest], [row.least for row in rest])
        return lambda row: regressed(terms, row.features)

    model = replace(
        empty,
        terms=fit_terms([row.features for row in rows], [row.least for row in rows]),
        features=BASES,
        tunables=_set(samples, (STRIPE_COUNT, STRIPE_SIZE, AGGREGATORS, CO_RATIO, MULTIPLIER,
                                CONFIG_LIST)),
    )  # fmt: skip
    return _with_scores(model, rows, fitted, (*BASES, "ranks", "block", "piece"), _NEAR)


def _boosted(
    empty: Model, rows: list[Row], samples: Sequence[TrainingSample], *, trees: bool
) -> Model:
    """Return the simulation, corrected by trees or only by a constant factor."""

    def fitted(rest: Sequence[Row]) -> Predictor:
        model = _corrected(empty, rest, trees)
        return lambda row: (row.simulated or 0.0) * exp(_correction(model, row))

    tunables = _set(samples, sorted({name for one in samples for name in one.settings}))
    model = replace(_corrected(empty, rows, trees), kind=BOOSTED, tunables=tunables)
    return _with_scores(model, rows, fitted, (*OF_SETTINGS, *OF_PROGRAM), _PHYSICS_REACH)


def _corrected(empty: Model, rows: Sequence[Row], trees: bool) -> Model:
    residuals = [log(row.least / (row.simulated or 1.0)) for row in rows]
    if not trees:
        return replace(empty, initial=sum(residuals) / len(residuals))
    varied = [n for n in OF_PROGRAM if len({row.features[n] for row in rows}) >= _LEAST_DIFFERENT]
    names = (*OF_SETTINGS, *RATIOS, *varied, *empty.levels)
    table = [[row.features[name] for name in names] for row in rows]
    mean, found = fit_trees(table, residuals)
    return replace(empty, features=names, initial=mean, trees=found)


def _correction(model: Model, row: Row) -> float:
    return model.initial + added(model.trees, [row.features[name] for name in model.features])


def _set(samples: Sequence[TrainingSample], names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the tunables that were set in training."""
    seen = {name for one in samples for name in one.settings}
    return tuple(name for name in names if name in seen)


def _with_scores(
    model: Model, rows: list[Row], fitter: Fitter, names: tuple[str, ...], reach: float
) -> Model:
    scores, shown, remained = leave_out_groups(rows, fitter)
    ranges = {name: _range(name, rows, remained, reach) for name in names}
    some = shown[:: -(-len(shown) // _SHOWN)] if shown else []
    return replace(
        model,
        ranges=ranges,
        scores=tuple(scores),
        points=tuple((f"{row.name}, {row.case[1]:.0f} ranks", row.usual, p) for row, p in some),
        programs=tuple(dict.fromkeys(row.name for row in rows)),
    )


def _range(
    name: str, rows: Sequence[Row], remained: Sequence[tuple[Score, list[Row]]], reach: float
) -> Range:
    """Return the range of a feature in training, and how far beyond it predictions are valid.

    That is the largest distance of a left-out group that was ranked well, or an assumed distance
    if no group was that far away.
    """
    values = [row.features[name] for row in rows]
    low, high = min(values), max(values)
    if name in OF_SETTINGS:
        return Range(low, high)
    steps = []
    for score, rest in remained:
        kept = [row.features[name] for row in rest]
        steps.append((max(min(kept) / low, high / max(kept)), score.is_good))
    held = 1.0
    for factor, well in sorted(steps):
        if factor > 1 and not well:
            return Range(low, high, held)
        held = max(held, factor)
    return Range(low, high, max(held, reach if name in ("block", "piece") else _NEAR))


# The published regression: products of powers of the settings and of the file size.
#
# Source: Behzad et al., "Dynamic Model-driven Parallel I/O Performance Tuning", IEEE Cluster 2015;
# "Optimizing I/O Performance of HPC Applications with Autotuning", ACM TOPC 5(4):15, 2019, doi
# 10.1145/3309205: 81 candidates, forward selection, least squares on the minimum over repeats.

MOST_TERMS = 6
"""Maximum number of terms besides the constant, as in the longest published model."""
_INDEPENDENT = 1e-6
"""Least share of a term that is independent of the other terms for it to be selected."""
CANDIDATES = tuple(
    dict(zip(BASES, powers, strict=True)) for powers in itertools.product((0, -1, 1), repeat=4)
)
"""Exponents of all candidate terms, the constant first."""

Floats = NDArray[np.float64]


def fit_terms(rows: Sequence[Mapping[str, float]], seconds: Sequence[float]) -> tuple[Term, ...]:
    """Select terms one after another and fit their coefficients.

    A term is added if it improves Schwarz's criterion.

    Args:
        rows: Features of each sample.
        seconds: Least I/O time of each sample.
    """
    columns, aim = _weighted(CANDIDATES, rows, seconds)
    varied = {name for name in BASES if len({row[name] for row in rows}) > 1}
    usable = [n for n, one in enumerate(CANDIDATES) if _used(one) <= varied]
    chosen = [usable[n] for n in _selected(columns[:, usable], aim)]
    return fit_coefficients([_without_zeros(CANDIDATES[n]) for n in chosen], rows, seconds)


def fit_coefficients(
    powers: Sequence[Mapping[str, int]],
    rows: Sequence[Mapping[str, float]],
    seconds: Sequence[float],
) -> tuple[Term, ...]:
    """Fit the coefficients of given terms.

    Args:
        powers: Powers of each term.
        rows: Features of each sample.
        seconds: Least I/O time of each sample.
    """
    columns, aim = _weighted(powers, rows, seconds)
    scale = np.linalg.norm(columns, axis=0)
    scale[scale == 0] = 1.0
    found = np.linalg.lstsq(columns / scale, aim, rcond=None)[0] / scale
    return tuple(Term(one, float(value)) for one, value in zip(powers, found, strict=True))


def _without_zeros(powers: Mapping[str, int]) -> dict[str, int]:
    return {name: power for name, power in powers.items() if power}


def _used(powers: Mapping[str, int]) -> set[str]:
    return {name for name, power in powers.items() if power}


def _weighted(
    powers: Sequence[Mapping[str, int]],
    rows: Sequence[Mapping[str, float]],
    seconds: Sequence[float],
) -> tuple[Floats, Floats]:
    """Return the weighted columns of the terms and the weighted times.

    Errors are weighted by the root of the time.  With absolute errors the largest file would
    dominate; with relative errors fast points would be fitted at the expense of all others.  Of
    the three, this predicts left-out scales and patterns best (docs/models.md).
    """
    times = np.asarray(seconds, dtype=np.float64)
    factor = 1 / np.sqrt(times)
    terms = [Term(_without_zeros(one), 1.0) for one in powers]
    columns = np.array([[one.of(row) for one in terms] for row in rows])
    return columns * factor[:, None], times * factor


def _selected(columns: Floats, aim: Floats) -> list[int]:
    """Return the columns chosen by forward selection, which always include the first.

    The remaining columns are kept orthogonal to the selected ones, so that the gain of each is
    known at once.
    """
    n = len(aim)
    whole = np.sum(columns**2, axis=0)
    rest, left, chosen = columns.copy(), aim.copy(), list[int]()
    best = np.inf
    while len(chosen) <= min(MOST_TERMS, n // 4):
        lengths = np.sum(rest**2, axis=0)
        usable = (lengths > _INDEPENDENT * whole) & (lengths > 0)
        usable[chosen] = False
        gains = np.where(usable, (rest.T @ left) ** 2 / np.where(usable, lengths, 1.0), -1.0)
        taken = int(np.argmax(gains)) if chosen else 0
        error = max(float(left @ left) - float(gains[taken]), 1e-12 * float(aim @ aim)) / n
        criterion = n * log(error) + (len(chosen) + 1) * log(n)
        if gains[taken] < 0 or criterion >= best:
            break
        best, unit = criterion, rest[:, taken] / sqrt(lengths[taken])
        chosen.append(taken)
        left = left - unit * (unit @ left)
        rest = rest - np.outer(unit, unit @ rest)
    return chosen


# Gradient boosting of the simulation's residuals: log(measured / simulated).

_TREES, _DEPTH, _RATE, _LEAF, _SHARE = 60, 3, 0.08, 8, 0.7


def fit_trees(
    rows: Sequence[Sequence[float]], residuals: Sequence[float]
) -> tuple[float, tuple[Tree, ...]]:
    """Fit trees deterministically: the same samples give the same trees.

    Args:
        rows: (n_samples, n_features).
        residuals: Log of measured over simulated time of each sample.

    Returns:
        Mean of the residuals, and the trees, whose leaves contain offsets to the mean.

    Raises:
        RuntimeMissingError: scikit-learn is not installed.
    """
    require("models", "training of boosted models")
    from sklearn.ensemble import GradientBoostingRegressor

    mean = float(np.mean(residuals))
    fitted = GradientBoostingRegressor(
        init="zero", n_estimators=_TREES, max_depth=_DEPTH, learning_rate=_RATE,
        min_samples_leaf=_LEAF, subsample=_SHARE, random_state=0,
    ).fit(np.asarray(rows, dtype=np.float32), np.asarray(residuals) - mean)  # fmt: skip
    return mean, tuple(_tree(one.tree_) for one in fitted.estimators_[:, 0])


def _tree(fitted: object) -> Tree:
    leaf = fitted.children_left < 0  # type: ignore[attr-defined]
    return Tree(
        feature=tuple(int(n) for n in np.where(leaf, -1, fitted.feature)),  # type: ignore[attr-defined]
        threshold=tuple(float(x) for x in np.where(leaf, 0.0, fitted.threshold)),  # type: ignore[attr-defined]
        left=tuple(int(n) for n in np.where(leaf, 0, fitted.children_left)),  # type: ignore[attr-defined]
        right=tuple(int(n) for n in np.where(leaf, 0, fitted.children_right)),  # type: ignore[attr-defined]
        value=tuple(float(x) * _RATE for x in np.where(leaf, fitted.value[:, 0, 0], 0.0)),  # type: ignore[attr-defined]
    )
