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
from stripewise.diagnosis._sums import Calls, Sums
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
        moved = rows["bytes"][:, ops].sum(axis=1)
        own = np.where(moved > 0, _ratio(rows[f"outermost_{name}_bytes"], moved), whole)
        weight[:, ops] = own[:, None]
        left = left - own * rows["seconds"][:, ops].sum(axis=1)
    spent = rows["seconds"][:, METADATA].sum(axis=1)
    weight[:, METADATA] = np.where(spent > 0, _ratio(left, spent), whole)[:, None]
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
    """Counter rows, which of them the program made, and sums over the calls in them."""

    def __init__(self, sums: Sums, group: int = 0, where: slice = slice(None)) -> None:
        self.rows, self.keys, self.own = sums.rows[where], sums.keys[where], sums.own[where]
        self.reduced = self.keys == ALL_RANKS
        self._sums, self._group = sums, group

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
        return self._sums.of(self._group, ops, layers, own)

    @functools.cached_property
    def seen(self) -> frozenset[IoLayer]:
        """Layers that saw the file at all."""
        return frozenset(map(IoLayer, np.unique(self.rows["layer"]).tolist()))


class FileUse(Rows):
    """How one file was used: its counters, looked at in the ways that the rest needs."""

    def __init__(
        self, profile: RunProfile, index: int, sums: Sums, group: int, where: slice
    ) -> None:
        super().__init__(sums, group, where)
        self.n_ranks = profile.n_ranks
        self.index = index
        self.path = profile.paths[index]
        self.hints = profile.hints.get(index, FileHints())
        self.layout = profile.layouts.get(index, FileLayout())
        self.why_missing = functools.partial(profile.why_missing, file=index)

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

    @property
    def shared(self) -> bool:
        """Whether more than one rank moved its data."""
        return self.calls(DATA).ranks > 1

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
            if rows["count"][:, DATA].any():
                return rows
        return self.rows[:0]

    def order_share(self, kind: str, writing: bool) -> float:
        """Share of the lowest layer's calls that are "sequential" or "consecutive".

        NaN without calls, and where they are not of POSIX and none is told: not every source
        looks at the order of other layers.
        """
        ops, way = (WRITES, "writes") if writing else (READS, "reads")
        rows = self.lowest
        count = int(rows["count"][:, ops].sum())
        forward = float(rows[f"{kind}_{way}"].sum())
        told = forward or not len(rows) or rows["layer"][0] == IoLayer.POSIX
        return forward / count if count and told else float("nan")


def usage(profile: RunProfile, trace: Trace | None = None) -> tuple[Rows, list[FileUse]]:
    """All counters, and those of each file.

    Left out of the files are those that nothing is known of, and probes of a library's own.
    """
    order = np.argsort(profile.counters["file"], kind="stable")
    rows, keys = profile.counters[order], profile.actors[order]
    weight = own_weights(rows)
    sums = functools.partial(
        Sums, profile.n_ranks, rows, keys, (weight, count_weights(rows, weight, trace))
    )
    files, starts, group = np.unique(rows["file"], return_index=True, return_inverse=True)
    bounds = itertools.pairwise([*starts.tolist(), len(rows)])
    by_file = sums(group)
    uses = (
        FileUse(profile, file, by_file, place, slice(*ends))
        for place, (file, ends) in enumerate(zip(files.tolist(), bounds, strict=True))
        if file >= 0
    )
    whole = Rows(sums(np.zeros_like(group)))
    return whole, [use for use in uses if not _is_probe(use.rows)]


def _is_probe(rows: NDArray[Any]) -> bool:
    """Whether a library made the file inside calls on another one, put nothing in, removed it.

    Open MPI tries in this way whether files can be locked: out.h5.locktest.0.
    """
    flags = int(np.bitwise_or.reduce(rows["flags"]))
    return (
        bool(flags & FileFlag.CREATED and flags & FileFlag.UNLINKED)
        and not rows["outermost_seconds"].any()
        and not rows["count"][:, DATA].any()
    )
