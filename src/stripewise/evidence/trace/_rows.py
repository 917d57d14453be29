# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Copies, selects and groups rows of structured arrays, and numbers equal values.

Whole rows are copied as bytes; numpy copies them member by member, which is slower.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace._run_profile import COUNTER_ROW
from stripewise.evidence.trace._trace import SYSTEM_LAYERS, IoLayer, Op, Trace


def take_rows(rows: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Copy the rows that indices or a mask select; the same as `rows[places]`."""
    taken: NDArray[Any] = _opaque(rows)[places].view(rows.dtype)
    return taken


def join_rows(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate copies of rows of one dtype; there must be at least one part."""
    joined: NDArray[Any] = np.concatenate([_opaque(part) for part in parts])
    return joined.view(parts[0].dtype)


def join_in_order(parts: Sequence[NDArray[Any]], order: NDArray[np.int64] | None) -> NDArray[Any]:
    """Join, then take the rows in `order` (None: unchanged), with a single copy of each."""
    if order is None:
        return join_rows(parts)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    joined = np.empty(len(order), parts[0].dtype)
    begin = 0
    for part in parts:
        _opaque(joined)[place[begin : begin + len(part)]] = _opaque(part)
        begin += len(part)
    return joined


def copy_common(rows: NDArray[Any], found: NDArray[Any]) -> None:
    """Set the members of rows that also occur in other rows of the same number."""
    for name in set(rows.dtype.names or ()).intersection(found.dtype.names or ()):
        rows[name] = found[name]


def bounded(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) uint64 as int64; values that are too large become the largest int64."""
    return np.asarray(np.minimum(values, np.uint64(np.iinfo(np.int64).max)).astype(np.int64))


def _opaque(rows: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize)))


def unknown_counters(n: int) -> NDArray[Any]:
    """Return (n,) `COUNTER_ROW` in which counts are 0 and everything else is unknown."""
    rows = np.zeros(n, COUNTER_ROW)
    for name in ("process", "unaligned", "maximum_offset", "slowest_rank", "fastest_rank"):
        rows[name] = -1
    for name in ("first", "last", "seconds_deviation", "bytes_deviation"):
        rows[name] = np.nan
    return rows


def requested_bytes(rows: NDArray[Any]) -> NDArray[Any]:
    """Return (n,) bytes that the program requested, for processes or counters."""
    return np.asarray(rows["outermost_read_bytes"] + rows["outermost_write_bytes"])


def begins(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (n,) bool: in sorted columns, whether an entry differs from the previous one."""
    new = np.ones(len(columns[0]), bool)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def ranks_of(trace: Trace, rank: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the ranks of entries and their number; without MPI, the processes that occur."""
    if trace.n_ranks:
        return rank, trace.n_ranks
    processes, place = np.unique(rank, return_inverse=True)
    return place.reshape(-1), max(len(processes), 1)


def groups(*keys: NDArray[Any]) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """Yield each distinct combination of keys, and (n,) its ascending places."""
    if not len(keys[0]):
        return
    order = np.lexsort(keys[::-1])
    bounds = [*np.flatnonzero(begins(*(key[order] for key in keys))).tolist(), len(order)]
    for begin, end in itertools.pairwise(bounds):
        places = order[begin:end]
        yield tuple(int(key[places[0]]) for key in keys), places


def within(rows: NDArray[Any], most: int) -> tuple[NDArray[Any], int]:
    """Return the first rows with at most `most` calls in total, and the calls left out."""
    total = np.cumsum(rows["count"].astype(np.float64))
    keep = int(np.searchsorted(total, most, side="right"))
    return rows[:keep], int(total[-1] - (total[keep - 1] if keep else 0)) if len(rows) else 0


def number_in_rank(rank: NDArray[np.int64], *order: NDArray[Any]) -> NDArray[np.int64]:
    """Return (n,) int64: place of each entry among those of its rank, sorted by `order`."""
    sequence = np.lexsort((*order[::-1], rank))
    sorted_rank = rank[sequence]
    numbers = np.empty(len(rank), np.int64)
    numbers[sequence] = np.arange(len(rank)) - np.searchsorted(sorted_rank, sorted_rank)
    return numbers


def left_to_libraries(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows without a caller were made by a library on its own, (n,) bool.

    A library that still has a file open when the program ends closes it then, in no call of the
    program. They are calls of MPI-IO or of the system for a file that the process opened in that
    layer, but only within calls of a library.

    Args:
        rows: (n,) `TRACE_ROW` of all calls of a run.
    """
    found = np.zeros(len(rows), bool)
    for layers in ((IoLayer.MPIIO,), SYSTEM_LAYERS):
        mine = np.isin(rows["layer"], layers) & (rows["file"] >= 0)
        opens = mine & (rows["op"] == Op.OPEN)
        if not opens.any():
            continue
        width = int(rows["file"].max()) + 2
        key = rows["process"].astype(np.int64) * width + rows["file"]
        inside = np.setdiff1d(key[opens & (rows["depth"] > 0)], key[opens & (rows["depth"] == 0)])
        found |= mine & (rows["depth"] == 0) & np.isin(key, inside)
    return found


# Equal values stored once, identified by number.

T = TypeVar("T")


class Interned(Generic[T]):
    """Distinct values in the order of their first occurrence, numbered from 0."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._values: list[Any] = []

    def number(self, key: Hashable, make: Callable[[], T] | None = None) -> int:
        """Return the number of a value.

        Args:
            key: The value itself, or a key that is equal for equal values.
            make: Creates the value, if it differs from the key.
        """
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._values)
            self._values.append(make() if make else key)
        return found

    @property
    def values(self) -> tuple[T, ...]:
        """All values in the order of their numbers."""
        return tuple(self._values)

    def __getitem__(self, number: int) -> T:
        """Return one value."""
        value: T = self._values[number]
        return value
