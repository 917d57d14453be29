# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How long the allocations of a job script are asked for."""

from __future__ import annotations

from math import ceil

from stripewise.errors import UsageError
from stripewise.launch import MARGIN_SECONDS, ScriptJobs, least_wall_seconds
from stripewise.slurm import Partition
from stripewise.study._options import StudyOptions

RUNS_OF_AN_ALLOCATION = 12
"""An allocation is asked for so many runs at their limit, as far as the partition allows."""


def allocation_seconds(
    options: StudyOptions, jobs: ScriptJobs, partition: Partition | None
) -> float | None:
    """Return the time limit of an allocation, in which at least one run fits.

    Raises:
        UsageError: The partition does not allow it.
    """
    job = options.job
    assert job is not None
    most = partition.most_seconds if partition else None
    wanted = job.allocation_seconds
    if wanted is not None and most is not None and wanted > most:
        raise UsageError(
            f"--allocation-time: partition {partition and partition.name} allows {most / 60:.0f} "
            "minutes"
        )
    if most is not None and most <= MARGIN_SECONDS:
        raise UsageError(
            f"partition {partition and partition.name} allows {most:g} s, too short for a run: "
            f"Slurm may end an allocation {MARGIN_SECONDS:g} s early; choose another partition"
        )
    if wanted is None and jobs.wall_seconds is not None:
        wanted = jobs.wall_seconds * (1 if job.per_run else RUNS_OF_AN_ALLOCATION)
        if options.node_hours is not None:  # accounts are asked for all of it beforehand
            wanted = min(wanted, _whole_minutes(3600 * options.node_hours / jobs.nodes))
    if wanted is not None:
        wanted = max(wanted, _least_seconds(options, jobs))
    if wanted is None or most is None:
        return wanted
    return min(wanted, most)


def _least_seconds(options: StudyOptions, jobs: ScriptJobs) -> float:
    """Return the least time limit of an allocation."""
    return _whole_minutes(least_wall_seconds(_run_seconds(options, jobs)))


def _whole_minutes(seconds: float) -> float:
    """Return a time limit as Slurm has it."""
    return ceil(seconds / 60) * 60.0


def _run_seconds(options: StudyOptions, jobs: ScriptJobs) -> float | None:
    """Return the time limit of a run, as far as it is known beforehand."""
    return options.timeout_seconds or jobs.wall_seconds


def too_short(options: StudyOptions, jobs: ScriptJobs) -> list[str]:
    """Say where an allocation is longer than asked for, or cannot be as long as a run needs."""
    asked = options.job.allocation_seconds if options.job else None
    given, run_seconds = jobs.allocation_seconds, _run_seconds(options, jobs)
    if given is None or run_seconds is None:
        return []
    early = f"Slurm may end an allocation {MARGIN_SECONDS:g} s early"
    if (most := given - MARGIN_SECONDS) < run_seconds:
        return [
            f"a run may take {run_seconds:g} s, and the partition allows {given:g} s: {early}, so "
            f"runs are stopped after {most:g} s; choose another partition if they need more"
        ]
    if asked is not None and asked < given:
        return [
            f"--allocation-time: {asked:g} s are too short for a run of {run_seconds:g} s, since "
            f"{early}; {given:g} s are asked for"
        ]
    return []
