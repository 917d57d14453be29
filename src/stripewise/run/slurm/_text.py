# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses the output of squeue, sacct and scontrol: values, records, jobs and partitions."""

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
    """The job runs on another cluster of a federation, and has not ended."""
    LOST = "LOST"
    """No command of Slurm knows the job any longer."""
    UNKNOWN = "UNKNOWN"
    """A state of a later version of Slurm."""

    @property
    def ended(self) -> bool:
        """Whether no part of a job in this state runs or will run."""
        return self in _ENDED

    @property
    def waiting(self) -> bool:
        """Whether a job in this state has not begun, or will begin again."""
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
    """Return the state that a text names: "CANCELLED by 1000", "COMPLETED+"."""
    word = text.strip().split(" ")[0].rstrip("+").upper()
    return JobState(word) if word in JobState.__members__ else JobState.UNKNOWN


def known_text(text: str) -> str:
    """Return a text, or an empty one if Slurm marks it as unknown."""
    text = text.strip()
    return "" if text in ("None", "(null)", "N/A", "n/a", "None assigned") else text


# Values in the output of Slurm.

UNKNOWN = frozenset({"", "Unknown", "None", "N/A", "INVALID", "(null)"})
"""Texts of sacct for unknown values.  Source: print.c of sacct, and observed in 22.05."""
_AMOUNT = re.compile(r"(\d{1,20}(?:\.\d{1,20})?)([KMGTPE]?)", re.ASCII | re.IGNORECASE)
_UNITS = "KMGTPE"
_NONE = 2**64 - 2
"""Unknown values are NO_VAL64 and larger.  Source: slurm.h."""
_JOB = re.compile(r"(\d+)(?:_(?:(\d+)|\[.*)|\+(\d+))?")
_TIME = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,6}))?(?::(\d{1,6}))?")


class JobId(NamedTuple):
    """A job id in the form that users see.

    Attributes:
        number: Number of the job, of its array, or of the first component.
        task: Number of the task of an array; None for other jobs or tasks that have not started.
        offset: Offset of a component of a heterogeneous job.
        is_rest: Whether it stands for the tasks of an array that have not started.
    """

    number: int
    task: int | None
    offset: int | None
    is_rest: bool


def parse_job_id(text: str) -> JobId:
    """Parse "12", "12_3", "12_[4-9%2]" or "12+1".

    Raises:
        ValueError: The text is none of them.
    """
    match = _JOB.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a job id")
    number, task, offset = (None if part is None else int(part) for part in match.groups())
    assert number is not None
    return JobId(number, task, offset, "[" in text)


@lru_cache(maxsize=65536)
def parse_moment(text: str) -> int | None:
    """Parse a time to seconds since 1970, without a zone as UTC; return None if unknown.

    Raises:
        ValueError: The text is not a time.
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
    """Format seconds since 1970 as a UTC time for Slurm's commands."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def parse_count(text: str) -> int | None:
    """Parse a number of bytes or items, "12" or rounded like "1.5K"; return None if unknown.

    Raises:
        ValueError: It is not a number.
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
    """Parse the smallest number in a text like "4" or "4-8"; return None if there is none."""
    try:
        return parse_count(text.strip().partition("-")[0])
    except ValueError:
        return None


def parse_resource(text: str, name: str) -> int | None:
    """Parse one resource in a list like "cpu=4,fs/disk=512,node=1"; return None if it is missing.

    Args:
        text: Text of the list.
        name: Name of the resource, as in "fs/disk".

    Raises:
        ValueError: It is not a number.
    """
    start = f",{text}".find(f",{name}=")
    if start < 0:
        return None
    amount = parse_count(text[start + len(name) + 1 :].partition(",")[0])
    return None if amount is None or amount >= _NONE else amount


def parse_exit(text: str) -> tuple[int | None, int | None]:
    """Parse the exit code and the signal in "E:S".

    Raises:
        ValueError: The text is not such a pair.
    """
    if text in UNKNOWN:
        return None, None
    code, _, number = text.partition(":")
    return parse_count(code), parse_count(number or "0")


def exit_code(text: str) -> int | None:
    """Parse the exit code in "E:S", or minus the signal; return None if there is none."""
    try:
        code, number = parse_exit(text.strip())
    except ValueError:
        return None
    return -number if number else code


@lru_cache(maxsize=65536)
def parse_seconds(text: str) -> int | None:
    """Parse a duration of Slurm to seconds; return None for no limit or no value.

    Slurm writes D-HH:MM:SS and HH:MM:SS, and also accepts D-HH[:MM], MM and MM:SS.

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
    """Format a time limit for sbatch, in whole minutes, the resolution of Slurm."""
    minutes = max(1, ceil(seconds / 60))
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


# The output of `scontrol show job`, `show partition`, `show burst` and `show config`.

_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z0-9_:/.]*(?:\[\d+\])?)=")
_SETTING = re.compile(r"^\s*(\S+)\s*=\s?(.*)$")


def parse_pairs(line: str) -> dict[str, str]:
    """Parse the KEY=VALUE pairs of a line; values may contain blanks."""
    places = list(_KEY.finditer(line))
    ends = [*(place.start() for place in places[1:]), len(line)]
    return {
        place[1]: line[place.end() : end].strip() for place, end in zip(places, ends, strict=False)
    }


def parse_records(text: str) -> tuple[dict[str, str], ...]:
    """Parse the records of `scontrol show -o`, which prints one per line."""
    return tuple(filter(None, map(parse_pairs, text.splitlines())))


def parse_config(text: str) -> dict[str, str]:
    """Parse the settings in `scontrol show config`."""
    found = (_SETTING.match(line) for line in text.splitlines())
    return {match[1]: match[2].strip() for match in found if match}


# The text of sacct: `sacct --parsable2`.
#
# A line has a column for each name in the header; without a header the columns are fixed.  Only
# the job name may contain the separator.

_SEPARATOR = "|"
_HEADER = re.compile(r"[A-Za-z/]+(\|(?:\d+\|)?)[A-Za-z/]+(?:\1[A-Za-z/]+)*(?:\1)?", re.ASCII)


def separator_of(line: str) -> str:
    """Return the separator of a header of sacct; empty if the line is not a header."""
    match = _HEADER.fullmatch(line)
    return match[1] if match and "jobid" in line.lower().split(match[1]) else ""


class SacctTable:
    """Parser for the lines of sacct.

    Attributes:
        columns: Names of the columns in lower case; empty after a header that lacks required ones.
        separator: Text between columns, from the first header; empty until the first line.
    """

    def __init__(self, columns: Sequence[str], needed: Sequence[str] = ()) -> None:
        """Set the columns for output without a header, and those that a header must have."""
        self.columns, self.separator = tuple(columns), ""
        self._agreed, self._needed = self.columns, needed

    def is_header(self, line: str) -> bool:
        """Return whether the next line is a header."""
        separator = separator_of(line)
        self.separator = self.separator or separator or _SEPARATOR
        return separator == self.separator

    def take_header(self, line: str) -> None:
        """Set the columns from a header.

        Raises:
            ValueError: It lacks required columns, so that no line below it can be parsed.
        """
        self.columns = tuple(line.lower().split(self.separator))
        if missing := [name for name in self._needed if name not in self.columns]:
            self.columns = ()
            raise ValueError(
                f"the header lacks {', '.join(missing)}; lines below it cannot be read: "
                f"run sacct with --format={','.join(self._agreed)}"
            )

    def row(self, line: str) -> dict[str, str]:
        """Return the texts of a line by column.

        Raises:
            ValueError: The line has other columns.
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


# Status of a job as reported by Slurm.


@dataclass(frozen=True)
class JobStatus:
    """Status of a job as reported by Slurm.

    Attributes:
        job_id: Id of the job.
        state: State of the job.
        reason: Why it waits or failed; empty if not reported.
        nodes: Number of nodes that it has or requests; 0 if not reported.
        node_list: Names of its nodes in Slurm's notation.
        exit_code: Exit code of its batch script, or minus the number of a signal; None if not
            reported.
        name: Name of the job.
    """

    job_id: int
    state: JobState
    reason: str = ""
    nodes: int = 0
    node_list: str = ""
    exit_code: int | None = None
    name: str = ""


def job_status(record: Mapping[str, str]) -> JobStatus:
    """Return the status of the job in a record of `scontrol show job`.

    Raises:
        ValueError: The record is not that of a job.
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
    """Parse the jobs in the output of `sacct -X -P -n -o STATUS_COLUMNS`; ignore other lines."""
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
"""Format of squeue: job id (different for each array element), state, nodes, their names, job name
and reason.

The separators are control characters, since a reason may contain the output of a burst buffer's
program over many lines.
"""


def parse_squeue(text: str) -> tuple[JobStatus, ...]:
    """Parse the jobs in the output of `squeue -h -o FORMAT`; ignore anything else."""
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


# Partitions and their limits for jobs.


@dataclass(frozen=True)
class Partition:
    """A partition of the cluster.

    Attributes:
        name: Name of the partition.
        is_default: Whether it is used by jobs that name none.
        is_up: Whether it starts jobs.
        nodes: Number of its nodes.
        most_nodes: Maximum number of nodes of a job; None for no limit.
        most_seconds / default_seconds: Maximum and default time limit of a job; None for no limit.
    """

    name: str
    is_default: bool
    is_up: bool
    nodes: int
    most_nodes: int | None
    most_seconds: int | None
    default_seconds: int | None


def partition(record: Mapping[str, str]) -> Partition:
    """Return the partition in a record of `scontrol show partition`."""
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
