# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates jobs from variants of a user's job script."""

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
from stripewise.run.tiers import StoragePool, Tier, TierRequest
from stripewise.settings.formats import get

HINTS_VARIABLE = "MPICH_MPIIO_HINTS"
VARIANT = "job"
"""Name of the variant of the script in the record of a run."""
LINKS = "links"
"""Name of the program that creates the links of a run, in its record."""
NOT_SUBMITTED = (
    "output", "error", "input", "array", "chdir", "time", "time-min", "dependency", "begin",
    "open-mode", "wait", "requeue", "no-requeue", "mail-type", "mail-user", "test-only",
    "parsable", "hold", "deadline",
)  # fmt: skip
"""Options of the script that do not apply to an allocation, which has its own output and time, is
one job, and begins as soon as possible."""


@dataclass(frozen=True)
class ScriptJobs(JobPlan):
    """Plan that runs a job script with a wrapped launch line, in allocations as it requests.

    Attributes:
        script: The user's script.
        step: Number of the launch line to tune.
        words: Arguments of the script.
        tier: Kind of burst buffer.
        pool: Pool of its nodes; None if it has none.
        own: Request to the tier in the script itself; None if there is none.
        ask: Request of runs on a burst buffer, except for the number of nodes.
        nodes: Number of compute nodes.
        wall_seconds: Time limit of one run in the script; None if there is none.
        allocation_seconds: Time limit of an allocation; None for that of one run.
        moved: Moves that name the directory from which the script is submitted, or one below; they
            are redirected to that of the run.
        instead: Directory on a persistent burst buffer that runs use instead of a copy of its
            content; empty for the copy.
        beside: Whether the script has its own lines for the tier while its program works in the
            directory of submission and names its files on the tier by the variable.
        links: Whether links in the run's directory, not the library, redirect large files to the
            burst buffer.
        seen: Function that returns the names of all files in runs so far, which links require.
    """

    script: JobScript
    step: int
    tier: Tier
    words: tuple[str, ...] = ()
    pool: StoragePool | None = None
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
        """Time limit at which Slurm would end the job of the script."""
        return self.wall_seconds

    def tier_request(self, job: JobSettings) -> TierRequest | None:
        """Return the request of a run to the tier; None if it uses no tier."""
        if job.burst_buffer_nodes is None:
            return self.own
        if job.burst_buffer_nodes == 0:
            return None
        return replace(self.ask, nodes=job.burst_buffer_nodes)

    def allocation(self, request: RunRequest) -> Allocation:
        """Return the allocation for a run.

        A run without a burst buffer uses the allocation of the previous run, even if that has one,
        so that a candidate and its baseline run on the same compute nodes.
        """
        job = request.configuration.job
        compute = self._compute(job)
        shared = "\n".join(compute)
        request_to_tier = self.tier_request(job)
        if request_to_tier is None and shared in self._latest:
            return self._latest[shared]
        lines: tuple[str, ...] = ()
        if request_to_tier is not None:
            plain = replace(request_to_tier, stage_in=None, stage_out=None, kept=())
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
        """Write the variant of the script, and return the command that calls it."""
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
        """Write the program for the links of a hybrid run; return the words before the launcher.

        There are no words if links are not used or no large file of the job is known.

        Args:
            job: Job settings of the run.
            path: Path of the file to write.

        Raises:
            OSError: The file cannot be written.
        """
        tier_request, globs = self.tier_request(job), (job.burst_buffer_files or "").split(",")
        names = [name for name in dict.fromkeys(self.seen()) if is_below(name, globs)]
        if not self.links or tier_request is None or not names:
            return ()
        variable = self.tier.directory_variable(tier_request) or STAGE_VARIABLE
        _write(path, links_program(variable, names))
        return ("sh", str(path))

    def stage(self, request: RunRequest) -> Stage | None:
        """Return the files of a run that are on the burst buffer."""
        job = request.configuration.job
        tier_request = self.tier_request(job)
        if tier_request is None:
            return None
        stage = Stage(self.tier.directory_variable(tier_request))
        if not stage.variable or self.tier.copies_itself:
            stage = replace(stage, directory=tier_request.directory)
        if self.tier.is_shared(tier_request) is None:
            stage = replace(stage, may_be_local=True)
        if job.burst_buffer_files is None:
            copies = self.tier.copied_in(tier_request)
            if self.instead:
                copies = ((self.instead, ""), *copies)
            content = bool(tier_request.persistent and self.own is not None and not self.instead)
            mode = "beside" if self.beside else "all"
            return replace(stage, mode=mode, copies=copies, content=content)
        mode = "links" if self.links else "files"
        return replace(stage, mode=mode, globs=tuple(job.burst_buffer_files.split(",")))

    def variables(self, request: RunRequest) -> Mapping[str, str]:
        """Return the variables that make Cray MPICH print statistics, and its hints if necessary.

        The user's own values are kept.
        """
        if not request.mpi_prints:
            return {}
        printing = {n: text for n, text in cray_variables().items() if not self.says(n)}
        if request.in_reach:
            return printing
        return printing | self.hints(replace(request.configuration, job=JobSettings()))

    def hints(self, configuration: Configuration) -> dict[str, str]:
        """Return the variable with all hints for Cray MPICH; none if it cannot express them."""
        written = get("mpich-hints").write(configuration)
        # The script would set other hints than we do.
        if HINTS_VARIABLE.encode() in self.script.data or written.lost or not written.text.strip():
            return {}
        return {HINTS_VARIABLE: shlex.split(written.text)[1].partition("=")[2]}

    def says(self, name: str) -> bool:
        """Return whether the user sets a variable, in the script or before it is submitted."""
        return name in os.environ or name.encode() in self.script.data

    @property
    def ranks_per_node(self) -> int | None:
        """Ranks on each node of the unchanged job; None if the script does not set it."""
        given = self.script.resources.ranks_per_node
        return given or self.script.launch(self.step).ranks_per_node

    def of_launch(self, job: JobSettings) -> JobSettings:
        """Return the numbers of ranks and threads of a run.

        Fewer ranks with more threads use no more CPUs of a node than the job has there, if it has
        enough nodes.
        """
        per_node = job.ranks_per_node
        if per_node is None and job.ranks and job.threads and self.ranks_per_node:
            cpus = self.ranks_per_node * (self.script.resources.cpus_per_task or 1)
            fitting = max(1, cpus // job.threads)
            if fitting < self.ranks_per_node and ceil(job.ranks / fitting) <= self.nodes:
                per_node = fitting
        return JobSettings(ranks=job.ranks, ranks_per_node=per_node, threads=job.threads)

    def nodes_of(self, job: JobSettings) -> int:
        """Return the number of compute nodes of a run."""
        per_node = self.of_launch(job).ranks_per_node or self.ranks_per_node
        if job.ranks is None or not per_node:
            return self.nodes
        return max(1, ceil(job.ranks / per_node))

    def compute_options(self, job: JobSettings) -> dict[str, str]:
        """Return the sbatch options that a run's ranks and threads change, usually none."""
        launch = self.of_launch(job)
        changed = {
            "ntasks": launch.ranks,
            "ntasks-per-node": launch.ranks_per_node,
            "cpus-per-task": launch.threads,
        }
        found = {name: str(number) for name, number in changed.items() if number is not None}
        if found and self.script.resources.nodes is not None:
            found["nodes"] = str(self.nodes_of(job))
        return found

    def _job_name(self) -> str:
        """Return the name that sbatch would give to the job of the script."""
        name = self.script.resources.job_name or self.script.name
        return options_of_variables(os.environ).get("job-name", name)

    def _of_array(self) -> dict[str, str]:
        """Return the variables that make the script the first element of its job array."""
        first = re.match(r"\d+", self.script.resources.array or "")
        return {"SLURM_ARRAY_TASK_ID": first[0]} if first else {}

    def _compute(self, job: JobSettings) -> tuple[str, ...]:
        """Return the options of sbatch for the compute nodes."""
        changed = self.compute_options(job)
        drop = {*NOT_SUBMITTED, *changed, *(("nodes",) if changed else ())}
        drop |= options_of_variables(os.environ).keys()  # sbatch reads these, not the script
        words = [f"--{name}={number}" for name, number in changed.items()]
        seconds = self.allocation_seconds or self.wall_seconds
        if seconds is not None:
            words.append(f"--time={time_text(seconds)}")
        return _with_words(self.script.sbatch_arguments(drop), words)


def links_replaced_in_run(record_directory: Path) -> tuple[str, ...]:
    """Return the files of a run whose links to the burst buffer the program replaced."""
    return replaced_links(record_directory / LINKS)


def is_below(name: str, globs: Sequence[str]) -> bool:
    """Return whether a file of a run is in its directory and matches one of the globs."""
    if name.startswith("/") or ".." in name.split("/"):
        return False
    return _staging.is_one_of(name.removeprefix("./"), globs)


def _write(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o700), "wb") as stream:
        stream.write(data)


def _with_words(arguments: tuple[str, ...], words: list[str]) -> tuple[str, ...]:
    """Add options to each part of a heterogeneous job, since each has its own time limit."""
    found: list[str] = []
    for word in arguments:
        found += [*words, word] if word == ":" else [word]
    return (*found, *words)


# Variables that make Cray MPICH print statistics to the output of the job.

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
    """Return the variables to set in trials with Cray MPICH, which other MPIs ignore.

    It then prints its version, all settings, hints and aggregators, and for each file its system
    calls and the phases of its writes and reads, which `readers.read_evidence` reads.
    MPICH_MPIIO_STATS is 1 and not 2, which writes files next to the program's own instead.

    Source: intro_mpi(3) of Cray MPICH (documented); Markomanolis (KAUST), ExPBB, CUG 2017.
    """
    return _TELLING
