# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What srun said and left behind: tasks run under Slurm's daemon, not below the command.

The agent imports this file on its own: standard library only.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time

_NO_JOB = re.compile(
    r"^srun: .*(?:Expired or invalid job|Invalid job id specified|"
    r"Job/step already completing or completed)",
    re.MULTILINE,
)
"""Seen: Slurm 22.05 after its controller was killed before it had stored the job."""
_TAIL_BYTES = 8192
_STEP_AND_SRUN = re.compile(r"^StepId=(\d+\.\d+) .*SrunHost:Pid=([^:\s]+):(\d+)", re.MULTILINE)
_COMMAND_SECONDS = 20.0
_ALL_SECONDS = 30.0


def parse_listpids(text: str) -> set[int]:
    """Return the steps that `scontrol listpids` lists, but for the batch script's own."""
    fields = (line.split() for line in text.splitlines()[1:])
    return {int(words[2]) for words in fields if len(words) > 2 and words[2].isdecimal()}


def parse_orphans(text: str, host: str) -> list[str]:
    """Return the steps that `scontrol --oneliner show step` lists whose srun has ended here.

    Args:
        text: A line for each step, with StepId=5.0 and, at its end, SrunHost:Pid=HOST:NUMBER.
        host: This one's name; whether srun is alive elsewhere is not known here.
    """
    found = []
    for step, name, number in _STEP_AND_SRUN.findall(text):
        is_here = name.partition(".")[0] == host.partition(".")[0]
        if is_here and not os.path.exists(f"/proc/{number}"):
            found.append(step)
    return found


def end_stale_steps() -> set[str]:
    """End steps of earlier runs that the controller takes for running: their srun is gone.

    A controller that was killed forgets ends of steps that it had not stored.  These keep their
    processors, so that srun waits for them until the job ends.  Nothing is asked while a step of
    the job has tasks on this node.

    Returns:
        The steps.  One that is there again much later is kept for good: no request of a user ends
        a step that no node knows any more (seen: Slurm 22.05).
    """
    job = os.environ.get("SLURM_JOB_ID", "")
    if not job or _steps(job):
        return set()
    listed = _run("scontrol", "--oneliner", "show", "step", job)
    found = parse_orphans(listed, socket.gethostname())
    for step in found:
        _run("scancel", step)
    return set(found)


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
