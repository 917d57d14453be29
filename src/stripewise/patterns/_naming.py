# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From boxes to a pattern: the ways to name one, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stripewise.model import Pattern, PatternKind, Pieces, Selections
from stripewise.patterns._boxes import Boxes
from stripewise.patterns._cells import in_steps, multipartition
from stripewise.patterns._columns import Ints, alike, runs
from stripewise.patterns._deviants import name_most
from stripewise.patterns._irregular import describe_boxes
from stripewise.patterns._merge import distinct, merge
from stripewise.patterns._name import Finding, name_boxes, unnamed
from stripewise.patterns._product import as_product


def ranks_of_run(n_ranks: int, rank: Ints) -> int:
    """Return the number of ranks; without MPI there is one."""
    return max(n_ranks, int(rank.max()) + 1 if rank.size else 0, 1)


def find_finding(boxes: Boxes, n_ranks: int, extents: Sequence[int]) -> Finding:
    """Name the pattern of boxes, or describe them."""
    if not boxes.rank.size:
        return unnamed(PatternKind.EMPTY)
    apart, merged = apart_and_merged(boxes)
    return (
        name_strictly(apart, merged)
        or in_steps(apart)
        or name_most(merged, n_ranks, extents)
        or describe_boxes(merged)
    )


def apart_and_merged(boxes: Boxes) -> tuple[Boxes, Boxes]:
    """Return the boxes without repetitions, and these joined where several make one."""
    apart = distinct(boxes)
    return apart, as_product(merge(apart))


def name_strictly(apart: Boxes, merged: Boxes) -> Finding | None:
    """Name a pattern that all ranks have; see `apart_and_merged`."""
    found = name_boxes(merged) or multipartition(apart)
    if found is None and merged is not apart:
        found = multipartition(merged)
    return found


def pattern_of(
    access: Selections | Pieces, finding: Finding, boxes: Boxes, n_ranks: int
) -> Pattern:
    """Return the pattern that a finding says, as far as it does not depend on the kind of access.

    Args:
        access: What all ranks moved.
        finding: Of its boxes.
        boxes: As they were before any were joined.
        n_ranks: Ranks of the run.
    """
    counts = runs(alike(boxes.rank))[1] if boxes.rank.size else boxes.rank
    return replace(
        finding, file=access.file, writing=access.writing, source=access.source, n_ranks=n_ranks,
        collective=float(access.collective.mean()) if access.collective.size else 0.0,
        notes=(*finding.notes, *access.notes), active_ranks=counts.size,
        steps=int(np.bincount(counts).argmax()) if counts.size else 0,
    )  # fmt: skip
