# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study takes from those before it, and leaves to those after it.

What is taken is recorded before it is used: a study that goes on after a kill does as it would
have done, whatever the store holds by then.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from stripewise.adoption import Level, Question, answer
from stripewise.knowledge import Memory, Recollection, describe_case
from stripewise.model import Proposal, StudyResult
from stripewise.performance import ground_of
from stripewise.runtime import program_file, program_name
from stripewise.strategies import SeededStrategy, Strategy
from stripewise.study._context import Context
from stripewise.study._job_places import NODES, JobPlaces
from stripewise.study._options import NO_MACHINE
from stripewise.study._prediction import storage_of
from stripewise.tunables import key_of

_RECOLLECTION = TypeAdapter(Recollection)
_TAKEN = "memory"
_KEPT = "memory-kept"
MOST_SIZES = 3
"""Of so many burst buffers at most what is remembered is tried first (assumed)."""


def begin_with_memory(context: Context, strategy: Strategy) -> Strategy:
    """Return the strategy, begun with what earlier studies of such cases found."""
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
    """Put first what a run would be given unasked, where studies alike have something to say.

    The study's space is what it may be taken from; what a model alone holds for best is tried
    anyway.
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
    """Add what studies found on the burst buffers that may be tried, the best of each size."""
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
    """Leave what the study found to later ones, once; return the result with any warning."""
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
