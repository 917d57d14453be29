# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From boxes to a pattern: the ways to name one, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Pattern, PatternKind
from stripewise.patterns._boxes import Boxes
from stripewise.patterns._cells import in_steps, multipartition
from stripewise.patterns._deviants import name_most
from stripewise.patterns._irregular import describe_boxes
from stripewise.patterns._merge import distinct, merge
from stripewise.patterns._name import Finding, name_boxes, unnamed
from stripewise.patterns._product import as_product


def ranks_of_run(n_ranks: int, rank: NDArray[np.int64]) -> int:
    """Return the number of ranks; without MPI there is one."""
    return max(n_ranks, int(rank.max()) + 1 if rank.size else 0, 1)


def find_finding(boxes: Boxes, n_ranks: int, extents: Sequence[int]) -> Finding:
    """Name the pattern of boxes, or describe them."""
    if not boxes.rank.size:
        return unnamed(PatternKind.EMPTY)
    apart = distinct(boxes)
    merged = as_product(merge(apart))
    return (
        name_strictly(apart, merged)
        or in_steps(apart)
        or name_most(merged, n_ranks, extents)
        or describe_boxes(merged)
    )


def name_strictly(apart: Boxes, merged: Boxes) -> Finding | None:
    """Name a pattern that all ranks have.

    Args:
        apart: Without repetitions.
        merged: Joined where several make one.
    """
    found = name_boxes(merged) or multipartition(apart)
    if found is None and merged is not apart:
        found = multipartition(merged)
    return found


def pattern_of(finding: Finding, boxes: Boxes, n_ranks: int) -> Pattern:
    """Return the pattern that a finding says, without names of file and dataset."""
    return replace(finding, n_ranks=n_ranks, active_ranks=_active(boxes), steps=_steps(boxes))


def _active(boxes: Boxes) -> int:
    return int((np.diff(boxes.rank) != 0).sum()) + 1 if boxes.rank.size else 0


def _steps(boxes: Boxes) -> int:
    """How many accesses most ranks made."""
    if not boxes.rank.size:
        return 0
    first = np.flatnonzero(np.concatenate(([True], np.diff(boxes.rank) != 0)))
    counts = np.diff(np.append(first, boxes.rank.size))
    if (counts == counts[0]).all():
        return int(counts[0])
    return int(np.bincount(counts).argmax())
