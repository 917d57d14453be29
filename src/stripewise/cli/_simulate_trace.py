# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a traced run moved, as a workload for `stripewise simulate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.cli._common import note
from stripewise.errors import UsageError
from stripewise.model import Pattern, PatternKind, Pieces, Selections
from stripewise.patterns import find_patterns
from stripewise.readers import read_evidence
from stripewise.simulation import Workload

Key = tuple[str, str, bool]
"""File, dataset, and whether it was written."""


def workload_of_trace(path: Path, nodes: int, ranks_per_node: int) -> Workload:
    """Return what the ranks of a traced run moved.

    Raises:
        UsageError: It holds no regular pattern, or is of another number of ranks.
    """
    accesses = read_evidence([path]).accesses
    found = [one for one in find_patterns(accesses) if one.kind != PatternKind.EMPTY]
    patterns = [one for one in found if one.distributions]
    if not patterns:
        why = "all its patterns are irregular" if found else "no pattern was found in it"
        raise UsageError(f"{path}: {why}; `stripewise pattern {path}` shows more")
    if len(patterns) < len(found):
        note(
            f"{len(found) - len(patterns)} of {len(found)} patterns in {path} are irregular and "
            "are left out of the simulation",
            kind="warning",
        )
    ranks = max(one.n_ranks for one in patterns)
    if ranks != nodes * ranks_per_node:
        raise UsageError(
            f"{path} is of {ranks} ranks, not of {nodes * ranks_per_node}: give --nodes "
            f"and --ranks-per-node whose product is {ranks}"
        )
    return Workload(tuple(_in_steps(patterns, _moved(accesses))), nodes, ranks_per_node)


def _moved(accesses: Iterable[Selections | Pieces]) -> Counter[Key]:
    """Bytes that were moved of each dataset in each direction."""
    moved: Counter[Key] = Counter()
    for one in accesses:
        if isinstance(one, Selections):
            size = int((one.count * one.block).prod(axis=1).sum()) * one.element_bytes
            moved[one.file, one.dataset, one.writing] += size
        else:
            moved[one.file, "", one.writing] += int((one.size * one.repeat).sum())
    return moved


def _in_steps(patterns: Sequence[Pattern], moved: Mapping[Key, int]) -> list[Pattern]:
    """Make of the number of calls, which a found pattern has, how often all of it is moved.

    Calls may make one array together, or each move all of it, elsewhere or again.
    """
    sizes: Counter[Key] = Counter()
    for one in patterns:
        sizes[_key(one)] += Workload((replace(one, steps=1),), 1, 1).bytes
    placed: list[Pattern] = []
    for one in patterns:
        all_of_it, key = sizes[_key(one)], _key(one)
        times = max(1, round(moved[key] / all_of_it)) if all_of_it else 1
        placed += _split(replace(one, steps=times), one.steps)
    return placed


def _key(pattern: Pattern) -> Key:
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
