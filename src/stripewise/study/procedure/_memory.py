# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Takes first points from earlier studies and models, and stores the study's results.

What is used is recorded first: a study that is resumed after a kill behaves as it would have
without it, whatever the store contains by then.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from math import isfinite
from typing import Any

from pydantic import TypeAdapter

from stripewise.core import Proposal, StudyResult
from stripewise.learning.adoption import Level, Question, answer
from stripewise.learning.knowledge import Memory, Recollection, describe_case
from stripewise.learning.performance import (
    Fitted,
    Prediction,
    fitted_prediction,
    ground_of,
    model_from_json,
    model_to_json,
)
from stripewise.run.runtime import program_file, program_name
from stripewise.settings.tunables import key_of
from stripewise.storage.machines import Storage, description_text, find_storage, load_description
from stripewise.storage.simulation import SimulatedProgram, simulated_program
from stripewise.study.job_scripts import JobPlaces
from stripewise.study.plan import NO_MACHINE
from stripewise.study.procedure._context import Context
from stripewise.study.strategies import (
    NODES,
    ModelStrategy,
    PredictedStrategy,
    PrunedStrategy,
    SeededStrategy,
    Strategy,
)

_RECOLLECTION = TypeAdapter(Recollection)
_TAKEN = "memory"
_KEPT = "memory-kept"
MOST_SIZES = 3
"""Maximum number of burst-buffer sizes whose remembered settings are tried first (assumed)."""


def begin_with_memory(context: Context, strategy: Strategy) -> Strategy:
    """Return the strategy, seeded with results of earlier studies of similar cases."""
    memory, ledger = context.tools.memory, context.ledger
    if memory is None or (ledger.recall(_TAKEN) is None and ledger.recall("proposal/1")):
        return strategy
    taken = ledger.remember(_TAKEN, lambda: _take(context, memory))
    found = _RECOLLECTION.validate_python(taken["found"])
    for warning in found.warnings:
        context.warn(warning)
    if found.text and ledger.decide("memory", f"memory: {found.text}"):
        context.observer.remembered(found.text)
    if not found.seeds and not found.avoided:
        return strategy
    return SeededStrategy(strategy, found.seeds, [a.settings for a in found.avoided])


def _with_first_guess(context: Context, memory: Memory, found: Recollection) -> Recollection:
    """Put first what an automatic run would get, if similar studies suggest something.

    The settings are limited to the study's space; predictions from only a model are tried anyway.
    """
    if not found.seeds:
        return found
    facts, emulated = context.facts, context.options.storage
    storage = None if context.options.machine == NO_MACHINE else storage_of(context)
    question = Question(
        found.case,
        facts,
        context.space,
        ground_of(facts, storage=storage),
        storage,
        emulated.ranks_per_node if emulated else 0,
        emulated.transport if emulated else "",
        os.environ,
        only_rungs=True,
    )
    guess = answer(question, memory.lessons(found.case), context.tools.models().models)
    known = [key_of(seed.settings) for seed in found.seeds]
    if guess.level is not Level.PATTERN or key_of(guess.settings) in known:
        return found
    first = Proposal(guess.settings, f"memory: {guess.sentence}")
    others = found.seeds[: len(found.seeds) - 1] if len(found.seeds) > 2 else found.seeds
    return replace(found, seeds=(first, *others), text=guess.sentence)


def _with_burst_buffers(
    context: Context, memory: Memory, places: JobPlaces, found: Recollection
) -> Recollection:
    """Add the results of studies on the permitted burst buffers, the best one for each size."""
    dimensions = {one.tunable.name: one.values for one in context.space.dimensions}
    seeds: list[Proposal] = []
    texts: list[str] = []
    for nodes in dimensions.get(NODES, ()):
        if not isinstance(nodes, int) or nodes == places.own_nodes:
            continue
        case = replace(found.case, machine=places.machine(memory.machine, nodes))
        there = memory.recall(case, context.space, context.facts)
        for seed in there.seeds[:1]:
            seeds.append(replace(seed, settings={**seed.settings, NODES: nodes}))
            texts.append(f"on {case.machine.filesystem}: {there.text}")
    if not seeds:
        return found
    return replace(found, seeds=(*found.seeds[:1], *seeds[:MOST_SIZES]), text=texts[0])


def keep_in_memory(context: Context, result: StudyResult) -> StudyResult:
    """Store the result for later studies, once; return it with any warning added."""
    memory, ledger = context.tools.memory, context.ledger
    taken = ledger.recall(_TAKEN)
    if memory is None or taken is None or ledger.recall(_KEPT) or result.left_open:
        return result
    case, learnt = _RECOLLECTION.validate_python(taken["found"]).case, result
    if (places := context.tools.places) is not None:
        found = places.remembered(result)
        if found is None:
            return result
        learnt, nodes = found
        case = replace(case, machine=places.machine(memory.machine, nodes))
    warning = memory.keep(learnt, case, taken["study"])
    if warning:
        context.warn(warning)
        return replace(result, warnings=ledger.warnings)
    ledger.remember(_KEPT, lambda: True)
    return result


def _take(context: Context, memory: Memory) -> dict[str, Any]:
    options, places = context.options, context.tools.places
    machine = memory.machine
    case = describe_case(
        places.machine(machine, places.own_nodes) if places else machine,
        context.facts,
        program=program_name(options.all_cases[0].command),
        executable=program_file(options.all_cases[0].command, options.origin),
        synced=options.sync,
    )
    found = memory.recall(case, context.space, context.facts)
    found = _with_first_guess(context, memory, found)
    if places is not None:
        found = _with_burst_buffers(context, memory, places, found)
    return {"study": uuid.uuid4().hex, "found": _RECOLLECTION.dump_python(found, mode="json")}


# Predictions of a trained model or a described storage: the first points of a search.

MODEL = ModelStrategy.name
_KNOWN, _MODEL = "known-storage", "trained-model"


def begin_with_prediction(context: Context, strategy: Strategy) -> Strategy:
    """Return the strategy, seeded with the points that a model predicts to be best.

    `auto` and `model` use a trained model that applies to the program here.  If there is none,
    `auto` and strategies that extend it use a simulation of the storage, and so does any strategy
    if the user names a storage.  The storage is the one that the user names, otherwise the one
    that the runs emulate, otherwise the one whose description is assigned to the file system here.
    """
    named = context.options.machine
    of_itself = strategy.uses_models
    if named == NO_MACHINE or not (named or of_itself):
        if context.options.strategy == MODEL:
            context.decide(
                "model", f"no model is used (--machine {NO_MACHINE}): the search is that of auto"
            )
        return strategy
    storage = storage_of(context)
    program = _program(context, storage) if storage else None
    if of_itself and (begun := _begin_with_model(context, strategy, storage, program)):
        return begun
    if program is None:
        if named:
            context.warn(
                f"--machine {named} has no effect here: no access pattern of the program that "
                "could be simulated was recognised"
            )
        return strategy
    name = program.storage.name
    begun = PredictedStrategy(strategy, Prediction(name, program.tunables, program.seconds))
    text = f"the search begins with the settings that the model of {name} predicts to be best"
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
    """Return the strategy, seeded by a trained model; None if none applies, with the reason."""
    fitted = _fitted(context, storage, program)
    is_asked_for = isinstance(strategy, ModelStrategy)
    if fitted.prediction is None:
        if fitted.why:
            tail = ": the search is that of auto" if is_asked_for else ""
            text = f"no trained model is used: {fitted.why}{tail}"
            context.decide("model", text, quietly=not is_asked_for)
        return None
    text = f"trained model: the search begins with what the {fitted.why} predicts to be best"
    context.decide("model", text)
    prediction = fitted.prediction
    if fitted.model and fitted.model.is_simulated:
        prediction = replace(prediction, error=None)
    if isinstance(strategy, ModelStrategy):
        return PrunedStrategy(strategy, prediction)
    return PredictedStrategy(strategy, prediction)


def _fitted(context: Context, storage: Storage | None, program: SimulatedProgram | None) -> Fitted:
    """Return the trained models' prediction for the program; a resumed study uses the same."""
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
        found = found._replace(why="none is stored (stripewise knowledge train makes them)")
        found = found if context.options.strategy == MODEL else found._replace(why="")
    kept = replace(found.model, points=()) if found.model else None
    ledger.remember(_MODEL, lambda: model_to_json(kept) if kept else False)
    return found


def storage_of(context: Context) -> Storage | None:
    """Return the description of the storage for the search; None if there is none."""
    named, emulated = context.options.machine, context.options.storage
    if named:
        return find_storage(named)
    return find_storage(emulated.machine) if emulated else _known_storage(context)


def _program(context: Context, storage: Storage) -> SimulatedProgram | None:
    """Return the simulation of the program on a storage; None if it cannot be simulated."""
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


def _known_storage(context: Context) -> Storage | None:
    """Return the description of the file system here at the beginning of the search."""
    ledger, known = context.ledger, context.tools.known
    if ledger.recall(_KNOWN) is None and ledger.recall("proposal/1"):
        return None
    text = ledger.remember(_KNOWN, lambda: description_text(known.storage) if known else "")
    return load_description(text) if text else None
