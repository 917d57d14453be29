# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns in which each rank has several boxes: cells on diagonals, steps elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stripewise.model import PatternKind
from stripewise.patterns._boxes import BLOCKS, START, Boxes
from stripewise.patterns._columns import Ints, alike, runs
from stripewise.patterns._dimension import Named
from stripewise.patterns._grid import Grid, c_strides, linear
from stripewise.patterns._merge import one_each
from stripewise.patterns._name import Finding, name_boxes, name_dimensions, put_together


def each_has(boxes: Boxes) -> int:
    """How many boxes each rank has; 0 if they differ in that or there are none."""
    if one_each(boxes):
        return min(1, boxes.rank.size)
    _, counts = runs(alike(boxes.rank))
    return int(counts[0]) if (counts == counts[0]).all() else 0


def multipartition(boxes: Boxes) -> Finding | None:
    """Name cells that fill an array, of which each rank has equally many in each slab.

    Source: Darte, Chavarria-Miranda, Fowler, Mellor-Crummey, "Generalized multipartitioning for
    multi-dimensional arrays" (IPDPS 2002): the property that they call balance.
    """
    n_cells = each_has(boxes)
    if n_cells < 2 or (boxes.sets[:, BLOCKS] != 1).any():
        return None
    dimensions = name_dimensions(boxes)
    if dimensions is None:
        return None
    found, slabs = dimensions
    if any(named.halo or named.distribution.kind == "CYCLIC" for named in found):
        return None
    if not _filled(boxes, found, slabs) or not _balanced(boxes.rank, n_cells, found, slabs):
        return None
    n_ranks = boxes.rank.size // n_cells
    finding = put_together(found, Grid(1, "other", int(boxes.rank[0])), n_ranks)
    note = f"each of {n_ranks} ranks has {n_cells} cells, equally many in each slab"
    return replace(finding, kind=PatternKind.MULTIPARTITION, notes=(note, *finding.notes))


def _filled(boxes: Boxes, found: list[Named], slabs: list[Ints]) -> bool:
    parts = [named.parts for named in found]
    if math.prod(parts) != boxes.rank.size:
        return False
    place = linear(slabs, c_strides(parts))
    return bool((np.bincount(place, minlength=boxes.rank.size) == 1).all())


def _balanced(rank: Ints, n_cells: int, found: list[Named], slabs: list[Ints]) -> bool:
    """Whether each rank has equally many cells in each slab of at least two dimensions."""
    cut = 0
    for named, slab in zip(found, slabs, strict=True):
        if named.parts == 1:
            continue
        cut += 1
        if n_cells % named.parts:
            return False
        _, counts = np.unique(rank * named.parts + slab, return_counts=True)
        if (counts != n_cells // named.parts).any():
            return False
    return cut >= 2


def in_steps(boxes: Boxes) -> Finding | None:
    """Name what all ranks do alike in each step, each time elsewhere."""
    n_steps = each_has(boxes)
    if n_steps < 2:
        return None
    sets = boxes.sets.reshape(boxes.n_dims, 5, -1, n_steps)
    moved = sets - sets[..., :1]
    alike = (moved == moved[:, :, :1]).all() and not np.delete(moved, START, axis=1).any()
    if not alike:
        return None
    finding = name_boxes(boxes.take(np.arange(0, boxes.rank.size, n_steps)))
    if finding is None or finding.kind == PatternKind.SINGLE:
        return None
    note = f"the same in {n_steps} steps, each at another place; the span is that of the first"
    return replace(finding, notes=(*finding.notes, note))
