# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records what a study found, and the evidence for it."""

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
    """Why a run was made."""

    WARM_UP = "warm-up"
    """Discarded as a measurement; it shows what the program does."""
    BASELINE = "baseline"
    TRIAL = "trial"
    PAIR_BASELINE = "pair-baseline"
    PAIR_WINNER = "pair-winner"
    REFERENCE = "reference"
    """A run of a pair against other settings than the unchanged program's."""
    REFERENCE_WINNER = "reference-winner"
    UNSYNCED_BASELINE = "unsynced-baseline"
    UNSYNCED_WINNER = "unsynced-winner"


BASELINE_ROLES = (RunRole.BASELINE, RunRole.PAIR_BASELINE)
"""Synced runs of the unchanged program."""


@dataclass(frozen=True)
class RunEntry:
    """One run of a study, in the order in which they were made.

    Attributes:
        role / measurement: Why it was made, what it gave.
        trial_number / pair_number: Of which trial and pair.
        case: Name of its case; "" in a study of one command.
    """

    role: RunRole
    measurement: Measurement
    trial_number: int | None = None
    pair_number: int | None = None
    case: str = ""


@dataclass(frozen=True)
class Price:
    """What a study cost.

    Attributes:
        n_runs: Executions, the warm-up included.
        node_seconds: Of all of them together.
        default_run_node_seconds: Of one run of the unchanged program (of each case).
    """

    n_runs: int
    node_seconds: float
    default_run_node_seconds: float

    @property
    def ratio(self) -> float:
        """How many runs of the unchanged program would have cost as much."""
        one = self.default_run_node_seconds
        return self.node_seconds / one if one > 0 else float("nan")


@dataclass(frozen=True)
class Decision:
    """One decision of the study with its reason, in plain words."""

    at_unix_seconds: float
    text: str


class VerificationStatus(StrEnum):
    """Outcome of comparing the winner's files with the baseline's."""

    IDENTICAL = "identical"
    """Bit for bit."""
    SAME_CONTENT = "same content"
    """HDF5 objects, attributes, types and every element; other bytes."""
    DIFFERENT = "different"
    NOT_VERIFIABLE = "not verifiable"
    """Two baselines differ from one another, or nothing is written."""
    NOT_DONE = "not done"


@dataclass(frozen=True)
class Verification:
    """Comparison of two runs' output files.

    Attributes:
        status: Outcome over all files.
        compared: Files found equal (relative paths).
        not_verifiable: Files in which two baselines differ already, with the reason.
        differences: File to what differs, where status is DIFFERENT.
    """

    status: VerificationStatus
    compared: tuple[str, ...] = ()
    not_verifiable: Mapping[str, str] = field(default_factory=dict)
    differences: Mapping[str, str] = field(default_factory=dict)


class CaseOutcome(StrEnum):
    """What the fresh pairs showed of one case."""

    FASTER = "faster"
    """The interval of its I/O speed-up lies above 1."""
    SLOWER = "slower"
    """Its I/O or its whole time got worse by more than the tolerance."""
    OPEN = "left open"
    """It may have got slower, and the budget ended before its pairs could tell."""
    UNCHANGED = "no significant change"
    UNKNOWN = ""
    """No configuration came to the pairs."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What the unchanged program and the winning configuration gave.

    Attributes:
        facts: What the first run showed.
        baseline: The baseline measurements (before the search).
        speedup: Of I/O time, from the winner's fresh pairs; None if there were none.
        elapsed_speedup: Of the whole time, from the same pairs.
        pairs: (baseline, winner) measurements of the fresh pairs.
        unsynced: (baseline, winner) run without fsync at close, for the record.
        verification: Of the winner against the baseline.
        rejected: Trial number to the verification that rejected it.
        resolution: What the spread of the baseline lets such a study see, in plain words.
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
    """One case (an input, a command) of a study; a plain study has one, without a name.

    Attributes:
        name: Of the case; "" in a study of one command.
        command: Its command.
        weight: Of its I/O-time ratio in the score of a trial.
        tunables: Names of those that can act on it.
        outcome: What the configuration that came to the fresh pairs did to it.
    """

    name: str
    command: tuple[str, ...]
    weight: float = 1.0
    tunables: tuple[str, ...] = ()
    outcome: CaseOutcome = CaseOutcome.UNKNOWN


@dataclass(frozen=True)
class Reference:
    """The winner compared, in fresh pairs, with settings that a user would otherwise have.

    Attributes:
        name: Of what it is compared with, for people.
        settings: Of that.
        speedup / elapsed_speedup: Of the I/O time and of the whole time.
        pairs: (reference, winner) measurements.
    """

    name: str
    settings: Mapping[str, Value]
    speedup: Speedup
    elapsed_speedup: Speedup
    pairs: tuple[tuple[Measurement, Measurement], ...] = ()


@dataclass(frozen=True)
class JobFigures:
    """What a study of a job script knows beside its runs.

    Attributes:
        script: Path of the job script, as the user gave it.
        step: Number of the launch line that was tuned, from 1.
        compute_nodes: Of a run of the script as it is.
        winner_nodes: Compute nodes of a run of the winner; 0: as many.
        baseline_nodes: Burst-buffer nodes of the script as it is; 0: none.
        n_jobs: Jobs that were submitted.
        controller_requests: Requests to the batch system in the last session.
        node_seconds: Of all jobs.
        reasons: Trial number to why it was tried.
        tuned_script: Path of the script that was left; "" if none was.
        no_script: Why none was left although settings were found; "" if that is not so.
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
    """Everything that a report shows.

    Where there are several cases, speed-ups are of the weighted geometric mean over them,
    `verification` and `rejected` name the case before each file, `facts` are merged, and
    `baseline`, `pairs` and `unsynced` are empty: they are found in `cases`.

    Attributes:
        command: The user's command; of several, the first or the one with `{case}` in it.
        directory: The study's directory (absolute path).
        runs: Every run, in order.
        trials: Every trial, in order.
        winner: Trial of the winning configuration; None if nothing beat the baseline.
        improved: Whether fresh pairs showed an I/O speed-up whose interval excludes 1 and the
            whole time did not get worse, overall, and that no case got slower.
        stopped_because: Why the search ended.
        left_open: Why a budget ended the study before anything was decided; "" if something was.
        rungs_left: Numbers of burst-buffer nodes that it has not come to, though it would have.
        decisions: In order.
        warnings: For the user (oversubscription, settings that cannot act, ...).
        searched: Tunable name to the values tried.
        left_out: Tunable name to the reason why it was not tried.
        provenance: Versions, host, storage, date, seed, strategy; text to text.
        cases: What each case showed, in the order given.
        job: Of a study of a job script.
        references: The winner against other settings than the unchanged program's.
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
        """Storage that was emulated in every run: "archer2-hdd@1/64"; "" if none was."""
        return self.provenance.get("emulated", "")

    @property
    def outcome(self) -> str:
        """In two words: "improved", "no improvement", "undecided", "nothing tried"."""
        if self.improved:
            return "improved"
        if not self.left_open:
            return "no improvement"
        return "undecided" if self.trials else "nothing tried"

    @property
    def is_ensemble(self) -> bool:
        """Whether there are several cases."""
        return len(self.cases) > 1

    @property
    def price(self) -> Price:
        """What the study cost, on as many nodes as its first run had."""
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
