# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study takes from those before it, and leaves to those after it.

What is taken is recorded before it is used: a study that goes on after a kill does as it would
have done, whatever the store holds by then.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from stripewise.knowledge import Memory, Recollection, describe_case
from stripewise.model import StudyResult
from stripewise.runtime import program_file, program_name
from stripewise.strategies import SeededStrategy, Strategy
from stripewise.study._context import Context

_RECOLLECTION = TypeAdapter(Recollection)
_TAKEN = "memory"
_KEPT = "memory-kept"


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


def keep_in_memory(context: Context, result: StudyResult) -> StudyResult:
    """Leave what the study found to later ones, once; return the result with any warning."""
    memory, ledger = context.tools.memory, context.ledger
    taken = ledger.recall(_TAKEN)
    if memory is None or taken is None or ledger.recall(_KEPT):
        return result
    case = _RECOLLECTION.validate_python(taken["found"]).case
    warning = memory.keep(result, case, taken["study"])
    if warning:
        context.warn(warning)
        return replace(result, warnings=ledger.warnings)
    ledger.remember(_KEPT, lambda: True)
    return result


def _take(context: Context, memory: Memory) -> dict[str, Any]:
    options = context.options
    case = describe_case(
        memory.machine,
        context.facts,
        program=program_name(options.all_cases[0].command),
        executable=program_file(options.all_cases[0].command, options.origin),
        synced=options.sync,
    )
    found = memory.recall(case, context.space, context.facts)
    return {"study": uuid.uuid4().hex, "found": _RECOLLECTION.dump_python(found, mode="json")}
