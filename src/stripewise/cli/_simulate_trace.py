# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a traced run moved, as a workload for `stripewise simulate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from stripewise.cli._common import note
from stripewise.errors import UsageError
from stripewise.model import (
    READS,
    WRITES,
    Evidence,
    IoLayer,
    Op,
    Pattern,
    PatternKind,
    Pieces,
    Selections,
)
from stripewise.patterns import find_patterns
from stripewise.readers import read_evidence
from stripewise.simulation import PatternKey, Workload, in_steps, traced_program
from stripewise.text import plural


def workload_of_trace(path: Path, nodes: int, ranks_per_node: int = 0) -> Workload:
    """Return what the ranks of a traced run moved, through MPI-IO and by themselves.

    Args:
        path: Of the trace.
        nodes: Of the job.
        ranks_per_node: 0: the run's ranks are spread evenly.

    Raises:
        UsageError: It tells of no I/O that can be simulated, or is of another number of ranks.
    """
    evidence = read_evidence([path])
    accesses = evidence.accesses
    ranks = max([traced_program(evidence).ranks, *(one.n_ranks for one in accesses)])
    per_node = ranks_per_node or -(-ranks // nodes)
    own = traced_program(evidence, per_node)
    through = [one for one in accesses if not _is_of(one.file, own.files)]
    patterns = _patterns(path, through)
    if not patterns and not own.stretches:
        raise UsageError(
            f"{path}: no I/O was found in it; `stripewise trace info {path}` says more"
        )
    if ranks != nodes * per_node:
        raise UsageError(
            f"{path} is of {ranks} ranks, not of {nodes * per_node}: give --nodes "
            f"and --ranks-per-node whose product is {ranks}"
        )
    if own.left_out:
        note(
            f"{plural(own.left_out, 'file')} of {path} left out of the simulation, as not in the "
            "directories of the program's data"
        )
    found = in_steps(patterns, _moved(through), _calls(evidence))
    opened = tuple(_opened(evidence, found))
    return Workload(tuple(found), nodes, per_node, own=own.stretches, opened=opened, flowing=True)


def _is_of(file: str, told: Iterable[str]) -> bool:
    """Whether a file, or the files in a directory that stands for one, are told of."""
    return file in told or any(one.startswith(f"{file}/") for one in told)


def _patterns(path: Path, accesses: Iterable[Selections | Pieces]) -> list[Pattern]:
    """Return the regular patterns, and say how many others there are.

    Raises:
        UsageError: There are only others.
    """
    found = [one for one in find_patterns(accesses) if one.kind != PatternKind.EMPTY]
    patterns = [one for one in found if one.distributions]
    if found and not patterns:
        raise UsageError(
            f"{path}: all its patterns are irregular; `stripewise pattern {path}` shows more"
        )
    if len(patterns) < len(found):
        note(
            f"{len(found) - len(patterns)} of {len(found)} patterns in {path} are irregular and "
            "are left out of the simulation",
            kind="warning",
        )
    return patterns


def _calls(evidence: Evidence) -> dict[tuple[str, bool], int]:
    """Return how many calls of MPI-IO each rank made to move data of a file, at most."""
    profile = evidence.profile
    table = profile.counters[profile.counters["layer"] == IoLayer.MPIIO]
    found: dict[tuple[str, bool], int] = {}
    for row in table:
        for writing, ops in ((True, WRITES), (False, READS)):
            key = (profile.paths[int(row["file"])], writing)
            found[key] = max(found.get(key, 0), int(row["count"][list(ops)].sum()))
    return found


def _opened(evidence: Evidence, patterns: Iterable[Pattern]) -> Iterator[tuple[str, bool, int]]:
    """Yield how often MPI-IO opened each file, at most by one rank, shared among directions."""
    table = evidence.profile.counters
    table = table[table["layer"] == IoLayer.MPIIO]
    ways = sorted({(one.file, one.writing) for one in patterns})
    for file, writing in ways:
        named = [evidence.profile.paths[int(one)] == file for one in table["file"]]
        opens = int(table["count"][np.array(named, bool), Op.OPEN].max(initial=1))
        both = sum(one == file for one, _ in ways)
        yield file, writing, max((opens + both - 1) // both, 1)


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
