# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a job is made of: options of sbatch, directives, and the command that runs in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.launch._base import RunRequest
from stripewise.runtime import command_with_resources

STAGE_MODES = ("all", "beside", "files", "links")
SIGNAL_SECONDS = 30
"""So long before the end of an allocation Slurm is asked to send SIGTERM."""
MARGIN_SECONDS = SIGNAL_SECONDS + 60.0 + 5.0
"""The end of an allocation, on which no run may count.

Source: the signal "may be sent up to 60 seconds earlier than specified" (sbatch 22.05, --signal).
Assumed: 5 s for the agent to begin and a run to be ended.
"""


@dataclass(frozen=True)
class Allocation:
    """What is submitted for a run.

    Attributes:
        key: Requests with the same key can share an allocation.
        arguments: Options of sbatch, one word each.
        directives: Lines for the batch script, as "#DW jobdw ...": each begins with "#".
        nodes: Compute nodes that it has.
        wall_seconds: Its time limit, which the arguments say too; None: not known.
        name: Of the job, as the user's script has it; runs see it in SLURM_JOB_NAME.
        margin_seconds: Before its end, when Slurm's signal may come: no run may last into it.
    """

    key: str = ""
    arguments: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    nodes: int = 1
    wall_seconds: float | None = None
    name: str = ""
    margin_seconds: float = MARGIN_SECONDS

    def __post_init__(self) -> None:
        for line in self.directives:
            if not line.startswith("#") or "\n" in line or "\0" in line:
                raise UsageError(f"{line!r} is no directive: one line that begins with #")
        check_arguments(self.arguments)

    def limit_of_run(self, wanted_seconds: float | None) -> float | None:
        """Return the time limit of a run: the one wanted, or what fits before the signal."""
        if wanted_seconds is None or self.wall_seconds is None:
            return wanted_seconds
        most_seconds = self.wall_seconds - self.margin_seconds
        return min(wanted_seconds, most_seconds) if most_seconds > 0 else wanted_seconds


@dataclass(frozen=True)
class Stage:
    """What of a run lies on the burst buffer.

    Attributes:
        variable: Of the job's environment; it names the burst buffer: DW_JOB_STRIPED; "" where
            `directory` does.
        mode: "all": the run works there; "beside": it works in its own directory, and names files
            there by the variable; "files": files that match lie there, and the library
            leads the program to them; "links": links in the run's directory do.
        globs: Names relative to the run's directory; "*" does not stand for "/".
        copies: Files and directories that are copied there after the files of the run, with
            their places there, relative.
        directory: Path with variables of the job's environment, such as /flash/$USER.
        may_be_local: The storage may be each node's own, which several nodes cannot share.
        content: The burst buffer outlives the job, and what it holds is copied, too.
    """

    variable: str
    mode: str = "all"
    globs: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    directory: str = ""
    may_be_local: bool = False
    content: bool = False

    def __post_init__(self) -> None:
        if self.mode not in STAGE_MODES:
            raise UsageError(f"stage {self.mode!r}: use one of {', '.join(STAGE_MODES)}")
        for glob in self.globs:
            if glob.startswith("/") or ".." in glob.split("/") or set(glob) & set("=:%"):
                raise UsageError(f"{glob!r} is no name below the run's directory")


class JobPlan(ABC):
    """Says how the runs of a study become jobs.

    Attributes:
        task_words: Whether the command starts its tasks with the words that it is given, so
            that the library is loaded into them alone; otherwise the whole command has it.
    """

    task_words: bool = False

    @property
    def run_seconds(self) -> float | None:
        """Time limit of a run, if it were a job of its own; None: it has none."""
        return None

    @abstractmethod
    def allocation(self, request: RunRequest) -> Allocation:
        """Return what is submitted for a run."""

    @abstractmethod
    def command(
        self, request: RunRequest, record_directory: Path, task_words: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the words of the command that runs in the allocation.

        Args:
            request: The run.
            record_directory: It exists; scripts are written here, with mode 0700.
            task_words: To be put in front of the program of each rank.
        """

    def stage(self, request: RunRequest) -> Stage | None:
        """Return what of the run lies on the burst buffer; None: nothing."""
        del request
        return None

    def variables(self, request: RunRequest) -> Mapping[str, str]:
        """Return what the tasks of a run find in their environment beside what all runs have."""
        del request
        return {}


@dataclass(frozen=True)
class PlainJobs(JobPlan):
    """Runs the command itself, in allocations of the nodes and ranks that it needs.

    Attributes:
        arguments: More options of sbatch.
        directives: Lines for the batch script.
        wall_seconds: Time limit of an allocation, longer where a run needs it; None: the
            partition's default.
        staged: What lies on the burst buffer.
        margin_seconds: Before the end of an allocation, when Slurm's signal may come.
    """

    arguments: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    wall_seconds: float | None = None
    staged: Stage | None = field(default=None)
    margin_seconds: float = MARGIN_SECONDS

    def allocation(self, request: RunRequest) -> Allocation:
        """Return an allocation of the request's resources."""
        resources, words = request.resources, []
        if resources.nodes is not None:
            words.append(f"--nodes={resources.nodes}")
        if resources.ranks is not None:
            words.append(f"--ntasks={resources.ranks}")
        if resources.account:
            words.append(f"--account={resources.account}")
        wall_seconds = self.wall_seconds
        if wall_seconds is not None:
            least_seconds = least_wall_seconds(request.timeout_seconds, self.margin_seconds)
            wall_seconds = max(wall_seconds, least_seconds)
            words.append(f"--time={time_text(wall_seconds)}")
        arguments = (*words, *self.arguments)
        key = "\n".join((*arguments, *self.directives))
        return Allocation(
            key, arguments, self.directives, resources.nodes or 1, wall_seconds,
            margin_seconds=self.margin_seconds,
        )  # fmt: skip

    def command(
        self, request: RunRequest, record_directory: Path, task_words: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the request's command with its ranks and threads."""
        del record_directory, task_words
        return command_with_resources(request.command, request.configuration.job)

    def stage(self, request: RunRequest) -> Stage | None:
        """Return the same for every run."""
        del request
        return self.staged


def least_wall_seconds(run_seconds: float | None, margin_seconds: float = MARGIN_SECONDS) -> float:
    """Return the least time limit of an allocation in which a run of such a limit fits."""
    return 0.0 if run_seconds is None else run_seconds + margin_seconds


def time_text(seconds: float) -> str:
    """Return a time limit as sbatch reads it, in whole minutes: Slurm has no finer ones."""
    minutes = max(1, ceil(seconds / 60))
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


_REFUSED = frozenset(
    {"--wait", "-W", "--wrap", "--test-only", "--help", "--usage", "--version", "-V", "-h"}
)


def check_arguments(arguments: tuple[str, ...]) -> None:
    """Refuse options of sbatch with which a job could not serve runs.

    Raises:
        UsageError: Which one, and the remedy.
    """
    for place, word in enumerate(arguments):
        if "\0" in word or "\n" in word:
            raise UsageError(f"the option {word!r} of sbatch holds a line end or a NUL")
        name, _, value = word.partition("=")
        if name in _REFUSED:
            raise UsageError(f"the option {name} of sbatch cannot be used here; take it out")
        if name == "--array" or (word.startswith("-a") and not word.startswith("--")):
            value = value or word[2:] if not word.startswith("--") else value
            following = arguments[place + 1] if place + 1 < len(arguments) else ""
            if not (value or following).isdecimal():
                raise UsageError(
                    f"{word}: an array would start each run several times; tune one element, "
                    "as --array=1"
                )
