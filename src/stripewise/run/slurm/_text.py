# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what squeue, sacct and scontrol print: values, records, jobs and partitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from math import ceil
from typing import NamedTuple

# States of jobs.


class JobState(StrEnum):
    """State of a job.  Source: squeue(1), sacct(1), "JOB STATE CODES" (Slurm 22.05)."""

    PENDING = "PENDING"
    CONFIGURING = "CONFIGURING"
    REQUEUED = "REQUEUED"
    REQUEUE_FED = "REQUEUE_FED"
    REQUEUE_HOLD = "REQUEUE_HOLD"
    RESV_DEL_HOLD = "RESV_DEL_HOLD"
    SPECIAL_EXIT = "SPECIAL_EXIT"
    RUNNING = "RUNNING"
    SUSPENDED = "SUSPENDED"
    STOPPED = "STOPPED"
    SIGNALING = "SIGNALING"
    RESIZING = "RESIZING"
    COMPLETING = "COMPLETING"
    STAGE_OUT = "STAGE_OUT"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMEOUT = "TIMEOUT"
    NODE_FAIL = "NODE_FAIL"
    PREEMPTED = "PREEMPTED"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    BOOT_FAIL = "BOOT_FAIL"
    DEADLINE = "DEADLINE"
    REVOKED = "REVOKED"
    """It runs on another cluster of a federation: nothing has ended."""
    LOST = "LOST"
    """No command of Slurm knows the job any more."""
    UNKNOWN = "UNKNOWN"
    """A state of a later Slurm."""

    @property
    def ended(self) -> bool:
        """Whether nothing of the job runs, or will run, under this state."""
        return self in _ENDED

    @property
    def waiting(self) -> bool:
        """Whether the job has not begun, or will begin again."""
        return self in _WAITING


_ENDED = frozenset(
    {
        JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED, JobState.TIMEOUT,
        JobState.NODE_FAIL, JobState.PREEMPTED, JobState.OUT_OF_MEMORY, JobState.BOOT_FAIL,
        JobState.DEADLINE, JobState.STAGE_OUT, JobState.LOST,
    }
)  # fmt: skip
_WAITING = frozenset(
    {
        JobState.PENDING, JobState.CONFIGURING, JobState.REQUEUED, JobState.REQUEUE_FED,
        JobState.REQUEUE_HOLD, JobState.RESV_DEL_HOLD, JobState.SPECIAL_EXIT,
    }
)  # fmt: skip


def parse_state(text: str) -> JobState:
    """Return the state that a word names: "CANCELLED by 1000", "COMPLETED+"."""
    word = text.strip().split(" ")[0].rstrip("+").upper()
    return JobState(word) if word in JobState.__members__ else JobState.UNKNOWN


def known_text(text: str) -> str:
    """Return a text, "" where Slurm writes that there is none."""
    text = text.strip()
    return "" if text in ("None", "(null)", "N/A", "n/a", "None assigned") else text


# Values as Slurm writes them.

UNKNOWN = frozenset({"", "Unknown", "None", "N/A", "INVALID", "(null)"})
"""What sacct writes where it knows nothing.  Source: print.c of sacct, and seen in 22.05."""
_AMOUNT = re.compile(r"(\d{1,20}(?:\.\d{1,20})?)([KMGTPE]?)", re.ASCII | re.IGNORECASE)
_UNITS = "KMGTPE"
_NONE = 2**64 - 2
"""NO_VAL64 and more: Slurm does not know.  Source: slurm.h."""
_JOB = re.compile(r"(\d+)(?:_(?:(\d+)|\[.*)|\+(\d+))?")
_TIME = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,6}))?(?::(\d{1,6}))?")


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


def parse_job_id(text: str) -> JobId:
    """Read "12", "12_3", "12_[4-9%2]" or "12+1".

    Raises:
        ValueError: It is none of them.
    """
    match = _JOB.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a job id")
    number, task, offset = (None if part is None else int(part) for part in match.groups())
    assert number is not None
    return JobId(number, task, offset, "[" in text)


@lru_cache(maxsize=65536)
def parse_moment(text: str) -> int | None:
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
        raise ValueError(f"{text[:40]!r} is not a time") from None
    if read.tzinfo is None:
        read = read.replace(tzinfo=UTC)
    return int(read.timestamp())


def moment_text(seconds: int) -> str:
    """Return seconds since 1970 as Slurm's commands read a time, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def parse_count(text: str) -> int | None:
    """Return a number of bytes or things, "12" or rounded as "1.5K"; None: not known.

    Raises:
        ValueError: It is no number.
    """
    if text in UNKNOWN:
        return None
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a number")
    if text.isdigit():
        return int(text)
    power = _UNITS.find(match[2].upper()) + 1 if match[2] else 0
    return round(float(match[1]) * float(1024**power))


def least_count(text: str) -> int | None:
    """Return the least number that a text allows: "4", "4-8"; None if it is none."""
    try:
        return parse_count(text.strip().partition("-")[0])
    except ValueError:
        return None


def parse_resource(text: str, name: str) -> int | None:
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
    amount = parse_count(text[start + len(name) + 1 :].partition(",")[0])
    return None if amount is None or amount >= _NONE else amount


def parse_exit(text: str) -> tuple[int | None, int | None]:
    """Return exit code and signal of "E:S".

    Raises:
        ValueError: It is no such pair.
    """
    if text in UNKNOWN:
        return None, None
    code, _, number = text.partition(":")
    return parse_count(code), parse_count(number or "0")


def exit_code(text: str) -> int | None:
    """Return the exit code of "E:S", or minus the signal; None where it says none."""
    try:
        code, number = parse_exit(text.strip())
    except ValueError:
        return None
    return -number if number else code


@lru_cache(maxsize=65536)
def parse_seconds(text: str) -> int | None:
    """Return a time as Slurm writes and reads it; None: without bound, or none is said.

    It writes D-HH:MM:SS and HH:MM:SS, and reads D-HH[:MM], MM and MM:SS as well.

    Source: the manual page of sbatch, --time.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is None and len(numbers) < 3:
        numbers = [0, *numbers]
    hours, minutes, seconds = (*numbers, 0, 0)[:3]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def time_text(seconds: float) -> str:
    """Return a time limit as sbatch reads it, in whole minutes: Slurm has no finer ones."""
    minutes = max(1, ceil(seconds / 60))
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


# The output of `scontrol show job`, `show partition`, `show burst` and `show config`.

_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z0-9_:/.]*(?:\[\d+\])?)=")
_SETTING = re.compile(r"^\s*(\S+)\s*=\s?(.*)$")


def parse_pairs(line: str) -> dict[str, str]:
    """Return the KEY=VALUE of a line; values may hold blanks."""
    places = list(_KEY.finditer(line))
    ends = [*(place.start() for place in places[1:]), len(line)]
    return {
        place[1]: line[place.end() : end].strip() for place, end in zip(places, ends, strict=False)
    }


def parse_records(text: str) -> tuple[dict[str, str], ...]:
    """Return the records of `scontrol show -o`, which has one a line."""
    return tuple(filter(None, map(parse_pairs, text.splitlines())))


def parse_config(text: str) -> dict[str, str]:
    """Return the settings that `scontrol show config` lists."""
    found = (_SETTING.match(line) for line in text.splitlines())
    return {match[1]: match[2].strip() for match in found if match}


# The text of sacct: `sacct --parsable2`.
#
# A line has a column for each name of the header; without a header the columns are agreed.  Only
# the job name may itself contain the separator.

_SEPARATOR = "|"
_HEADER = re.compile(r"[A-Za-z/]+(\|(?:\d+\|)?)[A-Za-z/]+(?:\1[A-Za-z/]+)*(?:\1)?", re.ASCII)


def separator_of(line: str) -> str:
    """Return the separator of a header of sacct; "": the line is none."""
    match = _HEADER.fullmatch(line)
    return match[1] if match and "jobid" in line.lower().split(match[1]) else ""


class SacctTable:
    """Takes the lines of sacct apart.

    Attributes:
        columns: Their names, in lower case; empty below a header that lacks some.
        separator: Between columns; "" until the first line came.  The first header says which
            holds.
    """

    def __init__(self, columns: Sequence[str], needed: Sequence[str] = ()) -> None:
        """Take what the columns are without a header, and those that a header must have."""
        self.columns, self.separator = tuple(columns), ""
        self._agreed, self._needed = self.columns, needed

    def is_header(self, line: str) -> bool:
        """Whether a line, the next one, is a header."""
        separator = separator_of(line)
        self.separator = self.separator or separator or _SEPARATOR
        return separator == self.separator

    def take_header(self, line: str) -> None:
        """Take the columns of a header.

        Raises:
            ValueError: It lacks some that are needed; then no line below it can be read.
        """
        self.columns = tuple(line.lower().split(self.separator))
        if missing := [name for name in self._needed if name not in self.columns]:
            self.columns = ()
            raise ValueError(
                f"the header lacks {', '.join(missing)}; lines below it cannot be read: "
                f"run sacct with --format={','.join(self._agreed)}"
            )

    def row(self, line: str) -> dict[str, str]:
        """Return the texts of a line by their columns.

        Raises:
            ValueError: It has other columns.
        """
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


# What Slurm says of a job.


@dataclass(frozen=True)
class JobStatus:
    """What Slurm says of a job.

    Attributes:
        job_id: Number of the job.
        state: Its state.
        reason: Why it waits or failed; "": not said.
        nodes: How many it has or asks for; 0: not said.
        node_list: Names of its nodes, as Slurm writes them.
        exit_code: Of its batch script; negative: minus the signal; None: not said.
        name: Of the job.
    """

    job_id: int
    state: JobState
    reason: str = ""
    nodes: int = 0
    node_list: str = ""
    exit_code: int | None = None
    name: str = ""


def job_status(record: Mapping[str, str]) -> JobStatus:
    """Return the status of the job that a record of `scontrol show job` is of.

    Raises:
        ValueError: It is a record of something else.
    """
    return JobStatus(
        job_id=int(record.get("JobId", "")),
        state=parse_state(record.get("JobState", "")),
        reason=known_text(record.get("Reason", "")),
        nodes=least_count(record.get("NumNodes", "")) or 0,
        node_list=known_text(record.get("NodeList", "")),
        exit_code=exit_code(record.get("ExitCode", "")),
        name=record.get("JobName", ""),
    )


STATUS_COLUMNS = ("jobidraw", "state", "exitcode", "nnodes", "nodelist", "jobname")


def parse_sacct(text: str) -> tuple[JobStatus, ...]:
    """Return the jobs that `sacct -X -P -n -o STATUS_COLUMNS` lists; other lines are left out."""
    return tuple(_accounted(text.splitlines()))


def _accounted(lines: Iterable[str]) -> Iterator[JobStatus]:
    table = SacctTable(STATUS_COLUMNS)
    for line in lines:
        try:
            if table.is_header(line):
                continue
            row = table.row(line)
        except ValueError:
            continue
        if row["jobidraw"].isdecimal():
            yield JobStatus(
                job_id=int(row["jobidraw"]),
                state=parse_state(row["state"]),
                exit_code=exit_code(row["exitcode"]),
                nodes=least_count(row["nnodes"]) or 0,
                node_list=known_text(row["nodelist"]),
                name=row["jobname"],
            )


_RECORD, _FIELD = "\x1e", "\x1f"
FORMAT = _RECORD + _FIELD.join(("%A", "%T", "%D", "%N", "%j", "%r"))
"""Job id (each element of an array has its own), state, nodes, their names, job name, reason.

The separators are control characters since a reason may hold all that a burst buffer's program
said, over many lines.
"""


def parse_squeue(text: str) -> tuple[JobStatus, ...]:
    """Return the jobs that `squeue -h -o FORMAT` lists; what is no record is left out."""
    found = []
    for record in text.split(_RECORD):
        fields = record.strip("\n").split(_FIELD)
        if len(fields) == 6 and fields[0].strip().isdecimal():
            found.append(
                JobStatus(
                    job_id=int(fields[0]),
                    state=parse_state(fields[1]),
                    nodes=least_count(fields[2]) or 0,
                    node_list=known_text(fields[3]),
                    name=fields[4],
                    reason=known_text(fields[5]),
                )
            )
    return tuple(found)


# Partitions: what a job may ask for.


@dataclass(frozen=True)
class Partition:
    """A partition.

    Attributes:
        name: Of the partition.
        is_default: Whether jobs that name none come here.
        is_up: Whether jobs are started.
        nodes: How many it has.
        most_nodes: Of a job; None: no bound.
        most_seconds / default_seconds: Time limit of a job; None: no bound, none by default.
    """

    name: str
    is_default: bool
    is_up: bool
    nodes: int
    most_nodes: int | None
    most_seconds: int | None
    default_seconds: int | None


def partition(record: Mapping[str, str]) -> Partition:
    """Return the partition that a record of `scontrol show partition` describes."""
    most = least_count(record.get("MaxNodes", ""))
    return Partition(
        name=record.get("PartitionName", ""),
        is_default=record.get("Default") == "YES",
        is_up=record.get("State", "UP") == "UP",
        nodes=least_count(record.get("TotalNodes", "")) or 0,
        most_nodes=most or None,
        most_seconds=parse_seconds(record.get("MaxTime", "")),
        default_seconds=parse_seconds(record.get("DefaultTime", "")),
    )
