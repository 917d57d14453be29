# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A traced program's time in stretches, in each of which ranks do the same over and over.

Which calls are of one kind: the same operation, of sizes within a factor of two, on files that
equally many ranks use.  A rank goes on to its next stretch where it has made many calls of one
kind and then makes many of another one; what it does only a few times belongs to what follows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stripewise.simulation._trace_asked import Asked

LONG = (4, 16, 64, 256, 1024)
"""Calls of one kind, one after another, from which on they are a stretch: the first of these
numbers with which a rank has at most twice as many stretches (chosen)."""

Ints = NDArray[np.int64]


class Part(NamedTuple):
    """Calls of one kind that one rank makes in one of its stretches.

    Attributes:
        kind: Number of the kind.
        what: `Asked`.
        sharers: Ranks that use the file together.
        number / bytes: Of all of them.
        files: That they use.
        begin / low / high: Bytes of a file, as in `ASKED_ROW`.
        granule: Likewise.
        file: The first one.
        start_ns: Of the first call.
    """

    kind: int
    what: int
    sharers: int
    number: float
    bytes: float
    files: int
    begin: int
    low: int
    high: int
    granule: int
    file: int
    start_ns: int


def parts_of(rows: NDArray[Any]) -> dict[int, list[list[Part]]]:
    """Return rank -> its stretches in order, each with its calls by kind.

    Args:
        rows: (n,) `ASKED_ROW`, by rank and order.
    """
    if not len(rows):
        return {}
    sharers = _sharers(rows)
    kind = _kinds(rows, sharers)
    stretch = _stretches(rows, kind)
    order = np.lexsort((rows["first"], kind, stretch))
    rows, kind, stretch, sharers = rows[order], kind[order], stretch[order], sharers[order]
    first = np.flatnonzero(_changes(stretch, kind))
    different = _changes(stretch, kind, rows["file"][np.lexsort((rows["file"], kind, stretch))])
    columns = zip(
        stretch[first].tolist(), rows["rank"][first].tolist(), kind[first].tolist(),
        rows["what"][first].tolist(), sharers[first].tolist(),
        np.add.reduceat(rows["number"], first).tolist(),
        np.add.reduceat(rows["number"] * rows["size"], first).tolist(),
        np.add.reduceat(different, first, dtype=np.int64).tolist(),
        rows["begin"][first].tolist(), np.minimum.reduceat(rows["low"], first).tolist(),
        np.maximum.reduceat(rows["high"], first).tolist(),
        np.gcd.reduceat(rows["granule"], first).tolist(), rows["file"][first].tolist(),
        rows["start_ns"][first].tolist(), strict=True,
    )  # fmt: skip
    found: dict[int, list[list[Part]]] = {}
    last = -1
    for number, rank, *of_part in columns:
        mine = found.setdefault(rank, [])
        if number != last:
            mine.append([])
        mine[-1].append(Part(*of_part))
        last = number
    return found


def _sharers(rows: NDArray[Any]) -> Ints:
    """Return, of data, how many ranks do the same with the file; of all else 1."""
    data = rows["what"] <= Asked.WRITE
    keys = np.stack([rows["file"], rows["what"], rows["rank"]], axis=1)[data]
    pairs = np.unique(keys, axis=0)
    files, number = np.unique(pairs[:, :2], axis=0, return_counts=True)
    found = np.ones(len(rows), np.int64)
    if len(files):
        place = np.searchsorted(files[:, 0] * 2 + files[:, 1], keys[:, 0] * 2 + keys[:, 1])
        found[data] = number[place]
    return found


def _kinds(rows: NDArray[Any], sharers: Ints) -> Ints:
    size = np.frexp(rows["size"])[1].astype(np.int64)  # 0 of no bytes
    keys = np.stack([rows["what"], size, sharers], axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _stretches(rows: NDArray[Any], kind: Ints) -> Ints:
    """Return the number of each row's stretch, over all ranks: (n,) int64, ascending."""
    rank = rows["rank"]
    latest = _latest(rank, rows["last"])
    beside = np.zeros(len(rows), np.bool_)  # it begins before all that came before has ended
    beside[1:] = (rank[1:] == rank[:-1]) & (rows["first"][1:] < latest[:-1])
    run = np.cumsum(_changes(rank, kind) & ~beside) - 1
    first = np.flatnonzero(_changes(run))
    runs = _Runs(
        np.unique(rank[first], return_inverse=True)[1].reshape(-1),
        np.minimum.reduceat(kind, first),
        np.maximum.reduceat(kind, first),
        np.add.reduceat(rows["number"], first),
    )
    begins = _changes(runs.rank)
    left = np.ones(int(runs.rank[-1]) + 1, np.bool_)  # ranks that have too many stretches yet
    for long in LONG:
        found = _begins(runs, long)
        few = left & (np.bincount(runs.rank, found) <= 2 * long)
        begins |= found & few[runs.rank]
        left &= ~few
    return np.asarray((np.cumsum(begins) - 1)[run])


class _Runs(NamedTuple):
    """Calls of one kind, or of several in turn, one after another: (n,) each.

    Attributes:
        rank: Numbered from 0.
        low / high: Kinds.
        number: Of calls.
    """

    rank: Ints
    low: Ints
    high: Ints
    number: NDArray[np.float64]


def _begins(runs: _Runs, long: int) -> NDArray[np.bool_]:
    """Return which runs begin a stretch: those behind a long one, if the next long one differs."""
    chosen = np.flatnonzero(runs.number >= long)
    low, high, rank = runs.low[chosen], runs.high[chosen], runs.rank[chosen]
    other = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    begins = np.zeros(len(runs.rank), np.bool_)
    begins[chosen[:-1][other & (rank[1:] == rank[:-1])] + 1] = True
    return begins


def _latest(rank: Ints, last: Ints) -> Ints:
    """Return the greatest value so far of each rank; ranks lie together."""
    span = int(last.max()) - int(last.min()) + 1 if len(last) else 1
    number = np.cumsum(_changes(rank)) - 1
    shifted = last - last.min() + number * span
    return np.asarray(np.maximum.accumulate(shifted) - number * span + last.min())


def _changes(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where an entry is not equal to the one before: (n,) bool."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new
