# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the datasets of a workload lie in their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stripewise.model import Pattern, PatternKind
from stripewise.simulation._requests import Phase
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._pieces import array_bytes

MOST_STEPS = 16
"""Steps of one pattern that phases look at; of more, so many evenly spaced ones stand for all."""


_ALONE = ("independent", "write of own", "read of own")
"""How phases begin in which no rank waits for another."""


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


def datasets(work: Workload, begin: int = 0, align: int = 1) -> Iterator[Placed]:
    """Yield the datasets in order, each with where its first step begins.

    A pattern without `file_offset` lies behind the one before it in the same file and direction,
    and that one's last step.  A dataset that has a name lies where it lay before.

    Args:
        work: The workload.
        begin: Where the first dataset of a file may begin, bytes.
        align: Bytes of which the begin of a dataset is a multiple.
    """
    ends: dict[tuple[str, bool], int] = {}
    known: dict[tuple[str, str, bool], int] = {}
    for pattern in work.patterns:
        key, name = (pattern.file, pattern.writing), (pattern.file, pattern.dataset)
        free = -(-ends.get(key, begin) // align) * align
        base = pattern.file_offset or known.get((*name, pattern.writing), free)
        if pattern.dataset:
            known[*name, pattern.writing] = base
        yield Placed(pattern, base)
        end = base + array_bytes(pattern) * _different_steps(pattern)
        ends[key] = max(end, ends.get(key, 0))


def placed(one: Placed) -> Iterator[Placed]:
    """Yield every step of a dataset; what all ranks move alike is moved again."""
    size = array_bytes(one.pattern) if _different_steps(one.pattern) > 1 else 0
    for step in range(max(one.pattern.steps, 1)):
        yield Placed(one.pattern, one.base + step * size)


def sampled(one: Placed) -> Iterator[Placed]:
    """Yield the same for phases: of many steps, some that stand for all."""
    steps, different = max(one.pattern.steps, 1), _different_steps(one.pattern)
    looked_at, size = min(different, MOST_STEPS), array_bytes(one.pattern)
    for i in range(looked_at):
        yield Placed(one.pattern, one.base + i * steps // looked_at * size, steps / looked_at)


def together(patterns: Sequence[Pattern]) -> Iterator[tuple[Pattern, ...]]:
    """Yield the patterns of each step: until a variable or another file or direction comes."""
    step: list[Pattern] = []
    for pattern in patterns:
        same = step and all(
            getattr(step[0], name) == getattr(pattern, name)
            for name in ("file", "writing", "steps")
        )
        if step and not (same and pattern.dataset not in {one.dataset for one in step}):
            yield tuple(step)
            step = []
        step.append(pattern)
    if step:
        yield tuple(step)


def steps(work: Workload) -> Iterator[Placed]:
    """Yield every step of every dataset, in order."""
    return (step for dataset in datasets(work) for step in placed(dataset))


def steps_looked_at(work: Workload) -> Iterator[Placed]:
    """Yield the same for phases: of many steps, some that stand for all."""
    return (step for dataset in datasets(work) for step in sampled(dataset))


def _different_steps(pattern: Pattern) -> int:
    return 1 if pattern.kind == PatternKind.REPLICATED else max(pattern.steps, 1)


def merged(phases: list[Phase], *, flowing: bool = False) -> tuple[Phase, ...]:
    """Return the phases with equal ones put together; the order of the first ones is kept.

    Args:
        phases: In order.
        flowing: Independent ones that are repeated do not wait in between.
    """
    repeats: dict[tuple[object, ...], float] = {}
    kept: dict[tuple[object, ...], Phase] = {}
    for phase in phases:
        if not phase.repeats:
            continue
        key = (
            phase.name, phase.flows, phase.exchange_bytes, phase.ranks, phase.copied_bytes,
            phase.nodes, *phase.metadata.items(), repr(phase.turns),
        )  # fmt: skip
        kept.setdefault(key, phase)
        repeats[key] = repeats.get(key, 0.0) + phase.repeats
    found = (
        phase if phase.repeats == repeats[key] else replace(phase, repeats=repeats[key])
        for key, phase in kept.items()
    )
    return tuple(_in_one(phase) if flowing else phase for phase in found)


def _in_one(phase: Phase) -> Phase:
    """Return an independent phase with all its repetitions in one."""
    if not phase.name.startswith(_ALONE):
        return phase
    flows = (replace(one, count=one.count * phase.repeats) for one in phase.flows)
    return replace(phase, repeats=1.0, flows=tuple(flows))


def times(phase: Phase, number: float) -> Phase:
    """Return a phase that happens so many times as often."""
    return phase if number == 1 else replace(phase, repeats=phase.repeats * number)
