# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The winner of a job script's study against the other default: a plain burst buffer.

The fresh pairs compare it with the script as it is.  Somebody who adds a burst buffer to the
script and sets nothing else would have another default; the winner is compared with the fastest of
those that the search saw, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.model import Reference, Trial, TrialState, Value
from stripewise.study._case_runs import elapsed_seconds
from stripewise.study._context import Context
from stripewise.study._pairs import PairRunner
from stripewise.study._verdict import Verdict

NODES = "job.burst_buffer_nodes"
KIND = "default"


def compare_with_defaults(
    context: Context, trials: Sequence[Trial], verdict: Verdict
) -> tuple[Reference, ...]:
    """Run fresh pairs of the winner and the other default; nothing where there is none."""
    winner, settings = verdict.winner, other_default(trials)
    if context.options.job is None or winner is None or not verdict.improved or not settings:
        return ()
    if dict(winner.settings) == settings:
        return ()
    name = default_name(settings)
    context.decide("reference", f"the winner is compared with {name} too, in fresh pairs of runs")
    runner = PairRunner(context, winner, settings, KIND)
    if not runner.may_begin():
        context.decide("no-reference", f"the budget holds no pairs against {name}")
        return ()
    rounds = runner.run()
    if rounds is None or not rounds.n:
        return ()
    pairs = tuple(rounds.pairs[0])
    return (Reference(name, settings, rounds.speedup(), rounds.speedup(elapsed_seconds), pairs),)


def other_default(trials: Sequence[Trial]) -> dict[str, Value]:
    """Return the settings of the fastest trial that only asks for a burst buffer, or for none."""
    plain = [
        trial
        for trial in trials
        if set(trial.settings) == {NODES} and trial.state is not TrialState.FAILED
    ]
    best = min(plain, key=lambda trial: trial.io_ratio, default=None)
    return {} if best is None else dict(best.settings)


def default_name(settings: dict[str, Value]) -> str:
    """Return what a default is called."""
    nodes = settings[NODES]
    if not nodes:
        return "the parallel file system"
    return f"a burst buffer of {nodes} {'node' if nodes == 1 else 'nodes'} with its defaults"
