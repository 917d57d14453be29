# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A step that OMPIO moves, and the calls of one process that moves a part of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stripewise.model import Pattern
from stripewise.simulation._requests import Flow
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._at_once import AtOnce
from stripewise.simulation.stacks._base import Layout
from stripewise.simulation.stacks._ompio_settings import Ompio, Stripes
from stripewise.simulation.stacks._placed import Placed
from stripewise.simulation.stacks._shape import Shape
from stripewise.simulation.stacks._shared_file import met_flow


@dataclass(frozen=True)
class Job:
    """A pattern and what moves it.

    Attributes:
        one / shape: One step of a pattern at its place.
        work / layout: Nodes, stripes.
        fcoll: Algorithm; "individual" for independent calls too.
        ompio / stripes: Parameters, and what the file system tells.
    """

    one: Placed
    shape: Shape
    work: Workload
    layout: Layout
    fcoll: str
    ompio: Ompio
    stripes: Stripes

    @property
    def pattern(self) -> Pattern:
        """What is moved."""
        return self.one.pattern


@dataclass(frozen=True)
class Calls:
    """Of one process: calls and their bytes in a step, and rounds in which they happen."""

    count: float
    size: float
    rounds: float


def flow_of(job: Job, processes: int, calls: Calls, meet: AtOnce) -> Flow:
    """Return the flow of aggregators that each move one part of the file, round by round."""
    granule = math.gcd(int(calls.size), job.shape.granule) or 1
    return met_flow(
        meet, processes, job.shape.nodes, calls.count / calls.rounds, calls.size, granule,
        job.layout, writing=job.pattern.writing,
    )  # fmt: skip
