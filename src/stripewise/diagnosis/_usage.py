# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters by file, with the program's own calls told from those that a layer made."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._own_calls import count_weights
from stripewise.diagnosis._sums import FEW_ROWS, Calls, FewRows, add_up, parts_of
from stripewise.model import (
    ALL_RANKS,
    FileFlag,
    FileHints,
    FileLayout,
    IoLayer,
    Op,
    RunProfile,
    Trace,
)

READS = (Op.READ, Op.READ_COLLECTIVE)
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
DATA = (*READS, *WRITES)
INDEPENDENT = (Op.READ, Op.WRITE)
COLLECTIVE = (Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
METADATA = (Op.OPEN, Op.CLOSE, Op.SYNC, Op.META)
ALL = tuple(Op)
_ROUNDING = 1e-6
SYSTEM = (IoLayer.POSIX, IoLayer.STDIO)


def own_weights(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Share of each row's calls that no other I/O layer made, by operation: (n, n_ops) float64.

    Exact where a process used the file through one interface.  Otherwise reads and writes go
    by the program's own bytes, and metadata take what is left of its own time.  A row without
    time counts as the program's own if the same process has no higher layer on that file.
    """
    total = rows["seconds"].sum(axis=1)
    whole = _ratio(rows["outermost_seconds"], total)
    timeless = np.flatnonzero(total <= 0)
    if len(timeless):
        whole[timeless] = _is_highest(rows)[timeless]
    weight = np.repeat(whole[:, None], len(Op), axis=1)
    mixed = np.flatnonzero((whole > 0) & (whole < 1 - _ROUNDING))
    if len(mixed):
        weight[mixed] = _mixed_weights(rows[mixed], whole[mixed])
    return weight


def _mixed_weights(rows: NDArray[Any], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    weight = np.repeat(whole[:, None], len(Op), axis=1)
    left = rows["outermost_seconds"].astype(np.float64)
    for ops, name in ((READS, "read"), (WRITES, "write")):
        columns = [int(op) for op in ops]
        moved = rows["bytes"][:, columns].sum(axis=1)
        own = np.where(moved > 0, _ratio(rows[f"outermost_{name}_bytes"], moved), whole)
        weight[:, columns] = own[:, None]
        left = left - own * rows["seconds"][:, columns].sum(axis=1)
    columns = [int(op) for op in METADATA]
    spent = rows["seconds"][:, columns].sum(axis=1)
    weight[:, columns] = np.where(spent > 0, _ratio(left, spent), whole)[:, None]
    return weight


def _ratio(part: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
    """`part / total` between 0 and 1, 0 without a total."""
    found: NDArray[np.float64] = np.divide(part, total, out=np.zeros(len(total)), where=total > 0)
    return found.clip(0.0, 1.0)


def _is_highest(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether no row of the same file, rank and process has a higher layer."""
    order = np.lexsort((rows["layer"], rows["process"], rows["rank"], rows["file"]))
    keys = rows[["file", "rank", "process"]][order]
    last = np.ones(len(rows), np.bool_)
    last[:-1] = keys[1:] != keys[:-1]
    highest = np.zeros(len(rows), np.bool_)
    highest[order] = last
    return highest


class Rows:
    """Counter rows with the program's share of each, and sums over the calls in them."""

    def __init__(
        self,
        n_ranks: int,
        rows: NDArray[Any],
        keys: NDArray[np.int64],
        weight: NDArray[np.float64],
        counted: NDArray[np.float64],
    ) -> None:
        """Take rows, who made their calls, their weights and those by which calls are counted."""
        self.rows, self.keys = rows, keys
        self.weight, self.counted = weight, counted
        self.n_ranks = n_ranks
        self.own = weight.any(axis=1)
        self.reduced = keys == ALL_RANKS
        self._known: dict[tuple[Any, ...], Calls] = {}
        self._few = FewRows(rows, keys, weight, counted) if len(rows) <= FEW_ROWS else None

    def calls(
        self,
        ops: Sequence[Op] = ALL,
        *,
        layers: Sequence[IoLayer] | None = None,
        own: bool = True,
    ) -> Calls:
        """Sum up calls.

        Args:
            ops: Which operations.
            layers: Only of these; None: of all.
            own: Only the program's own calls, not those that another layer made.
        """
        key = (tuple(ops), None if layers is None else tuple(layers), own)
        if key not in self._known:
            self._known[key] = self._calls(*key)
        return self._known[key]

    def _calls(self, ops: tuple[Op, ...], layers: tuple[IoLayer, ...] | None, own: bool) -> Calls:
        if self.active.isdisjoint(ops) or (layers is not None and self.seen.isdisjoint(layers)):
            return Calls()
        if self._few is not None:
            return add_up(self._few.parts(ops, layers, own), self.n_ranks)
        pick = self.own if own else np.ones(len(self.rows), np.bool_)
        if layers is not None:
            pick = pick & np.isin(self.rows["layer"], [int(layer) for layer in layers])
        weight, counted = (self.weight[pick], self.counted[pick]) if own else (None, None)
        parts = parts_of(self.rows[pick], self.keys[pick], weight, counted, ops)
        return add_up(parts, self.n_ranks)

    @functools.cached_property
    def seen(self) -> frozenset[IoLayer]:
        """Layers that saw the file at all."""
        return frozenset(IoLayer(layer) for layer in set(self.rows["layer"].tolist()))

    @functools.cached_property
    def active(self) -> frozenset[Op]:
        """Operations of which there is any call, or any time."""
        any_ = self.rows["count"].any(axis=0) | (self.rows["seconds"] > 0).any(axis=0)
        return frozenset(Op(place) for place in np.flatnonzero(any_).tolist())


class FileUse(Rows):
    """How one file was used: its counters, looked at in the ways that the rest needs."""

    def __init__(self, profile: RunProfile, index: int, *parts: NDArray[Any]) -> None:
        """Take the parts of `Rows` that are of one file."""
        super().__init__(profile.n_ranks, *parts)
        self.index = index
        self.path = profile.paths[index]
        self.hints = profile.hints.get(index, FileHints())
        self.layout = profile.layouts.get(index, FileLayout())

    @functools.cached_property
    def layers(self) -> tuple[IoLayer, ...]:
        """Layers whose calls the program made itself, the highest first."""
        own = set(self.rows["layer"][self.own].tolist())
        return tuple(IoLayer(layer) for layer in sorted(own, reverse=True))

    @functools.cached_property
    def top(self) -> IoLayer:
        """The highest of these that moved data; the highest of all without data."""
        for layer in self.layers:
            if self.calls(DATA, layers=[layer]).count:
                return layer
        return self.layers[0] if self.layers else IoLayer(int(self.rows["layer"].max()))

    @functools.cached_property
    def read_bytes(self) -> int:
        """What the program asked to read."""
        return int(self.rows["outermost_read_bytes"].sum())

    @functools.cached_property
    def write_bytes(self) -> int:
        """What the program asked to write."""
        return int(self.rows["outermost_write_bytes"].sum())

    @functools.cached_property
    def total(self) -> Calls:
        """All own calls."""
        return self.calls()

    @functools.cached_property
    def data_ranks(self) -> int:
        """Ranks that moved data."""
        return self.calls(DATA).ranks

    @property
    def shared(self) -> bool:
        """Whether more than one rank moved its data."""
        return self.data_ranks > 1

    @functools.cached_property
    def only_rank(self) -> int:
        """The one rank that used the file, -1 if several did."""
        first = int(self.keys[0])
        return first if first >= 0 and bool((self.keys == first).all()) else -1

    @functools.cached_property
    def extent(self) -> int:
        """End of the furthest byte, -1: not known."""
        return int(self.rows["maximum_offset"].max())

    def of_layer(self, layer: IoLayer) -> NDArray[Any]:
        """Rows of one layer."""
        rows: NDArray[Any] = self.rows[self.rows["layer"] == int(layer)]
        return rows

    @functools.cached_property
    def lowest(self) -> NDArray[Any]:
        """Rows of the lowest layer that moved data: what is nearest to the storage."""
        for layer in sorted(self.seen):
            rows = self.of_layer(layer)
            if rows["count"][:, [int(op) for op in DATA]].any():
                return rows
        return self.rows[:0]

    def order_share(self, kind: str, direction: str) -> float:
        """Share of the lowest layer's calls that are "sequential" or "consecutive".

        NaN without calls, and where they are not of POSIX and none is told: not every source
        looks at the order of other layers.
        """
        ops = READS if direction == "read" else WRITES
        rows = self.lowest
        count = int(rows["count"][:, [int(op) for op in ops]].sum())
        forward = float(rows[f"{kind}_{direction}s"].sum())
        told = forward or not len(rows) or rows["layer"][0] == IoLayer.POSIX
        return forward / count if count and told else float("nan")


def whole_run(profile: RunProfile, trace: Trace | None = None) -> Rows:
    """All counters, file by file."""
    order = np.argsort(profile.counters["file"], kind="stable")
    rows = profile.counters[order]
    weight = own_weights(rows)
    counted = count_weights(rows, weight, trace)
    return Rows(profile.n_ranks, rows, profile.actors[order], weight, counted)


def usage(profile: RunProfile, whole: Rows) -> list[FileUse]:
    """Counters by file.

    Left out are files that nothing is known of, and probes of a library's own.
    """
    files, starts = np.unique(whole.rows["file"], return_index=True)
    parts = (whole.rows, whole.keys, whole.weight, whole.counted)
    bounds = itertools.pairwise([*starts.tolist(), len(whole.rows)])
    return [
        FileUse(profile, file, *(part[low:high] for part in parts))
        for file, (low, high) in zip(files.tolist(), bounds, strict=True)
        if file >= 0 and not _is_probe(whole.rows[low:high])
    ]


def _is_probe(rows: NDArray[Any]) -> bool:
    """Whether a library made the file inside calls on another one, put nothing in, removed it.

    Open MPI tries in this way whether files can be locked: out.h5.locktest.0.
    """
    flags = int(np.bitwise_or.reduce(rows["flags"]))
    return (
        bool(flags & FileFlag.CREATED and flags & FileFlag.UNLINKED)
        and not rows["outermost_seconds"].any()
        and not rows["count"][:, [int(op) for op in DATA]].any()
    )
