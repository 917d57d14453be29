# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the context of the stages, for each case and for all cases together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count
from math import exp, inf, isfinite, log, sqrt
from random import Random
from statistics import median
from typing import Any, TypeVar

from stripewise.core import (
    BASELINE_ROLES,
    FAILURES_THAT_COUNT,
    FailureCause,
    Measurement,
    ProgramFacts,
    RunRole,
    Value,
    Verification,
    VerificationStatus,
    is_settled,
    joint_cause,
    reasons,
)
from stripewise.core.errors import ProgramError
from stripewise.settings.tunables import Dimension, Layer, SafetyClass, Space, Tunable
from stripewise.study.plan import (
    Budget,
    Observer,
    RunSlot,
    Steps,
    StudyCase,
    StudyLedger,
    StudyOptions,
    attempt_name,
    is_contract,
    ratio_noise,
    spread,
)
from stripewise.study.runs import Executor, Tools, UnitsInFlight

T = TypeVar("T")

BASELINE_PATIENCE = 10.0
"""Multiple of the time limit for the unchanged program: only its storage may stall."""
_NO_SPACE = Space((), {})
HANG_FACTOR = 3.0
HANG_FLOOR_SECONDS = 5.0


@dataclass(frozen=True)
class Parts:
    """Parts that the whole study shares."""

    options: StudyOptions
    ledger: StudyLedger
    executor: Executor
    observer: Observer
    budget: Budget

    def carry_out(self, steps: Steps[T]) -> T:
        """Carry out steps immediately, without others at the same time."""
        unit = UnitsInFlight[T](self.executor, 1)
        unit.start(0, lambda place: steps)
        return unit.take()[1]

    def key(self, name: str) -> str:
        """Return a name that is unique in the study."""
        return name

    def with_case_name(self, text: str) -> str:
        """Return a text as the user reads it."""
        return text

    def decide(self, name: str, text: str, *, quietly: bool = False) -> None:
        """Record a decision and show it once; with `quietly` it is only in the summary."""
        if self.ledger.decide(self.key(name), self.with_case_name(text)) and not quietly:
            self.observer.decided(self.with_case_name(text))

    def warn(self, text: str) -> None:
        """Record a warning and show it once."""
        if self.ledger.warn(self.with_case_name(text)):
            self.observer.warned(self.with_case_name(text))


@dataclass(frozen=True)
class CaseContext(Parts):
    """Parts of a study from the view of one case; `options` are reduced to it.

    Attributes:
        facts: Facts from its warm-up, once it has run.
        space: Space of settings that can be tried with it.
    """

    case: StudyCase
    tools: Tools
    facts: ProgramFacts = field(default_factory=ProgramFacts)
    space: Space = _NO_SPACE

    @property
    def name(self) -> str:
        """Name of the case; empty in a study of one command."""
        return self.case.name

    def slot(self, name: str, role: RunRole, **more: Any) -> RunSlot:
        """Return a run of this case."""
        more.setdefault("sync", self.options.sync)
        return RunSlot(self.key(name), role, case=self.name, **more)

    def key(self, name: str) -> str:
        """Return a name that is unique in the study, given one that is unique in the case."""
        return f"{self.name}:{name}" if self.name else name

    def with_case_name(self, text: str) -> str:
        """Return a text prefixed by the name of the case if there are several."""
        return f"case {self.name}: {text}" if self.name else text

    def error(self, text: str) -> ProgramError:
        """Return a program error prefixed by the name of the case if there are several."""
        return ProgramError(self.with_case_name(text))

    def remember(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a recorded value of this case; if there is none, compute and record it."""
        return self.ledger.remember(self.key(name), compute)

    def recall(self, name: str) -> Any | None:
        """Return a recorded value of this case; None if there is none."""
        return self.ledger.recall(self.key(name))

    def measurement(self, name: str) -> Measurement | None:
        """Return a finished run of this case."""
        return self.ledger.measurement(self.key(name))

    def attempts(self, slot: RunSlot, failures: int = FAILURES_THAT_COUNT) -> Steps[Measurement]:
        """Run, and repeat after a failure until it is known whether the run itself caused it.

        Args:
            slot: Slot of the first attempt.
            failures: Number of failures after which the run is considered the cause.

        Returns:
            The last attempt, with the cause of all failures; an outside cause if it is unknown.
        """
        made: list[Measurement] = []
        while not made or not is_settled(made, failures):
            if made:
                self.executor.release(made[-1])
            made.append((yield replace(slot, name=attempt_name(slot.name, len(made)))))
        return replace(made[-1], cause=joint_cause(made, failures))

    def baseline(self, slot: RunSlot) -> Steps[Measurement]:
        """Run the unchanged program, allowing for failures in between.

        Raises:
            ProgramError: The program failed several times in a row.
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
                    f"the unchanged program failed {often} in a row: {run.message}; check that it "
                    "runs as before, then continue with --resume"
                )
        raise AssertionError

    def patient(self, slot: RunSlot) -> RunSlot:
        """Return a slot of the unchanged program with its longer time limit."""
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
        """Return the relative difference of two single runs that is within the noise so far."""
        return ratio_noise([m.io_seconds for m in self.baselines()])

    def spread(self) -> float:
        """Return the spread of single runs of the unchanged program so far."""
        return spread([m.io_seconds for m in self.baselines()])


@dataclass(frozen=True)
class Baseline:
    """Results of the unchanged program in one case, before the search.

    Attributes:
        context: Context of the case.
        measurements: The baseline runs.
        kept_runs: Ids of two of the runs, whose outputs are kept.
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
        """Median elapsed time of a run."""
        return median(m.elapsed_seconds for m in self.measurements)

    def slot(
        self, name: str, role: RunRole, settings: Mapping[str, Value] | None = None, **more: Any
    ) -> RunSlot:
        """Return a run of this case with its time limit, which is shorter if the run may hang.

        Equal numbers of calls on all ranks do not prove that they are in the same order: a run
        that takes three times as long as the slowest baseline run is considered a deadlock.
        """
        settings, limit = settings or {}, self.timeout_seconds
        if is_contract(settings):
            longest = max(run.elapsed_seconds for run in self.measurements)
            limit = min(limit, max(HANG_FLOOR_SECONDS, HANG_FACTOR * longest))
        return self.context.slot(name, role, settings=settings, timeout_seconds=limit, **more)


@dataclass(frozen=True)
class Context(Parts):
    """Parts of a study, passed from stage to stage.

    Attributes:
        cases: All cases, in order.
        facts / space: Facts and space of all cases together, once the warm-ups have run.
        baselines: Baselines of the cases, once they are measured.
    """

    cases: tuple[CaseContext, ...]
    facts: ProgramFacts = field(default_factory=ProgramFacts)
    space: Space = _NO_SPACE
    baselines: tuple[Baseline, ...] = ()

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights of the cases, in order."""
        return tuple(case.case.weight for case in self.cases)

    @property
    def tools(self) -> Tools:
        """Tools of the study; parts that are the same for all cases come from the first case."""
        return self.cases[0].tools

    @property
    def run_seconds(self) -> float:
        """Mean time of a baseline run over the cases."""
        return sum(b.run_seconds for b in self.baselines) / len(self.baselines)

    def side_by_side(self) -> UnitsInFlight[Any]:
        """Return an executor of several units of runs at a time."""
        launcher = self.tools.launcher
        return UnitsInFlight(self.executor, self.options.in_flight or launcher.max_in_flight)

    def noise(self) -> float:
        """Return the relative difference of two scores that is within the noise so far."""
        return mean_spread([case.noise() for case in self.cases], self.weights)

    def spread(self) -> float:
        """Return the spread of a score from single runs so far."""
        return mean_spread([case.spread() for case in self.cases], self.weights)

    def order(self, name: str, first: str = "") -> list[int]:
        """Return the indices of the cases in a random order, which is the same after a restart.

        Args:
            name: Name of the step in the procedure.
            first: Name of the case to begin with; empty for any.
        """
        places = list(range(len(self.cases)))
        if len(places) == 1:
            return places

        def draw() -> list[int]:
            Random(f"{self.options.seed}:{name}").shuffle(places)
            return sorted(places, key=lambda place: self.cases[place].name != first)

        order: list[int] = self.ledger.remember(name, draw)
        return order


# Common properties of several cases: one score, one set of facts, one space of tunables.

_LARGEST = ("n_ranks", "n_hosts", "virtual_nodes")
_SAME = ("pattern", "block", "block_bytes", "file_classes")
"""Facts about one dataset or name, which several cases need not share."""
_PROOFS = {"matched_calls": "data calls", "matched_metadata": "calls on objects"}
"""Facts that every case needs as a proof for contract settings, with the calls concerned."""
_WORST_FIRST = (
    VerificationStatus.DIFFERENT,
    VerificationStatus.NOT_DONE,
    VerificationStatus.NOT_VERIFIABLE,
    VerificationStatus.SAME_CONTENT,
    VerificationStatus.IDENTICAL,
)


def weighted_mean(ratios: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted geometric mean; infinite if a ratio is.

    It is geometric so that 2x in one case and 0.5x in another count equally, whichever of the
    cases takes longer.
    """
    if not all(isfinite(ratio) for ratio in ratios):
        return inf
    total = sum(weights)
    return exp(sum(w * log(r) for r, w in zip(ratios, weights, strict=True)) / total)


def mean_spread(spreads: Sequence[float], weights: Sequence[float]) -> float:
    """Return the spread of a weighted geometric mean of independent values."""
    squares = ((w * s) ** 2 for s, w in zip(spreads, weights, strict=True))
    return sqrt(sum(squares)) / sum(weights)


def merge_facts(all_facts: Sequence[ProgramFacts]) -> ProgramFacts:
    """Return the facts that one run of every case, one after another, would show.

    Bytes, calls and times are added; ranks and hosts are those of the largest case; a feature
    counts as used if one case uses it; calls are matched only if they are in every case.  If
    texts differ, the first is used.
    """
    if len(all_facts) == 1:
        return all_facts[0]
    merged: dict[str, Any] = {}
    for item in fields(ProgramFacts):
        values = [getattr(facts, item.name) for facts in all_facts]
        merged[item.name] = _merge(item.name, values)
    return ProgramFacts(**merged)


def _merge(name: str, values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, bool):
        return all(values) if name in _PROOFS else any(values)
    if name in _SAME:
        return first if all(value == first for value in values) else type(first)()
    if isinstance(first, int | float):
        return max(values) if name in _LARGEST else sum(values)
    if isinstance(first, Mapping):
        names = dict.fromkeys(name for value in values for name in value)
        return {name: reasons(value.get(name, "") for value in values) for name in names}
    if isinstance(first, tuple):
        return tuple(dict.fromkeys(item for value in values for item in value))
    return next((value for value in values if value), first)


def merge_spaces(spaces: Mapping[str, Space], facts: Mapping[str, ProgramFacts]) -> Space:
    """Return the tunables that can have an effect on at least one case, with their values.

    A setting that requires matched calls is kept only if every case proves them, because it
    reaches all cases.  For the same reason, a setting that changes the file keeps only the values
    that all cases it affects have in their ladders: a size that suits one would bloat the files of
    another.

    Args:
        spaces: Case to its space.
        facts: Case to the facts from its first run.
    """
    if len(spaces) == 1:
        return next(iter(spaces.values()))
    left_out: dict[str, str] = {}
    found: dict[str, dict[str, Dimension]] = {}
    for case, space in spaces.items():
        for dimension in space.dimensions:
            found.setdefault(dimension.tunable.name, {})[case] = dimension
    merged: list[Dimension] = []
    for name, by_case in found.items():
        tunable = next(iter(by_case.values())).tunable
        values = _common_values(tunable, by_case, facts)
        if why := _unproven(tunable, by_case, facts):
            left_out[name] = why
        elif not values:
            left_out[name] = f"class {tunable.safety}: no value is worth trying in every case"
        else:
            merged.append(Dimension(tunable, values))
    for name in dict.fromkeys(n for space in spaces.values() for n in space.left_out):
        if name not in found:
            reasons = {c: s.left_out[name] for c, s in spaces.items() if name in s.left_out}
            left_out[name] = _one_reason(reasons)
    merged.sort(key=lambda dimension: dimension.tunable.search.effect_order)
    return Space(tuple(merged), left_out)


def _unproven(tunable: Tunable, cases: Iterable[str], facts: Mapping[str, ProgramFacts]) -> str:
    """Return which case lacks a proof that a tunable of these cases requires; empty if none."""
    if tunable.safety is not SafetyClass.CONTRACT:
        return ""
    for fact, calls in _PROOFS.items():
        disproof: dict[str, Any] = {fact: False}
        if any(tunable.why_not(replace(facts[case], **disproof)) for case in cases):
            for case, shown in facts.items():
                if shown.uses_parallel_hdf5 and not getattr(shown, fact):
                    return f"class contract: no proof of matched {calls} in {case}"
    return ""


def _common_values(
    tunable: Tunable, by_case: Mapping[str, Dimension], facts: Mapping[str, ProgramFacts]
) -> tuple[Value, ...]:
    """Return the values of a tunable that may be applied to every case.

    There are none if the tunable could affect a case that has no value worth trying.  For the
    ranks of a job they are the user's values, and each case omits the one it already has.
    """
    values = _values(list(by_case.values()))
    if tunable.safety is SafetyClass.SAFE or tunable.layer is Layer.JOB:
        return values
    if any(_has_no_value(tunable, shown) for case, shown in facts.items() if case not in by_case):
        return ()
    return tuple(v for v in values if all(v in d.values for d in by_case.values()))


def _has_no_value(tunable: Tunable, facts: ProgramFacts) -> bool:
    return not tunable.why_not(facts) and not tunable.search.ladder(facts)


def _values(dimensions: Sequence[Dimension]) -> tuple[Value, ...]:
    """Return all values of a tunable, sorted by size if every case has them sorted."""
    merged = tuple(dict.fromkeys(value for d in dimensions for value in d.values))
    numbers = [v for v in merged if isinstance(v, int | float) and not isinstance(v, bool)]
    ascending = all(list(d.values) == sorted(d.values, key=_size) for d in dimensions)
    if len(numbers) == len(merged) and ascending:
        return tuple(sorted(numbers))
    return merged


def _size(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _one_reason(reasons: Mapping[str, str]) -> str:
    if len(set(reasons.values())) == 1:
        return next(iter(reasons.values()))
    return "; ".join(f"{case}: {reason}" for case, reason in reasons.items())


def merge_verifications(found: Mapping[str, Verification]) -> Verification:
    """Return the worst outcome, with the files of all cases prefixed by the case's name."""
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        return Verification(VerificationStatus.NOT_DONE)
    statuses = [verification.status for verification in found.values()]
    return Verification(
        min(statuses, key=_WORST_FIRST.index),
        tuple(f"{case}: {path}" for case, v in found.items() for path in v.compared),
        {f"{c}: {path}": why for c, v in found.items() for path, why in v.not_verifiable.items()},
        {f"{c}: {path}": what for c, v in found.items() for path, what in v.differences.items()},
    )
