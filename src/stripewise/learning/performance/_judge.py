# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures a model's error on samples to which it was not fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from stripewise.learning.performance._features import class_of_program
from stripewise.learning.performance._fitted import fitted_prediction
from stripewise.learning.performance._records import Model, Prediction, Score, TrainingSample
from stripewise.learning.performance._rows import Row, name_of

Predictor = Callable[[Row], float]
Fitter = Callable[[Sequence[Row]], Predictor]
PredictedTime = tuple[object, float, float]
"""Program at its scale, measured seconds and predicted seconds."""

LEAST_LEFT = 12
"""Least number of samples that must remain for fitting."""
_FOLDS = 5
WITHIN = 1.05
BEST = 5


def leave_out_groups(
    rows: Sequence[Row], fitter: Fitter
) -> tuple[list[Score], list[tuple[Row, float]], list[tuple[Score, list[Row]]]]:
    """Fit without each pattern and each scale; otherwise without a fifth of the configurations.

    Returns:
        Scores; the rows of the hardest question with their predictions; and scores with the
        remaining rows, to see how far from them the group was.
    """
    scores: list[Score] = []
    shown: list[tuple[Row, float]] = []
    groups = [("pattern", [row.name for row in rows]),
              ("scale", [f"{row.features['ranks']:.0f} ranks" for row in rows])]  # fmt: skip
    remained: list[tuple[Score, list[Row]]] = []
    for kind, names in groups:
        predictions = _left_out(kind, rows, names, fitter)
        scores += [score for score, _, _ in predictions]
        remained += [(score, rest) for score, _, rest in predictions]
        shown = shown or [pair for _, pairs, _ in predictions for pair in pairs]
    if not scores:
        names = [f"part {n % _FOLDS + 1}" for n in range(len(rows))]
        predictions = _left_out("configuration", rows, names, fitter)
        scores = [score for score, _, _ in predictions]
        shown = [pair for _, pairs, _ in predictions for pair in pairs]
    return scores, shown, remained


def _left_out(
    kind: str, rows: Sequence[Row], names: Sequence[str], fitter: Fitter
) -> list[tuple[Score, list[tuple[Row, float]], list[Row]]]:
    found = []
    for name in dict.fromkeys(names) if len(set(names)) > 1 else ():
        group = [row for row, of in zip(rows, names, strict=True) if of == name]
        rest = [row for row, of in zip(rows, names, strict=True) if of != name]
        if len(rest) < LEAST_LEFT:
            continue
        predictor = fitter(rest)
        pairs = [(row, predictor(row)) for row in group]
        predictions = [(row.case, row.usual, predicted) for row, predicted in pairs]
        found.append((score_of(kind, name, predictions), pairs, rest))
    return found


def score_of(kind: str, name: str, predictions: Sequence[PredictedTime]) -> Score:
    """Return the score of a group's predictions."""
    cases: dict[object, list[tuple[float, float]]] = {}
    for case, measured, predicted in predictions:
        cases.setdefault(case, []).append((measured, predicted))
    errors = [abs(predicted / measured - 1) for _, measured, predicted in predictions]
    rhos = [rank_correlation(one) for one in cases.values()]
    tops = [holds_the_best(one) for one in cases.values()]
    return Score(kind, name, len(predictions), median(errors), median(rhos), sum(tops) / len(tops))


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Return Spearman's rank correlation; 0 if all values of one side are equal."""
    from scipy.stats import rankdata

    ranks = rankdata(np.round(pairs, 12), axis=0)
    if not np.ptp(ranks, axis=0).all():
        return 0.0
    return float(np.corrcoef(ranks, rowvar=False)[0, 1])


def holds_the_best(pairs: Sequence[tuple[float, float]]) -> bool:
    """Return whether the five best predicted ones include one within 5 % of the best measured."""
    tried = sorted(pairs, key=lambda pair: pair[1])[:BEST]
    return min(one for one, _ in tried) <= WITHIN * min(one for one, _ in pairs)


# Validation of a model with samples that it need not have been fitted to.


class Validated(NamedTuple):
    """Comparison of predicted with measured samples.

    Attributes:
        scores: One score for each program at its scale, with "samples" as what was left out.
        points: Name of the program, measured seconds and predicted seconds.
        refused: Why other samples were not predicted, one line each.
    """

    scores: tuple[Score, ...]
    points: tuple[tuple[str, float, float], ...]
    refused: tuple[str, ...]


def validated(model: Model, samples: Sequence[TrainingSample]) -> Validated:
    """Compare predictions with samples; those of other pattern classes are ignored."""
    cases: dict[str, list[PredictedTime]] = {}
    refused: dict[str, int] = {}
    predictions: dict[object, tuple[Prediction | None, str]] = {}
    for sample in samples:
        if class_of_program(sample.facts) != model.pattern_class or not sample.seconds:
            continue
        name = f"{sample.name or name_of(sample.facts)}, {sample.facts.n_ranks} ranks"
        if sample.facts not in predictions:
            predictions[sample.facts] = fitted_prediction(sample.facts, model.ground, (model,))[:2]
        prediction, why = predictions[sample.facts]
        seconds = prediction.seconds(sample.settings) if prediction else None
        if seconds is None:
            reason = why if prediction is None else "settings that the model does not cover"
            refused[f"{name}: {reason}"] = refused.get(f"{name}: {reason}", 0) + 1
            continue
        cases.setdefault(name, []).append((name, median(sample.seconds), seconds))
    return Validated(
        tuple(score_of("samples", name, group) for name, group in cases.items()),
        tuple((name, *one[1:]) for name, group in cases.items() for one in group),
        tuple(f"{reason} (configurations: {number})" for reason, number in refused.items()),
    )
