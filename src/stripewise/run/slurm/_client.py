# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Asks Slurm: submits jobs and follows them with few requests, and lists a centre's jobs."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from stripewise.run.slurm._burst_buffers import BurstBuffers, parse_burst
from stripewise.run.slurm._commands import (
    SHARED,
    CommandFailed,
    Commands,
    RateLimiter,
    SlurmAwayError,
    SlurmError,
    one_line,
    refused,
)
from stripewise.run.slurm._text import (
    FORMAT,
    STATUS_COLUMNS,
    JobState,
    JobStatus,
    Partition,
    job_status,
    moment_text,
    parse_records,
    parse_sacct,
    parse_squeue,
    partition,
)

TIMEOUT_SECONDS = 60.0
"""Limit of a command.  Those of Slurm give up after some tens of seconds (MessageTimeout)."""
_PARSABLE = re.compile(r"^(\d+)(?:;(\S+))?\s*$", re.MULTILINE)
_NO_SUCH_JOB = re.compile(r"Invalid job id|already completing or completed", re.IGNORECASE)
_NO_ACCOUNTING = re.compile(r"accounting storage is disabled|Slurm accounting", re.IGNORECASE)


class Slurm:
    """Slurm's commands on this host.

    One call of squeue serves all jobs.  What squeue has forgotten is asked of sacct, if
    accounting is on, then of scontrol.

    Attributes:
        limiter: Counts and bounds the requests; by default that of this process.
        trouble: What the last look at the queue failed with; "" if it went well.
        looks: How often the queue was looked at with success.
        cluster: To which jobs go, by its name; "": this host's own.
    """

    def __init__(
        self,
        *,
        limiter: RateLimiter | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """Take what the commands need.

        Args:
            limiter: Of the requests; default: shared by all of this process.
            environment: Of the commands; default: this process's own at the time.
            timeout_seconds: After which a command is stopped.
        """
        self.limiter = limiter or SHARED
        self.trouble = ""
        self.looks = 0
        self._commands = Commands(self.limiter, environment, timeout_seconds)
        self._known: dict[int, JobStatus] = {}
        self._missing: dict[int, list[str]] = {}
        self._mine: tuple[JobStatus, ...] = ()
        self._accounting: bool | None = None
        self.cluster = ""
        self._said: dict[str, str] = {}

    def check(self) -> None:
        """Look for the commands.

        Raises:
            SlurmMissingError: They are not here.
        """
        for command in ("sbatch", "squeue", "scancel", "scontrol"):
            self._commands.find(command)

    # -- jobs --------------------------------------------------------------------------------

    def submit(self, arguments: Sequence[str], script: Path, directory: Path) -> int:
        """Submit a batch script; return the number of the job.

        Args:
            arguments: Options of sbatch.
            script: What the job's first node runs.
            directory: From which it is submitted.

        Raises:
            SubmissionError: It is refused.
            SlurmAwayError: No answer; the job may have been submitted all the same.
            SlurmError: sbatch said something else than the number.
        """
        words = ["--parsable", *arguments, str(script)]
        try:
            said = self._commands.run("sbatch", words, directory)
        except CommandFailed as error:
            raise refused(error.said) from None
        match = _PARSABLE.search(said)
        if match is None:
            raise SlurmError(f"sbatch did not say the number of the job: {said.strip()[:200]!r}")
        self.cluster = match[2] or self.cluster
        return int(match[1])

    def look(self, jobs: Collection[int]) -> Mapping[int, JobStatus]:
        """Return what is known of jobs; ask once before, if that is due.  Never waits.

        A controller that is away leaves what was known before; `trouble` says so.
        """
        open_jobs = {n for n in jobs if n not in self._known or not self._known[n].state.ended}
        if open_jobs and self.limiter.ready():
            try:
                self._ask(open_jobs)
                self.trouble = ""
            except SlurmError as error:
                self.trouble = str(error)
        return {number: self._known[number] for number in jobs if number in self._known}

    def known(self, job: int) -> JobStatus | None:
        """Return what Slurm said of a job last, without a request."""
        return self._known.get(job)

    def find(self, name: str) -> JobStatus | None:
        """Return the job of this user that has a name; None if the queue has none.

        Raises:
            SlurmError: The queue cannot be looked at.
        """
        self._ask_queue(())
        return next((job for job in self._mine if job.name == name), None)

    def cancel(self, jobs: Collection[int]) -> None:
        """End jobs; no error if they have ended.

        Raises:
            SlurmError: They could not be ended.
        """
        if not jobs:
            return
        try:
            words = [*self._on_cluster(), *map(str, sorted(jobs))]
            self._commands.run("scancel", words)
        except CommandFailed as error:
            if not _NO_SUCH_JOB.search(error.said):
                raise
        for number in jobs:  # its state is another one now
            if number in self._known and not self._known[number].state.ended:
                del self._known[number]

    def _ask(self, jobs: Collection[int]) -> None:
        """Make one request: of a job that squeue does not know, otherwise squeue."""
        asked = [number for number in jobs if number in self._missing]
        if not asked:
            self._ask_queue(jobs)
        elif self._missing[asked[0]][0] == "sacct":
            self._ask_accounting([n for n in asked if self._missing[n][0] == "sacct"])
        else:
            self._ask_controller(asked[0])

    def _ask_queue(self, jobs: Collection[int]) -> None:
        words = ["-h", "-a", "-t", "all", f"--user={os.getuid()}", "-o", FORMAT]
        self._mine = parse_squeue(self._commands.run("squeue", [*self._on_cluster(), *words]))
        self.looks += 1
        for status in self._mine:
            self._known[status.job_id] = status
            self._missing.pop(status.job_id, None)
        seen = {status.job_id for status in self._mine}
        others = ["scontrol"] if self._accounting is False else ["sacct", "scontrol"]
        self._missing.update((n, list(others)) for n in jobs if n not in seen)

    def _ask_accounting(self, jobs: Sequence[int]) -> None:
        words = ["-X", "-P", "-n", "-j", ",".join(map(str, jobs)), "-o", ",".join(STATUS_COLUMNS)]
        try:
            found = parse_sacct(self._commands.run("sacct", [*self._on_cluster(), *words]))
        except SlurmAwayError:
            found = ()  # the data base; the controller may know
        except SlurmError as error:
            found = ()
            if _NO_ACCOUNTING.search(str(error)):
                self._accounting = False
        for status in found:
            if status.job_id in jobs and status.state.ended:
                self._settle(status)
        for number in jobs:
            self._not_there(number)

    def _ask_controller(self, job: int) -> None:
        try:
            words = [*self._on_cluster(), "-o", "show", "job", str(job)]
            records = parse_records(self._commands.run("scontrol", words))
        except CommandFailed as error:
            if not _NO_SUCH_JOB.search(error.said):
                raise
            records = ()
        for record in records:
            if record.get("JobId") == str(job):
                self._settle(job_status(record))
        self._not_there(job)

    def _settle(self, status: JobStatus) -> None:
        self._known[status.job_id] = status
        self._missing.pop(status.job_id, None)

    def _not_there(self, job: int) -> None:
        """Note that a command does not know a job; after the last one the job is lost."""
        left = self._missing.get(job)
        if left is None:
            return
        del left[0]
        if not left:
            self._settle(JobStatus(job, JobState.LOST))

    def _on_cluster(self) -> list[str]:
        return [f"--clusters={self.cluster}"] if self.cluster else []

    # -- the cluster -------------------------------------------------------------------------

    def partitions(self) -> tuple[Partition, ...]:
        """Return the partitions, hidden ones too, asked once.

        Raises:
            SlurmError: They cannot be asked.
        """
        return tuple(map(partition, parse_records(self._show("partition", "-a", "-o"))))

    def burst_buffers(self) -> tuple[BurstBuffers, ...]:
        """Return what its burst-buffer plugins have, asked once; empty if there are none.

        Raises:
            SlurmError: It cannot be asked.
        """
        return parse_burst(self._show("burst"))

    def _show(self, what: str, *options: str) -> str:
        if what not in self._said:
            words = [*self._on_cluster(), *options, "show", what]
            self._said[what] = self._commands.run("scontrol", words)
        return self._said[what]


# The accounting of all jobs, as a centre asks for it.

_OWN_CLUSTER = "SLURM_CLUSTERS"
"""Instead of it a caller of `Sacct` says which clusters are meant."""


@dataclass(frozen=True)
class Sacct:
    """Asks sacct for the jobs of all users.

    Names of jobs are their users', and may hold a line break: what follows it could pass for the
    line of another job (seen in 22.05).  So sacct is asked for a separator that nobody knows
    beforehand, `--delimiter "|DIGITS|"`; the first header says which one holds.

    Attributes:
        clusters: As for its option --clusters: names with commas, "all", "" for its own.
        timeout_seconds: For one question.
        environment: In which it is run; None: this process's.
    """

    clusters: str = ""
    timeout_seconds: float = 600.0
    environment: Mapping[str, str] | None = None

    def columns(self, wanted: Sequence[str], if_known: Sequence[str]) -> tuple[str, ...]:
        """Return the columns to ask for: with one that it does not know, sacct fails.

        Args:
            wanted: That every Slurm has, the name of the job last.
            if_known: That are asked for where this Slurm has them.

        Raises:
            SlurmMissingError: There is no sacct.
            SlurmError: It fails, or does not end in time.
        """
        known = " ".join(self._run(["--helpformat"])).lower().split()
        return (*wanted[:-1], *(name for name in if_known if name in known), *wanted[-1:])

    def lines(self, columns: Sequence[str], start: int, end: int) -> Iterator[str]:
        """Yield the lines on the jobs that waited or ran at any moment of a time.

        Without the rights of an operator, sacct lists the user's own jobs only where the site
        hides others; of a cluster that slurmdbd does not know it lists nothing.

        Args:
            columns: Names.
            start: Seconds since 1970.
            end: Likewise.

        Raises:
            SlurmMissingError: There is no sacct.
            SlurmError: It fails, or does not end in time.
        """
        words = [
            *("--allusers", "--parsable2", "--duplicates", "--noconvert"),
            f"--delimiter=|{secrets.randbelow(10**9):09}|",
            *([f"--clusters={self.clusters}"] if self.clusters else []),
            f"--starttime={moment_text(start)}",
            f"--endtime={moment_text(end)}",
            f"--format={','.join(columns)}",
        ]
        yield from self._run(words)

    def _run(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the lines of what sacct prints; they may be more than memory is for."""
        given = os.environ if self.environment is None else self.environment
        kept = {name: text for name, text in given.items() if name != _OWN_CLUSTER}
        commands = Commands(
            None,
            kept | {"TZ": "UTC", "LC_ALL": "C"},
            self.timeout_seconds,
            "read the jobs on a host with Slurm's commands, or give a file with the output of "
            "sacct",
        )
        with TemporaryFile() as output:
            answer = commands.answer("sacct", words, output=output)
            if answer.is_late:
                raise SlurmError(
                    f"sacct did not end within {self.timeout_seconds:g} s; slurmdbd is busy: try "
                    "again"
                )
            if not answer.ok:
                why = one_line(answer.error) or f"exit code {answer.exit_code}"
                raise SlurmError(
                    f"sacct failed: {why}; check that slurmdbd runs and that this user may ask it"
                )
            output.seek(0)
            for line in output:
                yield line.decode("utf-8", "replace").removesuffix("\n")
