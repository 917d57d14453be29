# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every stage of a study works with: the study's parts, and those of each case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any, TypeVar

from stripewise.errors import ProgramError
from stripewise.model import (
    BASELINE_ROLES,
    FAILURES_THAT_COUNT,
    Measurement,
    RunEntry,
    RunRole,
    is_settled,
    joint_cause,
)
from stripewise.study._budget import Budget
from stripewise.study._cases import Case
from stripewise.study._ensemble import mean_spread
from stripewise.study._executor import Executor
from stripewise.study._ledger import Ledger
from stripewise.study._observer import Observer
from stripewise.study._options import StudyOptions
from stripewise.study._places import Places, carry_out
from stripewise.study._slot import RunSlot, Steps, attempt_name
from stripewise.study._statistics import ratio_noise, spread
from stripewise.study._tools import Tools

T = TypeVar("T")

BASELINE_PATIENCE = 10.0
"""The unchanged program does not hang; a storage that stalls is given so many times longer."""


@dataclass(frozen=True)
class Parts:
    """What the whole study shares."""

    options: StudyOptions
    ledger: Ledger
    executor: Executor
    observer: Observer
    budget: Budget

    def carry_out(self, steps: Steps[T]) -> T:
        """Carry out steps now, nothing beside them."""
        return carry_out(self.executor, steps)


@dataclass(frozen=True)
class CaseContext(Parts):
    """The parts of a study as one case sees them; `options` are narrowed to it."""

    case: Case
    tools: Tools

    @property
    def name(self) -> str:
        """Name of the case; "" in a study of one command."""
        return self.case.name

    def slot(self, name: str, role: RunRole, **more: Any) -> RunSlot:
        """Return a run of this case."""
        more.setdefault("sync", self.options.sync)
        return RunSlot(self.key(name), role, case=self.name, **more)

    def key(self, name: str) -> str:
        """Return a name that is unique in the study from one that is in the case."""
        return f"{self.name}:{name}" if self.name else name

    def said(self, text: str) -> str:
        """Return a text that names the case where there are several."""
        return f"case {self.name}: {text}" if self.name else text

    def remember(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a recorded value of this case, or compute and record it."""
        return self.ledger.remember(self.key(name), compute)

    def recall(self, name: str) -> Any | None:
        """Return a recorded value of this case, None if there is none."""
        return self.ledger.recall(self.key(name))

    def measurement(self, name: str) -> Measurement | None:
        """Return a finished run of this case."""
        return self.ledger.measurement(self.key(name))

    def decide(self, name: str, text: str) -> None:
        """Record a decision and show it, once."""
        if self.ledger.decide(self.key(name), self.said(text)):
            self.observer.decided(self.said(text))

    def warn(self, text: str) -> None:
        """Record a warning and show it, once."""
        if self.ledger.warn(self.said(text)):
            self.observer.warned(self.said(text))

    def attempts(self, slot: RunSlot, failures: int = FAILURES_THAT_COUNT) -> Steps[Measurement]:
        """Run, and run anew after a failure, until it is known whether it is the run's own.

        Args:
            slot: Of the first attempt.
            failures: So many of its own count.

        Returns:
            The last attempt, with the cause of all; an outside one if nothing is known.
        """
        made: list[Measurement] = []
        while not made or not is_settled(made, failures):
            if made:
                self.executor.release(made[-1])
            made.append((yield replace(slot, name=attempt_name(slot.name, len(made)))))
        return replace(made[-1], cause=joint_cause(made, failures))

    def baseline(self, slot: RunSlot) -> Steps[Measurement]:
        """Run the unchanged program; failures in between are forgiven.

        Raises:
            ProgramError: It failed several times in a row.
        """
        slot = self.patient(slot)
        failed_now: list[Measurement] = []
        for attempt in count():
            name = attempt_name(slot.name, attempt)
            known = self.ledger.measurement(name)
            run = known or (yield replace(slot, name=name))
            if run.ok:
                return run
            self.warn(f"the unchanged program failed ({run.message}); it is run again")
            failed_now += [run] if known is None else []
            if failed_now and is_settled(failed_now):
                often = "twice" if len(failed_now) == FAILURES_THAT_COUNT else "three times"
                raise ProgramError(
                    self.said(
                        f"the unchanged program failed {often} in a row: {run.message}; see that "
                        "it runs as before, then go on with --resume"
                    )
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
            if self._is_baseline(entry) and entry.measurement.ok
        )

    def noise(self) -> float:
        """Return the relative difference of two single runs that means nothing, as seen so far."""
        return ratio_noise([m.io_seconds for m in self.baselines()])

    def spread(self) -> float:
        """Return the spread of single runs of the unchanged program, as seen so far."""
        return spread([m.io_seconds for m in self.baselines()])

    def _is_baseline(self, entry: RunEntry) -> bool:
        return entry.role in BASELINE_ROLES and entry.case == self.name


@dataclass(frozen=True)
class Context(Parts):
    """The parts of a study, handed from stage to stage."""

    cases: tuple[CaseContext, ...]

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the cases, in order."""
        return tuple(case.case.weight for case in self.cases)

    @property
    def tools(self) -> Tools:
        """What is the same for all cases is taken from the first."""
        return self.cases[0].tools

    def side_by_side(self) -> Places[Any]:
        """Return the places in which units of runs may be in flight."""
        launcher = self.tools.launcher
        return Places(self.executor, self.options.in_flight or launcher.places)

    def decide(self, name: str, text: str, *, quietly: bool = False) -> None:
        """Record a decision and show it, once; quietly: the summary will say it."""
        if self.ledger.decide(name, text) and not quietly:
            self.observer.decided(text)

    def warn(self, text: str) -> None:
        """Record a warning and show it, once."""
        if self.ledger.warn(text):
            self.observer.warned(text)

    def noise(self) -> float:
        """Return the relative difference of two scores that means nothing, as seen so far."""
        return mean_spread([case.noise() for case in self.cases], self.weights)

    def spread(self) -> float:
        """Return the spread of a score from single runs, as seen so far."""
        return mean_spread([case.spread() for case in self.cases], self.weights)

    def order(self, name: str, first: str = "") -> list[int]:
        """Return the places of the cases in a random order, the same after a restart.

        Args:
            name: Of the place in the procedure.
            first: Name of a case to begin with; "" for any.
        """
        places = list(range(len(self.cases)))
        if len(places) == 1:
            return places

        def draw() -> list[int]:
            Random(f"{self.options.seed}:{name}").shuffle(places)
            return sorted(places, key=lambda place: self.cases[place].name != first)

        order: list[int] = self.ledger.remember(name, draw)
        return order


def with_cases(parts: Parts, cases: Sequence[Case], tools: Sequence[Tools]) -> Context:
    """Return the context of a study with these cases, each with its tools."""
    rest = parts.ledger, parts.executor, parts.observer, parts.budget
    members = tuple(
        CaseContext(parts.options.of_case(case), *rest, case, own)
        for case, own in zip(cases, tools, strict=True)
    )
    return Context(parts.options, *rest, members)
