# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the resources of a job, which are tried only with values that the user gives."""

from __future__ import annotations

from functools import partial

from stripewise.settings.tunables import _conditions as when
from stripewise.settings.tunables._base import (
    INT_MAX,
    ActsAt,
    Integer,
    Layer,
    SafetyClass,
    SearchRange,
    Text,
    Tunable,
)

_launched = when.needs(lambda facts: facts.mpi_family, "the program uses no MPI")
_resource = partial(
    Tunable,
    layer=Layer.JOB,
    acts_at=ActsAt.JOB,
    stacks=("launcher",),
    source="documented: manual pages of mpiexec (Hydra), mpirun (Open MPI) and srun",
)
_burst_buffer = partial(
    _resource,
    stacks=("slurm",),
    source="documented: Slurm's Burst Buffer Guide; Markomanolis (KAUST), ExPBB, CUG 2017",
)
_ranks = partial(_resource, safety=SafetyClass.LAYOUT, applies=(_launched,))

TUNABLES = (
    _ranks(
        "ranks",
        Integer("as the command says", 1, INT_MAX),
        "Number of MPI ranks, set in the launcher's options; tried only with --ranks",
        search=SearchRange(5),
    ),
    _ranks(
        "ranks_per_node",
        Integer("as the command says", 1, INT_MAX),
        "Ranks per host, set in the launcher's options; tried only with --ranks-per-node",
        search=SearchRange(6),
    ),
    _resource(
        "threads",
        Integer("as the environment says", 1, INT_MAX),
        "OpenMP threads per rank (OMP_NUM_THREADS, and srun's -c); tried only with --threads",
        search=SearchRange(7),
        stacks=("openmp",),
        source="documented: OpenMP 5.2, section 21.1.2; manual page of srun",
    ),
    _burst_buffer(
        "burst_buffer_nodes",
        Integer("as the job script says", 0, INT_MAX),
        "Nodes of the job's burst buffer, 0 for none; tried only for job scripts",
        search=SearchRange(2),
    ),
    _burst_buffer(
        "burst_buffer_files",
        Text("all files of the job", r"[^\0\n]+", "wrfout*,wrfrst*"),
        "Patterns of the only files that go to the burst buffer (hybrid); tried only for "
        "job scripts",
        search=SearchRange(3, from_trials=True),
    ),
)
