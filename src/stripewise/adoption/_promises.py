# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What models promise: the best settings of all, and those of studies carried over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from stripewise.adoption._question import Question
from stripewise.model import ProgramFacts, Value
from stripewise.performance import Model, Prediction, fitted_prediction, ground_of, predict
from stripewise.simulation import simulated_program
from stripewise.tunables import Space, is_valid

MOST_PREDICTIONS = 400
"""Points that are predicted for one answer: about half a second (measured)."""
SIMPLER = 0.02
"""Of points that are promised as good as the best to so much, that with fewest settings is set."""
DOUBT = 0.1
"""What a model must promise beyond settings that a study proved, to have them changed (assumed);
its own error, if that is known to be greater."""


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
    return _best(space, facts, prediction, ())


def carried_over(
    settings: Mapping[str, Value],
    space: Space,
    facts: ProgramFacts,
    prediction: Prediction,
    proved: float = 1.0,
) -> Promised | None:
    """Carry settings that a study proved elsewhere over to this program and scale.

    The model changes those that it knows the effect of, where it promises more of it than its
    error; the others stay.

    Args:
        settings: That were proved.
        space: What may be set.
        facts: Of the program.
        prediction: The model.
        proved: How many times as fast they made the I/O elsewhere: it counts where the model
            can say nothing of them here.

    Returns:
        None: the model can say nothing of these settings, and promises no more of others.
    """
    known = {name: value for name, value in settings.items() if name in prediction.tunables}
    plain, here = prediction.seconds({}), prediction.seconds(known)
    if plain is None or not 0 < plain < inf:
        return None
    told = here is not None and 0 < here < inf
    ratio = plain / here if told and here else proved
    best = _best(space, facts, prediction, [known])
    doubt = max(DOUBT, prediction.error or 0.0)
    if best is not None and best.expected_ratio > ratio * (1 + doubt):
        kept = {name: value for name, value in settings.items() if name not in known}
        changed = {**kept, **best.settings}
        if is_valid(changed, facts):
            return Promised(changed, best.expected_ratio)
    return Promised(dict(settings), ratio) if told else None


def _best(
    space: Space,
    facts: ProgramFacts,
    prediction: Prediction,
    starts: Sequence[Mapping[str, Value]],
) -> Promised | None:
    places = [place for start in starts if (place := space.places(start)) is not None]
    ratios = predict(space, facts, prediction, starts=places, most=MOST_PREDICTIONS).ratios
    if not ratios:
        return None
    least = min(ratios.values())
    near = [point for point, ratio in ratios.items() if ratio <= least * (1 + SIMPLER)]
    chosen = min(near, key=lambda point: (sum(map(bool, point)), ratios[point], point))
    return Promised(space.at(chosen), 1 / ratios[chosen])
