# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Variables of the user that Slurm's commands heed.

Source: "INPUT ENVIRONMENT VARIABLES" of sbatch(1), squeue(1), sacct(1), scontrol(1) (Slurm 22.05):
a variable counts more than an option in the script, and less than one on the command line.
"""

from __future__ import annotations

from collections.abc import Mapping

_PREFIX = "SBATCH_"
_OTHER_NAMES = {"timelimit": "time", "mem-per-node": "mem", "req-switch": "switches"}
_KEPT = frozenset(
    {"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_MPI_TYPE"}
)
_CHANGES_OUTPUT = ("SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_")
_NOT_FOR_AGENTS = frozenset(
    {
        "SBATCH_ARRAY_INX", "SBATCH_INPUT", "SBATCH_WAIT", "SLURM_EXIT_ERROR",
        "SLURM_TIME_FORMAT", "SLURM_UMASK",
    }
)  # fmt: skip
"""With these, sbatch would start several agents, wait for their end, or let others read."""
_OUTER_JOB = "SLURM_JOB_ID"


def options_of_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the options of sbatch that variables set: long name to value."""
    found = {}
    for name, value in environment.items():
        if name.startswith(_PREFIX) and name not in _NOT_FOR_AGENTS:
            option = name.removeprefix(_PREFIX).lower().replace("_", "-")
            found[_OTHER_NAMES.get(option, option)] = value
    return found


def variable_of_option(option: str) -> str:
    """Return the variable that sets an option of sbatch."""
    name = next((name for name, other in _OTHER_NAMES.items() if other == option), option)
    return _PREFIX + name.upper().replace("-", "_")


def for_command(command: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command of Slurm.

    A job inherits that of sbatch, with what its srun reads (SLURM_CPU_BIND, SLURM_NETWORK ...),
    unless that describes a job in which the tuner itself runs.  The others get nothing that
    changes their output.
    """
    is_submission = command == "sbatch"
    drop: tuple[str, ...] = () if is_submission else _CHANGES_OUTPUT
    if not is_submission or _OUTER_JOB in given:
        drop = (*drop, "SLURM_")
    return {
        name: text
        for name, text in given.items()
        if name not in _NOT_FOR_AGENTS and (name in _KEPT or not name.startswith(drop))
    }
