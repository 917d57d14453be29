# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The job's resources: tried only with the values that the user gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from stripewise.model import ProgramFacts, Value
from stripewise.tunables._base import ActsAt, Layer, SafetyClass
from stripewise.tunables._knob import Knob

RANKS = "job.ranks"
RANKS_PER_NODE = "job.ranks_per_node"
THREADS = "job.threads"

_MOST = 2**31 - 1
_SOURCE = "documented: manual pages of mpiexec (Hydra), mpirun (Open MPI) and srun"


def _launched(facts: ProgramFacts) -> str:
    return "" if facts.mpi_family else "the program uses no MPI"


_resource: Callable[..., Knob] = partial(
    Knob,
    layer=Layer.JOB,
    kind="int",
    minimum=1,
    maximum=_MOST,
    acts_at=ActsAt.JOB,
    safety=SafetyClass.SAFE,
    stacks=("launcher",),
    source=_SOURCE,
)

KNOBS: tuple[Knob, ...] = (
    _resource(
        key="ranks",
        default="as the command says",
        effect_order=5,
        safety=SafetyClass.LAYOUT,
        applies=_launched,
        summary="MPI ranks, put into the launcher's options; tried with --ranks only",
    ),
    _resource(
        key="ranks_per_node",
        default="as the command says",
        effect_order=6,
        safety=SafetyClass.LAYOUT,
        applies=_launched,
        summary="Ranks on each host, put into the launcher's options; with --ranks-per-node only",
    ),
    _resource(
        key="threads",
        default="as the environment says",
        effect_order=7,
        stacks=("openmp",),
        summary="OpenMP threads of a rank (OMP_NUM_THREADS; srun's -c too); with --threads only",
        source="documented: OpenMP 5.2, section 21.1.2; manual page of srun",
    ),
)


def changes_ranks(settings: Mapping[str, Value]) -> bool:
    """Whether a point runs the program on another number of ranks."""
    return RANKS in settings
