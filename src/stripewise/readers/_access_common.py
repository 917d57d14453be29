# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What selections, views and offsets have in common."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Op, Trace

WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
COLLECTIVE = (Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)


def writing_of(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) bool: the row writes."""
    return np.isin(rows["op"], WRITES)


def collective_of(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) bool: the row is a collective call."""
    return np.isin(rows["op"], COLLECTIVE)


def ranks_of(trace: Trace, rank: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Ranks of entries and their number; without MPI the processes that are among them."""
    if trace.n_ranks:
        return rank, trace.n_ranks
    processes, place = np.unique(rank, return_inverse=True)
    return place.reshape(-1), max(len(processes), 1)


def groups(*keys: NDArray[Any]) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """Each distinct combination of keys, and (n,) the ascending places where it stands."""
    if not len(keys[0]):
        return
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), bool)
    new[0] = True
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    bounds = [*np.flatnonzero(new).tolist(), len(order)]
    for begin, end in itertools.pairwise(bounds):
        places = order[begin:end]
        yield tuple(int(key[places[0]]) for key in keys), np.sort(places)


def within(rows: NDArray[Any], most: int) -> tuple[NDArray[Any], int]:
    """The first rows that together stand for at most `most` calls, and calls left out."""
    total = np.cumsum(rows["count"].astype(np.float64))
    keep = int(np.searchsorted(total, most, side="right"))
    return rows[:keep], int(total[-1] - (total[keep - 1] if keep else 0)) if len(rows) else 0


def number_in_rank(rank: NDArray[np.int64], *order: NDArray[Any]) -> NDArray[np.int64]:
    """(n,) int64: place of each entry among those of its rank, sorted by `order`."""
    sequence = np.lexsort((*order[::-1], rank))
    sorted_rank = rank[sequence]
    numbers = np.empty(len(rank), np.int64)
    numbers[sequence] = np.arange(len(rank)) - np.searchsorted(sorted_rank, sorted_rank)
    return numbers
