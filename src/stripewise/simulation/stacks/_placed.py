# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the datasets of a workload lie in their files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from stripewise.model import Pattern, PatternKind
from stripewise.simulation._requests import Phase
from stripewise.simulation._workload import Workload

MOST_STEPS = 16
"""Steps of one pattern that phases look at; of more, so many evenly spaced ones stand for all."""


@dataclass(frozen=True)
class Placed:
    """One dataset at its place.

    Attributes:
        pattern: The pattern.
        base: Byte of the file at which the dataset begins.
        times: So many steps are like this one.
    """

    pattern: Pattern
    base: int
    times: float = 1.0


def placed(work: Workload) -> Iterator[Placed]:
    """Yield every step of every pattern, in order.

    A pattern without `file_offset` lies behind the one before it in the same file and direction
    (behind its own last step, where it has several); what all ranks move alike is moved again.
    """
    ends: dict[tuple[str, bool], int] = {}
    for pattern in work.patterns:
        key = (pattern.file, pattern.writing)
        base = pattern.file_offset or ends.get(key, 0)
        size = dataset_bytes(pattern)
        again = pattern.kind == PatternKind.REPLICATED
        for step in range(max(pattern.steps, 1)):
            yield Placed(pattern, base + (0 if again else step * size))
        ends[key] = base + size * (1 if again else max(pattern.steps, 1))


def dataset_bytes(pattern: Pattern) -> int:
    """Return the bytes of the dataset of a pattern; those that are moved, if it has no extents."""
    sizes = pattern.extents
    if pattern.span and 0 in sizes:
        sizes = tuple(n or end for n, (_, end) in zip(sizes, pattern.span, strict=True))
    return math.prod(sizes) * pattern.element_bytes if sizes else 0


def sampled(work: Workload) -> Iterator[Placed]:
    """Yield the same for phases: of many steps, some that stand for all."""
    ends: dict[tuple[str, bool], int] = {}
    for pattern in work.patterns:
        key = (pattern.file, pattern.writing)
        base = pattern.file_offset or ends.get(key, 0)
        size, steps = dataset_bytes(pattern), max(pattern.steps, 1)
        if pattern.kind == PatternKind.REPLICATED:
            yield Placed(pattern, base, steps)
            ends[key] = base + size
            continue
        looked_at = min(steps, MOST_STEPS)
        for i in range(looked_at):
            yield Placed(pattern, base + i * steps // looked_at * size, steps / looked_at)
        ends[key] = base + size * steps


def merged(phases: list[Phase]) -> tuple[Phase, ...]:
    """Return the phases with equal ones put together; the order of the first ones is kept."""
    repeats: dict[tuple[object, ...], float] = {}
    kept: dict[tuple[object, ...], Phase] = {}
    for phase in phases:
        if not phase.repeats:
            continue
        key = (
            phase.name, phase.flows, phase.exchange_bytes, phase.ranks, *phase.metadata.items()
        )  # fmt: skip
        kept.setdefault(key, phase)
        repeats[key] = repeats.get(key, 0.0) + phase.repeats
    return tuple(
        phase if phase.repeats == repeats[key] else replace(phase, repeats=repeats[key])
        for key, phase in kept.items()
    )
