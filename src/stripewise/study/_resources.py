# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The job's resources that a user wants tried: whether they can be, and what to expect."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

from stripewise.model import JobSettings
from stripewise.runtime import command_with_resources, mpi_of_command
from stripewise.study._options import StudyOptions


def resource_warnings(options: StudyOptions) -> list[str]:
    """Try to put every value into the command; return what a user should know.

    Raises:
        UsageError: The launcher or one of its options is not understood.
    """
    if not options.resources:
        return []
    for job in _jobs(options):
        command_with_resources(options.command, job)
    warnings = [
        "ranks and threads are tried too: settings whose output differs from that of the command "
        "as it is are rejected"
    ]
    return warnings + _oversubscribed(options)


def _jobs(options: StudyOptions) -> Iterator[JobSettings]:
    for ranks, per_node, threads in itertools.product(
        (None, *options.ranks), (None, *options.ranks_per_node), (None, *options.threads)
    ):
        yield JobSettings(ranks=ranks, ranks_per_node=per_node, threads=threads)


def _oversubscribed(options: StudyOptions) -> list[str]:
    """Warn of more ranks or threads than cores, as far as one host tells."""
    cores = len(os.sched_getaffinity(0))
    several_hosts = os.environ.get("SLURM_JOB_NUM_NODES", "1") not in ("", "1")
    ranks = max(options.ranks, default=1)
    threads = max(options.threads, default=1)
    if several_hosts or ranks * threads <= cores:
        return []
    what = f"{ranks} ranks" + (f" with {threads} threads each" if threads > 1 else "")
    mpi = mpi_of_command(options.command)
    if mpi is not None and mpi.family == "mpich" and ranks > cores:
        return [
            f"--ranks: {what} on {cores} cores: MPICH spins while it waits, so that such runs "
            "are slow whatever the settings; use at most as many ranks as cores"
        ]
    return [f"up to {what} on {cores} cores: they wait for one another, and timings mislead"]
