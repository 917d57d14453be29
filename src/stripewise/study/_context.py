# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every stage of a study works with: the study's parts, and those of each case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from statistics import median
from typing import Any, TypeVar

from stripewise.errors import ProgramError
from stripewise.model import (
    BASELINE_ROLES,
    FAILURES_THAT_COUNT,
    FailureCause,
    Measurement,
    ProgramFacts,
    RunRole,
    Value,
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
from stripewise.study._places import Places
from stripewise.study._slot import RunSlot, Steps, attempt_name, is_contract
from stripewise.study._statistics import ratio_noise, spread
from stripewise.study._tools import Tools
from stripewise.tunables import Space

T = TypeVar("T")

BASELINE_PATIENCE = 10.0
"""The unchanged program does not hang; a storage that stalls is given so many times longer."""
_NO_SPACE = Space((), {})
HANG_FACTOR = 3.0
HANG_FLOOR_SECONDS = 5.0


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
        places = Places[T](self.executor, 1)
        places.start(0, lambda place: steps)
        return places.take()[1]

    def key(self, name: str) -> str:
        """Return a name that is unique in the study."""
        return name

    def said(self, text: str) -> str:
        """Return a text as the user reads it."""
        return text

    def decide(self, name: str, text: str, *, quietly: bool = False) -> None:
        """Record a decision and show it, once; quietly: the summary will say it."""
        if self.ledger.decide(self.key(name), self.said(text)) and not quietly:
            self.observer.decided(self.said(text))

    def warn(self, text: str) -> None:
        """Record a warning and show it, once."""
        if self.ledger.warn(self.said(text)):
            self.observer.warned(self.said(text))


@dataclass(frozen=True)
class CaseContext(Parts):
    """The parts of a study as one case sees them; `options` are narrowed to it.

    Attributes:
        facts: What its warm-up showed, once it has run.
        space: What can be tried on it.
    """

    case: Case
    tools: Tools
    facts: ProgramFacts = field(default_factory=ProgramFacts)
    space: Space = _NO_SPACE

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

    def error(self, text: str) -> ProgramError:
        """Return an error of the program that names the case where there are several."""
        return ProgramError(self.said(text))

    def remember(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a recorded value of this case, or compute and record it."""
        return self.ledger.remember(self.key(name), compute)

    def recall(self, name: str) -> Any | None:
        """Return a recorded value of this case, None if there is none."""
        return self.ledger.recall(self.key(name))

    def measurement(self, name: str) -> Measurement | None:
        """Return a finished run of this case."""
        return self.ledger.measurement(self.key(name))

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
                if run.cause is FailureCause.HOST:
                    raise self.error(f"{run.message} (of the unchanged program, three times)")
                often = "twice" if len(failed_now) == FAILURES_THAT_COUNT else "three times"
                raise self.error(
                    f"the unchanged program failed {often} in a row: {run.message}; see that "
                    "it runs as before, then go on with --resume"
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
            if entry.role in BASELINE_ROLES and entry.case == self.name and entry.measurement.ok
        )

    def noise(self) -> float:
        """Return the relative difference of two single runs that means nothing, as seen so far."""
        return ratio_noise([m.io_seconds for m in self.baselines()])

    def spread(self) -> float:
        """Return the spread of single runs of the unchanged program, as seen so far."""
        return spread([m.io_seconds for m in self.baselines()])


@dataclass(frozen=True)
class Baseline:
    """What the unchanged program showed in one case, before the search.

    Attributes:
        context: Of the case.
        measurements: The baseline runs.
        kept_runs: Ids of two of them, whose outputs are kept.
        traced: Id of the warm-up, whose trace is kept.
        timeout_seconds: Time limit of a run.
    """

    context: CaseContext
    measurements: tuple[Measurement, ...]
    kept_runs: tuple[str, ...]
    traced: str
    timeout_seconds: float

    @property
    def run_seconds(self) -> float:
        """Median whole time of a run."""
        return median(m.elapsed_seconds for m in self.measurements)

    def slot(
        self, name: str, role: RunRole, settings: Mapping[str, Value] | None = None, **more: Any
    ) -> RunSlot:
        """Return a run of this case with its time limit, shorter where the run may hang.

        Equal numbers of calls on all ranks do not prove that they come in the same order: what
        takes three times as long as the slowest run of the baseline is taken for a deadlock.
        """
        settings, limit = settings or {}, self.timeout_seconds
        if is_contract(settings):
            longest = max(run.elapsed_seconds for run in self.measurements)
            limit = min(limit, max(HANG_FLOOR_SECONDS, HANG_FACTOR * longest))
        return self.context.slot(name, role, settings=settings, timeout_seconds=limit, **more)


@dataclass(frozen=True)
class Context(Parts):
    """The parts of a study, handed from stage to stage.

    Attributes:
        cases: In order.
        facts / space: Of all cases together, once the warm-ups have run.
        baselines: Of the cases, once they are measured.
    """

    cases: tuple[CaseContext, ...]
    facts: ProgramFacts = field(default_factory=ProgramFacts)
    space: Space = _NO_SPACE
    baselines: tuple[Baseline, ...] = ()

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the cases, in order."""
        return tuple(case.case.weight for case in self.cases)

    @property
    def tools(self) -> Tools:
        """What is the same for all cases is taken from the first."""
        return self.cases[0].tools

    @property
    def run_seconds(self) -> float:
        """What a run of the baseline takes, on average over the cases."""
        return sum(b.run_seconds for b in self.baselines) / len(self.baselines)

    def side_by_side(self) -> Places[Any]:
        """Return the places in which units of runs may be in flight."""
        launcher = self.tools.launcher
        return Places(self.executor, self.options.in_flight or launcher.places)

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
