# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Limits the resources of a study: configurations, runs, time, node-hours, bytes.

There are two kinds of checks.  Before a trial or pairs begin, all of their runs must be expected
to fit.  And no run of any kind may begin that is expected to exceed a limit, nor continue beyond
one (`check_run`, `check_running`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from stripewise.core import NOTHING, Amount, Measurement, RunRole
from stripewise.core.errors import PolicyError, UsageError
from stripewise.settings import Policy
from stripewise.study.plan._ledger import StudyLedger
from stripewise.study.plan._options import MINIMUM_RUNS, StudyOptions
from stripewise.study.plan._statistics import LOOKS

NO_LIMIT = 10**6
"""Maximum number of trials if another limit ends the search."""
TRIAL_RUNS = 2
"""Least number of runs of a trial of one case: itself and an adjacent baseline run."""
WARM_UP_FACTOR = 2.0
"""Factor by which the first run may be slower than later ones: it is recorded call by call and
finds cold caches (observed: 1.5 to 2.1).
"""
LEAST_RUN_SECONDS = 1.0
"""Least time of a job (assumed): a budget too small for the necessary jobs is refused at once."""
ENDING_SECONDS = 3.0
"""Time that a job takes to begin and to end (assumed).  It is charged as well, so a job is ended
this long before its budget is spent.
"""


class BudgetSpentError(Exception):
    """Raised if a run must not begin or continue; the message says which limit it would exceed."""


@dataclass(frozen=True)
class Budget:
    """Limits of a study; None means no limit.

    Attributes:
        ledger: Ledger of the study, which records what was used.
        trials: Maximum number of configurations.
        runs: Maximum number of runs of any kind.
        seconds: Maximum active time over all sessions.
        total_bytes: Maximum number of bytes that all runs write (a site's cap).
        reserved_runs: Number of `runs` that are reserved for the winner's pairs.
        node_seconds: Maximum node-seconds of the jobs.
        nodes: Number of nodes of one run.
        why: Source of a limit that is not from the user.
        n_cases: Number of cases on which each trial is run.
        charged: Returns the node-seconds of all allocations so far, including their idle times;
            None if the launcher has no allocations.
    """

    ledger: StudyLedger
    trials: int
    runs: int | None
    seconds: float | None
    total_bytes: int | None
    reserved_runs: int
    node_seconds: float | None = None
    nodes: int = 1
    why: str = ""
    n_cases: int = 1
    charged: Callable[[], float | None] = lambda: None

    @property
    def trial_runs(self) -> int:
        """Least number of runs of a trial, over all cases."""
        return TRIAL_RUNS * self.n_cases

    def trials_within(self, run_seconds: float) -> int:
        """Return the maximum number of trials if runs take as long as a baseline's."""
        run_seconds = max(run_seconds, 1e-9)
        limits = [self.runs] if self.runs is not None else []
        if self.seconds is not None:
            limits.append(int(self.seconds / run_seconds))
        if self.node_seconds is not None:
            limits.append(int(self.node_seconds / run_seconds / self.nodes))
        beside = (MINIMUM_RUNS - TRIAL_RUNS) * self.n_cases
        return min([self.trials, *(max(0, n - beside) // self.trial_runs for n in limits)])

    def why_no_trial(self, trials_done: int, run_seconds: float, begin_now: int = 0) -> str:
        """Return why no further trial may begin; empty if one may.

        Args:
            trials_done: Number of trials so far, including those in flight.
            run_seconds: Mean time of a baseline run over the cases.
            begin_now: Number of these trials that have no run yet.
        """
        if trials_done >= self.trials:
            return f"{trials_done} of {self.trials} trials used{self.why}"
        wanted = self.trial_runs + self.reserved_runs
        return self._why_not(wanted, run_seconds, begin_now * self.trial_runs)

    def allows(self, runs: int, run_seconds: float, *, final: bool = False) -> bool:
        """Return whether the budget allows more runs; `final` runs may use the reserved ones."""
        return not self._why_not(runs + (0 if final else self.reserved_runs), run_seconds)

    def check_smallest(self, written: Amount = NOTHING) -> None:
        """Refuse a study for which the policy does not even allow one trial.

        Args:
            written: Bytes that one run of every case writes.

        Raises:
            PolicyError: The policy is too strict; the message has its limit and what is needed.
        """
        least = MINIMUM_RUNS * self.n_cases
        if self.runs is not None and self.runs < least:
            raise PolicyError(
                f"the policy allows {self.runs} runs, and a study takes at least {least}; "
                "ask for a higher max_runs"
            )
        if self.total_bytes is not None and not written.is_exact:
            raise PolicyError(
                f"the policy allows a study to write {self.total_bytes} bytes, and how much this "
                f"one writes is not known ({written.why}); ask for a policy without max_bytes"
            )
        write_bytes = int(written.least)
        needed = MINIMUM_RUNS * write_bytes
        if self.total_bytes is not None and needed > self.total_bytes:
            raise PolicyError(
                f"the policy allows a study to write {self.total_bytes} bytes, and this one "
                f"takes at least {needed} ({MINIMUM_RUNS} times {write_bytes}); tune a smaller "
                "case, or ask for a higher max_bytes"
            )

    @property
    def spent_node_seconds(self) -> float:
        """Node-seconds of the jobs so far."""
        return max(self._node_seconds_of_runs, self.charged() or 0.0)

    @property
    def is_timed(self) -> bool:
        """Whether a run can exceed a limit while it is running."""
        return self.seconds is not None or self.node_seconds is not None

    @property
    def rest_seconds(self) -> float | None:
        """Time for which one more run is covered by the budget; None for no limit.

        The run is ended after that time even if it is not observed.
        """
        if self.node_seconds is None:
            return None
        return max(1.0, (self.node_seconds - self.spent_node_seconds) / self.nodes)

    def check_run(self, case: str) -> None:
        """Refuse a run that is expected to exceed a limit.

        Before the search, this applies to every run of a study that does not fit into the limits.

        Raises:
            BudgetSpentError: The message says which limit.
        """
        entries = self.ledger.entries
        if self.runs is not None and len(entries) + len(self.ledger.open_runs) >= self.runs:
            raise BudgetSpentError(f"run budget: all {self.runs} runs are used")
        known = self._run_seconds_of_cases()
        is_searching = any(entry.role is RunRole.TRIAL for entry in entries)
        why = "" if is_searching else self._exceeds(self._least_seconds(known), _LEAST)
        if why := why or self._exceeds(known.get(case, 0.0), "the next run takes"):
            raise BudgetSpentError(why)

    def check_running(self, role: RunRole, run_seconds: float) -> None:
        """Refuse the continuation of a run.

        The first run of a case must leave enough for the other runs of a study.

        Args:
            role: Role of the run.
            run_seconds: Time that the run has taken so far.

        Raises:
            BudgetSpentError: The run would exceed a limit; the message says which.
        """
        if why := self._exceeds(0.0, ""):
            raise BudgetSpentError(f"{why}; the run that was under way was ended")
        least = run_seconds / WARM_UP_FACTOR * (MINIMUM_RUNS - 1)
        if role is RunRole.WARM_UP and (why := self._exceeds(least, _LEAST, overhead=1.0)):
            raise BudgetSpentError(f"{why}; its first run was ended after {run_seconds:.3g} s")

    def why_no_pairs(self, run_seconds: float) -> str:
        """Return why the pairs of a candidate may not begin; empty if they may."""
        return self._why_not(2 * LOOKS[0] * self.n_cases, run_seconds, what=_PAIRS)

    def _exceeds(self, run_seconds: float, what: str, overhead: float | None = None) -> str:
        """Return which limit more run time would exceed; empty if none.

        Args:
            run_seconds: Additional time of runs.
            what: Name of these runs for the message.
            overhead: Factor of the cost of their allocations; None for that of the runs so far.
        """
        used = self.ledger.seconds_so_far()
        if self.seconds is not None and used + run_seconds > self.seconds:
            more = f"; {what} about {run_seconds:.3g} s" if run_seconds else ""
            return f"time budget: {used:.0f} of {self.seconds:.6g} s used{more}"
        if self.node_seconds is None:
            return ""
        spent, overhead = self.spent_node_seconds, overhead or self._overhead
        more_seconds = run_seconds * self.nodes * overhead
        ending = ENDING_SECONDS * self.nodes if spent > self._node_seconds_of_runs else 0.0
        if spent + more_seconds + ending > self.node_seconds:
            hours, of = spent / 3600, self.node_seconds / 3600
            more = f"; {what} about {more_seconds / 3600:.3g}" if run_seconds else ""
            return f"node-hour budget: {hours:.3g} of {of:.3g} node-hours used{more}"
        return ""

    @property
    def _node_seconds_of_runs(self) -> float:
        return sum(_job_seconds(e.measurement) for e in self.ledger.entries) * self.nodes

    @property
    def _overhead(self) -> float:
        """Cost of the allocations relative to that of the runs in them; at least 1."""
        of_runs = self._node_seconds_of_runs
        spent = self.spent_node_seconds - ENDING_SECONDS * self.nodes
        return max(1.0, spent / of_runs) if of_runs > 0 else 1.0

    def _run_seconds_of_cases(self) -> dict[str, float]:
        """Return the duration of a run for each case for which it is known."""
        baselines: dict[str, list[float]] = {}
        found: dict[str, float] = {}
        for entry in self.ledger.entries:
            if entry.role is RunRole.WARM_UP and entry.measurement.ok:
                found[entry.case] = _job_seconds(entry.measurement) / WARM_UP_FACTOR
            elif entry.role is RunRole.BASELINE and entry.measurement.ok:
                baselines.setdefault(entry.case, []).append(_job_seconds(entry.measurement))
        return found | {case: median(seconds) for case, seconds in baselines.items()}

    def _least_seconds(self, known: Mapping[str, float]) -> float:
        """Return the time of the remaining runs of a study with one trial, for the known cases."""
        made = [entry.case for entry in self.ledger.entries]
        return sum(max(0, MINIMUM_RUNS - made.count(case)) * one for case, one in known.items())

    def _why_not(self, runs: int, run_seconds: float, begin_now: int = 0, what: str = "") -> str:
        """Return which limit a number of further runs would exceed; empty if none.

        Runs in flight are included, as are the first runs of `begin_now` trials.
        """
        entries = self.ledger.entries
        done = len(entries) + self.trial_runs * len(self.ledger.open_runs) + begin_now
        what = what or _TRIAL
        if self.runs is not None and done + runs > self.runs:
            return f"run budget: {done} of {self.runs} runs used; {what} {runs}"
        if why := self._exceeds(runs * run_seconds, what):
            return why
        written = [entry.measurement.amount("write_bytes") for entry in entries]
        largest = max((one.least for one in written), default=0.0)
        spent = sum(one.least if one.is_exact else largest for one in written)
        ahead = largest * (self.trial_runs + self.reserved_runs)
        if self.total_bytes is not None and written and spent + ahead > self.total_bytes:
            return f"policy: at most {self.total_bytes} bytes may be written by a study"
        return ""


_PAIRS = f"{LOOKS[0]} pairs take"
_TRIAL = f"another trial and the winner's {_PAIRS}"
_LEAST = f"the rest of a study of one trial ({MINIMUM_RUNS} runs of each case) takes"


def check_node_hours(node_hours: float | None, nodes: int) -> None:
    """Refuse a budget that is too small for any study, however short its runs are.

    Raises:
        UsageError: The budget is too small; the message says what a study needs.
    """
    least = MINIMUM_RUNS * LEAST_RUN_SECONDS * nodes
    if node_hours is not None and 3600 * node_hours < least:
        raise UsageError(
            f"--budget: {node_hours:g} node-hours are {3600 * node_hours:.3g} s of one node, and "
            f"a study takes at least {MINIMUM_RUNS} runs on {nodes}: nothing was submitted; give "
            f"more than {least / 3600:.2g} node-hours, by what a run takes"
        )


def _job_seconds(run: Measurement) -> float:
    """Return how long a run occupied its nodes, including staging to and from a burst buffer."""
    return run.elapsed_seconds + (run.stage_in_seconds or 0.0) + (run.stage_out_seconds or 0.0)


def make_budget(
    options: StudyOptions,
    policy: Policy,
    ledger: StudyLedger,
    nodes: int = 1,
    charged: Callable[[], float | None] = lambda: None,
) -> Budget:
    """Return the budget that the user requests, limited by the policy.

    Args:
        options: Options of the study.
        policy: Policy of site and user.
        ledger: Ledger of the study.
        nodes: Number of nodes of one run.
        charged: Returns the cost of allocations so far; see `Budget`.
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
        charged=charged,
    )


def most_trials(options: StudyOptions) -> int:
    """Return the limit on the number of configurations; `NO_LIMIT` if another limit is given."""
    if options.trials is not None:
        return options.trials
    limits = (options.runs, options.time_seconds, options.node_hours)
    return NO_LIMIT if any(limit is not None for limit in limits) else options.usual_trials
