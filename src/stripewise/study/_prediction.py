# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a description of the storage promises: the first points of a search."""

from __future__ import annotations

import os
from math import isfinite

from stripewise.machines import Storage, description_text, find_storage, load_description
from stripewise.performance import Prediction
from stripewise.simulation import SimulatedProgram, simulated_program
from stripewise.strategies import PredictedStrategy, Strategy
from stripewise.study._context import Context
from stripewise.study._options import NO_MACHINE

_KNOWN = "known-storage"


def begin_with_prediction(context: Context, strategy: Strategy) -> Strategy:
    """Return the strategy, begun with what a simulation promises most of.

    The storage is the one that the user names; without that, `auto` takes the one that the
    runs are emulated on, or else the description that stands for the file system here.
    """
    named, emulated = context.options.machine, context.options.storage
    if named == NO_MACHINE:
        return strategy
    if named:
        program = _program(context, find_storage(named))
        if program is None:
            context.warn(
                f"--machine {named} is of no use here: no access pattern of the program was "
                "recognised that could be simulated"
            )
            return strategy
    elif context.options.strategy != "auto":
        return strategy
    else:
        storage = find_storage(emulated.machine) if emulated else _known(context)
        program = _program(context, storage) if storage else None
        if program is None:
            return strategy
    name = program.storage.name
    begun = PredictedStrategy(strategy, Prediction(name, program.tunables, program.seconds))
    text = f"the search begins with what the model of {name} promises most of"
    if not named and not emulated:
        text = f"storage known: {context.tools.known or name}, predicted first"
    context.decide("prediction", text)
    return begun


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
