# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study may use: configurations, executions, time, bytes."""

from __future__ import annotations

from dataclasses import dataclass

from stripewise.errors import PolicyError
from stripewise.model import Measurement
from stripewise.policy import Policy
from stripewise.study._ledger import Ledger
from stripewise.study._options import MINIMUM_RUNS, StudyOptions
from stripewise.study._statistics import LOOKS

NO_LIMIT = 10**6
"""Trials where another limit ends the search."""
TRIAL_RUNS = 2
"""Runs that a trial of one case takes at least: itself and a baseline run beside it."""


@dataclass(frozen=True)
class Budget:
    """Limits; None: no limit.

    Attributes:
        ledger: Of the study: what was used.
        trials: Configurations.
        runs: Executions, every one counted.
        seconds: Time at work, over all sessions.
        total_bytes: Bytes that all runs write (a site's cap).
        reserved_runs: Of `runs`, kept for the winner's pairs.
        node_seconds: Of the jobs; nodes: how many one run has.
        why: Where a limit comes from, if not from the user.
        n_cases: How many cases each trial is run on.
    """

    ledger: Ledger
    trials: int
    runs: int | None
    seconds: float | None
    total_bytes: int | None
    reserved_runs: int
    node_seconds: float | None = None
    nodes: int = 1
    why: str = ""
    n_cases: int = 1

    @property
    def trial_runs(self) -> int:
        """Runs that a trial takes at least, over all cases."""
        return TRIAL_RUNS * self.n_cases

    def trials_within(self, run_seconds: float) -> int:
        """Return how many trials the limits hold at most, if runs take as long as a baseline's."""
        run_seconds = max(run_seconds, 1e-9)
        limits = [self.runs] if self.runs is not None else []
        if self.seconds is not None:
            limits.append(int(self.seconds / run_seconds))
        if self.node_seconds is not None:
            limits.append(int(self.node_seconds / run_seconds / self.nodes))
        beside = (MINIMUM_RUNS - TRIAL_RUNS) * self.n_cases
        return min([self.trials, *(max(0, n - beside) // self.trial_runs for n in limits)])

    def why_no_trial(self, trials_done: int, run_seconds: float, begin_now: int = 0) -> str:
        """Say why no further trial may begin; "" if one may.

        Args:
            trials_done: So far, those in flight included.
            run_seconds: What a run of the baseline takes, on average over the cases.
            begin_now: How many of these have no run yet.
        """
        if trials_done >= self.trials:
            return f"{trials_done} of {self.trials} trials used{self.why}"
        wanted = self.trial_runs + self.reserved_runs
        return self._why_not(wanted, run_seconds, begin_now * self.trial_runs)

    def allows(self, runs: int, run_seconds: float, *, final: bool = False) -> bool:
        """Whether so many runs more are within the budget; final: those kept for the pairs too."""
        return not self._why_not(runs + (0 if final else self.reserved_runs), run_seconds)

    def check_smallest(self, write_bytes: int = 0) -> None:
        """Refuse a study that the policy does not even let show one trial.

        Args:
            write_bytes: What one run of every case writes, as far as it is known.

        Raises:
            PolicyError: With what is allowed and what it takes.
        """
        least = MINIMUM_RUNS * self.n_cases
        if self.runs is not None and self.runs < least:
            raise PolicyError(
                f"the policy allows {self.runs} runs, and a study takes at least {least}; "
                "ask for a higher max_runs"
            )
        needed = MINIMUM_RUNS * write_bytes
        if self.total_bytes is not None and needed > self.total_bytes:
            raise PolicyError(
                f"the policy allows a study to write {self.total_bytes} bytes, and this one "
                f"takes at least {needed} ({MINIMUM_RUNS} times {write_bytes}); tune a smaller "
                "case, or ask for a higher max_bytes"
            )

    def _why_not(self, runs: int, run_seconds: float, begin_now: int = 0) -> str:
        """Say which limit so many runs more would exceed; "" if none.

        Runs in flight count, and so do `begin_now` that are about to begin.
        """
        entries, used_seconds = self.ledger.entries, self.ledger.active_seconds
        done = len(entries) + self.trial_runs * len(self.ledger.open_runs) + begin_now
        kept = f"; the rest is kept for the winner's {LOOKS[0]} pairs"
        if self.runs is not None and done + runs > self.runs:
            return f"run budget: {done} of {self.runs} runs used{kept}"
        if self.seconds is not None and used_seconds + runs * run_seconds > self.seconds:
            return f"time budget: {used_seconds:.0f} of {self.seconds:.0f} s used{kept}"
        spent = sum(_job_seconds(entry.measurement) for entry in entries) * self.nodes
        wanted = runs * run_seconds * self.nodes
        if self.node_seconds is not None and spent + wanted > self.node_seconds:
            used, of = spent / 3600, self.node_seconds / 3600
            return f"node-hour budget: {used:.3g} of {of:.3g} node-hours used{kept}"
        sizes = [entry.measurement.write_bytes for entry in entries]
        ahead = max(sizes, default=0) * (self.trial_runs + self.reserved_runs)
        if self.total_bytes is not None and sizes and sum(sizes) + ahead > self.total_bytes:
            return f"policy: at most {self.total_bytes} bytes may be written by a study"
        return ""


def _job_seconds(run: Measurement) -> float:
    """Return how long a run kept its nodes, its copies to and from a burst buffer included."""
    return run.elapsed_seconds + (run.stage_in_seconds or 0.0) + (run.stage_out_seconds or 0.0)


def make_budget(options: StudyOptions, policy: Policy, ledger: Ledger, nodes: int = 1) -> Budget:
    """Return what the user asks for, narrowed to what the policy allows.

    Args:
        options: Of the study.
        policy: Of site and user.
        ledger: Of the study.
        nodes: That one run has.
    """
    trials = most_trials(options)
    capped = policy.max_trials is not None and policy.max_trials < trials
    n_cases = len(options.all_cases)
    runs = [limit for limit in (options.runs, policy.max_runs) if limit is not None]
    return Budget(
        ledger=ledger,
        trials=min(trials, policy.max_trials) if policy.max_trials is not None else trials,
        runs=min(runs, default=None),
        seconds=options.time_seconds,
        nodes=nodes,
        node_seconds=None if options.node_hours is None else 3600 * options.node_hours,
        total_bytes=policy.max_bytes,
        reserved_runs=2 * LOOKS[0] * n_cases,
        why=" (the policy's limit)" if capped else "",
        n_cases=n_cases,
    )


def most_trials(options: StudyOptions) -> int:
    """Return the limit on the number of configurations; `NO_LIMIT` where another one is given."""
    if options.trials is not None:
        return options.trials
    limits = (options.runs, options.time_seconds, options.node_hours)
    return NO_LIMIT if any(limit is not None for limit in limits) else options.usual_trials
