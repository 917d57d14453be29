# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A model against samples that it may never have seen."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from stripewise.performance._features import class_of_program
from stripewise.performance._fitted import fitted_prediction
from stripewise.performance._judge import Told, score_of
from stripewise.performance._prediction import Prediction
from stripewise.performance._records import Model, Sample, Score
from stripewise.performance._rows import name_of


class Validated(NamedTuple):
    """How well samples were predicted.

    Attributes:
        scores: One for each program at its scale; of "samples".
        points: Name of the program, measured and predicted seconds.
        refused: Why others were not predicted, a line each.
    """

    scores: tuple[Score, ...]
    points: tuple[tuple[str, float, float], ...]
    refused: tuple[str, ...]


def validated(model: Model, samples: Sequence[Sample]) -> Validated:
    """Predict samples and compare; those of other classes do not count."""
    cases: dict[str, list[Told]] = {}
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
            reason = why if prediction is None else "settings that the model does not know"
            refused[f"{name}: {reason}"] = refused.get(f"{name}: {reason}", 0) + 1
            continue
        cases.setdefault(name, []).append((name, median(sample.seconds), seconds))
    return Validated(
        tuple(score_of("samples", name, told) for name, told in cases.items()),
        tuple((name, *one[1:]) for name, told in cases.items() for one in told),
        tuple(f"{reason} (configurations: {number})" for reason, number in refused.items()),
    )
