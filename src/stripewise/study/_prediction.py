# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a trained model or a described storage promises: the first points of a search."""

from __future__ import annotations

import os
from dataclasses import replace
from math import isfinite

from stripewise.machines import Storage, description_text, find_storage, load_description
from stripewise.performance import (
    Fitted,
    Prediction,
    fitted_prediction,
    ground_of,
    model_from_json,
    model_to_json,
)
from stripewise.simulation import SimulatedProgram, simulated_program
from stripewise.strategies import ModelStrategy, PredictedStrategy, PrunedStrategy, Strategy
from stripewise.study._context import Context
from stripewise.study._options import NO_MACHINE

AUTO, MODEL = "auto", ModelStrategy.name
_KNOWN, _MODEL = "known-storage", "trained-model"


def begin_with_prediction(context: Context, strategy: Strategy) -> Strategy:
    """Return the strategy, begun with what a model promises most of.

    `auto` and `model` take a trained model that holds for the program here; where there is none,
    `auto` and what does as `auto` does take a simulation of the storage, and so does any
    strategy where the user names a storage.  The storage is the one that the user names;
    otherwise the one that the runs are emulated on, or the description that stands for the file
    system here.
    """
    named = context.options.machine
    of_itself = context.options.strategy in (AUTO, MODEL)
    if named == NO_MACHINE or not (named or of_itself):
        if context.options.strategy == MODEL:
            context.decide("model", f"no model is used (--machine {NO_MACHINE}): as auto does")
        return strategy
    storage = storage_of(context)
    program = _program(context, storage) if storage else None
    if of_itself and (begun := _begin_with_model(context, strategy, storage, program)):
        return begun
    if program is None:
        if named:
            context.warn(
                f"--machine {named} is of no use here: no access pattern of the program was "
                "recognised that could be simulated"
            )
        return strategy
    name = program.storage.name
    begun = PredictedStrategy(strategy, Prediction(name, program.tunables, program.seconds))
    text = f"the search begins with what the model of {name} promises most of"
    if not named and not context.options.storage:
        text = f"storage known: {context.tools.known or name}, predicted first"
    context.decide("prediction", text)
    return begun


def _begin_with_model(
    context: Context,
    strategy: Strategy,
    storage: Storage | None,
    program: SimulatedProgram | None,
) -> Strategy | None:
    """Return the strategy, begun with a trained model's choice; None, and why, without one."""
    fitted = _fitted(context, storage, program)
    is_asked_for = isinstance(strategy, ModelStrategy)
    if fitted.prediction is None:
        if fitted.why:
            tail = ": the search does what auto does" if is_asked_for else ""
            text = f"no trained model is used: {fitted.why}{tail}"
            context.decide("model", text, quietly=not is_asked_for)
        return None
    text = f"trained model: the search begins with what the {fitted.why} holds for best"
    context.decide("model", text)
    prediction = fitted.prediction
    if fitted.model and fitted.model.is_simulated:
        prediction = replace(prediction, error=None)
    if isinstance(strategy, ModelStrategy):
        return PrunedStrategy(strategy, prediction)
    return PredictedStrategy(strategy, prediction)


def _fitted(context: Context, storage: Storage | None, program: SimulatedProgram | None) -> Fitted:
    """Return what trained models say of the program; the same one when a study goes on."""
    ledger, facts = context.ledger, context.facts
    ground = context.tools.ground or ground_of(facts, storage=storage)
    recorded = ledger.recall(_MODEL)
    if recorded:
        model = model_from_json(recorded)
        return fitted_prediction(facts, ground, (model,), program)
    if recorded is not None or ledger.recall("proposal/1"):
        return Fitted(None, "")
    loaded = context.tools.models()
    for warning in loaded.warnings:
        context.warn(warning)
    found = fitted_prediction(facts, ground, loaded.models, program)
    if found.prediction is None and not loaded.models:
        found = found._replace(why="none is stored (stripewise train makes them)")
        found = found if context.options.strategy == MODEL else found._replace(why="")
    kept = replace(found.model, points=()) if found.model else None
    ledger.remember(_MODEL, lambda: model_to_json(kept) if kept else False)
    return found


def storage_of(context: Context) -> Storage | None:
    """Return the description of the storage that the search is for; None: there is none."""
    named, emulated = context.options.machine, context.options.storage
    if named:
        return find_storage(named)
    return find_storage(emulated.machine) if emulated else _known(context)


def _program(context: Context, storage: Storage) -> SimulatedProgram | None:
    """Return what can be simulated of the program there; None where nothing can."""
    emulated = context.options.storage
    program = simulated_program(
        context.facts,
        storage,
        emulated.ranks_per_node if emulated else 0,
        emulated.transport if emulated else "",
        os.environ,
    )
    seconds = program.seconds({}) if program else None
    return program if seconds is not None and isfinite(seconds) else None


def _known(context: Context) -> Storage | None:
    """Return the description of the file system here, as it was when the search began."""
    ledger, known = context.ledger, context.tools.known
    if ledger.recall(_KNOWN) is None and ledger.recall("proposal/1"):
        return None
    text = ledger.remember(_KNOWN, lambda: description_text(known.storage) if known else "")
    return load_description(text) if text else None
