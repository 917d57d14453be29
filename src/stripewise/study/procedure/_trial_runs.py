# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a trial beside the baseline in every case, and determines which settings took effect.

In a round the candidate runs beside the baseline in every case, with the cases in random order.
A configuration that fails in one case has failed, and one that makes a case clearly slower is
stopped at once: no gain in another case can make up for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import exp, inf, log, sqrt
from statistics import median, median_low
from typing import Any

from stripewise.core import (
    Measurement,
    ObservedFile,
    ProgramFacts,
    Proposal,
    RunRole,
    Trial,
    TrialState,
    Value,
    total,
)
from stripewise.evidence.facts import cannot_act
from stripewise.present import plural, size_text
from stripewise.settings.formats import matches
from stripewise.settings.tunables import hint_text, scopes, settings_by_files, split_scope
from stripewise.study.plan import TRIAL_RUNS, RunSlot, Steps, failure_text
from stripewise.study.procedure._context import Baseline, Context, weighted_mean

CLEARLY_SLOWER = 0.1
"""Slow-down from which on, if it also exceeds twice the noise, a candidate is given up."""
SURPRISING = 2.0
"""Multiple of the noise from which on a gain counts after one round despite equal requests."""
OF_TWO_ROUNDS = 1 / sqrt(2)
"""Noise of the mean of two rounds, relative to that of one."""
_SAME = "the requests to the storage were the same: treated as chance"


class TrialRuns:
    """Runs of one trial and of the adjacent baseline, case by case.

    Attributes:
        is_closed: Whether the result was recorded before a restart; then no more runs follow,
            because the strategy already has it.
    """

    def __init__(self, context: Context, number: int, proposal: Proposal) -> None:
        self._context = context
        self.number = number
        self.is_closed = context.ledger.recall(f"trial/{number}") is not None
        self.proposal = proposal
        self.cases = tuple(CaseRuns(one, number, proposal) for one in context.baselines)

    @property
    def rounds(self) -> int:
        """Number of times that the candidate has run in every case."""
        return min(case.rounds for case in self.cases)

    @property
    def failure(self) -> str:
        """Why the first bad run of the candidate does not count; empty if there is none."""
        return next((case.failure for case in self.cases if case.failure), "")

    @property
    def slower(self) -> CaseRuns | None:
        """Case among several that the candidate makes clearly slower; None if there is none.

        Each case may be slower by chance, so one round is not sufficient.
        """
        if len(self.cases) == 1:
            return None
        return next((c for c in self.cases if c.rounds > 1 and self._looks_slower(c)), None)

    @property
    def io_ratio(self) -> float:
        """Score: weighted mean of the cases' I/O-time ratios; infinite after a failure.

        If a case got clearly slower, its ratio is the score.
        """
        return self._score(lambda case: case.io_ratio)

    @property
    def asks_the_same(self) -> bool:
        """Whether the requests to the storage are unchanged in all cases."""
        return all(case.asks_the_same for case in self.cases)

    def is_unclear(self, best: float, noise: float) -> bool:
        """Return whether a second round may change the outcome, because the gain may be noise."""
        if self.failure or not self.rounds:
            return False
        if self.asks_the_same:
            return self.io_ratio < 1 - OF_TWO_ROUNDS * noise and not self._is_surprising(noise)
        return best * (1 - 2 * noise) < self.io_ratio < best * (1 - noise / 2)

    def outcome(self, noise: float) -> Trial:
        """Return the result of the runs, with the noise that was known when they began."""
        state, message, slower = TrialState.COMPLETE, self.proposal.reason, self.slower
        io_ratio = self.io_ratio
        if self.failure:
            is_lost = any(case.is_lost for case in self.cases)
            state = TrialState.LOST if is_lost else TrialState.FAILED
            message = self.failure
        elif slower is not None:
            state, phrase = TrialState.HOPELESS, slower.context.with_case_name("clearly slower")
            message = f"{phrase} than the baseline ({slower.io_ratio:.2f} times its I/O time)"
        elif io_ratio > slower_limit(noise):
            state = TrialState.HOPELESS
            message = f"clearly slower than the baseline after {self.rounds} run"
        elif self.asks_the_same and io_ratio < 1 and not self._is_surprising(noise):
            message = f"{io_ratio:.2f} times the baseline's I/O time, and {_SAME}"
            io_ratio = 1.0
        several = len(self.cases) > 1
        by_case = {case.context.name: case.io_ratio for case in self.cases if case.rounds}
        by_class = not (several or self.failure or self.asks_the_same)
        return Trial(
            number=self.number,
            settings=dict(self.proposal.settings),
            configuration=self._context.executor.configure(self.proposal.settings),
            state=state,
            measurements=tuple(run for case in self.cases for run in case.candidates),
            io_ratio=io_ratio,
            elapsed_ratio=self._score(lambda case: case.elapsed_ratio),
            message=message,
            details=self._details(),
            case_ratios=by_case if several else {},
            class_ratios=self.cases[0].class_ratios if by_class else {},
        )

    def affordable(self, rounds: int) -> bool:
        """Return whether the budget allows so many rounds of every case, or they were begun."""
        missing = [case for case in self.cases if case.rounds < rounds]
        wanted = TRIAL_RUNS * sum(rounds - case.rounds for case in missing)
        return any(case.begun for case in missing) or self._allows(wanted)

    def bring_to(self, rounds: int, place: int) -> Steps[None]:
        """Run the candidate until it has so many rounds in every case or is given up."""
        while self.rounds < rounds and not self.failure and self.slower is None:
            yield from self._round(self.rounds + 1, place)

    def release(self) -> None:
        """Remove the files of the runs."""
        for case in self.cases:
            case.release()

    def _round(self, number: int, place: int) -> Steps[None]:
        just_run = self._context.ledger.last_entry(place).case
        for index in self._context.order(f"cases/{self.number}/{number}", first=just_run):
            case = self.cases[index]
            if case.rounds >= number:
                continue
            yield from case.round(place)
            if case.ok and self._needs_another(case):
                yield from case.round(place)
            if not case.ok or self.slower is not None:
                return

    def _details(self) -> dict[str, str]:
        """Return the effects of the settings in each case."""
        return {
            f"{case.context.name}: {name}" if case.context.name else name: text
            for case in self.cases
            for name, text in effective_settings(
                self.proposal.settings, case.candidates, case.beside
            ).items()
        }

    def _is_surprising(self, noise: float) -> bool:
        """Return whether a gain counts although the requests to the storage are unchanged.

        Most settings have no effect then, but steps before the storage (copying, communication)
        may have become faster: the gain must exceed the noise, in two rounds that of their mean.
        """
        return self.io_ratio < 1 - noise * (SURPRISING if self.rounds == 1 else OF_TWO_ROUNDS)

    def _needs_another(self, case: CaseRuns) -> bool:
        """Return whether a case looks slower after one round, which may be chance."""
        if len(self.cases) == 1 or case.rounds > 1 or not self._looks_slower(case):
            return False
        return case.begun or self._allows(TRIAL_RUNS)

    def _looks_slower(self, case: CaseRuns) -> bool:
        noise: float = case.context.remember(f"case-noise/{self.number}", case.context.noise)
        return case.ok and median_low(case.io_ratios) > slower_limit(noise)

    def _allows(self, runs: int) -> bool:
        allows = self._context.budget.allows
        return not self.is_closed and allows(runs, self._context.run_seconds)

    def _score(self, ratio: Callable[[CaseRuns], float]) -> float:
        if self.failure:
            return inf
        if self.slower is not None:
            return ratio(self.slower)
        return weighted_mean([ratio(case) for case in self.cases], self._context.weights)


def slower_limit(noise: float) -> float:
    """Return the ratio from which on a candidate is clearly slower than the baseline."""
    return 1 + max(CLEARLY_SLOWER, 2 * noise)


# Runs of one trial in one case, each beside a run of the baseline.
#
# Pairing: the first run of a candidate is always adjacent to a run of the baseline.  A baseline
# run that was just made serves both the candidate before it and the one after it (candidate,
# baseline, candidate: three runs for two trials), so that half of the candidates run before their
# baseline and half after it.  No ratio spans more than one run, so drift of the storage cancels.

TINY_SECONDS = 1e-9
_CHOOSE_THE_STORAGE = ("job.burst_buffer_nodes", "job.burst_buffer_files")


def io_seconds(run: Measurement) -> float:
    """Return the I/O time of a run, which is never 0."""
    return max(run.io_seconds, TINY_SECONDS)


def elapsed_seconds(run: Measurement) -> float:
    """Return the elapsed time of a run, which is never 0."""
    return max(run.elapsed_seconds, TINY_SECONDS)


class CaseRuns:
    """Runs of one trial in one case, and of the adjacent baseline."""

    def __init__(self, baseline: Baseline, number: int, proposal: Proposal) -> None:
        self.baseline = baseline
        self.context = baseline.context
        self.candidates: list[Measurement] = []
        self.beside: list[Measurement] = []
        self._number = number
        self._proposal = proposal

    @property
    def rounds(self) -> int:
        """Number of runs of the candidate."""
        return len(self.candidates)

    @property
    def ok(self) -> bool:
        """Whether every run of the candidate counts."""
        return all(run.ok for run in self.candidates)

    @property
    def failure(self) -> str:
        """Why the first bad run of the candidate does not count; empty if there is none."""
        if self.ok:
            return ""
        bad = next(run for run in self.candidates if not run.ok)
        return self.context.with_case_name(failure_text(bad, self._proposal.settings))

    @property
    def is_lost(self) -> bool:
        """Whether the candidate's runs were ended by something unrelated to its settings."""
        return any(run.cause.is_outside for run in self.candidates)

    @property
    def io_ratios(self) -> list[float]:
        """I/O time relative to that of the adjacent baseline, for each round."""
        return [io_seconds(c) / io_seconds(b) for c, b in self._pairs()]

    @property
    def io_ratio(self) -> float:
        """Median ratio of the I/O time; infinite after a failure."""
        return self._middle(self.io_ratios)

    @property
    def elapsed_ratio(self) -> float:
        """Median ratio of the elapsed time; infinite after a failure."""
        return self._middle([elapsed_seconds(c) / elapsed_seconds(b) for c, b in self._pairs()])

    @property
    def class_ratios(self) -> dict[str, float]:
        """Median ratio of the I/O time by glob of a class of files; empty after a failure."""
        found: dict[str, float] = {}
        for match in (one.match for one in self.context.facts.file_classes if one.match):
            times = [(_seconds_on(c, match), _seconds_on(b, match)) for c, b in self._pairs()]
            if self.ok and times and all(min(pair) > TINY_SECONDS for pair in times):
                found[match] = self._middle([after / before for after, before in times])
        return found

    @property
    def asks_the_same(self) -> bool:
        """Whether the requests to the storage equal those of the baseline, in every round.

        On another storage, or with a larger part of it, they never count as equal.
        """
        if any(name in self._proposal.settings for name in _CHOOSE_THE_STORAGE):
            return False
        return bool(self.candidates) and all(same_requests(c, b) for c, b in self._pairs())

    @property
    def begun(self) -> bool:
        """Whether the next round was begun before a restart."""
        return self.context.recall(f"order/{self._number}/{self.rounds + 1}") is not None

    def round(self, place: int) -> Steps[None]:
        """Run the candidate once more, with a baseline run before or after it.

        Args:
            place: Place of the run; the baseline run that was last made there can be used.
        """
        halves, number = self.context.ledger.halves, str(self.rounds + 1)
        first, second = halves.whole(number, partial(self._slots, place))
        if first.role is RunRole.BASELINE:
            self._release_torn(second)
            beside = yield from self.context.baseline(first)
            candidate = yield from self.context.attempts(second)
        else:
            self._release_torn(first)
            candidate = yield from self.context.attempts(first)
            beside = (yield from self.context.baseline(second)) if candidate.ok else candidate
        self.candidates.append(candidate)
        self.beside.append(beside)

    def verification_slot(self, role: RunRole) -> RunSlot:
        """Return an additional run of baseline or candidate that is made only for its output."""
        what, settings = (
            ("baseline", None)
            if role is RunRole.BASELINE
            else ("candidate", self._proposal.settings)
        )
        name = f"verify/{self._number}/{what}/1"
        return self._slot(name, role, settings=settings, keep_output=True)

    def release(self) -> None:
        """Remove the files of the runs."""
        for run in self.candidates:
            self.context.executor.release(run)

    def _slots(self, place: int, number: str) -> tuple[RunSlot, RunSlot]:
        """Return candidate and baseline of a round in the order in which they run.

        A baseline run that was just made there is used; otherwise one follows the candidate.
        """
        candidate = self._slot(
            f"trial/{self._number}/candidate/{number}",
            RunRole.TRIAL,
            settings=self._proposal.settings,
            keep_output=self.rounds == 0,
        )
        if reused := self._reused(number, place):
            return RunSlot(reused, RunRole.BASELINE), candidate
        return candidate, self._slot(f"trial/{self._number}/baseline/{number}", RunRole.BASELINE)

    def _release_torn(self, candidate: RunSlot) -> None:
        """Remove the candidate's files if a restart came between it and its baseline."""
        first, _, attempts = candidate.name.partition("/anew/")
        for attempt in range(int(attempts or 0)):
            name = f"{first}/anew/{attempt}" if attempt else first
            torn = self.context.ledger.measurement(name)
            if torn is not None:
                self.context.executor.release(torn)

    def _reused(self, number: str, place: int) -> str:
        """Return the name of the baseline run that was just made there; empty if there is none."""

        def draw() -> dict[str, Any]:
            ledger = self.context.ledger
            slot, last = ledger.last_slot(place), ledger.last_entry(place)
            mine = last.role is RunRole.BASELINE and last.case == self.context.name
            reused = slot if mine else ""
            return {"reused": reused, "baseline_first": bool(reused)}

        order = self.context.remember(f"order/{self._number}/{number}", draw)
        return str(order["reused"])

    def _slot(self, name: str, role: RunRole, **more: Any) -> RunSlot:
        return self.baseline.slot(name, role, trial_number=self._number, **more)

    def _pairs(self) -> list[tuple[Measurement, Measurement]]:
        return list(zip(self.candidates, self.beside, strict=True))

    def _middle(self, ratios: list[float]) -> float:
        if not self.candidates or not self.ok:
            return inf
        return exp(median(map(log, ratios)))


def _seconds_on(run: Measurement, match: str) -> float:
    """Return the I/O time of a run summed over the files of a glob; 0 if unknown."""
    seconds = total(file.amount("io_seconds") for file in run.files if matches(match, file.path))
    return seconds.least if seconds.is_exact else 0.0


# Effective settings: requested, reported by the stack, and observed.


def effective_settings(
    settings: Mapping[str, Value],
    candidates: Sequence[Measurement],
    baselines: Sequence[Measurement],
) -> dict[str, str]:
    """Return, for each tunable of a trial, requested / reported / observed in one line."""
    files = _files(candidates)
    if not files:
        return {}
    before = _files(baselines)
    lines = {
        name: _line(name, value, _matching(split_scope(name)[1], files))
        for name, value in settings.items()
    }
    lines["observed"] = observed_line(files)
    lines["observed without"] = observed_line(before)
    return lines


def without_effect(
    trial: Trial,
    candidates: Sequence[Measurement],
    baselines: Sequence[Measurement],
    facts: ProgramFacts,
) -> Iterator[str]:
    """Yield a warning for each setting of a winner that cannot have had an effect."""
    files = _files(candidates)
    if not files:
        return
    yield from cannot_act(trial.configuration, files, facts)
    before, matches_of = _files(baselines), scopes(trial.settings) or ("",)
    elsewhere = trial.configuration.job.burst_buffer  # another storage with the same requests
    if not elsewhere and all(
        observed_line(_matching(match, files)) == observed_line(_matching(match, before))
        for match in matches_of
    ):
        yield (
            "what reaches the storage looks the same with and without "
            f"{settings_by_files(trial.settings, lambda name, _: name)}: the gain comes from "
            "what happens before (copying, communication, locks)"
        )


def same_requests(first: Measurement, second: Measurement) -> bool:
    """Return whether two runs made the same requests: ranks, number, sizes and alignment."""
    requests = [{file.path: _requests(file) for file in run.files} for run in (first, second)]
    return bool(requests[0]) and requests[0] == requests[1]


def _requests(file: ObservedFile) -> tuple[object, ...]:
    written = (file.writers, file.system_writes, file.system_write_bytes)
    sizes = (file.median_write_bytes, file.largest_write_bytes, file.aligned_fraction)
    return (*written, *sizes, file.system_reads, file.system_read_bytes)


def observed_line(files: Sequence[ObservedFile]) -> str:
    """Return a text on what reached the storage: which ranks wrote, request sizes, alignment."""
    written = [f for f in files if f.system_writes]
    if not written:
        return "no system writes seen"
    largest = max(written, key=lambda file: file.system_write_bytes)
    aligned = largest.aligned_fraction.get(1 << 20, 0.0)
    writers = largest.amount("writers").words(_count)
    return (
        f"{writers} {'writer' if writers == '1' else 'writers'}, "
        f"{plural(sum(f.system_writes for f in written), 'system write')}, "
        f"median {size_text(largest.median_write_bytes)}, "
        f"largest {size_text(largest.largest_write_bytes)}, {aligned:.0%} aligned to 1 MiB"
    )


def _count(number: float) -> str:
    return str(int(number))


def _line(name: str, value: Value, files: Sequence[ObservedFile]) -> str:
    key = split_scope(name)[0].partition(".")[2]
    reported = sorted({f.reported[key] for f in files if key in f.reported})
    applied = any(key in _keys(f.applied) for f in files)
    line = f"requested {hint_text(value)}"
    if name.startswith("mca."):
        return f"{line}, in the environment of all ranks"
    if name.startswith("job."):
        how = "environment" if name == "job.threads" else "launcher's options"
        return f"{line}, in the {how}"
    line += ", applied" if applied else ", not applied to any file"
    return f"{line}, reported {', '.join(reported)}" if reported else line


def _matching(match: str, files: Sequence[ObservedFile]) -> list[ObservedFile]:
    """Return the files to which settings apply; all files for an empty glob."""
    return [file for file in files if not match or matches(match, file.path)]


def _files(measurements: Sequence[Measurement]) -> tuple[ObservedFile, ...]:
    return measurements[0].files if measurements else ()


def _keys(settings: Mapping[str, str]) -> set[str]:
    return {key.rpartition(".")[2] for key in settings}
