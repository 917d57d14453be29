# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Why a run failed, from how it ended and what it said last: the only place that decides it.

What is taken for an outside cause by mistake costs a run or two; what is taken for the
program's own counts against its settings.
"""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from stripewise.model import FailureCause, RunStatus

if TYPE_CHECKING:
    from stripewise.launch._base import Outcome

_FROM_OUTSIDE = {
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU,
}  # fmt: skip
"""Signals that a program does not get by its own mistake (seen: batch systems, OOM killer)."""
_SHELL = 128
"""A shell, Open MPI's mpiexec and srun end with this and the number of a rank's signal."""
_NAMED_SIGNAL = re.compile(r"\bsignal (\d+)\b")
"""MPICH: "EXIT STRING: Killed (signal 9)"; Open MPI: "exited on signal 9 (Killed)"."""
_NO_ROOM = re.compile(
    r"No space left on device|Disk quota exceeded|Stale file handle|Input/output error"
)
"""strerror of ENOSPC, EDQUOT, ESTALE and EIO."""
_NOT_UP = re.compile(
    r"PMIX ERROR|ORTE_ERROR_LOG|session directory|orte_init|prte_init|"
    r"^\[(?:mpiexec|proxy)\S*@|timed? ?out|"
    r"srun: error: (?:Unable|Communication|Node failure|Slurm|Task launch)",
    re.MULTILINE | re.IGNORECASE,
)
"""Open MPI 4 and 5 at their start; Hydra's own errors; time-outs; Slurm's daemons."""
_RANK_FAILED = re.compile(
    r"BAD TERMINATION|MPI_ABORT was invoked|exited on signal|non-zero (?:exit|status)"
)
"""A rank had come up: MPICH's banner, and Open MPI's texts."""


def failure_cause(run: Outcome) -> FailureCause:
    """Return why a run ended as it did."""
    said = run.said
    if run.status is RunStatus.OK:
        return FailureCause.NONE
    if run.status is RunStatus.CANCELLED:
        return FailureCause.SIGNAL
    if run.place_lost or _NO_ROOM.search(said):
        return FailureCause.STORAGE
    if run.status is RunStatus.TIMEOUT:
        return FailureCause.HANG
    if _signal(run.exit_code, said) in _FROM_OUTSIDE:
        return FailureCause.SIGNAL
    if run.exit_code is None and run.status is RunStatus.FAILED:
        return FailureCause.LAUNCH
    if _NOT_UP.search(said) and not _RANK_FAILED.search(said):
        return FailureCause.LAUNCH
    return FailureCause.PROGRAM


def _signal(exit_code: int | None, said: str) -> int:
    """Return the signal that ended the command or one of its ranks; 0 if none did."""
    if exit_code is None:
        return 0
    if exit_code < 0:
        return -exit_code
    if exit_code > _SHELL:
        return exit_code - _SHELL
    named = _NAMED_SIGNAL.search(said)
    return exit_code if named and int(named[1]) == exit_code else 0
