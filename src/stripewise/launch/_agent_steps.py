# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What srun said and left behind: tasks run under Slurm's daemon, not below the command.

The agent imports this file on its own: standard library only.
"""

from __future__ import annotations

import os
import re
import subprocess
import time

_NO_JOB = re.compile(
    r"^srun: .*(?:Expired or invalid job|Invalid job id specified|"
    r"Job/step already completing or completed)",
    re.MULTILINE,
)
"""Seen: Slurm 22.05 after its controller was killed before it had stored the job."""
_TAIL_BYTES = 8192
_MARGIN_SECONDS = 2.0
"""squeue states whole seconds."""
_COMMAND_SECONDS = 20.0
_ALL_SECONDS = 30.0


def parse_listpids(text: str) -> set[int]:
    """Return the steps that `scontrol listpids` lists, but for the batch script's own."""
    fields = (line.split() for line in text.splitlines()[1:])
    return {int(words[2]) for words in fields if len(words) > 2 and words[2].isdecimal()}


def parse_older_steps(text: str, seconds: float) -> list[str]:
    """Return the steps that `squeue --steps` lists and that began so long ago or earlier.

    Args:
        text: A line for each step: its number, as in 5.0, and its time, as in 1-02:03:04.
        seconds: By durations, as clocks of hosts differ.
    """
    found = []
    for step, time_used in (line.split() for line in text.splitlines() if len(line.split()) == 2):
        days, _, rest = time_used.rpartition("-")
        parts = [days or "0", *rest.split(":")]
        if step.partition(".")[2].isdecimal() and all(part.isdecimal() for part in parts):
            numbers = [0] * (4 - len(parts)) + [int(part) for part in parts[1:]]
            hours, minutes, last = numbers[-3:]
            age = ((int(parts[0]) * 24 + hours) * 60 + minutes) * 60 + last
            if age >= seconds:
                found.append(step)
    return found


def end_stale_steps(run_seconds: float) -> None:
    """End steps from before this run that the controller takes for running.

    A controller that was killed forgets ends of steps that it had not stored.  These keep their
    processors, so that srun waits for them until the job ends (seen: Slurm 22.05).  Nothing is
    asked while a step of the job has tasks on this node.
    """
    job = os.environ.get("SLURM_JOB_ID", "")
    if not job or _steps(job):
        return
    listed = _run("squeue", "--steps", "--noheader", "--jobs", job, "--format=%i %M")
    for step in parse_older_steps(listed, run_seconds + _MARGIN_SECONDS):
        _run("scancel", step)


def lost_its_job(stderr: str) -> bool:
    """Whether srun said in a file that there is no job (any more) to start tasks in."""
    try:
        with open(stderr, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
            said = stream.read()
    except OSError:
        return False
    return _NO_JOB.search(said.decode("utf-8", "replace")) is not None


def end_steps() -> None:
    """End the steps of this job that still have tasks on this node.

    `scontrol listpids` asks the daemon of this node; the controller hears of it only where a
    step is left, after a run that was stopped.
    """
    job = os.environ.get("SLURM_JOB_ID", "")
    deadline = time.monotonic() + _ALL_SECONDS
    told: set[int] = set()
    while job and (left := _steps(job)) and time.monotonic() < deadline:
        for step in left - told:
            _run("scancel", "--signal=KILL", f"{job}.{step}")
        told |= left
        time.sleep(0.2)


def _steps(job: str) -> set[int]:
    node = os.environ.get("SLURMD_NODENAME", "")
    return parse_listpids(_run("scontrol", "listpids", job, *([node] if node else [])))


def _run(*words: str) -> str:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")
