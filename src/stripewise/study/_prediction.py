# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a description of the storage promises: the first points of a search."""

from __future__ import annotations

from stripewise.machines import Storage, find_storage
from stripewise.simulation import simulated_program
from stripewise.strategies import PredictedStrategy, Prediction, Strategy
from stripewise.study._context import Context


def begin_with_prediction(context: Context, strategy: Strategy) -> Strategy:
    """Return the strategy, begun with what a simulation promises most of.

    The storage is the one that the user names; without that, `auto` takes the one that the
    runs are emulated on.
    """
    named, emulated = context.options.machine, context.options.storage
    storage = find_storage(named) if named else _known(context)
    if storage is None:
        return strategy
    program = simulated_program(
        context.facts,
        storage,
        emulated.ranks_per_node if emulated else 0,
        emulated.transport if emulated else "",
    )
    if program is None:
        if named:
            context.warn(
                f"--machine {named} is of no use here: no access pattern of the program was "
                "recognised that could be simulated"
            )
        return strategy
    prediction = Prediction(storage.name, program.tunables, program.seconds)
    begun = PredictedStrategy(strategy, prediction)
    text = f"the search begins with what the model of {storage.name} promises most of"
    context.decide("prediction", text)
    return begun


def _known(context: Context) -> Storage | None:
    emulated = context.options.storage
    if context.options.strategy != "auto" or emulated is None:
        return None
    return find_storage(emulated.machine)
