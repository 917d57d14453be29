# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns that were found in a run, as a workload has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from stripewise.model import Pattern
from stripewise.simulation._cut import cut
from stripewise.simulation._workload import Workload

PatternKey = tuple[str, str, bool]
"""File, dataset, and whether it was written."""


def in_steps(
    patterns: Sequence[Pattern],
    moved: Mapping[PatternKey, int],
    calls: Mapping[tuple[str, bool], int] | None = None,
) -> list[Pattern]:
    """Make of the number of calls, which a found pattern has, how often all of it is moved.

    Calls may make one array together, or each move all of it, elsewhere or again.

    Args:
        patterns: As they were found.
        moved: File, dataset and direction -> bytes that were moved.
        calls: File and direction -> calls of each rank, where they are known.  Where they are
            more than the patterns tell, each of these was moved in several.
    """
    told: Counter[tuple[str, bool]] = Counter()
    for one in patterns:
        told[one.file, one.writing] += one.steps
    sizes: Counter[PatternKey] = Counter()
    for one in patterns:
        sizes[_key(one)] += Workload((replace(one, steps=1),), 1, 1).bytes
    placed: list[Pattern] = []
    for one in patterns:
        all_of_it, key = sizes[_key(one)], _key(one)
        times = max(1, round(moved[key] / all_of_it)) if all_of_it else 1
        made = (calls or {}).get((one.file, one.writing), 0)
        several, rest = divmod(made, told[one.file, one.writing])
        if times == 1 and several > 1 and not rest:
            placed.append(cut(replace(one, steps=1), several * one.steps))
        else:
            placed += _split(replace(one, steps=times), one.steps)
    return placed


def _key(pattern: Pattern) -> PatternKey:
    return pattern.file, pattern.dataset, pattern.writing


def _split(pattern: Pattern, calls: int) -> list[Pattern]:
    """Return slabs of the first dimension as steps, where each call moved some of it.

    Which call moved how much is not known any more: as equally as possible.
    """
    length = pattern.extents[0]
    whole = pattern.distributions[0].kind == "*" and pattern.block[0] == length
    complete = not pattern.span or pattern.span[0] == (0, length)
    several = len(pattern.extents) > 1 and pattern.steps == 1 and 1 < calls <= length
    if not (whole and complete and several):
        return [pattern]
    low, more = divmod(length, calls)
    slabs = ((low + 1, more), (low, calls - more))
    return [_slab(pattern, slab, steps) for slab, steps in slabs if steps]


def _slab(pattern: Pattern, slab: int, steps: int) -> Pattern:
    return replace(
        pattern,
        extents=(slab, *pattern.extents[1:]),
        block=(slab, *pattern.block[1:]),
        span=((0, slab), *pattern.span[1:]) if pattern.span else (),
        steps=steps,
    )
