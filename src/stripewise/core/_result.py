# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the result of a study, with the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from stripewise.core._configuration import Value
from stripewise.core._facts import ProgramFacts
from stripewise.core._job_result import RungAhead
from stripewise.core._trial import Measurement, RunStatus, Speedup, Trial


class RunRole(StrEnum):
    """The purpose of a run."""

    WARM_UP = "warm-up"
    """Not counted as a measurement; it shows what the program does."""
    BASELINE = "baseline"
    TRIAL = "trial"
    PAIR_BASELINE = "pair-baseline"
    PAIR_WINNER = "pair-winner"
    REFERENCE = "reference"
    """The reference of a pair, with settings other than the unchanged program's."""
    REFERENCE_WINNER = "reference-winner"
    UNSYNCED_BASELINE = "unsynced-baseline"
    UNSYNCED_WINNER = "unsynced-winner"


BASELINE_ROLES = (RunRole.BASELINE, RunRole.PAIR_BASELINE)
"""Roles of synced runs of the unchanged program."""


@dataclass(frozen=True)
class RunEntry:
    """One run of a study.

    Attributes:
        role / measurement: Purpose and measurement of the run.
        trial_number / pair_number: Numbers of the trial and the pair that the run belongs to.
        case: Name of its case; empty in a study of one command.
    """

    role: RunRole
    measurement: Measurement
    trial_number: int | None = None
    pair_number: int | None = None
    case: str = ""


@dataclass(frozen=True)
class Price:
    """Cost of a study.

    Attributes:
        n_runs: Number of runs, including the warm-up.
        node_seconds: Node seconds of all runs.
        default_run_node_seconds: Node seconds of one run of the unchanged program (of each case).
    """

    n_runs: int
    node_seconds: float
    default_run_node_seconds: float

    @property
    def ratio(self) -> float:
        """Number of runs of the unchanged program that would have cost as much."""
        one = self.default_run_node_seconds
        return self.node_seconds / one if one > 0 else float("nan")


@dataclass(frozen=True)
class Decision:
    """One decision of the study with its reason, in words."""

    at_unix_seconds: float
    text: str


class VerificationStatus(StrEnum):
    """Outcome of comparing the winner's files with the baseline's."""

    IDENTICAL = "identical"
    """All files are equal bit for bit."""
    SAME_CONTENT = "same content"
    """HDF5 objects, attributes, types and all elements are equal; other bytes differ."""
    DIFFERENT = "different"
    NOT_VERIFIABLE = "not verifiable"
    """Two baselines differ from each other, or nothing is written."""
    NOT_DONE = "not done"


@dataclass(frozen=True)
class Verification:
    """Comparison of two runs' output files.

    Attributes:
        status: Outcome over all files.
        compared: Relative paths of the files that are equal.
        not_verifiable: Files in which two baselines already differ, with the reason.
        differences: File to its differences, if status is DIFFERENT.
    """

    status: VerificationStatus
    compared: tuple[str, ...] = ()
    not_verifiable: Mapping[str, str] = field(default_factory=dict)
    differences: Mapping[str, str] = field(default_factory=dict)


class CaseOutcome(StrEnum):
    """Outcome of the fresh pairs for one case."""

    FASTER = "faster"
    """The interval of its I/O speed-up is above 1."""
    SLOWER = "slower"
    """Its I/O time or elapsed time got worse by more than the tolerance."""
    OPEN = "left open"
    """It may have become slower, and the budget ended before its pairs could decide."""
    UNCHANGED = "no significant change"
    UNKNOWN = ""
    """No configuration reached the pairs."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Comparison of the unchanged program with the winning configuration.

    Attributes:
        facts: Facts about the program from the first run.
        baseline: The baseline measurements (before the search).
        speedup: Speed-up of the I/O time, from the winner's fresh pairs; None if there were none.
        elapsed_speedup: Speed-up of the elapsed time, from the same pairs.
        pairs: Measurements of the fresh pairs, as (baseline, winner).
        unsynced: Measurements without fsync at close, as (baseline, winner), for the record.
        verification: Comparison of the winner's output files with the baseline's.
        rejected: Number of a rejected trial to the verification that rejected it.
        resolution: Smallest gain that the noise of the baseline allows to detect, in words.
    """

    facts: ProgramFacts = field(default_factory=ProgramFacts)
    baseline: tuple[Measurement, ...] = ()
    speedup: Speedup | None = None
    elapsed_speedup: Speedup | None = None
    pairs: tuple[tuple[Measurement, Measurement], ...] = ()
    unsynced: tuple[Measurement, Measurement] | None = None
    verification: Verification = field(
        default_factory=lambda: Verification(VerificationStatus.NOT_DONE)
    )
    rejected: Mapping[int, Verification] = field(default_factory=dict)
    resolution: str = ""


@dataclass(frozen=True)
class CaseResult(Compared):
    """Result of one case (an input or a command) of a study; a plain study has one unnamed case.

    Attributes:
        name: Name of the case; empty in a study of one command.
        command: Command of the case.
        weight: Weight of its I/O-time ratio in the score of a trial.
        tunables: Names of the tunables that can act on it.
        outcome: Effect of the configuration that was tested in the fresh pairs.
    """

    name: str
    command: tuple[str, ...]
    weight: float = 1.0
    tunables: tuple[str, ...] = ()
    outcome: CaseOutcome = CaseOutcome.UNKNOWN


@dataclass(frozen=True)
class Reference:
    """Comparison, in fresh pairs, of the winner with settings that a user might otherwise use.

    Attributes:
        name: Name of the reference, for people.
        settings: Settings of the reference.
        speedup / elapsed_speedup: Speed-ups of the I/O time and of the elapsed time.
        pairs: Measurements of the pairs, as (reference, winner).
    """

    name: str
    settings: Mapping[str, Value]
    speedup: Speedup
    elapsed_speedup: Speedup
    pairs: tuple[tuple[Measurement, Measurement], ...] = ()


@dataclass(frozen=True)
class JobFigures:
    """Figures of a study of a job script other than its runs.

    Attributes:
        script: Path of the job script, as the user gave it.
        step: Number of the launch line that was tuned, from 1.
        compute_nodes: Compute nodes of a run of the unchanged script.
        winner_nodes: Compute nodes of a run of the winner; 0 if the number is the same.
        baseline_nodes: Burst-buffer nodes of the unchanged script; 0 for none.
        n_jobs: Number of jobs that were submitted.
        controller_requests: Number of requests to the batch system in the last session.
        node_seconds: Node seconds of all jobs.
        reasons: Trial number to the reason why it was tried.
        tuned_script: Path of the tuned script; empty if none was written.
        no_script: Why no script was written although settings were found; empty otherwise.
    """

    script: str
    step: int
    compute_nodes: int = 1
    winner_nodes: int = 0
    baseline_nodes: int = 0
    n_jobs: int = 0
    controller_requests: int = 0
    node_seconds: float | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)
    tuned_script: str = ""
    no_script: str = ""


@dataclass(frozen=True)
class StudyResult(Compared):
    """Result of a study: everything that a report shows.

    With several cases, speed-ups are weighted geometric means over them, `verification` and
    `rejected` put the case before each file name, `facts` are merged, and `baseline`, `pairs` and
    `unsynced` are empty, since `cases` contains them.

    Attributes:
        command: The user's command; with several, the first or the one that contains `{case}`.
        directory: The study's directory (absolute path).
        runs: All runs, in the order in which they were made.
        trials: All trials, in order.
        winner: Trial of the winning configuration; None if no trial was faster than the baseline.
        improved: Whether fresh pairs showed an overall I/O speed-up whose interval excludes 1, no
            increase of the overall elapsed time, and no slower case.
        stopped_because: Why the search ended.
        left_open: Why the budget ended the study before anything was decided; empty if something
            was.
        rungs_left: Numbers of burst-buffer nodes that the search planned but did not reach.
        decisions: Decisions, in order.
        warnings: Warnings for the user (oversubscription, settings that cannot act, ...).
        searched: Tunable name to the values that were tried.
        left_out: Name of a tunable that was not tried to the reason.
        provenance: Versions, host, storage, date, seed and strategy, each as text by name.
        cases: Result of each case, in the given order.
        job: Figures of a study of a job script; None for other studies.
        references: Comparisons of the winner with settings other than the unchanged program's.
    """

    command: tuple[str, ...]
    directory: str
    runs: tuple[RunEntry, ...] = ()
    trials: tuple[Trial, ...] = ()
    winner: Trial | None = None
    improved: bool = False
    stopped_because: str = ""
    left_open: str = ""
    rungs_left: tuple[RungAhead, ...] = ()
    decisions: tuple[Decision, ...] = ()
    warnings: tuple[str, ...] = ()
    searched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[CaseResult, ...] = ()
    references: tuple[Reference, ...] = ()
    job: JobFigures | None = None

    @property
    def emulated(self) -> str:
        """Storage that every run emulated, such as "archer2-hdd@1/64"; empty if none did."""
        return self.provenance.get("emulated", "")

    @property
    def outcome(self) -> str:
        """Outcome in words: "improved", "no improvement", "undecided" or "nothing tried"."""
        if self.improved:
            return "improved"
        if not self.left_open:
            return "no improvement"
        return "undecided" if self.trials else "nothing tried"

    @property
    def is_ensemble(self) -> bool:
        """Whether the study has several cases."""
        return len(self.cases) > 1

    @property
    def price(self) -> Price:
        """Cost of the study, on as many nodes as its first run used."""
        made = [run for run in self.runs if run.measurement.status is not RunStatus.CANCELLED]
        hosts = {case.name: max(1, case.facts.n_hosts) for case in self.cases}
        spent = sum(run.measurement.elapsed_seconds * hosts.get(run.case, 1) for run in made)
        one = 0.0
        for case in {run.case for run in made}:
            times = [
                run.measurement.elapsed_seconds
                for run in made
                if run.case == case and run.role in BASELINE_ROLES and run.measurement.ok
            ]
            one += median(times) * hosts.get(case, 1) if times else 0.0
        return Price(len(made), spent, one)
