# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters by file, with the program's own calls told from those that a layer made."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import FileHints, FileLayout, IoLayer, Op, RunProfile

READS = (Op.READ, Op.READ_COLLECTIVE)
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
DATA = (*READS, *WRITES)
INDEPENDENT = (Op.READ, Op.WRITE)
COLLECTIVE = (Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
METADATA = (Op.OPEN, Op.CLOSE, Op.SYNC, Op.META)
ALL = tuple(Op)
SYSTEM = (IoLayer.POSIX, IoLayer.STDIO)

REDUCED = -2


@dataclass(frozen=True)
class Calls:
    """Some calls to one file, or to several.

    Attributes:
        count / bytes: Over all ranks.
        cumulated: Seconds over all ranks.
        elapsed: Of the slowest rank; `least`: of the fastest that made such calls.
        rank: The slowest; -1: not known.
        ranks: That made such calls; 0: not known.
    """

    count: int = 0
    bytes: int = 0
    cumulated: float = 0.0
    elapsed: float = 0.0
    least: float = 0.0
    rank: int = -1
    ranks: int = 0

    @property
    def mean_bytes(self) -> float:
        """Bytes of one call, 0 without any."""
        return self.bytes / self.count if self.count else 0.0


def own_weights(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Share of each row's calls that no other I/O layer made: (n,) float64, by time.

    Exact where a process used the file through one interface; a row without time counts as
    the program's own if the same process has no higher layer on that file.
    """
    total = rows["seconds"].sum(axis=1)
    weight: NDArray[np.float64] = np.divide(
        rows["outermost_seconds"], total, out=np.zeros(len(rows)), where=total > 0
    ).clip(0.0, 1.0)
    timeless = np.flatnonzero(total <= 0)
    if len(timeless):
        weight[timeless] = _is_highest(rows)[timeless]
    return weight


def _is_highest(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether no row of the same file, rank and process has a higher layer."""
    order = np.lexsort((rows["layer"], rows["process"], rows["rank"], rows["file"]))
    keys = rows[["file", "rank", "process"]][order]
    last = np.ones(len(rows), np.bool_)
    last[:-1] = keys[1:] != keys[:-1]
    highest = np.zeros(len(rows), np.bool_)
    highest[order] = last
    return highest


def rank_keys(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Who each row is of: the rank, or without MPI the process: (n,) int64."""
    keys: NDArray[np.int64] = np.where(rows["rank"] == -1, rows["process"], rows["rank"]).astype(
        np.int64
    )
    return keys


class FileUse:
    """How one file was used: its counters, looked at in the ways that the rest needs."""

    def __init__(
        self, profile: RunProfile, index: int, rows: NDArray[Any], weight: NDArray[np.float64]
    ) -> None:
        """Take the rows of one file and their weights."""
        self.index = index
        self.path = profile.paths[index]
        self.hints = profile.hints.get(index, FileHints())
        self.layout = profile.layouts.get(index, FileLayout())
        self.n_ranks = profile.n_ranks
        self.rows = rows
        self.weight = weight
        self.keys = rank_keys(rows)
        self.reduced = rows["rank"] == REDUCED

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
        pick = np.ones(len(self.rows), np.bool_)
        if layers is not None:
            pick = np.isin(self.rows["layer"], [int(layer) for layer in layers])
        if own:
            pick &= self.weight > 0
        if not pick.any():
            return Calls()
        rows, columns = self.rows[pick], [int(op) for op in ops]
        weight = self.weight[pick] if own else np.ones(len(rows))
        count = rows["count"][:, columns].sum(axis=1) * weight
        seconds = rows["seconds"][:, columns].sum(axis=1) * weight
        moved = rows["bytes"][:, columns].sum(axis=1) * weight
        return self._sum(rows, self.keys[pick], self.reduced[pick], count, moved, seconds)

    def _sum(
        self,
        rows: NDArray[Any],
        keys: NDArray[np.int64],
        reduced: NDArray[np.bool_],
        count: NDArray[np.float64],
        moved: NDArray[np.float64],
        seconds: NDArray[np.float64],
    ) -> Calls:
        elapsed, least, rank, ranks = 0.0, 0.0, -1, 0
        single = ~reduced & ((count > 0) | (seconds > 0))
        if single.any():
            names, inverse = np.unique(keys[single], return_inverse=True)
            by_rank = np.bincount(inverse, weights=seconds[single])
            slowest = int(by_rank.argmax())
            elapsed, least = float(by_rank[slowest]), float(by_rank.min())
            rank, ranks = int(names[slowest]), len(names)
        together = reduced & ((count > 0) | (seconds > 0))
        if together.any():
            high, low = _extremes(rows[together], seconds[together], self.n_ranks)
            elapsed, least = elapsed + high, least + low
            ranks = max(ranks, self.n_ranks)
            rank = _slowest_named(rows[together]) if not single.any() else rank
        return Calls(
            round(float(count.sum())),
            round(float(moved.sum())),
            float(seconds.sum()),
            elapsed,
            least,
            rank,
            ranks,
        )

    @functools.cached_property
    def layers(self) -> tuple[IoLayer, ...]:
        """Layers whose calls the program made itself, the highest first."""
        own = self.rows["layer"][(self.weight > 0)]
        return tuple(IoLayer(int(layer)) for layer in np.unique(own)[::-1])

    @functools.cached_property
    def seen(self) -> frozenset[IoLayer]:
        """Layers that saw the file at all."""
        return frozenset(IoLayer(int(layer)) for layer in np.unique(self.rows["layer"]))

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
        return int(self.keys[0]) if len(np.unique(self.keys)) == 1 and self.keys[0] >= 0 else -1

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
        """Share of the lowest layer's calls that are "sequential" or "consecutive"; NaN."""
        ops = READS if direction == "read" else WRITES
        count = int(self.lowest["count"][:, [int(op) for op in ops]].sum())
        if not count:
            return float("nan")
        return float(self.lowest[f"{kind}_{direction}s"].sum()) / count


def _extremes(
    rows: NDArray[Any], seconds: NDArray[np.float64], n_ranks: int
) -> tuple[float, float]:
    """Slowest and fastest rank's share of reduced rows, in proportion to the time concerned."""
    total = rows["seconds"].sum(axis=1)
    part = np.divide(seconds, total, out=np.zeros(len(rows)), where=total > 0)
    mean = seconds / max(n_ranks, 1)
    known = rows["slowest_seconds"] > 0
    high = np.where(known, np.maximum(rows["slowest_seconds"] * part, mean), mean)
    low = np.where(known, np.minimum(rows["fastest_seconds"] * part, mean), mean)
    return float(high.sum()), float(low.sum())


def _slowest_named(rows: NDArray[Any]) -> int:
    row = rows[rows["slowest_seconds"].argmax()]
    return int(row["slowest_rank"])


def usage(profile: RunProfile) -> list[FileUse]:
    """Counters by file; files that nothing is known of are left out."""
    rows = profile.counters
    rows = rows[rows["file"] >= 0]
    if not len(rows):
        return []
    rows = rows[np.argsort(rows["file"], kind="stable")]
    weight = own_weights(rows)
    edges = np.flatnonzero(np.diff(rows["file"])) + 1
    bounds = [0, *edges.tolist(), len(rows)]
    return [
        FileUse(profile, int(rows["file"][low]), rows[low:high], weight[low:high])
        for low, high in itertools.pairwise(bounds)
    ]
