# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The order of a campaign's runs, and what they take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from stripewise.bench._case import Case


@dataclass(frozen=True)
class PlannedRun:
    """One run of a case.

    Attributes:
        case: To be made.
        repeat: From 1.
    """

    case: Case
    repeat: int

    @property
    def identity(self) -> tuple[str, int]:
        """What tells it from all others of the campaign."""
        return self.case.key, self.repeat


def plan_runs(cases: Sequence[Case], seed: int = 0) -> list[PlannedRun]:
    """Return all runs: round by round, in each every case that has another repeat.

    So that what changes meanwhile on the storage touches all cases alike, the repeats of a case
    lie apart, and the order of a round is drawn; the same seed gives the same order.
    """
    runs = []
    for repeat in range(1, max((case.repeats for case in cases), default=0) + 1):
        one = [PlannedRun(case, repeat) for case in cases if repeat <= case.repeats]
        Random(f"{seed}/{repeat}").shuffle(one)
        runs += one
    return runs


def left_of(plan: Iterable[PlannedRun], done: Iterable[tuple[str, int]]) -> list[PlannedRun]:
    """Return the runs that have not been made, in their order."""
    made = set(done)
    return [run for run in plan if run.identity not in made]
