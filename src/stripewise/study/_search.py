# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The search: ask the strategy, run the trial beside the baseline, judge, tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from stripewise.errors import StudyError
from stripewise.model import Measurement, Trial, TrialState, Verification, VerificationStatus
from stripewise.strategies import Proposal, Strategy
from stripewise.study import _codec as codec
from stripewise.study._baseline import Baseline
from stripewise.study._case_runs import CaseRuns
from stripewise.study._context import Context
from stripewise.study._effective import effective_settings
from stripewise.study._playoff import QUIET, play_off
from stripewise.study._search_result import SearchResult
from stripewise.study._trial_runs import TrialRuns, slower_limit
from stripewise.tunables import SafetyClass, settings_class


class Search:
    """Runs trials until a budget, the strategy or a lack of progress ends it."""

    def __init__(
        self, context: Context, baselines: Sequence[Baseline], strategy: Strategy
    ) -> None:
        """Take the parts."""
        self._context = context
        self._baselines = baselines
        self._run_seconds = sum(b.run_seconds for b in baselines) / len(baselines)
        self._strategy = strategy
        self._result = SearchResult()
        self._last_gain = 0
        self._runs: dict[int, TrialRuns] = {}

    def run(self) -> SearchResult:
        """Search; everything that the journal holds already is taken from it."""
        result = self._result
        while not result.stopped_because:
            number = len(result.trials) + 1
            result.stopped_because = self._why_stop(number)
            if result.stopped_because:
                break
            proposals = self._strategy.ask(1)
            if not proposals:
                why = self._strategy.finished_because
                result.stopped_because = f"the strategy has nothing more to try: {why}"
                break
            trial = self._try(number, proposals[0])
            result.trials.append(trial)
            self._strategy.noise = self._noise(number)
            self._strategy.tell(trial)
        play_off(self._context, result, self._runs, self._judge_last)
        return result

    def _why_stop(self, number: int) -> str:
        """Say why trial `number` may not begin; what was begun before a restart may go on."""
        ledger = self._context.ledger
        if ledger.recall(f"proposal/{number}") is not None:
            return ""
        recorded = ledger.recall("search-stopped")
        if recorded is not None:
            return str(recorded)
        why = self._context.budget.why_no_trial(ledger, number - 1, self._run_seconds)
        patience = max(self._context.options.patience, self._strategy.least_patience)
        if not why and number - 1 - self._last_gain >= patience:
            why = f"no improvement in the last {patience:.0f} trials"
        if why:
            ledger.remember("search-stopped", lambda: why)
        return why

    def _try(self, number: int, proposal: Proposal) -> Trial:
        context, best = self._context, self._best_ratio()
        self._propose(number, proposal)
        trial = TrialRuns(context, self._baselines, number, proposal)
        self._runs[number] = trial
        trial.bring_to(1)
        noise = self._noise(number)
        if trial.ok and _promises(trial.io_ratio, best, noise) and trial.affordable(2):
            trial.bring_to(2)
        outcome = self._judge(trial, noise)
        if outcome.state is TrialState.COMPLETE and outcome.io_ratio < 1:
            outcome = self._verify(trial, outcome)
        if outcome.state is TrialState.COMPLETE and outcome.io_ratio < best * (1 - noise / 2):
            self._last_gain = number
        trial.release()
        context.ledger.trial(_trial_record(outcome))
        best_now = min(best, outcome.io_ratio)
        context.observer.trial_finished(outcome, context.budget.trials, best_now)
        return outcome

    def _propose(self, number: int, proposal: Proposal) -> None:
        settings = codec.settings_to_json(proposal.settings)
        recorded = self._context.ledger.remember(
            f"proposal/{number}", lambda: {"settings": settings, "reason": proposal.reason}
        )
        if recorded["settings"] != settings:
            raise StudyError(
                f"trial {number} of the journal tries {recorded['settings']}, but the strategy "
                f"now proposes {settings}: the journal is of another version; begin anew "
                "with --force"
            )
        text = " ".join(f"{name}={value}" for name, value in proposal.settings.items())
        self._context.observer.trial_started(
            number, self._context.budget.trials, text, proposal.reason
        )

    def _judge(self, runs: TrialRuns, noise: float) -> Trial:
        state, message, slower = TrialState.COMPLETE, runs.proposal.reason, runs.slower
        if runs.failure:
            state, message = TrialState.FAILED, runs.failure
        elif slower is not None:
            state, said = TrialState.HOPELESS, slower.context.said("clearly slower")
            message = f"{said} than the baseline ({slower.io_ratio:.2f} times its I/O time)"
        elif runs.io_ratio > slower_limit(noise):
            state = TrialState.HOPELESS
            message = f"clearly slower than the baseline after {runs.rounds} run"
        return Trial(
            number=runs.number,
            settings=dict(runs.proposal.settings),
            configuration=self._context.executor.configure(runs.proposal.settings),
            state=state,
            measurements=runs.candidates,
            io_ratio=runs.io_ratio,
            elapsed_ratio=runs.elapsed_ratio,
            message=message,
            details=_details(runs),
            case_ratios=runs.case_ratios,
        )

    def _verify(self, runs: TrialRuns, trial: Trial) -> Trial:
        """Compare a trial's outputs with the baseline's; reject it if one of a case differs.

        Every trial that may come to the pairs is compared, not only the best so far: its turn
        can come when a better one fails.
        """
        found = self._result.verifications.setdefault(trial.number, {})
        for case in runs.cases:
            found[case.context.name] = verification = self._verify_case(case, trial)
            self._context.observer.verified(trial, verification, case.context.name)
            if verification.status is VerificationStatus.DIFFERENT:
                return self._rejected(case, trial, verification)
        return trial

    def _verify_case(self, case: CaseRuns, trial: Trial) -> Verification:
        first, second = case.baseline.kept_runs
        name = f"verification/{trial.number}"
        verification = self._compared(name, (first, second), case, trial)
        if verification.status is VerificationStatus.DIFFERENT:
            fresh = self._fresh_baseline(case)
            if fresh is not None:
                verification = self._compared(f"{name}/again", (first, fresh.run_id), case, trial)
                self._context.executor.release(fresh)
        return verification

    def _rejected(self, case: CaseRuns, trial: Trial, verification: Verification) -> Trial:
        file, what = next(iter(verification.differences.items()))
        text = f"its output differs from the baseline's: {file}: {what}"
        shown = " ".join(f"{name}={value}" for name, value in trial.settings.items())
        case.context.decide(f"rejected/{trial.number}", f"trial {trial.number} REJECTED: {text}")
        case.context.warn(f"REJECTED {shown}: {text}; do not use these settings")
        return replace(
            trial,
            state=TrialState.REJECTED,
            io_ratio=inf,
            elapsed_ratio=inf,
            message=case.context.said(text),
        )

    def _compared(
        self, name: str, baselines: Sequence[str], case: CaseRuns, trial: Trial
    ) -> Verification:
        layout = settings_class(trial.configuration) is not SafetyClass.SAFE
        compare = case.context.tools.compare
        return codec.verification_from_json(
            case.context.remember(
                name,
                lambda: codec.verification_to_json(
                    compare(baselines, case.candidates[0].run_id, layout)
                ),
            )
        )

    def _fresh_baseline(self, case: CaseRuns) -> Measurement | None:
        """Run the unchanged program now, before a candidate is called wrong; None: no budget.

        What two early baselines had in common (a minute, a date, a name made of either) may
        differ in every run by now.
        """
        context, slot = case.context, case.verification_slot()
        begun = context.ledger.measurement(slot.name) is not None
        seconds = case.baseline.run_seconds
        if not begun and not context.budget.allows(context.ledger, 1, seconds, final=False):
            return None
        return context.baseline(slot)

    def _best_ratio(self) -> float:
        found = self._result.candidates()
        return found[0].io_ratio if found else 1.0

    def _noise(self, number: int) -> float:
        """Return the noise as known at this trial; recorded, since the runs go on."""
        noise: float = self._context.ledger.remember(f"noise/{number}", self._context.noise)
        return noise

    def _judge_last(self, runs: TrialRuns) -> Trial:
        return self._judge(runs, self._noise(len(self._result.trials)))


def _promises(ratio: float, best: float, noise: float) -> bool:
    """Whether a trial deserves a second round: it is the best, or bad luck may have hidden it."""
    return ratio < best or (noise > QUIET and 1 <= ratio < 1 + noise / 2)


def _details(runs: TrialRuns) -> dict[str, str]:
    """Return what the settings did, in each case."""
    return {
        f"{case.context.name}: {name}" if case.context.name else name: text
        for case in runs.cases
        for name, text in effective_settings(
            runs.proposal.settings, case.candidates, case.beside
        ).items()
    }


def _trial_record(trial: Trial) -> codec.Json:
    return {
        "number": trial.number,
        "settings": codec.settings_to_json(trial.settings),
        "state": trial.state.value,
        "runs": [run.run_id for run in trial.measurements],
        "io_ratio": codec.ratio_to_json(trial.io_ratio),
        "elapsed_ratio": codec.ratio_to_json(trial.elapsed_ratio),
        "message": trial.message,
    }
