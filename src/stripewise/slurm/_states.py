# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""States of jobs, as squeue, sacct and scontrol spell them."""

from __future__ import annotations

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
