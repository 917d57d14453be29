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

# What a user asks of a study of a job script; plain data, kept in the study's journal.

HYBRIDS = ("auto", "redirect", "links")
TIERS = ("auto", "none", "datawarp", "lua", "rabbit", "directory")


@dataclass(frozen=True)
class JobOptions:
    """How the jobs of a study are made from a job script.

    Attributes:
        script: The job script, relative to the directory in which the study was begun.
        step: Number of the launch line that is tuned, from 1; None: there is only one.
        words: Words that the script is called with.
        tier: Kind of burst buffer; "auto": what the script or Slurm says.
        pool: Pool of the burst buffer; "": the default one.
        access: Access to a burst buffer: "striped" or "private".
        granularity_bytes / free_nodes: Override what Slurm says of the pool; 0: as it says.
        capacity_bytes: Capacity that the job needs on the burst buffer: it decides on the least
            nodes.
        persistent: Name of an existing persistent burst buffer that runs work on; "": none.
        bb_nodes: Numbers of burst-buffer nodes to try; empty: 1x, 2x, 4x ... of the least.
        stage_in / stage_out: Directories that run.tuned.sh copies to and from the burst buffer;
            "": the directory of the job.
        template: Template of tiers that a site writes itself (lua): file with its directives.
        place: Where the tier `directory` is in the job, as $TMPDIR or /flash/$USER;
            of `lua`: the variable that names it.
        per_run: Submit a job for each run, not many runs in one allocation.
        allocation_seconds: Time limit of an allocation; None: what the runs ahead may take, as
            far as the partition allows.
        resources: Try fewer ranks and more threads too, down to min_nodes.
        min_nodes: Least compute nodes that fewer ranks may leave; 0: one.
        hybrid: How large files alone get onto the burst buffer: "redirect" by the library, "links"
            in the job's directory; "auto": what the site prefers, else by the library.
        digest: Digest of the script as it was when the study was begun.
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


# What a user asks of a study.

DEFAULT_TRIALS = 20
TRIALS_OF_JOBS = 40
"""Default for a job script: a ladder of burst-buffer nodes with loops on each rung takes more."""
MINIMUM_RUNS = 6 + 2 * LOOKS[0]
"""Runs of each case: warm-up, 3 baselines, one trial of 2 runs, the pairs of the first look."""
NO_MACHINE = "none"
"""Name that stands for no description: nothing is predicted, whatever is known."""
CLASSES = {
    "safe": frozenset({SafetyClass.SAFE}),
    "layout": frozenset({SafetyClass.SAFE, SafetyClass.LAYOUT}),
    "contract": frozenset(SafetyClass),
}


@dataclass(frozen=True)
class StudyOptions:
    """Options of a study; those that are recorded decide again after a restart.

    Attributes:
        command: Arguments of the program to tune, not a shell line; with `{case}` in it where
            it takes several inputs.
        directory: The study's directory; default `<program>.stripewise` in `origin`.
        origin: Directory in which the command is meant to run.
        trials: Most configurations; runs: most executions; time_seconds: most time;
            node_hours: most node-hours of jobs.
        strategy: Name of the search strategy; strategy_options: its options, as text.
        seed: Seed of every random choice.
        allow: The most dangerous class of tunables that may be tried.
        only / exclude: Names of tunables to try alone, or not to try.
        vary: Tunable name to the values to try instead of its own ladder.
        ranks / ranks_per_node / threads: Values of the job's resources to try; none: as the
            command says.
        inputs: Files and directories that the program reads, beyond those seen being read.
        allow_outside: Files and directories outside of the copies that runs may change, relative
            to `origin`, and places on other hosts: `me@host:/data`.
        sync: Whether data is on the storage when the clock stops.
        unsynced: Whether baseline and winner are also run once unsynced, for the record.
        timeout_seconds: Time limit of a run; None: from the baseline.
        keep: Whether containers and outputs of the runs are kept.
        keep_removed: Whether files that the program removes are kept until they are compared.
        patience: Number of trials without improvement that ends the search.
        launcher: Name of what runs the command.
        in_flight: Runs at a time; None: as many as the launcher has places.
        per_file: Whether classes of files may get settings of their own.
        memory: Whether to begin with what studies found before, and to keep what this one finds.
        resume: Go on with the study in the directory.
        force: Begin anew although the directory holds a study.
        storage: Storage to emulate in every run; None: what is there is used.
        machine: Description of the storage, whose simulation begins the search; "": what is
            known of it, under the strategy `auto`; "none": none.
        cases: Inputs or commands that get one configuration; empty: the command alone.
        job: How jobs are made from a job script; None: the command is run.
        part / sharing: For one of several cases (see `of_case`): where its runs go in the study's
            directory, and the commands of all that share its copy of the inputs.
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
        """Refuse a study's directory that runs cannot be told of.

        Raises:
            UsageError: With the remedy.
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
        """Refuse what no run can be told of.

        Raises:
            UsageError: With the remedy.
        """
        for path in self.allowed_outside:
            if ":" in str(path):
                raise UsageError(
                    f"--allow-outside {printable(str(path))}: a name with a colon cannot be "
                    "passed to runs; name a directory above it"
                )

    @property
    def allowed_outside(self) -> tuple[Path, ...]:
        """Absolute paths of what runs may change outside of their copies."""
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
        """Tunable name to the values that the user wants tried, of the job's resources too."""
        resources = {f"job.{name}": getattr(self, name) for name in _RESOURCES}
        asked = {name: values for name, values in resources.items() if values}
        if self.job is not None and self.job.bb_nodes:
            # Which files lie there alone follows from trials.
            burst_buffer: dict[str, tuple[Value, ...]] = {
                "job.burst_buffer_nodes": self.job.bb_nodes,
                "job.burst_buffer_files": (),
            }
            asked = {**burst_buffer, **asked}
        return {**asked, **self.vary}

    @property
    def usual_trials(self) -> int:
        """How many trials there may be where no limit is given."""
        return TRIALS_OF_JOBS if self.job is not None else DEFAULT_TRIALS

    @property
    def all_cases(self) -> tuple[StudyCase, ...]:
        """The cases; a study of one command has one without a name."""
        return self.cases or (StudyCase("", self.command),)

    @property
    def study_directory(self) -> Path:
        """Absolute path of the study's directory."""
        command = self.command or self.all_cases[0].command
        name = program_name(command).replace(CASE_WORD, "case")
        return (self.origin / (self.directory or Path(f"{name}.stripewise"))).absolute()

    def of_case(self, case: StudyCase) -> StudyOptions:
        """Return the options as they are for one of the cases alone."""
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
    """Return the options with the emulated storage as it is described now, if there is one.

    Raises:
        ConfigurationError: There is no such description, or it is malformed.
        UsageError: It cannot be used so, or has changed since the study began.
    """
    if options.storage is None:
        return options
    return replace(options, storage=EmulatedStorage.find(options.storage).options, unsynced=False)


def check_storage(given: StudyOptions, recorded: StudyOptions) -> None:
    """Refuse to go on with a study on another storage than that which it was begun on.

    Raises:
        StudyError: With both; or the description is not there any more, or is another one.
    """
    if recorded.storage is not None:
        try:
            EmulatedStorage.find(recorded.storage)
        except UsageError as error:
            raise StudyError(f"the study cannot continue: {error}") from error
    if given.storage is None or _is_same(given.storage, recorded.storage):
        return
    asked, had = (
        EmulatedStorage.find(o.storage).identity if o.storage else "the storage of this host"
        for o in (given, recorded)
    )
    raise StudyError(
        f"this study was started on {had}, not on {asked}: runs of both cannot be compared; leave "
        "--on and its options out, or start over with --force or another --study-dir"
    )


def _is_same(given: EmulationOptions, recorded: EmulationOptions | None) -> bool:
    """Return whether both are one storage; the seed of its noise stays what it was."""
    return recorded is not None and replace(given, seed=recorded.seed) == recorded


def check_in_flight(options: StudyOptions, launcher: Launcher) -> None:
    """Refuse more runs in flight than there are places.

    Raises:
        UsageError: With how many there are.
    """
    if options.in_flight is not None and not 1 <= options.in_flight <= launcher.places:
        raise UsageError(
            f"--in-flight {options.in_flight}: the launcher {launcher.name} runs "
            f"{launcher.places} at a time"
        )


_RESOURCES = ("ranks", "ranks_per_node", "threads")
_NOT_RECORDED = ("directory", "resume", "force", "part", "sharing")
_FIXED = (
    "trials", "runs", "time_seconds", "node_hours", "strategy", "seed", "allow", "sync",
    "unsynced", "timeout_seconds", "keep", "keep_removed", "patience", "launcher", "in_flight",
    "strategy_options", "memory", "per_file", "machine",
    "only", "exclude", "vary", "inputs", "allow_outside", *_RESOURCES,
)  # fmt: skip
"""What a study keeps from its beginning."""


def options_to_json(options: StudyOptions) -> dict[str, Any]:
    """Return what the journal records of the options."""
    data: dict[str, Any] = to_json(options)
    return {name: value for name, value in data.items() if name not in _NOT_RECORDED}


def options_from_json(data: Mapping[str, Any], directory: Path) -> StudyOptions:
    """Restore recorded options, to go on with the study in a directory.

    Raises:
        ValueError: One is of another type.
    """
    here = {"directory": str(directory), "resume": True}
    return from_json(StudyOptions, {"memory": False, **data, **here}, "options")


BUDGETS = ("trials", "runs", "time_seconds", "node_hours")


def extended_budgets(given: StudyOptions, recorded: StudyOptions) -> dict[str, Any]:
    """Return the budgets that a resumed study is given more of; others keep what they have.

    One that was begun without any has the usual number of trials: a limit of runs, time or
    node-hours takes its place, as at the beginning.
    """
    had: dict[str, Any] = {name: getattr(recorded, name) for name in BUDGETS}
    asked = {name: getattr(given, name) for name in BUDGETS}
    if not any(value is not None for value in had.values()):
        had["trials"] = recorded.usual_trials
        if others := {n: v for n, v in asked.items() if v is not None and n != "trials"}:
            return others | ({"trials": given.trials} if given.trials is not None else {})
    return {
        name: value
        for name, value in asked.items()
        if value is not None and had[name] is not None and value > had[name]
    }


def ignored_options(given: StudyOptions, recorded: StudyOptions) -> tuple[str, ...]:
    """Return what was asked of a resumed study and is not what it was begun with.

    A study stays what it is, so that its runs belong together.  What has its default value is
    not taken for asked.
    """
    plain = StudyOptions(command=("",), origin=given.origin)
    return tuple(
        f"{_spelt(name)} {_shown(getattr(given, name))} ({_what_it_has(recorded, name)})"
        for name in _FIXED
        if getattr(given, name) not in (getattr(plain, name), getattr(recorded, name))
    )


def _what_it_has(recorded: StudyOptions, name: str) -> str:
    """Say which value a study has of an option; of a limit that it has not, which others."""
    value = getattr(recorded, name)
    limits = {n: getattr(recorded, n) for n in BUDGETS if getattr(recorded, n) is not None}
    if name not in BUDGETS or value is not None or not limits:
        return f"it has {_shown(value)}"
    shown = " and ".join(f"{_spelt(n)} {_shown(one)}" for n, one in limits.items())
    return f"it is limited by {shown}: raise that limit"


def _spelt(name: str) -> str:
    return name.removesuffix("_seconds").replace("_", "-")


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        value = tuple(f"{name}={text}" for name, text in value.items())
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
