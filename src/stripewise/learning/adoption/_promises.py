# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicts the speed-up of settings with models and transfers settings proved elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import mean, pvariance

import numpy as np

from stripewise.core import ProgramFacts, Value
from stripewise.learning.adoption._question import Question
from stripewise.learning.performance import (
    MOST_PRIOR,
    Fitted,
    Model,
    Positions,
    Prediction,
    Residuals,
    fitted_prediction,
    ground_of,
    predict,
    prior_of,
)
from stripewise.settings.tunables import Space, is_valid
from stripewise.storage.simulation import simulated_program

MOST_PREDICTIONS = 400
"""Maximum number of points predicted for one answer, about half a second (measured)."""
SIMPLER = 0.02
"""Tolerance, as a share of the best prediction, within which the point with fewest settings is
preferred.
"""


@dataclass(frozen=True)
class Promised:
    """Settings and their predicted I/O speed-up relative to nothing set."""

    settings: Mapping[str, Value]
    expected_ratio: float


def promise(question: Question, facts: ProgramFacts, models: Sequence[Model]) -> Fitted:
    """Return the fitted model that applies here, otherwise the simulation of the storage."""
    why = ""
    if question.ground is not None:
        fitted = fitted_prediction(facts, question.ground, models)
        if fitted.prediction is not None:
            return Fitted(fitted.prediction, f"the {fitted.why}")
        why = fitted.why
    if question.storage is None:
        return Fitted(None, why)
    program = simulated_program(
        facts,
        question.storage,
        question.ranks_per_node,
        question.transport,
        question.environment,
    )
    if program is None:
        return Fitted(None, why or "none of its patterns can be simulated")
    name = ground_of(facts, storage=question.storage).storage
    return Fitted(Prediction(name, program.tunables, program.seconds), f"the simulation of {name}")


def best_of(space: Space, facts: ProgramFacts, prediction: Prediction) -> Promised | None:
    """Return the settings that the model predicts to be best; None if it cannot predict any."""
    ratios = predict(space, facts, prediction, most=MOST_PREDICTIONS).ratios
    if not ratios:
        return None
    best = simplest(ratios)
    return Promised(space.at(best), 1 / ratios[best])


def simplest(ratios: Mapping[Positions, float]) -> Positions:
    """Return the point with fewest settings among those about as good as the best."""
    least = min(ratios.values())
    near = [point for point, ratio in ratios.items() if ratio <= least * (1 + SIMPLER)]
    return min(near, key=lambda point: (sum(map(bool, point)), ratios[point], point))


# Transfers settings proved elsewhere, with a model that is corrected by measured ratios.
#
# See docs/design/adoption.md for the reasons.

MOST_MEASURED = 400
"""Maximum number of measured ratios that correct a model; more of them add little."""
SLOW = 2.0
"""Slow-down beyond which the exact factor of a setting does not matter: such runs may have been
cut off (assumed).
"""
RESTS = tuple(n / 20 for n in range(61))
"""Candidate shares of I/O time that the model does not know, up to three times its prediction for
the default (assumed).
"""
LEAST_TOLD = 5
"""Least number of ratios of a program whose variation can be estimated (assumed)."""
INERT, AGREES = 1e-3, 0.1
"""INERT: largest relative change of a prediction at which a setting counts as having no effect.
AGREES: largest difference of the logarithms of measured and predicted ratio at which that is
believed (assumed).
"""
OWN = 0.3
"""Share of a model's error that is specific to each point: drivers have steps (assumed)."""


@dataclass(frozen=True)
class Measured:
    """Measured effect of settings on the I/O of a similar program.

    Attributes:
        settings: Settings in the space of this program.
        ratio: I/O time relative to nothing set.
        noise / shift: Standard deviations of the logarithm of the ratio, as an estimate for this
            program: specific to each point, and common to all points of the source.
        source: Number of the program that was measured.
    """

    settings: Mapping[str, Value]
    ratio: float
    noise: float
    shift: float = 0.0
    source: int = 0


def carried_over(
    settings: Mapping[str, Value],
    space: Space,
    facts: ProgramFacts,
    prediction: Prediction,
    measured: Sequence[Measured],
    may_be_set: Callable[[Mapping[str, Value]], bool],
) -> Promised | None:
    """Transfer settings that a study proved elsewhere to this program and scale.

    The model's predictions are corrected by all ratios measured with similar programs.  Among
    the measured settings and those that the model predicts to be good, the one with the best
    pessimistic estimate (one standard deviation worse) is chosen.

    Args:
        settings: Settings that were proved elsewhere, in this space.
        space: Space of permitted settings.
        facts: Facts of the program.
        prediction: Model of the program.
        measured: Ratios measured with similar programs.
        may_be_set: Returns whether there is no evidence against given settings.

    Returns:
        None if the model cannot predict this program.
    """
    plain = prediction.seconds({})
    proved = space.positions(settings)
    if plain is None or not 0 < plain < inf or proved is None:
        return None
    seen = [
        (place, one) for one in measured if (place := space.positions(one.settings)) is not None
    ]
    seen = seen[:MOST_MEASURED]
    starts = [proved, *(place for place, _ in seen)]
    ratios = predict(space, facts, prediction, starts=starts, most=MOST_PREDICTIONS).ratios
    unknown = [d.tunable.name not in prediction.tunables for d in space.dimensions]
    ratios = {_keeping(proved, unknown, place): ratio for place, ratio in ratios.items()}
    for place, one in seen:
        predicted = ratios.get(place) or _ratio_of(place, space, prediction, plain)
        ratios[place] = predicted or one.ratio
    pairs = [(min(one.ratio, SLOW), min(ratios[place], SLOW)) for place, one in seen]
    rest = _rest(pairs)
    ratios = {place: _slowed(min(ratio, SLOW), rest) for place, ratio in ratios.items()}
    errors = [(place, log(min(one.ratio, SLOW) / ratios[place]), one) for place, one in seen]
    prior, noises = _reconciled(prior_of(prediction.error), [(e, one) for _, e, one in errors])
    model = Residuals([len(d.values) for d in space.dimensions], prior, OWN)
    for place, error, one in errors:
        noise = max(one.noise, noises.get(one.source, 0.0))
        model.add(place, error, noise, one.shift, one.source)
    corrected = model.corrected({p: r for p, r in ratios.items() if any(p)}, 0.0)
    allowed = [
        one
        for one in corrected
        if is_valid(space.at(one.positions), facts) and may_be_set(space.at(one.positions))
    ]
    if not allowed:
        return None
    best = simplest({one.positions: one.ratio * exp(one.spread) for one in allowed})
    ratio = next(one.ratio for one in allowed if one.positions == best)
    if abs(log(ratio / ratios[best])) <= AGREES:
        best = _tidied(best, space, facts, prediction, plain)
    return Promised(space.at(best), 1 / ratio)


def _slowed(ratio: float, rest: float) -> float:
    """Return a ratio after adding constant time, given as a share of the predicted default."""
    return (ratio + rest) / (1 + rest)


def _rest(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the constant time that the model does not know, as a share of the predicted default.

    It is spent in libraries above MPI-IO and on the processors of the host, and estimated by
    least squares of the logarithms.

    Args:
        pairs: Measured and predicted ratios.
    """
    if len(pairs) < LEAST_TOLD:
        return 0.0
    measured, predicted = np.asarray(pairs).T
    shares = np.asarray(RESTS)[:, None]
    apart = np.log(measured * (1 + shares) / (predicted + shares))
    return RESTS[int(np.argmin(np.square(apart).sum(axis=1)))]


def _tidied(
    best: Positions, space: Space, facts: ProgramFacts, prediction: Prediction, plain: float
) -> Positions:
    """Return a point without those settings that have no effect according to the model."""
    for axis, dimension in enumerate(space.dimensions):
        without = (*best[:axis], 0, *best[axis + 1 :])
        if dimension.tunable.name not in prediction.tunables or not (best[axis] and any(without)):
            continue
        here, there = (_ratio_of(p, space, prediction, plain) for p in (best, without))
        same = here and there and abs(there / here - 1) <= INERT
        if same and is_valid(space.at(without), facts):
            best = without
    return best


def _reconciled(
    prior: float, errors: Sequence[tuple[float, Measured]]
) -> tuple[float, dict[int, float]]:
    """Return how reliable the model is, and how reliable the ratios of each source are.

    If every source varies more than the model's error allows, the model's error is increased;
    any further variation of a source is attributed to a difference between the programs.

    Returns:
        Standard deviations: of the log of the model's error, and of the ratios of each source.
    """
    sources: dict[int, list[tuple[float, float]]] = {}
    for error, one in errors:
        sources.setdefault(one.source, []).append((error, one.noise**2))
    known = {n: each for n, each in sources.items() if len(each) >= LEAST_TOLD}
    varied = {n: pvariance([error for error, _ in each]) for n, each in known.items()}
    allowed = {n: prior**2 + mean(noise for _, noise in each) for n, each in known.items()}
    factor = max(min((varied[n] / allowed[n] for n in known), default=1.0), 1.0)
    believed = min(prior * sqrt(factor), MOST_PRIOR)
    return believed, {n: sqrt(max(each - believed**2, 0.0)) for n, each in varied.items()}


def _keeping(proved: Positions, unknown: Sequence[bool], positions: Positions) -> Positions:
    """Return a point with those proved settings added that the model does not know."""
    columns = zip(proved, unknown, positions, strict=True)
    return tuple(keep if is_unknown else place for keep, is_unknown, place in columns)


def _ratio_of(
    positions: Positions, space: Space, prediction: Prediction, plain: float
) -> float | None:
    """Return the predicted ratio from those settings that the model knows, if it can predict."""
    known = {n: v for n, v in space.at(positions).items() if n in prediction.tunables}
    seconds = prediction.seconds(known)
    return seconds / plain if seconds is not None and 0 < seconds < inf else None
