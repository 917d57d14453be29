# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every stage of a study works with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from stripewise.errors import ProgramError
from stripewise.model import Measurement, RunRole
from stripewise.study._budget import Budget
from stripewise.study._executor import Executor
from stripewise.study._ledger import Ledger
from stripewise.study._observer import Observer
from stripewise.study._options import StudyOptions
from stripewise.study._slot import RunSlot
from stripewise.study._statistics import ratio_noise
from stripewise.study._tools import Tools

BASELINE_ROLES = (RunRole.BASELINE, RunRole.PAIR_BASELINE)

BASELINE_PATIENCE = 10.0
"""The unchanged program does not hang; a storage that stalls is given so many times longer."""


@dataclass(frozen=True)
class Context:
    """The parts of a study, handed from stage to stage."""

    options: StudyOptions
    ledger: Ledger
    executor: Executor
    tools: Tools
    observer: Observer
    budget: Budget

    def decide(self, name: str, text: str) -> None:
        """Record a decision and show it, once."""
        if self.ledger.decide(name, text):
            self.observer.decided(text)

    def warn(self, text: str) -> None:
        """Record a warning and show it, once."""
        if self.ledger.warn(text):
            self.observer.warned(text)

    def baseline(self, slot: RunSlot) -> Measurement:
        """Run the unchanged program; one failure in between is forgiven.

        Raises:
            ProgramError: It failed twice in a row.
        """
        slot = self.patient(slot)
        failed_now = 0
        for attempt in count():
            name = f"{slot.name}/again/{attempt}" if attempt else slot.name
            known = self.ledger.measurement(name)
            run = known or self.executor.run(replace(slot, name=name))
            if run.ok:
                return run
            self.warn(f"the unchanged program failed ({run.message}); it is run again")
            failed_now += known is None
            if failed_now == 2:
                raise ProgramError(
                    f"the unchanged program failed twice in a row: {run.message}; see that it "
                    "runs as before, then go on with --resume"
                )
        raise AssertionError

    def patient(self, slot: RunSlot) -> RunSlot:
        """Return a slot of the unchanged program with the time limit that this one gets."""
        limit = self.options.timeout_seconds
        if limit is None and slot.timeout_seconds is not None:
            limit = BASELINE_PATIENCE * slot.timeout_seconds
        return replace(slot, timeout_seconds=limit)

    def baselines(self) -> tuple[Measurement, ...]:
        """Return every good synced run of the unchanged program so far."""
        return tuple(
            entry.measurement
            for entry in self.ledger.entries
            if entry.role in BASELINE_ROLES and entry.measurement.ok
        )

    def noise(self) -> float:
        """Return the relative difference of two single runs that means nothing, as seen so far."""
        return ratio_noise([m.io_seconds for m in self.baselines()])
