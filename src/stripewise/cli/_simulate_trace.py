# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a traced run moved, as a workload for `stripewise simulate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from stripewise.cli._common import note
from stripewise.errors import UsageError
from stripewise.model import PatternKind, Pieces, Selections
from stripewise.patterns import find_patterns
from stripewise.readers import read_evidence
from stripewise.simulation import PatternKey, Workload, in_steps


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
    return Workload(tuple(in_steps(patterns, _moved(accesses))), nodes, ranks_per_node)


def _moved(accesses: Iterable[Selections | Pieces]) -> Counter[PatternKey]:
    """Bytes that were moved of each dataset in each direction."""
    moved: Counter[PatternKey] = Counter()
    for one in accesses:
        if isinstance(one, Selections):
            size = int((one.count * one.block).prod(axis=1).sum()) * one.element_bytes
            moved[one.file, one.dataset, one.writing] += size
        else:
            moved[one.file, "", one.writing] += int((one.size * one.repeat).sum())
    return moved
