# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gets points from the strategy, runs them as trials, and passes the results back to it.

There are as many trials in flight as the launcher allows.  The strategy gets the results in
the order in which trials end; that order is recorded, so that a resumed study repeats it.
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
    settings_by_files,
    settings_class,
    tunable_of,
)
from stripewise.study.job_scripts import reach_text, rungs_ahead
from stripewise.study.plan import BudgetSpentError, Steps
from stripewise.study.procedure._context import Context
from stripewise.study.procedure._result import SearchResult
from stripewise.study.procedure._trial_runs import CaseRuns, TrialRuns
from stripewise.study.runs import UnitsInFlight
from stripewise.study.strategies import Strategy, create


class Search:
    """Runs trials until a budget, the strategy or a lack of progress ends it."""

    def __init__(self, context: Context, strategy: Strategy) -> None:
        self._context = context
        self._strategy = strategy
        self._proposals = Proposals(strategy, context.ledger.recall)
        self._result = SearchResult()
        self._last_gain = context.ledger.trials_before  # an extended budget resets the patience
        self._n_asked = 0

    def run(self) -> SearchResult:
        """Search; results that are already in the journal are taken from it."""
        result, running = self._result, self._context.side_by_side()
        record_reach(self._context)
        try:
            self._search(running)
        except BudgetSpentError as spent:
            self._end_early(str(spent))
        result.rungs_left = rungs_of(
            self._context, [(one, self._noise(one.number)) for one in result.trials]
        )
        return result

    def _search(self, running: UnitsInFlight[Trial]) -> None:
        result = self._result
        self._begin_trials(running)
        while running.busy:
            trial = self._next_trial(running)
            best = self._best_ratio()
            noise = self._noise(trial.number)
            if trial.state is TrialState.COMPLETE and trial.io_ratio < best * (1 - noise / 2):
                self._last_gain = max(self._last_gain, trial.number)
            insort(result.trials, trial, key=lambda known: known.number)
            best = min(best, trial.io_ratio)
            self._context.observer.trial_finished(trial, self._context.budget.trials, best)
            self._proposals.tell(trial, noise)
            self._begin_trials(running)

    def _end_early(self, why: str) -> None:
        """Keep the trials that ended before the first one that the budget did not allow."""
        result = self._result
        self._context.executor.abandon_all(why)
        result.trials[:] = [t for place, t in enumerate(result.trials, 1) if t.number == place]
        result.stopped_because, result.is_cut = why, True

    def _begin_trials(self, running: UnitsInFlight[Trial]) -> None:
        """Begin as many trials as may be in flight now; if there are none, return why."""
        while wanted := self._n_wanted(running):
            proposals = self._proposals.ask(self._n_asked + 1, wanted)
            for proposal in proposals:
                self._n_asked += 1
                self._propose(self._n_asked, proposal)
                running.start(
                    self._n_asked,
                    partial(self._try, self._n_asked, proposal, self._best_ratio()),
                )
            if not proposals:
                break
        if not running.busy and not self._result.stopped_because:
            self._result.stopped_because = self._strategy.finished_because

    def _n_wanted(self, running: UnitsInFlight[Trial]) -> int:
        """Return how many trials to request: those that were begun at this point, or new ones.

        Requests to the strategy and results for it are in the same order after a restart.
        """
        n_results, n = len(self._result.trials), 0
        while self._n_results_before(self._n_asked + n + 1) == n_results:
            n += 1
        if n or self._n_results_before(self._n_asked + 1) is not None:
            return n
        while n < running.free:
            why = self._why_stop(self._n_asked + n, n, running.busy)
            if why:
                if not running.busy + n:
                    self._result.stopped_because = why
                    self._result.is_cut = not self._result.trials
                break
            n += 1
        return n

    def _n_results_before(self, number: int) -> int | None:
        """Return how many results the strategy had when it proposed a trial; None if not yet."""
        recorded = self._context.ledger.recall(f"proposal/{number}")
        return None if recorded is None else int(recorded.get("told", number - 1))

    def _next_trial(self, running: UnitsInFlight[Trial]) -> Trial:
        """Wait for a trial to end; after a restart they end in the recorded order."""
        name, ledger = f"told/{len(self._result.trials) + 1}", self._context.ledger
        if running.busy == 1:
            return running.take()[1]
        number, trial = running.take(ledger.recall(name))
        ledger.remember(name, lambda: number)
        return trial

    def _why_stop(self, begun: int, begin_now: int, busy: int) -> str:
        """Return why no further trial may begin; this is recorded when none is in flight.

        Args:
            begun: Number of trials that were begun, including those that begin now.
            begin_now: Number of these trials that have no run yet.
            busy: Number of other trials in flight.
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
        self._context.ledger.remember(f"trial/{number}", lambda: _journal_entry(outcome))
        return outcome

    def _propose(self, number: int, proposal: Proposal) -> None:
        n_results = len(self._result.trials)
        data = to_json(proposal)
        if n_results != number - 1:
            data["told"] = n_results
        self._context.ledger.remember(f"proposal/{number}", lambda: data)
        self._context.observer.trial_started(number, self._context.budget.trials)

    def _verify(self, runs: TrialRuns, trial: Trial) -> Steps[Trial]:
        """Compare a trial's outputs with the baseline's; reject it if an output of a case differs.

        Every trial that may be judged is compared, not only the best so far: its turn may come if
        a better one fails.
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
        """Compare an output with those of two baselines; repeat runs to examine differences.

        Values that two early baselines had in common (a minute, a date, a name derived from it)
        may by now differ in every run.  Random differences (bytes that several ranks write, sums
        in the order of threads) occur in one run of two: they are recognised by their differences
        without that status.
        """
        first, second = case.baseline.kept_runs
        run_id, name = case.candidates[0].run_id, f"verification/{trial.number}"
        found = self._compared(name, (first, second), run_id, case, trial)
        fresh = anew = None
        if found.status is VerificationStatus.DIFFERENT:
            fresh = yield from self._repeat_for_output(runs, case, RunRole.BASELINE)
        if fresh is not None:
            found = self._compared(f"{name}/again", (first, fresh.run_id), run_id, case, trial)
            if found.status is VerificationStatus.DIFFERENT:
                anew = yield from self._repeat_for_output(runs, case, RunRole.TRIAL)
        if fresh is not None and anew is not None:
            both, run_id = (first, fresh.run_id), anew.run_id
            if not self._compared(f"{name}/anew", both, run_id, case, trial).differences:
                found = replace(found, status=VerificationStatus.NOT_VERIFIABLE)
        for run in (fresh, anew):
            if run is not None:
                self._context.executor.release(run)
        return found

    def _repeat_for_output(
        self, runs: TrialRuns, case: CaseRuns, role: RunRole
    ) -> Steps[Measurement | None]:
        """Repeat baseline or candidate for its output; None if the budget is spent or it fails."""
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
            shown = settings_by_files(trial.settings, lambda name, value: f"{name}={value}")
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
            message=case.context.with_case_name(text),
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
        """Return the noise that was known at this trial; recorded, since more runs follow."""
        noise: float = self._context.ledger.remember(f"noise/{number}", self._context.noise)
        return noise


def _journal_entry(trial: Trial) -> Any:
    """Return the journal entry of a trial; its state is restored from its runs."""
    names = ("number", "settings", "state", "io_ratio", "elapsed_ratio", "message")
    data = {name: to_json(getattr(trial, name)) for name in names}
    return finite(data | {"runs": [run.run_id for run in trial.measurements]})


# The next points to try: those that were begun according to the journal, then new proposals.


class Proposals:
    """Calls a strategy, and keeps recorded trials that it does not propose.

    A later version of a strategy may propose other points than those that a study has tried.
    The recorded trials are kept, and answer the strategy if it proposes their points later.
    """

    def __init__(self, strategy: Strategy, recall: Callable[[str], Any]) -> None:
        """Store the strategy and a function that returns a recorded value, or None."""
        self._strategy = strategy
        self._recall = recall
        self._waiting: list[Proposal] = []
        self._followed: dict[Hashable, Trial | None] = {}

    def ask(self, first: int, n: int) -> list[Proposal]:
        """Return the points of up to `n` trials, whose numbers begin with `first`.

        Raises:
            StudyError: A recorded trial has a setting that this version does not know.
        """
        found: list[Proposal] = []
        for number in range(first, first + n):
            recorded = self._recall(f"proposal/{number}")
            proposal = (
                self._next() if recorded is None else self._recorded_proposal(number, recorded)
            )
            if proposal is None:
                break
            found.append(proposal)
        return found

    def tell(self, trial: Trial, noise: float) -> None:
        """Pass a result to the strategy, either now or when it proposes that point."""
        key = key_of(trial.settings)
        if key in self._followed:
            self._followed[key] = trial
            return
        self._strategy.noise = noise
        self._strategy.tell(trial)

    def _recorded_proposal(self, number: int, recorded: Mapping[str, Any]) -> Proposal:
        """Return a recorded point, as the strategy's own proposal if it proposes it now."""
        found = from_json(Proposal, recorded)
        settings = _known_settings(number, found.settings)
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
            if known is None:  # the trial is in flight
                self._waiting = waiting
                return None
            self._strategy.tell(replace(known, settings=waiting[0].settings))
        return None


def _known_settings(number: int, settings: Mapping[str, Value]) -> Mapping[str, Value]:
    try:
        for name, value in settings.items():
            tunable_of(name).check(value)
    except UsageError as error:
        raise StudyError(
            f"trial {number} of the journal cannot be reproduced ({error}); finish the study with "
            "the version of Stripewise that started it, or start over with --force"
        ) from error
    return settings


# Progress of a study's trials on the ladder of burst-buffer nodes.


def rungs_of(context: Context, tried: Sequence[tuple[Trial, float]] = ()) -> tuple[RungAhead, ...]:
    """Return the numbers of nodes that the search has not tried yet.

    Args:
        context: Context of the study.
        tried: Trials, each with the noise that was passed to the strategy with it.
    """
    return rungs_ahead(partial(make_strategy, context), context.facts, tried)


def record_reach(context: Context) -> None:
    """Record and show how many rungs the trials are likely to reach, if there are several."""
    rungs = rungs_of(context)
    trials = context.budget.trials_within(context.run_seconds)
    if len(rungs) > 1:
        context.decide(f"reach/{trials}", reach_text(rungs, trials))


# The strategy of a study, created according to its options.


def make_strategy(context: Context) -> Strategy:
    """Return the strategy; it gets a baseline run if there is only one case.

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
