# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Owner maps by brute force: independent of the code that is tested."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stripewise.evidence.trace import Pieces, Selections


@dataclass(frozen=True)
class Dealt:
    """How one dimension is dealt out: kind, number, and rule of blocks."""

    kind: str
    parts: int
    width: int = 1
    rule: str = "even"

    def owner(self, index: int, extent: int) -> int:
        if self.kind == "*":
            return 0
        if self.kind == "CYCLIC":
            return index // self.width % self.parts
        if self.rule == "ceil":
            return index // -(-extent // self.parts)
        return next(p for p in range(self.parts) if index < even_end(p, extent, self.parts))


def even_end(part: int, extent: int, parts: int) -> int:
    return (extent // parts) * (part + 1) + min(part + 1, extent % parts)


def owner_map(extents: Sequence[int], dealt: Sequence[Dealt], order: str = "C") -> np.ndarray:
    """Rank that owns each element."""
    owners = np.zeros(tuple(extents), np.int64)
    numbers = np.arange(math.prod(d.parts for d in dealt)).reshape(
        [d.parts for d in dealt], order=order
    )
    for index in np.ndindex(*extents):
        place = tuple(d.owner(i, n) for d, i, n in zip(dealt, index, extents, strict=True))
        owners[index] = numbers[place]
    return owners


def runs(chosen: Sequence[int]) -> list[tuple[int, int]]:
    """Consecutive indices as (first, length)."""
    found: list[tuple[int, int]] = []
    for index in chosen:
        if found and found[-1][0] + found[-1][1] == index:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((int(index), 1))
    return found


def hyperslabs(owners: np.ndarray, rank: int) -> list[tuple[tuple[int, int, int, int], ...]]:
    """(start, stride, count, block) per dimension of what a rank owns of a product map."""
    per_dimension = []
    where = np.nonzero(owners == rank)
    for indices in where:
        found = runs(np.unique(indices).tolist())
        slabs = []
        for length, group in itertools.groupby(found, key=lambda run: run[1]):
            starts = [start for start, _ in group]
            stride = starts[1] - starts[0] if len(starts) > 1 else length
            slabs.append((starts[0], stride, len(starts), length))
        per_dimension.append(slabs)
    return list(itertools.product(*per_dimension))


def selections_of(owners: np.ndarray, n_ranks: int, **other: object) -> Selections:
    """What each rank selects to own what the map says."""
    rows, ranks = [], []
    for rank in range(n_ranks):
        for slab in hyperslabs(owners, rank):
            rows.append(slab)
            ranks.append(rank)
    values = np.asarray(rows, np.int64).reshape(len(rows), owners.ndim, 4)
    return selections(ranks, values, n_ranks, owners.shape, **other)


def selections(
    ranks: Sequence[int], values: np.ndarray, n_ranks: int, extents: Sequence[int],
    **other: object,
) -> Selections:  # fmt: skip
    """Rows of (start, stride, count, block) per dimension."""
    n = len(ranks)
    given: dict[str, object] = {
        "file": "out.h5", "dataset": "/data", "extents": tuple(extents), "element_bytes": 8,
        "writing": True, "rank": np.asarray(ranks, np.int64), "start": values[:, :, 0],
        "stride": values[:, :, 1], "count": values[:, :, 2], "block": values[:, :, 3],
        "order": np.arange(n), "collective": np.ones(n, bool), "n_ranks": n_ranks,
    }  # fmt: skip
    return Selections(**(given | other))  # type: ignore[arg-type]


def blocks(ranks: Sequence[int], starts: object, counts: object, n_ranks: int,
           extents: Sequence[int], **other: object) -> Selections:  # fmt: skip
    """Plain blocks, one a row."""
    start = np.asarray(starts, np.int64).reshape(len(ranks), len(extents))
    count = np.broadcast_to(np.asarray(counts, np.int64), start.shape)
    ones = np.ones_like(start)
    values = np.stack((start, ones, count, ones), axis=2)
    return selections(ranks, values, n_ranks, extents, **other)


def pieces(ranks: Sequence[int], offsets: Sequence[int], sizes: Sequence[int], n_ranks: int,
           **other: object) -> Pieces:  # fmt: skip
    """Byte ranges that are not folded."""
    n = len(ranks)
    given: dict[str, object] = {
        "file": "out.dat", "writing": True, "rank": np.asarray(ranks, np.int64),
        "offset": np.asarray(offsets, np.int64), "size": np.asarray(sizes, np.int64),
        "repeat": np.ones(n, np.int64), "inner": np.zeros((n, 2), np.int64),
        "stride": np.zeros((n, 3), np.int64), "order": np.arange(n),
        "collective": np.zeros(n, bool), "call": np.arange(n), "n_ranks": n_ranks,
    }  # fmt: skip
    return Pieces(**(given | other))  # type: ignore[arg-type]


def pieces_of(owners: np.ndarray, n_ranks: int, element_bytes: int, shift: int = 0,
              **other: object) -> Pieces:  # fmt: skip
    """The byte ranges that each rank writes, one call each."""
    ranks, offsets, sizes = [], [], []
    flat = owners.reshape(-1)
    for rank in range(n_ranks):
        for start, length in runs(np.flatnonzero(flat == rank).tolist()):
            ranks.append(rank)
            offsets.append(shift + start * element_bytes)
            sizes.append(length * element_bytes)
    return pieces(ranks, offsets, sizes, n_ranks, **other)


def owned(found: Selections, size: int, *, extents: Sequence[int] = ()) -> np.ndarray:
    """Owner of each element in the flattened array, -1: none; every element at most once."""
    shape = tuple(extents) or found.extents
    owners = np.full(shape, -1, np.int64)
    for row in range(found.rank.size):
        index = [
            np.concatenate([
                np.arange(found.block[row, d]) + found.start[row, d] + i * found.stride[row, d]
                for i in range(found.count[row, d])
            ])
            for d in range(len(shape))
        ]  # fmt: skip
        where = np.ix_(*index)
        assert (owners[where] == -1).all()
        owners[where] = found.rank[row]
    flat = owners.reshape(-1)
    assert (flat[size:] == -1).all()
    return flat[:size]
