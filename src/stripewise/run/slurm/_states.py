# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads job states and partitions from the output of squeue, sacct and scontrol."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


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


def parse_state(text: str) -> JobState:
    """Return the state that a word names: "CANCELLED by 1000", "COMPLETED+"."""
    word = text.strip().split(" ")[0].rstrip("+").upper()
    return JobState(word) if word in JobState.__members__ else JobState.UNKNOWN


def parse_exit_code(text: str) -> int | None:
    """Return what "CODE:SIGNAL" says; None if it says nothing."""
    code, _, number = text.strip().partition(":")
    if not code.isdecimal():
        return None
    return -int(number) if number.isdecimal() and int(number) else int(code)


def parse_count(text: str) -> int:
    """Return a number of nodes: "4", "4-8" (the least); 0 if there is none."""
    digits = text.strip().partition("-")[0]
    return int(digits) if digits.isdecimal() else 0


def said(text: str) -> str:
    """Return a text, "" where Slurm writes that there is none."""
    text = text.strip()
    return "" if text in ("None", "(null)", "N/A", "n/a", "None assigned") else text


# Partitions: what a job may ask for.

_TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$")


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
    most_seconds: float | None
    default_seconds: float | None


def partition(record: Mapping[str, str]) -> Partition:
    """Return the partition that a record of `scontrol show partition` describes."""
    most = parse_count(record.get("MaxNodes", ""))
    return Partition(
        name=record.get("PartitionName", ""),
        is_default=record.get("Default") == "YES",
        is_up=record.get("State", "UP") == "UP",
        nodes=parse_count(record.get("TotalNodes", "")),
        most_nodes=most or None,
        most_seconds=parse_seconds(record.get("MaxTime", "")),
        default_seconds=parse_seconds(record.get("DefaultTime", "")),
    )


def parse_seconds(text: str) -> float | None:
    """Return a time as Slurm writes it; None: without bound, or none is said.

    It writes D-HH:MM:SS and HH:MM:SS, and reads D-HH[:MM], MM and MM:SS as well.
    """
    match = _TIME.match(text.strip())
    if match is None:
        return None
    days, *fields = (None if field is None else int(field) for field in match.groups())
    first, second, third = fields
    if days is not None or third is not None:
        hours, minutes, seconds = first or 0, second or 0, third or 0
    else:
        hours, minutes, seconds = 0, first or 0, second or 0
    return float(((days or 0) * 24 + hours) * 3600 + minutes * 60 + seconds)


# The output of `scontrol show job`, `show partition` and `show config`.

_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z0-9_:/.]*)=")
_SETTING = re.compile(r"^(\S+)\s*=\s?(.*)$")


def parse_records(text: str) -> tuple[dict[str, str], ...]:
    """Return the records of `scontrol show -o`: one a line, KEY=VALUE, values may hold blanks."""
    records = []
    for line in text.splitlines():
        places = list(_KEY.finditer(line))
        ends = [place.start() for place in places[1:]] + [len(line)]
        if places:
            records.append(
                {
                    place[1]: line[place.end() : end].strip()
                    for place, end in zip(places, ends, strict=True)
                }
            )
    return tuple(records)


def parse_config(text: str) -> dict[str, str]:
    """Return the settings that `scontrol show config` lists."""
    found = (_SETTING.match(line) for line in text.splitlines())
    return {match[1]: said(match[2]) for match in found if match}


def job_status(record: Mapping[str, str]) -> JobStatus:
    """Return the status of the job that a record of `scontrol show job` is of.

    Raises:
        ValueError: It is a record of something else.
    """
    return JobStatus(
        job_id=int(record.get("JobId", "")),
        state=parse_state(record.get("JobState", "")),
        reason=said(record.get("Reason", "")),
        nodes=parse_count(record.get("NumNodes", "")),
        node_list=said(record.get("NodeList", "")),
        exit_code=parse_exit_code(record.get("ExitCode", "")),
        name=record.get("JobName", ""),
    )


# The output of sacct.

FIELDS = "JobIDRaw,State,ExitCode,NNodes,NodeList,JobName"


def parse_sacct(text: str) -> tuple[JobStatus, ...]:
    """Return the jobs that `sacct -X -P -n -o FIELDS` lists; other lines are left out."""
    found = []
    for line in text.splitlines():
        fields = line.split("|", 5)
        if len(fields) == 6 and fields[0].isdecimal():
            found.append(
                JobStatus(
                    job_id=int(fields[0]),
                    state=parse_state(fields[1]),
                    exit_code=parse_exit_code(fields[2]),
                    nodes=parse_count(fields[3]),
                    node_list=said(fields[4]),
                    name=fields[5],
                )
            )
    return tuple(found)


# The output of squeue.

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
                    nodes=parse_count(fields[2]),
                    node_list=said(fields[3]),
                    name=fields[4],
                    reason=said(fields[5]),
                )
            )
    return tuple(found)
