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
_COMMAND_SECONDS = 20.0
_ALL_SECONDS = 30.0


def parse_listpids(text: str) -> set[int]:
    """Return the steps that `scontrol listpids` lists, but for the batch script's own."""
    fields = (line.split() for line in text.splitlines()[1:])
    return {int(words[2]) for words in fields if len(words) > 2 and words[2].isdecimal()}


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
