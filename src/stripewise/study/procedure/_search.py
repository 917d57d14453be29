# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Asks the strategy for points, runs them as trials, and tells it the outcome.

As many trials are in flight as the launcher has places.  The strategy is told in the order in
which they end; that order is recorded, so that a study that goes on asks and tells the same.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

from stripewise.core import (
    Measurement,
    Proposal,
    RungAhead,
    RunRole,
    Trial,
    TrialState,
    Value,
    Verification,
    VerificationStatus,
    from_json,
    to_json,
)
from stripewise.core.errors import StudyError, UsageError
from stripewise.present import finite
from stripewise.settings.tunables import (
    SafetyClass,
    key_of,
    said_of_files,
    settings_class,
    tunable_of,
)
from stripewise.study.job_scripts import reach_text, rungs_ahead
from stripewise.study.plan import BudgetSpentError, Steps
from stripewise.study.procedure._context import Context
from stripewise.study.procedure._result import SearchResult
from stripewise.study.procedure._trial_runs import CaseRuns, TrialRuns
from stripewise.study.runs import Places
from stripewise.study.strategies import Strategy, create


class Search:
    """Runs trials until a budget, the strategy or a lack of progress ends it."""

    def __init__(self, context: Context, strategy: Strategy) -> None:
        self._context = context
        self._strategy = strategy
        self._proposals = Proposals(strategy, context.ledger.recall)
        self._result = SearchResult()
        self._last_gain = context.ledger.trials_before  # patience begins anew with a larger budget
        self._n_asked = 0

    def run(self) -> SearchResult:
        """Search; whatever the journal holds already is taken from it."""
        result, places = self._result, self._context.side_by_side()
        say_reach(self._context)
        try:
            self._search(places)
        except BudgetSpentError as spent:
            self._end_early(str(spent))
        result.rungs_left = rungs_of(
            self._context, [(one, self._noise(one.number)) for one in result.trials]
        )
        return result

    def _search(self, places: Places[Trial]) -> None:
        result = self._result
        self._begin_trials(places)
        while places.busy:
            trial = self._next_trial(places)
            best = self._best_ratio()
            noise = self._noise(trial.number)
            if trial.state is TrialState.COMPLETE and trial.io_ratio < best * (1 - noise / 2):
                self._last_gain = max(self._last_gain, trial.number)
            insort(result.trials, trial, key=lambda known: known.number)
            best = min(best, trial.io_ratio)
            self._context.observer.trial_finished(trial, self._context.budget.trials, best)
            self._proposals.tell(trial, noise)
            self._begin_trials(places)

    def _end_early(self, why: str) -> None:
        """Keep the trials that ended before the first one that the budget did not hold."""
        result = self._result
        self._context.executor.abandon_all(why)
        result.trials[:] = [t for place, t in enumerate(result.trials, 1) if t.number == place]
        result.stopped_because, result.is_cut = why, True

    def _begin_trials(self, places: Places[Trial]) -> None:
        """Begin as many trials as may be in flight now; without any, say why none may."""
        while wanted := self._n_wanted(places):
            proposals = self._proposals.ask(self._n_asked + 1, wanted)
            for proposal in proposals:
                self._n_asked += 1
                self._propose(self._n_asked, proposal)
                places.start(
                    self._n_asked,
                    partial(self._try, self._n_asked, proposal, self._best_ratio()),
                )
            if not proposals:
                break
        if not places.busy and not self._result.stopped_because:
            self._result.stopped_because = self._strategy.finished_because

    def _n_wanted(self, places: Places[Trial]) -> int:
        """Return for how many trials to ask: those that were begun at this point, or new ones.

        The strategy is asked and told in the same order after a restart.
        """
        told, n = len(self._result.trials), 0
        while self._n_told_before(self._n_asked + n + 1) == told:
            n += 1
        if n or self._n_told_before(self._n_asked + 1) is not None:
            return n
        while n < places.free:
            why = self._why_stop(self._n_asked + n, n, places.busy)
            if why:
                if not places.busy + n:
                    self._result.stopped_because = why
                    self._result.is_cut = not self._result.trials
                break
            n += 1
        return n

    def _n_told_before(self, number: int) -> int | None:
        """Return how many outcomes the strategy knew when it proposed; None if it has not yet."""
        recorded = self._context.ledger.recall(f"proposal/{number}")
        return None if recorded is None else int(recorded.get("told", number - 1))

    def _next_trial(self, places: Places[Trial]) -> Trial:
        """Wait for a trial to end; after a restart they end in the recorded order."""
        name, ledger = f"told/{len(self._result.trials) + 1}", self._context.ledger
        if places.busy == 1:
            return places.take()[1]
        number, trial = places.take(ledger.recall(name))
        ledger.remember(name, lambda: number)
        return trial

    def _why_stop(self, begun: int, begin_now: int, busy: int) -> str:
        """Say why no further trial may begin; recorded when none is in flight.

        Args:
            begun: How many were begun, those that begin now included.
            begin_now: How many of them have no run yet.
            busy: How many others are in flight.
        """
        ledger = self._context.ledger
        recorded = ledger.recall("search-stopped")
        if recorded is not None:
            return str(recorded)
        run_seconds = self._context.run_seconds
        why = self._context.budget.why_no_trial(begun, run_seconds, begin_now)
        patience = max(self._context.options.patience, self._strategy.least_patience)
        if not why and begun - self._last_gain >= patience:
            why = f"no improvement in the last {patience:.0f} trials"
        if why and not begin_now + busy:
            ledger.remember("search-stopped", lambda: why)
        return why

    def _try(self, number: int, proposal: Proposal, best: float, place: int) -> Steps[Trial]:
        trial = TrialRuns(self._context, number, proposal)
        yield from trial.bring_to(1, place)
        noise = self._noise(number)
        if trial.is_unclear(best, noise) and trial.affordable(2):
            yield from trial.bring_to(2, place)
        outcome = trial.outcome(noise)
        if outcome.state is TrialState.COMPLETE and outcome.io_ratio < 1:
            outcome = yield from self._verify(trial, outcome)
        trial.release()
        self._context.ledger.remember(f"trial/{number}", lambda: _for_people(outcome))
        return outcome

    def _propose(self, number: int, proposal: Proposal) -> None:
        told = len(self._result.trials)
        data = to_json(proposal)
        if told != number - 1:
            data["told"] = told
        self._context.ledger.remember(f"proposal/{number}", lambda: data)
        self._context.observer.trial_started(number, self._context.budget.trials)

    def _verify(self, runs: TrialRuns, trial: Trial) -> Steps[Trial]:
        """Compare a trial's outputs with the baseline's; reject it if one of a case differs.

        Every trial that may come to the pairs is compared, not only the best so far: its turn
        can come when a better one fails.
        """
        found = self._result.verifications.setdefault(trial.number, {})
        for case in runs.cases:
            found[case.context.name] = verification = yield from self._verify_case(
                runs, case, trial
            )
            self._context.observer.verified(trial, verification, case.context.name)
            if verification.differences:
                return self._rejected(case, trial, verification)
        return trial

    def _verify_case(self, runs: TrialRuns, case: CaseRuns, trial: Trial) -> Steps[Verification]:
        """Compare an output with two baselines'; what differs is looked at in fresh runs.

        What two early baselines had in common (a minute, a date, a name made of either) may
        differ in every run by now.  What differs by chance (bytes that several ranks write, sums
        in the order of threads) differs in one run of two: it is told by its differences
        without that status.
        """
        first, second = case.baseline.kept_runs
        run_id, name = case.candidates[0].run_id, f"verification/{trial.number}"
        found = self._compared(name, (first, second), run_id, case, trial)
        fresh = anew = None
        if found.status is VerificationStatus.DIFFERENT:
            fresh = yield from self._once_more(runs, case, RunRole.BASELINE)
        if fresh is not None:
            found = self._compared(f"{name}/again", (first, fresh.run_id), run_id, case, trial)
            if found.status is VerificationStatus.DIFFERENT:
                anew = yield from self._once_more(runs, case, RunRole.TRIAL)
        if fresh is not None and anew is not None:
            both, run_id = (first, fresh.run_id), anew.run_id
            if not self._compared(f"{name}/anew", both, run_id, case, trial).differences:
                found = replace(found, status=VerificationStatus.NOT_VERIFIABLE)
        for run in (fresh, anew):
            if run is not None:
                self._context.executor.release(run)
        return found

    def _once_more(
        self, runs: TrialRuns, case: CaseRuns, role: RunRole
    ) -> Steps[Measurement | None]:
        """Run baseline or candidate for its output; None: no budget, or it did not run well."""
        context, slot = case.context, case.verification_slot(role)
        begun = context.ledger.measurement(slot.name) is not None
        if not begun and (
            runs.is_closed or not context.budget.allows(1, case.baseline.run_seconds)
        ):
            return None
        if role is RunRole.BASELINE:
            return (yield from context.baseline(slot))
        run = yield from context.attempts(slot)
        return run if run.ok else None

    def _rejected(self, case: CaseRuns, trial: Trial, verification: Verification) -> Trial:
        file, what = next(iter(verification.differences.items()))
        name = f"rejected/{trial.number}"
        if verification.status is VerificationStatus.DIFFERENT:
            state, text = TrialState.REJECTED, "its output differs from the baseline's"
            text = f"{text}: {file}: {what}"
            shown = said_of_files(trial.settings, lambda name, value: f"{name}={value}")
            case.context.decide(name, f"trial {trial.number} REJECTED: {text}")
            case.context.warn(f"REJECTED {shown}: {text}; do not use these settings")
        else:
            state, text = (
                TrialState.LOST,
                "its output differs from the baseline's in one of two runs",
            )
            text = f"{text}, perhaps by chance: {file}: {what}"
            case.context.decide(name, f"trial {trial.number} is not used: {text}")
        return replace(
            trial,
            state=state,
            io_ratio=inf,
            elapsed_ratio=inf,
            message=case.context.said(text),
            class_ratios={},
        )

    def _compared(
        self, name: str, baselines: Sequence[str], run_id: str, case: CaseRuns, trial: Trial
    ) -> Verification:
        layout = settings_class(trial.configuration) is not SafetyClass.SAFE
        compare, traced = case.context.tools.compare, case.baseline.traced
        return from_json(
            Verification,
            case.context.remember(
                name, lambda: to_json(compare(baselines, run_id, layout, traced))
            ),
        )

    def _best_ratio(self) -> float:
        found = self._result.candidates()
        return found[0].io_ratio if found else 1.0

    def _noise(self, number: int) -> float:
        """Return the noise as known at this trial; recorded, since the runs go on."""
        noise: float = self._context.ledger.remember(f"noise/{number}", self._context.noise)
        return noise


def _for_people(trial: Trial) -> Any:
    """Return what the journal holds of a trial; its state is rebuilt from its runs."""
    names = ("number", "settings", "state", "io_ratio", "elapsed_ratio", "message")
    data = {name: to_json(getattr(trial, name)) for name in names}
    return finite(data | {"runs": [run.run_id for run in trial.measurements]})


# What is tried next: what the journal says was begun, then what the strategy proposes.


class Proposals:
    """Asks and tells a strategy, and follows recorded trials that it does not ask for.

    A later version of a strategy may propose other points than those that a study has tried.
    Those are kept, and are the answer when it comes to ask for them.
    """

    def __init__(self, strategy: Strategy, recall: Callable[[str], Any]) -> None:
        """Take the strategy and what returns a recorded value, None if there is none."""
        self._strategy = strategy
        self._recall = recall
        self._waiting: list[Proposal] = []
        self._followed: dict[Hashable, Trial | None] = {}

    def ask(self, first: int, n: int) -> list[Proposal]:
        """Return what the trials with the numbers from `first` on try, `n` at most.

        Raises:
            StudyError: A recorded trial sets what this Stripewise does not know.
        """
        found: list[Proposal] = []
        for number in range(first, first + n):
            recorded = self._recall(f"proposal/{number}")
            proposal = self._next() if recorded is None else self._follow(number, recorded)
            if proposal is None:
                break
            found.append(proposal)
        return found

    def tell(self, trial: Trial, noise: float) -> None:
        """Pass an outcome to the strategy, at once or when it asks for that point."""
        key = key_of(trial.settings)
        if key in self._followed:
            self._followed[key] = trial
            return
        self._strategy.noise = noise
        self._strategy.tell(trial)

    def _follow(self, number: int, recorded: Mapping[str, Any]) -> Proposal:
        """Return a recorded point, as the strategy's own if it asks for it now."""
        found = from_json(Proposal, recorded)
        settings = _known(number, found.settings)
        self._waiting = self._waiting or self._strategy.ask(1)
        if self._waiting and key_of(self._waiting[0].settings) == key_of(settings):
            self._waiting = []
        else:
            self._followed[key_of(settings)] = None
        return found

    def _next(self) -> Proposal | None:
        """Return a point of the strategy that has not been tried; None if it has none now."""
        while waiting := self._waiting or self._strategy.ask(1):
            self._waiting = []
            key = key_of(waiting[0].settings)
            if key not in self._followed:
                return waiting[0]
            known = self._followed[key]
            if known is None:  # in flight
                self._waiting = waiting
                return None
            self._strategy.tell(replace(known, settings=waiting[0].settings))
        return None


def _known(number: int, settings: Mapping[str, Value]) -> Mapping[str, Value]:
    try:
        for name, value in settings.items():
            tunable_of(name).check(value)
    except UsageError as error:
        raise StudyError(
            f"trial {number} of the journal cannot be reproduced ({error}); finish the study with "
            "the version of Stripewise that started it, or start over with --force"
        ) from error
    return settings


# How far the trials of a study get on the ladder of burst-buffer nodes.


def rungs_of(context: Context, tried: Sequence[tuple[Trial, float]] = ()) -> tuple[RungAhead, ...]:
    """Return the numbers of nodes that the search would yet come to.

    Args:
        context: Context of the study.
        tried: Trials, each with the noise as the strategy was told it.
    """
    return rungs_ahead(partial(make_strategy, context), context.facts, tried)


def say_reach(context: Context) -> None:
    """Record and show how many rungs the trials are likely to reach, where there are several."""
    rungs = rungs_of(context)
    trials = context.budget.trials_within(context.run_seconds)
    if len(rungs) > 1:
        context.decide(f"reach/{trials}", reach_text(rungs, trials))


# The strategy of a study, made as its options say.


def make_strategy(context: Context) -> Strategy:
    """Return the strategy, which knows a run of the baseline if there is one case.

    Args:
        context: Context of the study, with its baselines.
    """
    options = context.options
    strategy = create(
        options.strategy, context.space, context.facts, options.seed, options.strategy_options
    )
    if len(context.baselines) == 1:
        runs = context.baselines[0].measurements
        strategy.baseline = next((run for run in reversed(runs) if run.ok), None)
    return strategy
