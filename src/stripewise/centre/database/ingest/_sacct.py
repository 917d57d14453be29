# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Asks sacct for the jobs of a time, a day at a time, and parses its text.

A line has a column for each name of the header.  Without a header the columns are FIELDS.  Only
the job name may itself contain the separator.  Steps follow their job.

Names of jobs are their users', and may hold a line break: what follows it could pass for the line
of another job (seen in 22.05).  So sacct is asked for a separator that nobody knows beforehand,
`--delimiter "|DIGITS|"`; the first header says which one holds.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from stripewise.centre.database._records import (
    JobRecord,
    Parsed,
    Problems,
    job_record,
    not_started,
)
from stripewise.core.inputs import Budget
from stripewise.run.slurm import SlurmError, SlurmMissingError, one_line, parse_seconds

# Values as sacct writes them.

UNKNOWN = frozenset({"", "Unknown", "None", "N/A", "INVALID", "(null)"})
"""What sacct writes where it knows nothing.  Source: print.c of sacct, and seen in 22.05."""
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)")
_POWERS: dict[str, int] = {
    unit: power for power, unit in enumerate(("", "K", "M", "G", "T", "P", "E"))
}
_NONE = 2**64 - 2
"""NO_VAL64 and more: Slurm does not know.  Source: slurm.h."""
_JOB = re.compile(r"(\d+)(?:_(?:(\d+)|\[.*)|\+(\d+))?")


class JobId(NamedTuple):
    """A job id as users see it.

    Attributes:
        number: Of the job, of its array, or of the first component.
        task: Of an array; None: no task, or tasks that have not started.
        offset: Of a component of a heterogeneous job.
        is_rest: It stands for the tasks of an array that have not started.
    """

    number: int
    task: int | None
    offset: int | None
    is_rest: bool


def job_id(text: str) -> JobId:
    """Read "12", "12_3", "12_[4-9%2]" or "12+1".

    Raises:
        ValueError: It is none of them.
    """
    match = _JOB.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is no job id")
    number, task, offset = (None if part is None else int(part) for part in match.groups())
    assert number is not None
    return JobId(number, task, offset, "[" in text)


@lru_cache(maxsize=65536)
def moment(text: str) -> int | None:
    """Return seconds since 1970; a time without its zone is UTC; None: not known.

    Raises:
        ValueError: It is no time.
    """
    if text in UNKNOWN:
        return None
    if text.isascii() and text.isdigit():
        return int(text) or None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no time") from None
    if read.tzinfo is None:
        read = read.replace(tzinfo=UTC)
    return int(read.timestamp())


def count(text: str) -> int | None:
    """Return a number of bytes or things, "12" or rounded as "1.5K"; None: not known.

    Raises:
        ValueError: It is no number.
    """
    if text in UNKNOWN:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is no number")
    return round(float(match[1]) * float(1024 ** _POWERS[match[2]]))


def resource(text: str, name: str) -> int | None:
    """Return one resource of a list as "cpu=4,fs/disk=512,node=1"; None: it is not told.

    Args:
        text: The list.
        name: As in "fs/disk".

    Raises:
        ValueError: It is no number.
    """
    start = f",{text}".find(f",{name}=")
    if start < 0:
        return None
    amount = count(text[start + len(name) + 1 :].partition(",")[0])
    return None if amount is None or amount >= _NONE else amount


def exit_codes(text: str) -> tuple[int | None, int | None]:
    """Return exit code and signal of "E:S".

    Raises:
        ValueError: It is no such pair.
    """
    if text in UNKNOWN:
        return None, None
    code, _, number = text.partition(":")
    return count(code), count(number or "0")


# The text of sacct: `sacct --parsable2 --noconvert --duplicates`, in UTC.

FIELDS = (
    *("jobid", "jobidraw", "cluster", "partition", "qos", "account", "group", "gid", "user"),
    *("uid", "submit", "eligible", "start", "end", "elapsed", "exitcode", "state", "nnodes"),
    *("ncpus", "reqcpus", "reqmem", "reqtres", "alloctres", "timelimit", "nodelist", "jobname"),
)
"""Of a line without a header.  Source: the call of XDMoD's shredder for Slurm."""
NEEDED = ("jobid", "jobidraw", "user", "submit", "start", "end", "state")
"""Without these a record would be wrong, not only shorter."""
READ_BYTES = "tresusageintot"
WRITE_BYTES = "tresusageouttot"
DISK = "fs/disk"
"""What processes of a step read (in) and wrote (out): rchar and wchar of /proc/PID/io, which
count system calls, also those that a cache, a pipe or a terminal serves, and no mapped memory.
Source: jobacct_gather/common/common_jag.c, acct_gather_profile.c of Slurm; seen in 22.05."""
_OF_STEPS = {READ_BYTES: "slurm_read_bytes", WRITE_BYTES: "slurm_write_bytes"}
_HEADER = re.compile(r"[A-Za-z/]+(\|(?:\d+\|)?)[A-Za-z/]+(?:\1[A-Za-z/]+)*(?:\1)?", re.ASCII)
_FIRST = re.compile(r"\d+[^|]*\|\d+[^|]*\|[^|]*\|")
_SEPARATOR = "|"


def recognises_sacct(head: bytes) -> bool:
    """Whether a file begins as text of sacct does.

    Args:
        head: The first bytes of it, a line or more.
    """
    line = head.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    if _separator_of(line):
        return True
    parts = line.split(_SEPARATOR)
    return len(parts) >= len(FIELDS) and bool(_FIRST.match(line)) and _is_moment(parts[10])


def parse_sacct(
    text: str | Iterable[str], cluster: str = "", budget: Budget | None = None
) -> Parsed:
    """Read the text of sacct; lines that cannot be read are named and left out.

    Args:
        text: Whole or its lines; with or without a header, with or without lines of steps.
        cluster: Of jobs whose line names none.
        budget: How many jobs there may be; None: any number.

    Raises:
        StripewiseError: There are more; the class is the budget's.
    """
    reader = _Reader(cluster)
    lines = text.split("\n") if isinstance(text, str) else text
    for number, line in enumerate(lines, 1):
        if line.strip():
            reader.read(number, line.removesuffix("\r"))
        if budget is not None:
            budget.check_entries(len(reader.jobs), f"line {number}")
    return reader.parsed()


def _separator_of(line: str) -> str:
    """Return the separator of a header; "": the line is none."""
    match = _HEADER.fullmatch(line)
    return match[1] if match and "jobid" in line.lower().split(match[1]) else ""


def _is_moment(text: str) -> bool:
    try:
        return moment(text) is not None
    except (ValueError, OverflowError):
        return False


@dataclass
class _Reader:
    """Reads line after line.

    Attributes:
        cluster: Of jobs whose line names none.
        separator: Between columns; "" until the first line came.
        columns: Names of the columns.
        jobs: A job that is listed twice counts once.
        rests: Entries for tasks of arrays that have not started.
        last: The job whose steps may follow.
        usage: Bytes that its steps read and wrote.
    """

    cluster: str
    separator: str = ""
    columns: tuple[str, ...] = FIELDS
    jobs: dict[tuple[str, int, int], JobRecord] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)
    rests: list[str] = field(default_factory=list)
    last: JobRecord | None = None
    usage: list[int | None] = field(default_factory=lambda: [None, None])

    def read(self, number: int, line: str) -> None:
        """Read a line."""
        separator = _separator_of(line)
        self.separator = self.separator or separator or _SEPARATOR
        try:
            if separator == self.separator:
                self._header(line)
            elif self.columns:
                self._line(self._split(line))
        except (ValueError, OverflowError) as error:
            self.problems.add(f"line {number} is left out: {error}")

    def _header(self, line: str) -> None:
        self._end_of_job()
        self.columns = tuple(line.lower().split(self.separator))
        if missing := [name for name in NEEDED if name not in self.columns]:
            self.columns = ()
            raise ValueError(
                f"the header lacks {', '.join(missing)}; lines below it cannot be read: "
                f"run sacct with --format={','.join(FIELDS)}"
            )

    def _split(self, line: str) -> dict[str, str]:
        if "\0" in line:
            raise ValueError("it contains a zero byte")
        parts, wanted = line.split(self.separator), len(self.columns)
        if len(parts) < wanted or (len(parts) > wanted and "jobname" not in self.columns):
            raise ValueError(f"it has {len(parts)} columns instead of {wanted}")
        if len(parts) > wanted:
            name = self.columns.index("jobname")
            after = len(parts) - (wanted - 1 - name)
            parts[name:after] = [self.separator.join(parts[name:after])]
        return dict(zip(self.columns, parts, strict=True))

    def _line(self, row: dict[str, str]) -> None:
        visible = row["jobid"]
        if "." in visible and "[" not in visible:
            self._step(row)
            return
        self._end_of_job()
        seen = job_id(visible)
        if seen.is_rest:
            self.rests.append(visible[:40])
        else:
            self.last = _record(row, seen, self.cluster)

    def _step(self, row: dict[str, str]) -> None:
        raw_id = row["jobidraw"].partition(".")[0]
        if self.last is None or raw_id != str(self.last.raw_id):
            raise ValueError(f"the step {row['jobid'][:40]} does not follow its job")
        for place, name in enumerate(_OF_STEPS):
            told = resource(row.get(name, ""), DISK)
            if told is not None:
                self.usage[place] = (self.usage[place] or 0) + told

    def _end_of_job(self) -> None:
        """Keep the last job, with what its steps read and wrote."""
        record = self.last
        if record is not None:
            sums = zip(_OF_STEPS.items(), self.usage, strict=True)
            told = {column: amount for (name, column), amount in sums if name in self.columns}
            assert isinstance(record.columns, dict)  # of job_record, and nobody has it yet
            record.columns.update(told)
            key = record.cluster, record.raw_id, record.submit_at
            self.jobs.pop(key, None)
            self.jobs[key] = record
        self.last, self.usage = None, [None, None]

    def parsed(self) -> Parsed:
        """Return what was read."""
        self._end_of_job()
        return Parsed(tuple(self.jobs.values()), (*self.problems.told(), *not_started(self.rests)))


def _record(row: dict[str, str], seen: JobId, cluster: str) -> JobRecord:
    start, end = moment(row["start"]), moment(row["end"])
    code, number = exit_codes(row.get("exitcode", ""))
    columns: dict[str, Any] = {
        "name": row.get("jobname"),
        "state": row["state"],
        "exit_code": code,
        "exit_signal": number,
        "array_job_id": None if seen.task is None else seen.number,
        "array_task_id": seen.task,
        "het_job_id": None if seen.offset is None else seen.number,
        "het_offset": seen.offset,
    }
    columns |= {name: read(row[told]) for told, name, read in _FURTHER if told in row}
    if not columns.get("cpu_count") and "reqcpus" in row:
        columns["cpu_count"] = count(row["reqcpus"]) or None
    return job_record(
        row.get("cluster") or cluster, count(row["jobidraw"]), moment(row["submit"]),
        sluid=row.get("sluid", ""), user=row["user"], uid=count(row.get("uid", "")),
        account=row.get("account", ""), start_at=start, end_at=end, columns=columns,
    )  # fmt: skip


_seconds = lru_cache(maxsize=65536)(parse_seconds)


def _whole_seconds(text: str) -> int | None:
    seconds = _seconds(text)
    return None if seconds is None else int(seconds)


_FURTHER: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("partition", "partition", str), ("qos", "qos", str), ("nodelist", "node_list", str),
    ("group", "unix_group", str),
    ("nnodes", "node_count", count), ("ncpus", "cpu_count", count),
    ("restarts", "restart_count", count), ("timelimit", "time_limit_seconds", _whole_seconds),
    ("eligible", "eligible_at", moment), ("elapsed", "run_seconds", _seconds),
)  # fmt: skip
"""Names of sacct and of the table, and how the text is read."""


# Asks sacct for the jobs of a time, a day at a time.

OF_NEWER = ("restarts", "sluid")
"""Asked of a Slurm that knows them: Restarts came in 23.11 or later, SLUID in 24.11."""
_DROPPED = ("SACCT_", "SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN", "SLURM_CLUSTERS")
"""What changes the output of sacct.  Source: sacct(1), ENVIRONMENT VARIABLES."""


@dataclass(frozen=True)
class Sacct:
    """How sacct is asked.

    Attributes:
        clusters: As for its option --clusters: names with commas, "all", "" for its own.
        timeout_seconds: For the jobs of one day.
        environment: In which it is run; None: this process's.
    """

    clusters: str = ""
    timeout_seconds: float = 600.0
    environment: Mapping[str, str] | None = None

    def read(self, window: Window) -> Iterator[Parsed]:
        """Return the jobs that waited or ran at any moment of a time, those of a day at a time.

        A job that runs for several days comes with each; what is told last holds.  Without the
        rights of an operator, sacct lists the user's own jobs only where the site hides others;
        of a cluster that slurmdbd does not know it lists nothing.

        Args:
            window: Which time.

        Raises:
            SlurmMissingError: There is no sacct.
            SlurmError: It fails, or does not end in time.
        """
        columns = self._columns()
        for day in window.days():
            yield parse_sacct(self._run(self._words(columns, day)))

    def _words(self, columns: Sequence[str], day: Window) -> list[str]:
        return [
            *("--allusers", "--parsable2", "--duplicates", "--noconvert"),
            f"--delimiter=|{secrets.randbelow(10**9):09}|",
            *([f"--clusters={self.clusters}"] if self.clusters else []),
            f"--starttime={_moment(day.start)}",
            f"--endtime={_moment(day.end)}",
            f"--format={','.join(columns)}",
        ]

    def _columns(self) -> list[str]:
        """Return the columns to ask for: with one that it does not know, sacct fails."""
        known = " ".join(self._run(["--helpformat"])).lower().split()
        further = [name for name in (*OF_NEWER, READ_BYTES, WRITE_BYTES) if name in known]
        return [*FIELDS[:-1], *further, FIELDS[-1]]

    def _run(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the lines of what sacct prints; they may be more than memory is for."""
        given = os.environ if self.environment is None else self.environment
        kept = {name: text for name, text in given.items() if not name.startswith(_DROPPED)}
        path = shutil.which("sacct", path=given.get("PATH"))
        if path is None:
            raise SlurmMissingError(
                "there is no sacct on PATH: read the jobs on a host with Slurm's commands, or "
                "give a file with the output of sacct"
            )
        environment = kept | {"TZ": "UTC", "LC_ALL": "C"}
        with TemporaryFile() as said:
            try:
                process = subprocess.Popen(
                    [path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
                    env=environment,
                )  # fmt: skip
            except OSError as error:
                raise SlurmError(f"cannot run {path}: {error.strerror or error}") from error
            yield from self._printed(process)
            if process.returncode:
                said.seek(0)
                why = one_line(said.read(1 << 16).decode("utf-8", "replace"))
                raise SlurmError(
                    f"sacct failed: {why or f'exit code {process.returncode}'}; check that "
                    "slurmdbd runs and that this user may ask it"
                )

    def _printed(self, process: subprocess.Popen[bytes]) -> Iterator[str]:
        """Yield lines until a program ends; end it after some time."""
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.timeout_seconds, end)
        timer.start()
        with process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    yield line.decode("utf-8", "replace").removesuffix("\n")
                process.wait()
            finally:
                timer.cancel()
                process.kill()
        if late.is_set():
            raise SlurmError(
                f"sacct did not end within {self.timeout_seconds:g} s; slurmdbd is busy: try again"
            )


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


# Which time to read.

DAY_SECONDS = 86400
OVERLAP_SECONDS = 3600
"""How much is read again each time: slurmctld keeps records back while slurmdbd is away, and
hands them over when it is there again (assumed)."""
DAILY_SECONDS = 2 * DAY_SECONDS
"""How much is read again once a day, for what took longer (assumed)."""
FIRST_SECONDS = 30 * DAY_SECONDS
"""How far back the first reading goes, unless more is asked for."""


@dataclass(frozen=True)
class Window:
    """A span of time.

    Attributes:
        start / end: Seconds since 1970.
    """

    start: int
    end: int

    def days(self) -> Iterator[Window]:
        """Divide it into spans of a day at most: each is one question that slurmdbd can bear."""
        start = self.start
        while start < self.end:
            end = min(start + DAY_SECONDS, self.end)
            yield Window(start, end)
            start = end


def window(last_end: int | None, now: int) -> Window:
    """Return which time to read next.

    Slurm lists every job that waited or ran at any moment of a span: one that ran when it was
    last asked has ended since, or runs still, and is in the new span either way.

    Args:
        last_end: End of what was read before; None: nothing was.
        now: Seconds since 1970.
    """
    if last_end is None:
        return Window(max(now - FIRST_SECONDS, 0), now)
    same_day = last_end // DAY_SECONDS == now // DAY_SECONDS
    start = last_end - (OVERLAP_SECONDS if same_day else DAILY_SECONDS)
    return Window(max(min(start, now), 0), now)
