# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models out of samples: one for each class of patterns, of the kind that errs less."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from stripewise.extras import missing
from stripewise.patterns import PatternClass
from stripewise.performance._boosting import fit_trees
from stripewise.performance._evaluate import added, regressed
from stripewise.performance._features import (
    AGGREGATORS,
    CO_RATIO,
    CONFIG_LIST,
    MULTIPLIER,
    OF_PROGRAM,
    OF_SETTINGS,
    STRIPE_COUNT,
    STRIPE_SIZE,
    class_of_program,
)
from stripewise.performance._judge import LEAST_LEFT, Predictor, judged
from stripewise.performance._records import (
    BASES,
    BOOSTED,
    REGRESSION,
    Model,
    Range,
    Sample,
    Training,
)
from stripewise.performance._regression import fit_terms
from stripewise.performance._rows import Row, levels_of, rows_of

ENOUGH_RHO = 0.9
"""Rank correlation of a left-out group up to which its distance counts as within reach."""
_SHOWN = 1000


def fit(training: Training) -> tuple[Model, ...]:
    """Fit a model for each class of patterns of which there are samples enough.

    Boosting needs scikit-learn and a description of the storage; without either there is the
    regression alone.
    """
    classes: dict[PatternClass, list[Sample]] = {}
    for sample in training.samples:
        found = class_of_program(sample.facts)
        if found is not None:
            classes.setdefault(found, []).append(sample)
    models = (_of_class(training, one, samples) for one, samples in classes.items())
    return tuple(model for model in models if model is not None)


def _of_class(training: Training, of: PatternClass, samples: Sequence[Sample]) -> Model | None:
    """Return the better one of the two kinds; None where there are too few samples."""
    levels = levels_of(samples)
    rows = rows_of(samples, training.ground, levels)
    plain = [row for row in rows if row.physical]
    share = len(rows) / max(len(training.samples), 1)
    empty = Model(
        training.ground, of, REGRESSION, way=training.way, runs=round(training.runs * share),
        run_seconds=training.run_seconds * share, trained_unix_seconds=time.time(),
    )  # fmt: skip
    found = [_regression(empty, plain, samples)] if len(plain) >= LEAST_LEFT else []
    known = [row for row in rows if row.simulated is not None]
    if len(known) >= LEAST_LEFT and not missing("models"):
        found.append(_boosted(replace(empty, levels=levels), known, samples))
    return min(found, key=_error, default=None)


def _error(model: Model) -> float:
    return float("inf") if model.error is None else model.error


def _regression(empty: Model, rows: list[Row], samples: Sequence[Sample]) -> Model:
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
    return _with_scores(model, rows, fitted, (*BASES, "ranks"))


def _boosted(empty: Model, rows: list[Row], samples: Sequence[Sample]) -> Model:
    names = (*OF_SETTINGS, *OF_PROGRAM, *empty.levels)

    def matrix(some: Sequence[Row]) -> list[list[float]]:
        return [[row.features[name] for name in names] for row in some]

    def residuals(some: Sequence[Row]) -> list[float]:
        return [log(row.least / (row.simulated or 1.0)) for row in some]

    def fitted(rest: Sequence[Row]) -> Predictor:
        mean, trees = fit_trees(matrix(rest), residuals(rest))
        return lambda row: (row.simulated or 0.0) * exp(mean + added(trees, matrix([row])[0]))

    mean, trees = fit_trees(matrix(rows), residuals(rows))
    tunables = _set(samples, sorted({name for one in samples for name in one.settings}))
    model = replace(
        empty, kind=BOOSTED, trees=trees, initial=mean, features=names, tunables=tunables
    )
    return _with_scores(model, rows, fitted, (*OF_SETTINGS, *OF_PROGRAM))


def _set(samples: Sequence[Sample], names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the tunables that were set in training."""
    seen = {name for one in samples for name in one.settings}
    return tuple(name for name in names if name in seen)


def _with_scores(model: Model, rows: list[Row], fitter: object, names: tuple[str, ...]) -> Model:
    scores, shown, remained = judged(rows, fitter)  # type: ignore[arg-type]
    ranges = {name: _range(name, rows, remained) for name in names}
    some = shown[:: -(-len(shown) // _SHOWN)] if shown else []
    return replace(
        model,
        ranges=ranges,
        scores=tuple(scores),
        points=tuple((f"{row.name}, {row.case[1]:.0f} ranks", row.usual, p) for row, p in some),
        programs=tuple(dict.fromkeys(row.name for row in rows)),
    )


def _range(name: str, rows: Sequence[Row], remained: object) -> Range:
    """Return where a feature lay, and how far beyond it groups were predicted well."""
    values = [row.features[name] for row in rows]
    low, high = min(values), max(values)
    if name in OF_SETTINGS:
        return Range(low, high)
    reach, steps = 1.0, []
    for score, rest in remained:  # type: ignore[attr-defined]
        kept = [row.features[name] for row in rest]
        steps.append((max(min(kept) / low, high / max(kept)), score.rho >= ENOUGH_RHO))
    for factor, held in sorted(steps):
        if not held:
            break
        reach = max(reach, factor)
    return Range(low, high, reach)
