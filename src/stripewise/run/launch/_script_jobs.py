# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes jobs out of variants of a user's job script."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from types import MappingProxyType

from stripewise.core import Configuration, JobSettings
from stripewise.run.jobs import Changes, JobScript, links_program, replaced_links, rewrite
from stripewise.run.launch._base import RunRequest
from stripewise.run.launch._job_plan import Allocation, JobPlan, Stage
from stripewise.run.launch.agent import _staging
from stripewise.run.launch.agent._agent_run import STAGE_VARIABLE
from stripewise.run.shell import Move
from stripewise.run.slurm import options_of_variables, time_text
from stripewise.run.tiers import Pool, Tier, TierRequest
from stripewise.settings.formats import get

HINTS_VARIABLE = "MPICH_MPIIO_HINTS"
VARIANT = "job"
"""Name of the variant of the script in the record of a run."""
LINKS = "links"
"""Name of the program that makes the links of a run, in its record."""
NOT_SUBMITTED = (
    "output", "error", "input", "array", "chdir", "time", "time-min", "dependency", "begin",
    "open-mode", "wait", "requeue", "no-requeue", "mail-type", "mail-user", "test-only",
    "parsable", "hold", "deadline",
)  # fmt: skip
"""Options of the script that are not those of an allocation: it has its own output and time, is
one job, and begins when it can."""


@dataclass(frozen=True)
class ScriptJobs(JobPlan):
    """Runs a job script with its launch line wrapped, in allocations as the script asks for.

    Attributes:
        script: The user's.
        step: Number of the launch line that is tuned.
        words: That the script is called with.
        tier: Kind of burst buffer.
        pool: Where its nodes come from; None: it has none.
        own: What the script itself asks the tier for; None: nothing.
        ask: What runs on a burst buffer ask for, but for the nodes.
        nodes: Compute nodes.
        wall_seconds: Limit of one run, as the script says; None: it does not.
        allocation_seconds: Limit of an allocation; None: that of one run.
        moved: Moves that name the directory that the script is submitted from, or one below; they
            go to that of the run.
        instead: Directory that runs find on a persistent burst buffer instead of a copy of what
            it holds; "": the copy.
        beside: The script has lines of its own for the tier, and its program works where the job
            is submitted from: it names its files on the tier by the variable.
        links: Links in the run's directory lead large files to the burst buffer, not the library.
        seen: Tells the names of all files that runs showed so far; links need them.
    """

    script: JobScript
    step: int
    tier: Tier
    words: tuple[str, ...] = ()
    pool: Pool | None = None
    own: TierRequest | None = None
    ask: TierRequest = field(default_factory=TierRequest)
    nodes: int = 1
    wall_seconds: float | None = None
    allocation_seconds: float | None = None
    moved: Mapping[Move, Path] = field(default_factory=dict)
    instead: str = ""
    beside: bool = False
    links: bool = False
    seen: Callable[[], Iterable[str]] = tuple
    _latest: dict[str, Allocation] = field(default_factory=dict)

    task_words = True

    @property
    def run_seconds(self) -> float | None:
        """The time after which Slurm would end the job of the script."""
        return self.wall_seconds

    def tier_request(self, job: JobSettings) -> TierRequest | None:
        """Return what a run asks the tier for; None: it uses the parallel file system alone."""
        if job.burst_buffer_nodes is None:
            return self.own
        if job.burst_buffer_nodes == 0:
            return None
        return replace(self.ask, nodes=job.burst_buffer_nodes)

    def allocation(self, request: RunRequest) -> Allocation:
        """Return the allocation of a run.

        A run without a burst buffer is made in the allocation of the run before it, whatever that
        has: then a candidate and the baseline beside it have the same compute nodes.
        """
        job = request.configuration.job
        compute = self._compute(job)
        shared = "\n".join(compute)
        asked = self.tier_request(job)
        if asked is None and shared in self._latest:
            return self._latest[shared]
        lines: tuple[str, ...] = ()
        if asked is not None:
            plain = replace(asked, stage_in=None, stage_out=None, kept=())
            lines = self.tier.directives(plain, self.pool)
        made = Allocation(
            key="\n".join((shared, *lines)),
            arguments=compute,
            directives=lines,
            nodes=self.nodes_of(job),
            wall_seconds=self.allocation_seconds or self.wall_seconds,
            name=self._job_name(),
        )
        self._latest[shared] = made
        return made

    def command(
        self, request: RunRequest, record_directory: Path, task_words: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Write the variant of the script; return how it is called."""
        job = request.configuration.job
        changes = Changes(
            wrap=task_words,
            around=self.write_links(job, record_directory / LINKS),
            step=self.step,
            drop_burst_buffer=bool(self.script.burst_buffer),
            job=self.of_launch(job),
            moved=self.moved,
            exports=self._of_array(),
        )
        path = record_directory / VARIANT
        _write(path, rewrite(self.script, changes))
        return (str(path), *self.words)

    def write_links(self, job: JobSettings, path: Path) -> tuple[str, ...]:
        """Write what makes the links of a hybrid run; return the words before the launcher.

        There are none where no links are wanted, or no file of the job is known to be large.

        Args:
            job: Of the run.
            path: File to write.

        Raises:
            OSError: It cannot be written.
        """
        asked, globs = self.tier_request(job), (job.burst_buffer_files or "").split(",")
        names = [name for name in dict.fromkeys(self.seen()) if is_below(name, globs)]
        if not self.links or asked is None or not names:
            return ()
        variable = self.tier.directory_variable(asked) or STAGE_VARIABLE
        _write(path, links_program(variable, names))
        return ("sh", str(path))

    def stage(self, request: RunRequest) -> Stage | None:
        """Return what of a run lies on the burst buffer."""
        job = request.configuration.job
        asked = self.tier_request(job)
        if asked is None:
            return None
        stage = Stage(self.tier.directory_variable(asked))
        if not stage.variable or self.tier.copies_itself:
            stage = replace(stage, directory=asked.directory)
        if self.tier.is_shared(asked) is None:
            stage = replace(stage, may_be_local=True)
        if job.burst_buffer_files is None:
            copies = self.tier.copied_in(asked)
            if self.instead:
                copies = ((self.instead, ""), *copies)
            content = bool(asked.persistent and self.own is not None and not self.instead)
            mode = "beside" if self.beside else "all"
            return replace(stage, mode=mode, copies=copies, content=content)
        mode = "links" if self.links else "files"
        return replace(stage, mode=mode, globs=tuple(job.burst_buffer_files.split(",")))

    def variables(self, request: RunRequest) -> Mapping[str, str]:
        """Return what lets Cray MPICH print what it does, and hints if need be.

        What the user says of it stays.
        """
        if not request.mpi_prints:
            return {}
        printing = {n: text for n, text in cray_variables().items() if not self.says(n)}
        if request.in_reach:
            return printing
        return printing | self.hints(replace(request.configuration, job=JobSettings()))

    def hints(self, configuration: Configuration) -> dict[str, str]:
        """Return the variable that tells Cray MPICH all that is to be set; none if it cannot."""
        written = get("mpich-hints").write(configuration)
        said = HINTS_VARIABLE.encode() in self.script.data  # it would say other hints than we do
        if said or written.lost or not written.text.strip():
            return {}
        return {HINTS_VARIABLE: shlex.split(written.text)[1].partition("=")[2]}

    def says(self, name: str) -> bool:
        """Return whether the user sets a variable: in the script, or before it is submitted."""
        return name in os.environ or name.encode() in self.script.data

    @property
    def ranks_per_node(self) -> int | None:
        """Ranks on each node of the job as it is; None: it does not say."""
        said = self.script.resources.ranks_per_node
        return said or self.script.launch(self.step).ranks_per_node

    def of_launch(self, job: JobSettings) -> JobSettings:
        """Return the ranks and threads of a run.

        Fewer ranks with more threads take no more CPUs of a node than the job has there, if its
        nodes are enough for that.
        """
        per_node = job.ranks_per_node
        if per_node is None and job.ranks and job.threads and self.ranks_per_node:
            cpus = self.ranks_per_node * (self.script.resources.cpus_per_task or 1)
            fitting = max(1, cpus // job.threads)
            if fitting < self.ranks_per_node and ceil(job.ranks / fitting) <= self.nodes:
                per_node = fitting
        return JobSettings(ranks=job.ranks, ranks_per_node=per_node, threads=job.threads)

    def nodes_of(self, job: JobSettings) -> int:
        """Return the compute nodes of a run."""
        per_node = self.of_launch(job).ranks_per_node or self.ranks_per_node
        if job.ranks is None or not per_node:
            return self.nodes
        return max(1, ceil(job.ranks / per_node))

    def compute_options(self, job: JobSettings) -> dict[str, str]:
        """Return the options of sbatch that a run's ranks and threads change; mostly none."""
        asked = self.of_launch(job)
        changed = {
            "ntasks": asked.ranks,
            "ntasks-per-node": asked.ranks_per_node,
            "cpus-per-task": asked.threads,
        }
        found = {name: str(number) for name, number in changed.items() if number is not None}
        if found and self.script.resources.nodes is not None:
            found["nodes"] = str(self.nodes_of(job))
        return found

    def _job_name(self) -> str:
        """Return the name that sbatch would give the job of the script."""
        said = self.script.resources.job_name or self.script.name
        return options_of_variables(os.environ).get("job-name", said)

    def _of_array(self) -> dict[str, str]:
        """Return what tells the script that it is the first element of its array."""
        first = re.match(r"\d+", self.script.resources.array or "")
        return {"SLURM_ARRAY_TASK_ID": first[0]} if first else {}

    def _compute(self, job: JobSettings) -> tuple[str, ...]:
        """Return the options of sbatch for the compute nodes."""
        changed = self.compute_options(job)
        drop = {*NOT_SUBMITTED, *changed, *(("nodes",) if changed else ())}
        drop |= options_of_variables(os.environ).keys()  # sbatch heeds these, not the script
        words = [f"--{name}={number}" for name, number in changed.items()]
        seconds = self.allocation_seconds or self.wall_seconds
        if seconds is not None:
            words.append(f"--time={time_text(seconds)}")
        return _with_words(self.script.sbatch_arguments(drop), words)


def links_replaced(record_directory: Path) -> tuple[str, ...]:
    """Return the files of a run whose links to the burst buffer the program replaced."""
    return replaced_links(record_directory / LINKS)


def is_below(name: str, globs: Sequence[str]) -> bool:
    """Return whether a file that a run showed is in its directory, and is one that globs name."""
    if name.startswith("/") or ".." in name.split("/"):
        return False
    return _staging.is_one_of(name.removeprefix("./"), globs)


def _write(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o700), "wb") as stream:
        stream.write(data)


def _with_words(arguments: tuple[str, ...], words: list[str]) -> tuple[str, ...]:
    """Add options to each part of a heterogeneous job: each has a time limit of its own."""
    found: list[str] = []
    for word in arguments:
        found += [*words, word] if word == ":" else [word]
    return (*found, *words)


# Variables that make Cray MPICH tell what it does; it prints to the output of the job.

_TELLING = MappingProxyType(
    {
        "MPICH_ENV_DISPLAY": "1",
        "MPICH_VERSION_DISPLAY": "1",
        "MPICH_MPIIO_HINTS_DISPLAY": "1",
        "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "1",
        "MPICH_MPIIO_STATS": "1",
        "MPICH_MPIIO_TIMERS": "1",
    }
)


def cray_variables() -> Mapping[str, str]:
    """Return the variables that are set in trials under Cray MPICH, other MPIs ignore them.

    It then prints its version, all settings, hints and aggregators, and for each file its system
    calls and the phases of its writes and reads, which `readers.read_evidence` reads.
    MPICH_MPIIO_STATS is 1 and not 2, which writes files beside the program's own instead.

    Source: intro_mpi(3) of Cray MPICH (documented); Markomanolis (KAUST), ExPBB, CUG 2017.
    """
    return _TELLING
