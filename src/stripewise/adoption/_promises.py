# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who predicts for a program, and what is promised of the best settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stripewise.adoption._question import Question
from stripewise.model import ProgramFacts, Value
from stripewise.performance import (
    Model,
    Places,
    Prediction,
    fitted_prediction,
    ground_of,
    predict,
)
from stripewise.simulation import simulated_program
from stripewise.tunables import Space

MOST_PREDICTIONS = 400
"""Points that are predicted for one answer: about half a second (measured)."""
SIMPLER = 0.02
"""Of points that are promised as good as the best to so much, that with fewest settings is set."""


@dataclass(frozen=True)
class Promise:
    """Who predicts for a program, if anybody can.

    Attributes:
        prediction: None: nobody.
        words: Who it is, or why there is nobody.
    """

    prediction: Prediction | None
    words: str = ""


@dataclass(frozen=True)
class Promised:
    """Settings, and how many times as fast as without them the I/O is promised to be."""

    settings: Mapping[str, Value]
    expected_ratio: float


def promise(question: Question, facts: ProgramFacts, models: Sequence[Model]) -> Promise:
    """Return the fitted model that holds here, else the simulation of a described storage."""
    why = ""
    if question.ground is not None:
        fitted = fitted_prediction(facts, question.ground, models)
        if fitted.prediction is not None:
            return Promise(fitted.prediction, f"the {fitted.why}")
        why = fitted.why
    if question.storage is None:
        return Promise(None, why)
    program = simulated_program(
        facts,
        question.storage,
        question.ranks_per_node,
        question.transport,
        question.environment,
    )
    if program is None:
        return Promise(None, why or "none of its patterns can be simulated")
    name = ground_of(facts, storage=question.storage).storage
    return Promise(
        Prediction(name, program.tunables, program.seconds), f"the simulation of {name}"
    )


def best_of(space: Space, facts: ProgramFacts, prediction: Prediction) -> Promised | None:
    """Return what the model holds for best; None where it can say nothing."""
    ratios = predict(space, facts, prediction, most=MOST_PREDICTIONS).ratios
    if not ratios:
        return None
    best = simplest(ratios)
    return Promised(space.at(best), 1 / ratios[best])


def simplest(ratios: Mapping[Places, float]) -> Places:
    """Return the best point, or of those about as good that with fewest settings."""
    least = min(ratios.values())
    near = [point for point, ratio in ratios.items() if ratio <= least * (1 + SIMPLER)]
    return min(near, key=lambda point: (sum(map(bool, point)), ratios[point], point))
