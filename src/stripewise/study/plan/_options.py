# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines and checks the options that a user gives a study."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stripewise.core import Value, from_json, to_json
from stripewise.core.errors import StudyError, UsageError
from stripewise.present import printable
from stripewise.run.launch import DEFAULT_LAUNCHER, Launcher
from stripewise.run.runtime import program_name
from stripewise.run.shell import is_remote
from stripewise.settings.tunables import SafetyClass
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions
from stripewise.study.plan._cases import CASE_WORD, StudyCase, case_directory, check_cases
from stripewise.study.plan._statistics import LOOKS

# Options of a study of a job script; plain data that is recorded in the study's journal.

HYBRIDS = ("auto", "redirect", "links")
TIERS = ("auto", "none", "datawarp", "lua", "rabbit", "directory")


@dataclass(frozen=True)
class JobOptions:
    """Options for the jobs that a study makes from a job script.

    Attributes:
        script: Path of the job script, relative to the directory in which the study was begun.
        step: Number of the launch line to tune, from 1; None if there is only one.
        words: Arguments of the script.
        tier: Kind of burst buffer; "auto" for that of the script or of Slurm.
        pool: Pool of the burst buffer; empty for the default one.
        access: Access to a burst buffer: "striped" or "private".
        granularity_bytes / free_nodes: Override Slurm's values for the pool; 0 to keep them.
        capacity_bytes: Capacity on the burst buffer that the job needs; determines the least
            number of nodes.
        persistent: Name of an existing persistent burst buffer to use; empty if there is none.
        bb_nodes: Numbers of burst-buffer nodes to try; empty for 1x, 2x, 4x ... of the least.
        stage_in / stage_out: Directories that run.tuned.sh copies to and from the burst buffer;
            empty for the directory of the job.
        template: File with the directives of a tier that a site defines itself (lua).
        place: Path of the tier `directory` in the job, such as $TMPDIR or /flash/$USER; for
            `lua` the variable with its path.
        per_run: Whether to submit a job for each run instead of many runs in one allocation.
        allocation_seconds: Time limit of an allocation; None for the time of the remaining runs
            as far as the partition allows it.
        resources: Whether to try fewer ranks and more threads too, down to min_nodes.
        min_nodes: Least number of compute nodes with fewer ranks; 0 for one.
        hybrid: How only large files are placed on the burst buffer: "redirect" by the library,
            "links" in the job's directory, "auto" as the site prefers, otherwise by the library.
        digest: Digest of the script at the start of the study.
    """

    script: str
    step: int | None = None
    words: tuple[str, ...] = ()
    tier: str = "auto"
    pool: str = ""
    access: str = "striped"
    granularity_bytes: int = 0
    free_nodes: int | None = None
    capacity_bytes: int = 0
    persistent: str = ""
    bb_nodes: tuple[int, ...] = ()
    stage_in: str = ""
    stage_out: str = ""
    template: str = ""
    place: str = ""
    per_run: bool = False
    allocation_seconds: float | None = None
    resources: bool = False
    min_nodes: int = 0
    hybrid: str = "auto"
    digest: str = ""

    def __post_init__(self) -> None:
        if self.tier not in TIERS:
            raise UsageError(f"--tier {self.tier}: use one of {', '.join(TIERS)}")
        if self.hybrid not in HYBRIDS:
            raise UsageError(f"--hybrid {self.hybrid}: use one of {', '.join(HYBRIDS)}")
        if self.access not in ("striped", "private"):
            raise UsageError(f"--access {self.access}: use striped or private")
        if any(nodes < 1 for nodes in self.bb_nodes):
            raise UsageError("--bb-nodes 0: each run without a burst buffer is a baseline anyway")


# Options of a study.

DEFAULT_TRIALS = 20
TRIALS_OF_JOBS = 40
"""Default for a job script: climbing burst-buffer nodes with loops on each rung needs more."""
MINIMUM_RUNS = 6 + 2 * LOOKS[0]
"""Least runs of each case: warm-up, 3 baselines, a trial of 2 runs, pairs of the first look."""
NO_MACHINE = "none"
"""Name that selects no storage description: nothing is predicted, whatever is known."""
CLASSES = {
    "safe": frozenset({SafetyClass.SAFE}),
    "layout": frozenset({SafetyClass.SAFE, SafetyClass.LAYOUT}),
    "contract": frozenset(SafetyClass),
}


@dataclass(frozen=True)
class StudyOptions:
    """Options of a study; after a restart those that are recorded take precedence.

    Attributes:
        command: Arguments of the program to tune, not a shell command line; contains `{case}` if
            there are several inputs.
        directory: Directory of the study; by default `<program>.stripewise` in `origin`.
        origin: Directory in which the command is run by the user.
        trials / runs / time_seconds / node_hours: Maximum number of configurations, number of
            runs, time, and node-hours of jobs.
        strategy: Name of the search strategy.
        strategy_options: Options of the strategy as text.
        seed: Seed of every random choice.
        allow: Highest safety class of tunables that may be tried.
        only / exclude: Names of the only tunables to try, and of tunables not to try.
        vary: Tunable name to the values to try instead of its own ladder.
        ranks / ranks_per_node / threads: Job resources to try; empty for those of the command.
        inputs: Files and directories that the program reads, in addition to those observed.
        allow_outside: Files and directories outside of the copies that runs may change, relative
            to `origin`, and places on other hosts: `me@host:/data`.
        sync: Whether data must be on the storage when the clock stops.
        unsynced: Whether baseline and winner are also run once without sync, for the record.
        timeout_seconds: Time limit of a run; None to derive it from the baseline.
        keep: Whether containers and outputs of the runs are kept.
        keep_removed: Whether files that the program removes are kept until they were compared.
        patience: Number of trials without improvement that ends the search.
        launcher: Name of the launcher that runs the command.
        in_flight: Number of simultaneous runs; None for as many as the launcher allows.
        per_file: Whether classes of files may get their own settings.
        memory: Whether to use the results of earlier studies and to store those of this one.
        resume: Whether to resume the study in the directory.
        force: Whether to start anew although the directory contains a study.
        storage: Storage to emulate in every run; None to use the real storage.
        machine: Description of the storage whose simulation starts the search; empty for the
            known one with strategy `auto`; "none" for none.
        cases: Inputs or commands that share one configuration; empty for only the command.
        job: How jobs are made from a job script; None if the command is run directly.
        part / sharing: For one of several cases (see `of_case`): location of its runs in the
            study's directory, and the commands of all cases that share its copy of the inputs.
    """

    command: tuple[str, ...]
    directory: Path | None = None
    origin: Path = field(default_factory=Path.cwd)
    trials: int | None = None
    runs: int | None = None
    time_seconds: float | None = None
    node_hours: float | None = None
    strategy: str = "auto"
    strategy_options: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    allow: str = "layout"
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    vary: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    ranks: tuple[int, ...] = ()
    ranks_per_node: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    inputs: tuple[Path, ...] = ()
    allow_outside: tuple[Path, ...] = ()
    sync: bool = True
    unsynced: bool = True
    timeout_seconds: float | None = None
    keep: bool = False
    keep_removed: bool = False
    patience: int = 10
    launcher: str = DEFAULT_LAUNCHER
    in_flight: int | None = None
    per_file: bool = True
    memory: bool = True
    resume: bool = False
    force: bool = False
    cases: tuple[StudyCase, ...] = ()
    storage: EmulationOptions | None = None
    machine: str = ""
    job: JobOptions | None = None
    part: Path = Path()
    sharing: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.command and not self.cases and not self.resume:
            raise UsageError(
                "no command to tune; give it after --, as in: tune -- mpiexec ./a.out"
            )
        check_cases(self.cases)
        self._check_directory()
        self._check_outside()
        if self.allow not in CLASSES:
            raise UsageError(f"allow must be one of {', '.join(CLASSES)}, not {self.allow!r}")
        if self.trials is not None and self.trials < 1:
            raise UsageError(f"--trials must be at least 1, not {self.trials}")
        if self.timeout_seconds is not None and self.timeout_seconds <= 0:
            raise UsageError(f"--timeout must be above 0, not {self.timeout_seconds:g}s")
        least = MINIMUM_RUNS * len(self.all_cases)
        if self.runs is not None and self.runs < least:
            of = f" of {len(self.cases)} cases" if len(self.cases) > 1 else ""
            raise UsageError(
                f"--runs {self.runs} is too few: warm-up, 3 baselines, one trial and {LOOKS[0]} "
                f"pairs{of} take {least}"
            )

    def _check_directory(self) -> None:
        """Refuse a directory of the study whose path cannot be passed to runs.

        Raises:
            UsageError: The path is unsuitable; the message has the remedy.
        """
        if not (self.command or self.cases or self.directory):
            return
        path = str(self.study_directory)
        if ":" in path:
            given = self.directory if ":" in str(self.directory) else path
            raise UsageError(
                f"the study's directory {printable(str(given))} has a colon in its name, which "
                "separates the directories in what is passed to runs: name one without a colon "
                "with --study-dir"
            )

    def _check_outside(self) -> None:
        """Refuse allowed paths that cannot be passed to runs.

        Raises:
            UsageError: A path is unsuitable; the message has the remedy.
        """
        for path in self.allowed_outside:
            if ":" in str(path):
                raise UsageError(
                    f"--allow-outside {printable(str(path))}: a name with a colon cannot be "
                    "passed to runs; name a directory above it"
                )

    @property
    def allowed_outside(self) -> tuple[Path, ...]:
        """Absolute paths outside of their copies that runs may change."""
        paths = (path for path in self.allow_outside if not self._is_remote(path))
        return tuple(Path(os.path.normpath(self.origin / path)) for path in paths)

    @property
    def allowed_remotes(self) -> tuple[str, ...]:
        """Names of places on other hosts and in archives that runs may change."""
        return tuple(str(path) for path in self.allow_outside if self._is_remote(path))

    def _is_remote(self, path: Path) -> bool:
        return is_remote(str(path)) and not os.path.lexists(self.origin / path)

    @property
    def ladders(self) -> dict[str, tuple[Value, ...]]:
        """Tunable name to the values that the user wants tried, including job resources."""
        resources = {f"job.{name}": getattr(self, name) for name in _RESOURCES}
        requested = {name: values for name, values in resources.items() if values}
        if self.job is not None and self.job.bb_nodes:
            # Trials show which files should be only on the burst buffer.
            burst_buffer: dict[str, tuple[Value, ...]] = {
                "job.burst_buffer_nodes": self.job.bb_nodes,
                "job.burst_buffer_files": (),
            }
            requested = {**burst_buffer, **requested}
        return {**requested, **self.vary}

    @property
    def usual_trials(self) -> int:
        """Number of trials if no limit is given."""
        return TRIALS_OF_JOBS if self.job is not None else DEFAULT_TRIALS

    @property
    def all_cases(self) -> tuple[StudyCase, ...]:
        """All cases; a study of one command has one case without a name."""
        return self.cases or (StudyCase("", self.command),)

    @property
    def study_directory(self) -> Path:
        """Absolute path of the study's directory."""
        command = self.command or self.all_cases[0].command
        name = program_name(command).replace(CASE_WORD, "case")
        return (self.origin / (self.directory or Path(f"{name}.stripewise"))).absolute()

    def of_case(self, case: StudyCase) -> StudyOptions:
        """Return the options reduced to one of the cases."""
        if not self.cases:
            return self
        alike = tuple(other.command for other in self.cases if not other.inputs)
        return replace(
            self,
            command=case.command,
            directory=self.study_directory,
            inputs=case.inputs or self.inputs,
            cases=(),
            part=case_directory(self.cases.index(case) + 1, case.name),
            sharing=() if case.inputs else alike,
        )


def with_storage(options: StudyOptions) -> StudyOptions:
    """Return the options with the current description of the emulated storage, if there is one.

    Raises:
        ConfigurationError: There is no such description, or it is malformed.
        UsageError: The storage cannot be emulated, or has changed since the study began.
    """
    if options.storage is None:
        return options
    return replace(options, storage=EmulatedStorage.find(options.storage).options, unsynced=False)


def check_storage(given: StudyOptions, recorded: StudyOptions) -> None:
    """Refuse to resume a study on another storage than that on which it was begun.

    Raises:
        StudyError: The storage differs, or its description was removed or changed.
    """
    if recorded.storage is not None:
        try:
            EmulatedStorage.find(recorded.storage)
        except UsageError as error:
            raise StudyError(f"the study cannot continue: {error}") from error
    if given.storage is None or _is_same(given.storage, recorded.storage):
        return
    requested, had = (
        EmulatedStorage.find(o.storage).identity if o.storage else "the storage of this host"
        for o in (given, recorded)
    )
    raise StudyError(
        f"this study was started on {had}, not on {requested}: runs of both cannot be compared; "
        "leave --on and its options out, or start over with --force or another --study-dir"
    )


def _is_same(given: EmulationOptions, recorded: EmulationOptions | None) -> bool:
    """Return whether both are the same storage, apart from the seed of its noise."""
    return recorded is not None and replace(given, seed=recorded.seed) == recorded


def check_in_flight(options: StudyOptions, launcher: Launcher) -> None:
    """Refuse more simultaneous runs than the launcher allows.

    Raises:
        UsageError: There are too many; the message has the maximum.
    """
    if options.in_flight is not None and not 1 <= options.in_flight <= launcher.max_in_flight:
        raise UsageError(
            f"--in-flight {options.in_flight}: the launcher {launcher.name} runs "
            f"{launcher.max_in_flight} at a time"
        )


_RESOURCES = ("ranks", "ranks_per_node", "threads")
_NOT_RECORDED = ("directory", "resume", "force", "part", "sharing")
_FIXED = (
    "trials", "runs", "time_seconds", "node_hours", "strategy", "seed", "allow", "sync",
    "unsynced", "timeout_seconds", "keep", "keep_removed", "patience", "launcher", "in_flight",
    "strategy_options", "memory", "per_file", "machine",
    "only", "exclude", "vary", "inputs", "allow_outside", *_RESOURCES,
)  # fmt: skip
"""Options that are fixed when a study begins."""


def options_to_json(options: StudyOptions) -> dict[str, Any]:
    """Return the options as they are recorded in the journal."""
    data: dict[str, Any] = to_json(options)
    return {name: value for name, value in data.items() if name not in _NOT_RECORDED}


def options_from_json(data: Mapping[str, Any], directory: Path) -> StudyOptions:
    """Restore recorded options to resume the study in a directory.

    Raises:
        ValueError: An option has another type.
    """
    here = {"directory": str(directory), "resume": True}
    return from_json(StudyOptions, {"memory": False, **data, **here}, "options")


BUDGETS = ("trials", "runs", "time_seconds", "node_hours")


def extended_budgets(given: StudyOptions, recorded: StudyOptions) -> dict[str, Any]:
    """Return the limits of a resumed study that are extended; others stay as they were.

    A study begun without any limit has the usual number of trials; a limit of runs, time or
    node-hours replaces it, as at the beginning.
    """
    had: dict[str, Any] = {name: getattr(recorded, name) for name in BUDGETS}
    requested = {name: getattr(given, name) for name in BUDGETS}
    if not any(value is not None for value in had.values()):
        had["trials"] = recorded.usual_trials
        if others := {n: v for n, v in requested.items() if v is not None and n != "trials"}:
            return others | ({"trials": given.trials} if given.trials is not None else {})
    return {
        name: value
        for name, value in requested.items()
        if value is not None and had[name] is not None and value > had[name]
    }


def ignored_options(given: StudyOptions, recorded: StudyOptions) -> tuple[str, ...]:
    """Return the options given to a resumed study that differ from its fixed ones.

    A study keeps its options so that its runs are comparable.  Options with their default
    values count as not given.
    """
    plain = StudyOptions(command=("",), origin=given.origin)
    return tuple(
        f"{_option_name(name)} {_shown(getattr(given, name))} ({_recorded_text(recorded, name)})"
        for name in _FIXED
        if getattr(given, name) not in (getattr(plain, name), getattr(recorded, name))
    )


def _recorded_text(recorded: StudyOptions, name: str) -> str:
    """Return the value of an option in a study; for a missing limit, the limits that it has."""
    value = getattr(recorded, name)
    limits = {n: getattr(recorded, n) for n in BUDGETS if getattr(recorded, n) is not None}
    if name not in BUDGETS or value is not None or not limits:
        return f"it has {_shown(value)}"
    shown = " and ".join(f"{_option_name(n)} {_shown(one)}" for n, one in limits.items())
    return f"it is limited by {shown}: raise that limit"


def _option_name(name: str) -> str:
    return name.removesuffix("_seconds").replace("_", "-")


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        value = tuple(f"{name}={text}" for name, text in value.items())
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
