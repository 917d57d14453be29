# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models out of samples: one for each class of patterns, of the kind that errs least."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
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
    RATIOS,
    STRIPE_COUNT,
    STRIPE_SIZE,
    class_of_program,
)
from stripewise.performance._judge import LEAST_LEFT, Fitter, Predictor, judged
from stripewise.performance._records import (
    BASES,
    BOOSTED,
    LEFT_OUT,
    REGRESSION,
    Model,
    Range,
    Sample,
    Score,
    Training,
)
from stripewise.performance._regression import fit_terms
from stripewise.performance._rows import Row, levels_of, samples_in_numbers

_SHOWN = 1000
_NEAR, _PHYSICS_REACH = 2.0, 32.0
"""How far beyond its training a feature may lie where nothing was left out so far (assumed);
the larger one for sizes of blocks and pieces, which a simulation knows the effect of."""
_ALIKE = 1.1
"""Errors of this ratio are alike, and the simpler kind is kept (assumed)."""
_LEAST_DIFFERENT = 4
"""Values of a feature of programs below which it would only tell these programs apart."""


def fit(training: Training, kinds: Collection[str] = (REGRESSION, BOOSTED)) -> tuple[Model, ...]:
    """Fit a model for each class of patterns of which there are samples enough.

    A correction of a simulation needs a description of the storage, and trees in it need
    scikit-learn; without them the simpler kinds are left.

    Args:
        training: Samples of one ground.
        kinds: Among which the one that errs least is chosen.
    """
    classes: dict[PatternClass, list[Sample]] = {}
    for sample in training.samples:
        found = class_of_program(sample.facts)
        if found is not None:
            classes.setdefault(found, []).append(sample)
    models = (_of_class(training, one, samples, kinds) for one, samples in classes.items())
    return tuple(model for model in models if model is not None)


def _of_class(
    training: Training, of: PatternClass, samples: Sequence[Sample], kinds: Collection[str]
) -> Model | None:
    """Return the kind that errs least on what is left out; None: there are too few samples."""
    levels = levels_of(samples)
    rows = samples_in_numbers(samples, training.ground, levels)
    plain = [row for row in rows if row.physical]
    share = len(rows) / max(len(training.samples), 1)
    empty = Model(
        training.ground, of, REGRESSION, way=training.way, runs=round(training.runs * share),
        run_seconds=training.run_seconds * share, trained_unix_seconds=time.time(),
    )  # fmt: skip
    regresses = REGRESSION in kinds and len(plain) >= LEAST_LEFT
    found = [_regression(empty, plain, samples)] if regresses else []
    known = [row for row in rows if row.simulated is not None]
    if BOOSTED in kinds and len(known) >= LEAST_LEFT:
        base = replace(empty, levels=levels)
        found = [_boosted(base, known, samples, trees=False), *found]
        if not missing("models"):
            found.append(_boosted(base, known, samples, trees=True))
    hardest = min(map(_question, found), default=())
    found = [one for one in found if _question(one) == hardest]
    least = min(map(_error, found), default=0.0)
    return next((one for one in found if _error(one) <= least * _ALIKE), None)


def _question(model: Model) -> tuple[int, ...]:
    """Return what was asked of a model, the hardest first: errors of others are no comparison."""
    kinds = [LEFT_OUT.index(one.left_out) for one in model.judged]
    return (min(kinds, default=len(LEFT_OUT)), -len(kinds))


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
    return _with_scores(model, rows, fitted, (*BASES, "ranks", "block", "piece"), _NEAR)


def _boosted(empty: Model, rows: list[Row], samples: Sequence[Sample], *, trees: bool) -> Model:
    """Return the simulation, corrected by trees or by a constant factor alone."""

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
    told = [n for n in OF_PROGRAM if len({row.features[n] for row in rows}) >= _LEAST_DIFFERENT]
    names = (*OF_SETTINGS, *RATIOS, *told, *empty.levels)
    table = [[row.features[name] for name in names] for row in rows]
    mean, found = fit_trees(table, residuals)
    return replace(empty, features=names, initial=mean, trees=found)


def _correction(model: Model, row: Row) -> float:
    return model.initial + added(model.trees, [row.features[name] for name in model.features])


def _set(samples: Sequence[Sample], names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the tunables that were set in training."""
    seen = {name for one in samples for name in one.settings}
    return tuple(name for name in names if name in seen)


def _with_scores(
    model: Model, rows: list[Row], fitter: Fitter, names: tuple[str, ...], reach: float
) -> Model:
    scores, shown, remained = judged(rows, fitter)
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
    """Return where a feature lay, and how far beyond it predictions hold.

    That is as far as left-out groups lay from the others and were ranked well; where none lay
    so far, a distance that is assumed.
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
