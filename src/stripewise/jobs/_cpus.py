# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""CPUs that a job asks for and its srun does not pass on to the tasks.

Source: release notes of Slurm 22.05: srun no longer reads SLURM_CPUS_PER_TASK, which sbatch sets;
it takes the number from --cpus-per-task of its own, or from SRUN_CPUS_PER_TASK.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stripewise.jobs._launches import LaunchLine
from stripewise.jobs._script import JobScript
from stripewise.runtime import read_launcher

VARIABLE = "SRUN_CPUS_PER_TASK"
_SAID = re.compile(rf"^[^#\n]*\b{VARIABLE}\b".encode(), re.MULTILINE)


def missing_cpus(
    script: JobScript, environment: Mapping[str, str], step: int | None = None
) -> Iterator[str]:
    """Yield a warning for each srun whose tasks lack the CPUs that the job asks for.

    Args:
        script: The user's.
        environment: That the job is submitted with.
        step: Number of the launch line to look at; None: all.
    """
    wanted = script.resources.cpus_per_task or 1
    if wanted < 2 or script.resources.is_heterogeneous:
        return
    if environment.get(VARIABLE) or _SAID.search(script.data):
        return
    for launch in script.launches:
        if step in (None, launch.number) and _is_silent(launch):
            yield (
                f"{script.name}, line {launch.first_line}: tasks of srun do not get the {wanted} "
                f"CPUs each that #SBATCH --cpus-per-task={wanted} asks for, since Slurm 22.05: "
                f"write srun --cpus-per-task={wanted}, or export {VARIABLE}={wanted} before it"
            )


def _is_silent(launch: LaunchLine) -> bool:
    """Whether a line is an srun that is understood and says no CPUs, not by a variable either."""
    if launch.launcher != "srun" or launch.problem:
        return False
    return not read_launcher([text for text, _ in launch.known]).cpus_per_rank
