# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Holds what every stage works with, for each case and for all cases together."""

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
    Ledger,
    Observer,
    RunSlot,
    Steps,
    StudyCase,
    StudyOptions,
    attempt_name,
    is_contract,
    ratio_noise,
    spread,
)
from stripewise.study.runs import Executor, Places, Tools

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

    case: StudyCase
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
            slot: Slot of the first attempt.
            failures: Number of failures of its own that counts.

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
                    f"the unchanged program failed {often} in a row: {run.message}; check that it "
                    "runs as before, then continue with --resume"
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
        context: Context of the case.
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
            name: Name of the place in the procedure.
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


# What several cases have in common: one score, one set of facts, one space of tunables.

_LARGEST = ("n_ranks", "n_hosts", "virtual_nodes")
_SAME = ("pattern", "block", "block_bytes", "file_classes")
"""Facts of one dataset or name: what differs between the cases is not known of all."""
_PROOFS = {"matched_calls": "data calls", "matched_metadata": "calls on objects"}
"""Facts that prove what contract settings need, and of which calls; every case must."""
_WORST_FIRST = (
    VerificationStatus.DIFFERENT,
    VerificationStatus.NOT_DONE,
    VerificationStatus.NOT_VERIFIABLE,
    VerificationStatus.SAME_CONTENT,
    VerificationStatus.IDENTICAL,
)


def weighted_mean(ratios: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted geometric mean; inf if a ratio is.

    Geometric, since it treats 2x in one case and 0.5x in another alike, whichever of the
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
    """Return what one run of every case, one after another, would show.

    Bytes, calls and times are added, ranks and hosts are those of the largest case; what one
    case uses is used; calls are matched only if they are in every case.  Of texts that differ
    the first counts.
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
    """Return the tunables that can act on at least one case, with every value worth trying.

    A setting that needs matched calls is kept only if every case proves them: it reaches all.
    So do values, so that of a setting that changes the file those are kept that every case on
    which it acts has in its ladder: a size that is right for one would bloat another's files.

    Args:
        spaces: Case to its tunables.
        facts: Case to what its first run showed.
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
    """Say which case lacks a proof that a tunable of these cases needs; "" if none does."""
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
    """Return the values of a tunable that may reach every case.

    A case on which the tunable could act but that has no value worth trying allows none.  The
    ranks of a job are the user's own values, and each case leaves out what it has already.
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
    """Return all values of a tunable; in order of size where every case has them so."""
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
    """Return the worst outcome, with every file behind the name of its case."""
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
