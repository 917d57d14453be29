# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the fresh pairs showed, and what that means."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, isfinite

from stripewise.model import CaseOutcome, Speedup, Trial
from stripewise.study._context import Context
from stripewise.study._pairs import Pair, Rounds, elapsed_seconds, io_seconds
from stripewise.study._statistics import LOOKS, clearly_worse, excludes_one


@dataclass
class Verdict:
    """What the fresh pairs showed, also in words; `unsynced` has an entry for each case."""

    winner: Trial | None = None
    rounds: Rounds | None = None
    improved: bool = False
    text: str = ""
    unsynced: list[Pair | None] = field(default_factory=list)

    def outcome(self, place: int) -> CaseOutcome:
        """Return what the pairs showed of a case."""
        if self.rounds is None:
            return CaseOutcome.UNKNOWN
        if self.slower_in(place):
            return CaseOutcome.SLOWER
        if self.is_open(place):
            return CaseOutcome.OPEN
        faster = excludes_one(self.rounds.of_case(place))
        return CaseOutcome.FASTER if faster else CaseOutcome.UNCHANGED

    def is_open(self, place: int) -> bool:
        """Whether one of several cases may have got slower and the pairs ended too early."""
        rounds = self.rounds
        if rounds is None or len(rounds.pairs) == 1 or rounds.n >= LOOKS[-1]:
            return False
        return rounds.in_doubt(place)

    def slower_in(self, place: int) -> str:
        """Say what of a case got slower: "I/O" or "whole time"; "" if nothing did."""
        assert self.rounds is not None
        if self.rounds.is_slower(place, io_seconds):
            return "I/O"
        return "whole time" if self.rounds.is_slower(place, elapsed_seconds) else ""


def conclude(context: Context, verdict: Verdict) -> None:
    """Say whether the pairs show an improvement, and why not."""
    rounds = verdict.rounds
    assert rounds is not None
    io, whole = rounds.speedup(), rounds.speedup(elapsed_seconds)
    shown = _shown(io)
    losses, left_open = _losses(context, verdict), _left_open(context, verdict)
    if io.n_pairs < LOOKS[0]:
        text = f"no improvement: the first fresh pairs speak against it: {shown}"
    elif not excludes_one(io):
        text = f"no improvement: the interval of the I/O speed-up contains 1: {shown}"
    elif losses:
        text = f"no improvement: I/O {shown} over all cases, but {'; '.join(losses)}"
    elif clearly_worse(whole):
        text = f"no improvement: I/O {shown}, but the whole time got worse: {whole.median:.2f}x"
    elif left_open:
        cases = "; ".join(left_open)
        text = f"no improvement: {cases}, and {_no_more_pairs(context, rounds)}"
    else:
        verdict.improved = True
        text = f"I/O {shown} faster; whole time {whole.median:.2f}x"
    verdict.text = text


def _shown(io: Speedup) -> str:
    pairs = f"{io.n_pairs} fresh pair{'s' if io.n_pairs != 1 else ''}"
    interval = f"{io.low:.2f}-{io.high:.2f}, " if isfinite(io.low) else ""
    return f"{io.median:.2f}x [{interval}{pairs}]"


def _left_open(context: Context, verdict: Verdict) -> list[str]:
    """Say which of several cases may have got slower, where more pairs could have told."""
    rounds, said = verdict.rounds, []
    assert rounds is not None
    for place, case in enumerate(context.cases):
        if verdict.is_open(place):
            io = rounds.of_case(place)
            shown = f"I/O {io.median:.2f}x [{io.low:.2f}-{io.high:.2f}]"
            said.append(f"case {case.name} is left open ({shown})")
    return said


def _no_more_pairs(context: Context, rounds: Rounds) -> str:
    """Say which budget ended the pairs, and what to give where that helps."""
    options, budget, done = context.options, context.budget, len(context.ledger.entries)
    runs_each = 2 * len(context.cases)
    ahead = runs_each * (next(look for look in LOOKS if look > rounds.n) - rounds.n)
    most = done + runs_each * (LOOKS[-1] - rounds.n)
    text = "the budget allows no more pairs"
    if budget.runs is not None and done + ahead > budget.runs:
        asked = budget.runs == options.runs
        return f"{text}; go on with --resume --runs {most}" if asked else f"{text} (the policy's)"
    if budget.seconds is not None:
        seconds = ceil(context.ledger.active_seconds * most / done)
        return f"{text}; go on with --resume --time {seconds}s"
    return f"{text} (the policy's)"


def _losses(context: Context, verdict: Verdict) -> list[str]:
    """Say which of several cases got slower, and by how much."""
    rounds, said = verdict.rounds, []
    assert rounds is not None
    for place, case in enumerate(context.cases):
        what = verdict.slower_in(place) if len(context.cases) > 1 else ""
        if what:
            seconds = io_seconds if what == "I/O" else elapsed_seconds
            speedup: Speedup = rounds.of_case(place, seconds)
            said.append(
                f"case {case.name} gets slower: {what} {speedup.median:.2f}x "
                f"[{speedup.low:.2f}-{speedup.high:.2f}]"
            )
    return said
