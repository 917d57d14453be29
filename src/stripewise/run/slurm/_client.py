# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Submits jobs to Slurm and follows them with few requests, and lists a centre's jobs."""

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
"""Time limit of a command.  Slurm's commands give up after some tens of seconds
(MessageTimeout)."""
_PARSABLE = re.compile(r"^(\d+)(?:;(\S+))?\s*$", re.MULTILINE)
_NO_SUCH_JOB = re.compile(r"Invalid job id|already completing or completed", re.IGNORECASE)
_NO_ACCOUNTING = re.compile(r"accounting storage is disabled|Slurm accounting", re.IGNORECASE)


class Slurm:
    """Slurm's commands on this host.

    One call of squeue covers all jobs.  Jobs that squeue no longer lists are looked up with sacct,
    if accounting is on, then with scontrol.

    Attributes:
        limiter: Counts and limits the requests; by default that of this process.
        trouble: Error of the last query of the queue; empty if it succeeded.
        looks: Number of successful queries of the queue.
        cluster: Name of the cluster for jobs; empty for that of this host.
    """

    def __init__(
        self,
        *,
        limiter: RateLimiter | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """Set the parameters of the commands.

        Args:
            limiter: Limiter of requests; by default the one shared in this process.
            environment: Environment of the commands; by default that of this process at the time.
            timeout_seconds: Time after which a command is stopped.
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
        self._answers: dict[str, str] = {}

    def check(self) -> None:
        """Check that the commands exist.

        Raises:
            SlurmMissingError: They do not exist on this host.
        """
        for command in ("sbatch", "squeue", "scancel", "scontrol"):
            self._commands.find(command)

    # -- jobs --------------------------------------------------------------------------------

    def submit(self, arguments: Sequence[str], script: Path, directory: Path) -> int:
        """Submit a batch script; return the id of the job.

        Args:
            arguments: Options of sbatch.
            script: Script that the job's first node runs.
            directory: Directory from which it is submitted.

        Raises:
            SubmissionError: Slurm refuses the job.
            SlurmAwayError: No answer; the job may have been submitted nevertheless.
            SlurmError: The output of sbatch is not an id.
        """
        words = ["--parsable", *arguments, str(script)]
        try:
            text = self._commands.run("sbatch", words, directory)
        except CommandFailed as error:
            raise refused(error.output) from None
        match = _PARSABLE.search(text)
        if match is None:
            raise SlurmError(f"sbatch did not say the number of the job: {text.strip()[:200]!r}")
        self.cluster = match[2] or self.cluster
        return int(match[1])

    def look(self, jobs: Collection[int]) -> Mapping[int, JobStatus]:
        """Return the status of jobs, after one query if it is due, without waiting.

        If the controller does not answer, this is the previous status, and `trouble` has the
        error.
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
        """Return the last known status of a job, without a request."""
        return self._known.get(job)

    def find(self, name: str) -> JobStatus | None:
        """Return the job of this user with a name; None if the queue has none.

        Raises:
            SlurmError: The queue cannot be queried.
        """
        self._ask_queue(())
        return next((job for job in self._mine if job.name == name), None)

    def cancel(self, jobs: Collection[int]) -> None:
        """Cancel jobs, unless they have ended.

        Raises:
            SlurmError: The jobs could not be cancelled.
        """
        if not jobs:
            return
        try:
            words = [*self._on_cluster(), *map(str, sorted(jobs))]
            self._commands.run("scancel", words)
        except CommandFailed as error:
            if not _NO_SUCH_JOB.search(error.output):
                raise
        for number in jobs:  # its state has changed
            if number in self._known and not self._known[number].state.ended:
                del self._known[number]

    def _ask(self, jobs: Collection[int]) -> None:
        """Make one request: about a job that squeue does not know, otherwise to squeue."""
        missing = [number for number in jobs if number in self._missing]
        if not missing:
            self._ask_queue(jobs)
        elif self._missing[missing[0]][0] == "sacct":
            self._ask_accounting([n for n in missing if self._missing[n][0] == "sacct"])
        else:
            self._ask_controller(missing[0])

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
            found = ()  # no data base; the controller may know the job
        except SlurmError as error:
            found = ()
            if _NO_ACCOUNTING.search(str(error)):
                self._accounting = False
        for status in found:
            if status.job_id in jobs and status.state.ended:
                self._settle(status)
        for number in jobs:
            self._note_unknown(number)

    def _ask_controller(self, job: int) -> None:
        try:
            words = [*self._on_cluster(), "-o", "show", "job", str(job)]
            records = parse_records(self._commands.run("scontrol", words))
        except CommandFailed as error:
            if not _NO_SUCH_JOB.search(error.output):
                raise
            records = ()
        for record in records:
            if record.get("JobId") == str(job):
                self._settle(job_status(record))
        self._note_unknown(job)

    def _settle(self, status: JobStatus) -> None:
        self._known[status.job_id] = status
        self._missing.pop(status.job_id, None)

    def _note_unknown(self, job: int) -> None:
        """Record that a command does not know a job, which is lost after the last command."""
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
        """Return the partitions, including hidden ones; query them only once.

        Raises:
            SlurmError: The query failed.
        """
        return tuple(map(partition, parse_records(self._show("partition", "-a", "-o"))))

    def burst_buffers(self) -> tuple[BurstBuffers, ...]:
        """Return the burst buffers of all plug-ins, if any; query them only once.

        Raises:
            SlurmError: The query failed.
        """
        return parse_burst(self._show("burst"))

    def _show(self, what: str, *options: str) -> str:
        if what not in self._answers:
            words = [*self._on_cluster(), *options, "show", what]
            self._answers[what] = self._commands.run("scontrol", words)
        return self._answers[what]


# Accounting of all jobs, for a centre.

_OWN_CLUSTER = "SLURM_CLUSTERS"
"""Variable that is ignored, since callers of `Sacct` name the clusters."""


@dataclass(frozen=True)
class Sacct:
    """Queries sacct for the jobs of all users.

    Users choose the names of jobs, which may contain a line break: the text after it could look
    like the line of another job (observed in 22.05).  So sacct gets an unpredictable separator,
    `--delimiter "|DIGITS|"`, which is read from the first header.

    Attributes:
        clusters: Value of its option --clusters: comma-separated names, "all", or empty for its
            own.
        timeout_seconds: Time limit of one query.
        environment: Environment in which it runs; None for that of this process.
    """

    clusters: str = ""
    timeout_seconds: float = 600.0
    environment: Mapping[str, str] | None = None

    def columns(self, wanted: Sequence[str], if_known: Sequence[str]) -> tuple[str, ...]:
        """Return the columns to request, without unknown ones, with which sacct fails.

        Args:
            wanted: Columns of every Slurm version, with the name of the job last.
            if_known: Columns to request if this Slurm has them.

        Raises:
            SlurmMissingError: There is no sacct.
            SlurmError: It fails, or does not end in time.
        """
        known = " ".join(self._run(["--helpformat"])).lower().split()
        return (*wanted[:-1], *(name for name in if_known if name in known), *wanted[-1:])

    def lines(self, columns: Sequence[str], start: int, end: int) -> Iterator[str]:
        """Yield the lines on the jobs that waited or ran at any time in an interval.

        Without the rights of an operator, sacct lists only the user's own jobs if the site hides
        others; for a cluster that slurmdbd does not know it lists nothing.

        Args:
            columns: Names of the columns.
            start: Start of the interval in seconds since 1970.
            end: End of the interval in seconds since 1970.

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
        """Yield the output lines of sacct, which may not fit in memory."""
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
