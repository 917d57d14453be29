# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""OMPIO's calls where each aggregator, or each rank, has ranges of its own, in closed form."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from stripewise.simulation._requests import Phase
from stripewise.simulation.stacks._at_once import at_once, begins_of, spread
from stripewise.simulation.stacks._ompio_groups import MOST_GROUPS, are_joined, joint_sets
from stripewise.simulation.stacks._ompio_job import Calls, Job, flow_of
from stripewise.simulation.stacks._ompio_settings import Ompio
from stripewise.simulation.stacks._shape import Shape
from stripewise.simulation.stacks._shared_file import objects_of, shared_flow


class _Part(NamedTuple):
    """What one process moves in a step: contiguous ranges, bytes, first byte to last."""

    pieces: float
    size: float
    reach: float

    @classmethod
    def of(cls, shape: Shape, ranks: float = 1.0) -> _Part:
        """Return that of some ranks, in the mean."""
        size = shape.rank_bytes * ranks
        return cls(shape.rank_pieces * ranks, size, max(shape.reach_bytes, size))


def _stream(part: _Part, most: int, ompio: Ompio, *, sieving: bool) -> Calls:
    """Return what a process does with its ranges, `most` bytes in each round."""
    pieces, piece = part.pieces, part.size / part.pieces
    rounds = max(1, math.ceil(part.size / most))
    per_round = pieces / rounds
    gap = (part.reach - piece) / pieces
    if sieving and per_round > 1 and 1 <= gap <= ompio.max_gap and piece <= ompio.max_block:
        buffers = max(1, math.ceil(part.reach / rounds / ompio.max_buffer))
        return Calls(rounds * buffers, part.reach / rounds / buffers, rounds)
    whole = max(1, int(piece) // math.gcd(int(piece), most))
    count = pieces + (rounds - 1) - (rounds - 1) // whole
    return Calls(count, part.size / count, rounds)


def by_groups(job: Job, count: int) -> Phase:
    """Return the calls of aggregators that each move what their own group of ranks asks for."""
    pattern, shape, ompio = job.pattern, job.shape, job.ompio
    if are_joined(pattern):
        sets, unit = joint_sets(pattern, job.work.ranks, count), pattern.element_bytes
        begins = np.array([job.one.base + one.low * unit for _, one in sets])
        leaders = np.array([leader for leader, _ in sets])
        parts = [_Part(one.runs, one.size * unit, (one.high + 1 - one.low) * unit)
                 for _, one in sets]  # fmt: skip
        active = max(1, count * len(sets) // min(count, MOST_GROUPS))
    else:
        begins, leaders = begins_of(pattern, job.one.base)
        active = min(count, shape.ranks)
        parts = [_Part.of(shape, shape.ranks / active)]
    sieving = not pattern.writing and ompio.read_sieving
    calls = [_stream(one, ompio.bytes_per_agg, ompio, sieving=sieving) for one in parts]
    rounds = max(one.rounds for one in calls)
    moved = sum(one.count * one.size for one in calls) / sum(one.size for one in parts)
    number = sum(one.count for one in calls) / len(calls)
    size = moved * shape.total_bytes / (active * number)
    in_round, reach = number / rounds, sum(one.reach for one in parts) / len(parts) / rounds
    node = leaders // job.work.ranks_per_node
    meet = at_once(begins, size, node, active, job.layout)
    whole = objects_of(shape.span_bytes, job.layout)
    objects = spread(meet, in_round, size, reach, whole, job.layout.stripe_size)
    flow = flow_of(job, active, Calls(number, size, rounds), replace(meet, objects=objects))
    name = f"two-phase {'write' if pattern.writing else 'read'}"
    return Phase(name, rounds, (flow,), max(one.size for one in parts) / rounds, shape.ranks)


def individual(job: Job) -> Phase:
    """Return independent requests: a call for each range, or for what data sieving reads."""
    writing = job.pattern.writing
    calls = _stream(_Part.of(job.shape), job.ompio.cycle_bytes, job.ompio,
                    sieving=not writing and job.ompio.read_sieving)  # fmt: skip
    flow = shared_flow(job.one, job.shape, job.work, job.layout, calls.count, calls.size)
    return Phase(f"independent {'write' if writing else 'read'}", 1.0, (flow,))
