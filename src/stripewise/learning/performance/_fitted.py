# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicts the I/O time of settings on a storage with trained models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, isfinite
from typing import TYPE_CHECKING, NamedTuple

from stripewise.core import ProgramFacts, Value
from stripewise.learning.performance._features import (
    OF_SETTINGS,
    PHYSICAL,
    class_of_program,
    features_of,
    program_features,
    setting_features,
)
from stripewise.learning.performance._ground import Ground
from stripewise.learning.performance._records import (
    BOOSTED,
    GOOD_ERROR,
    Model,
    Prediction,
    added,
    regressed,
)

if TYPE_CHECKING:
    from stripewise.storage.simulation import SimulatedProgram

LEAST_RHO = 0.5
"""Rank correlation on left-out samples below which a model is not used (assumed)."""
_LEAST_SHARE = 0.01
"""Share of the default's time below which a regression is not believed (assumed)."""


class Fitted(NamedTuple):
    """Model that applies to a program, if any, and its prediction.

    Attributes:
        prediction: Prediction of the model; None if no model applies to the program.
        why: Name of the model, or why there is none; one sentence.
        model: Model of the prediction.
    """

    prediction: Prediction | None
    why: str
    model: Model | None = None


def fitted_prediction(
    facts: ProgramFacts,
    ground: Ground,
    models: Sequence[Model],
    program: SimulatedProgram | None = None,
) -> Fitted:
    """Return the prediction of the model that applies to a program, without extrapolation.

    Args:
        facts: Facts of the program's first run.
        ground: Ground on which the program runs.
        models: Models, as `load_models` returns them.
        program: Simulation of the program on that ground, if the caller already has it.
    """
    found = class_of_program(facts)
    if found is None:
        return Fitted(None, "no access pattern of the program was recognised")
    of_class = [one for one in models if one.pattern_class == found]
    if not of_class:
        return Fitted(None, f'there is no model of the class "{found}"')
    reasons = []
    for model in sorted(of_class, key=lambda one: one.trained_unix_seconds, reverse=True):
        features = program_features(facts)
        if why := model.ground.why_not(ground) or why_useless(model) or outside(model, features):
            reasons.append(f'the model of "{found}" does not apply here: {why}')
            continue
        base = (program or _simulated(model, facts)) if model.kind == BOOSTED else None
        if model.kind == BOOSTED and base is None:
            reasons.append(f'the model of "{found}" needs a simulation, and none is possible')
            continue
        prediction = _prediction(model, facts, base)
        if prediction.seconds({}) is None:
            usual = setting_features(facts, model.ground.stack, {})
            why = outside(model, usual) or "it has no time for them"
            reasons.append(f'the model of "{found}" does not cover the default settings: {why}')
            continue
        return Fitted(prediction, _words(model, features), model)
    return Fitted(None, reasons[0])


def _simulated(model: Model, facts: ProgramFacts) -> SimulatedProgram | None:
    from stripewise.learning.performance._rows import program_on  # takes a tenth of a second

    return program_on(model.ground, facts)


def outside(model: Model, features: Mapping[str, float]) -> str:
    """Return which feature is outside of a model's training range; empty if none is."""
    for name in features.keys() & model.ranges.keys():
        one, value = model.ranges[name], features[name]
        if not one.holds(value):
            beyond = f", {one.reach:.3g} times beyond at most" if one.reach > 1 else ""
            return (
                f"{name} is {value:.4g}; the model covers {one.low:.4g} to {one.high:.4g}{beyond}"
            )
    return ""


def _prediction(model: Model, facts: ProgramFacts, base: SimulatedProgram | None) -> Prediction:
    known = frozenset(model.tunables)
    within = _with_ranks(model, facts)
    usual = features_of(facts, model.ground.stack, {}, model.levels)
    least = _LEAST_SHARE * max(regressed(model.terms, usual), 0.0)

    def seconds(settings: Mapping[str, Value]) -> float | None:
        if not settings.keys() <= known | PHYSICAL:
            return None
        if any(value not in model.levels.get(n, (value,)) for n, value in settings.items()):
            return None
        row = features_of(facts, model.ground.stack, settings, model.levels)
        if outside(within, {name: row[name] for name in OF_SETTINGS}):
            return None
        found = _value(model, row, settings, base)
        if base is None and found is not None:
            found = _above_zero(found, least)
        return found if found is not None and isfinite(found) and found > 0 else None

    return Prediction(str(model.ground), known, seconds, model.error)


def _with_ranks(model: Model, facts: ProgramFacts) -> Model:
    """Return the model with its range of aggregators extended as far as that of the ranks.

    Aggregators are a share of the ranks: with twice as many ranks there may be twice as many.
    """
    ranks, aggregators = model.ranges.get("ranks"), model.ranges.get("a")
    if ranks is None or aggregators is None or facts.n_ranks <= ranks.high:
        return model
    grown = replace(aggregators, high=aggregators.high * facts.n_ranks / ranks.high)
    return replace(model, ranges={**model.ranges, "a": grown})


def _above_zero(seconds: float, least: float) -> float:
    """Return positive seconds in the same order; a sum of terms may be negative."""
    if seconds >= least or least <= 0:
        return seconds
    return least * exp(max(seconds / least - 1, -500.0))


def _value(
    model: Model,
    row: Mapping[str, float],
    settings: Mapping[str, Value],
    base: SimulatedProgram | None,
) -> float | None:
    if base is None:
        return regressed(model.terms, row)
    simulated = base.seconds(settings)
    if simulated is None:
        return None
    values = [row[name] for name in model.features]
    return simulated * exp(max(min(model.initial + added(model.trees, values), 50.0), -50.0))


def why_useless(model: Model) -> str:
    """Return why a model must not be used; empty if it may be.

    Noise may leave no ranking to predict; such a model is judged by its five best predictions.
    """
    rho, error = model.rho, model.error
    if rho is None or error is None or rho >= LEAST_RHO or error <= GOOD_ERROR:
        return ""
    if sum(one.top5 for one in model.judged) >= len(model.judged) / 2:
        return ""
    return f"on patterns that it was not fitted to, its rank correlation is only {rho:.2f}"


def _words(model: Model, features: Mapping[str, float]) -> str:
    simulated = " of simulated runs" if model.is_simulated else ""
    error = "" if model.error is None else f", error {model.error:.0%}{simulated}"
    beyond = [
        f"{name} {max(one.low / features[name], features[name] / one.high):.3g} times beyond"
        for name, one in model.ranges.items()
        if name in features and not replace(one, reach=1.0).holds(features[name])
    ]
    note = f"; {', '.join(beyond)} its training, within reach" if beyond else ""
    return f'model of {model.ground} for "{model.pattern_class}" ({model.kind}{error}{note})'
