# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The requests of OMPIO in classes of equal processes, in closed form."""

from __future__ import annotations

import math

from stripewise.simulation._requests import Phase
from stripewise.simulation.stacks._even import EvenCall, even_phases
from stripewise.simulation.stacks._geometry import geometry_of
from stripewise.simulation.stacks._ompio_job import Job
from stripewise.simulation.stacks._ompio_settings import NO_REFINEMENT, aggregators, apart
from stripewise.simulation.stacks._ompio_shares import by_stripes, evenly
from stripewise.simulation.stacks._ompio_streams import by_groups, individual


def phases_of(job: Job) -> list[Phase]:
    """Return the phases of one step."""
    writing = job.pattern.writing
    if not job.shape.total_bytes:
        return []
    if job.fcoll == "individual":
        return [individual(job)]
    if writing and job.fcoll == "dynamic_gen2":
        return [by_stripes(job)]
    if job.fcoll == "two_phase":
        return _two_phase(job)
    count = aggregator_count(job)
    if writing and job.fcoll == "vulcan":
        return evenly(job, count)
    return [by_groups(job, count)]


def aggregator_count(job: Job) -> int:
    """Return the number of aggregators that OMPIO takes."""
    shape, ranks = job.shape, job.work.ranks
    if job.ompio.forced == -1 and job.ompio.grouping == NO_REFINEMENT:
        grid = job.pattern.grid
        row = 1 if shape.rank_pieces <= 1 else math.prod(grid[:-1]) if grid else 1
        return max(1, min(row, ranks))
    return aggregators(job.ompio, ranks, int(shape.piece_bytes), int(shape.rank_bytes))


def _two_phase(job: Job) -> list[Phase]:
    """Return what ROMIO does, with `bytes_per_agg` for a buffer."""
    geometry, shape = geometry_of(job.pattern), job.shape
    if geometry is None:
        return []
    chosen = apart(job.ompio, job.work, int(shape.piece_bytes), int(shape.rank_bytes))
    call = EvenCall(
        geometry.union, job.one.base, job.pattern.writing, chosen, job.layout, job.work.ranks,
        job.ompio.bytes_per_agg,
    )  # fmt: skip
    return even_phases(call)
