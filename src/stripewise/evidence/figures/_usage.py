# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums counters by file, and separates the program's own calls from those that a layer made."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.figures._threads import TimeBounds, io_bounds
from stripewise.evidence.trace import (
    ALL_RANKS,
    FileFlag,
    FileHints,
    FileLayout,
    IoLayer,
    Op,
    RunProfile,
    Trace,
    fell_back,
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
    """Return each row's share of calls made by the program, by operation: (n, n_ops) float64.

    Exact if a process used the file through only one interface. Otherwise reads and writes are
    shared in proportion to the program's own bytes, and metadata gets the rest of its own time. A
    row without time counts as the program's own if the same process has no higher layer on that
    file.
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
    """Return `part / total` limited to 0 to 1, 0 without a total."""
    found: NDArray[np.float64] = np.divide(part, total, out=np.zeros(len(total)), where=total > 0)
    return found.clip(0.0, 1.0)


def _is_highest(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether no row of the same file, rank and process has a higher layer."""
    order = np.lexsort((rows["layer"], rows["process"], rows["rank"], rows["file"]))
    keys = rows[["file", "rank", "process"]][order]
    last = np.ones(len(rows), np.bool_)
    last[:-1] = keys[1:] != keys[:-1]
    highest = np.zeros(len(rows), np.bool_)
    highest[order] = last
    return highest


class CounterRows:
    """Counter rows with the program's share of their calls, and sums over these calls."""

    def __init__(self, sums: GroupSums, group: int = 0, where: slice = slice(None)) -> None:
        self.rows, self.keys, self.own = sums.rows[where], sums.keys[where], sums.own[where]
        self.reduced = self.keys == ALL_RANKS
        self.io = TimeBounds(0.0, 0.0)  # of the run, set in its sums
        self.longest = math.inf  # seconds of the run
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
            ops: Operations to include.
            layers: Layers to include; None for all.
            own: Whether to include only the program's own calls, not those by another layer.
        """
        return self._sums.of(self._group, ops, layers, own)

    @functools.cached_property
    def seen(self) -> frozenset[IoLayer]:
        """Layers that have any record of the file."""
        return frozenset(map(IoLayer, np.unique(self.rows["layer"]).tolist()))


class FileUse(CounterRows):
    """Use of one file: its counters, and the quantities that the diagnosis derives from them."""

    def __init__(
        self, profile: RunProfile, index: int, sums: GroupSums, group: int, where: slice
    ) -> None:
        super().__init__(sums, group, where)
        self.n_ranks = profile.n_ranks
        self.index = index
        self.path = profile.paths[index]
        self.hints = profile.hints.get(index, FileHints())
        self.layout = profile.layouts.get(index, FileLayout())
        self.why_missing = functools.partial(profile.why_missing, file=index)
        self._transfers = profile.transfers[profile.transfers["file"] == index]

    @functools.cached_property
    def layers(self) -> tuple[IoLayer, ...]:
        """Layers whose calls the program made itself, the highest first."""
        own = set(self.rows["layer"][self.own].tolist())
        return tuple(IoLayer(layer) for layer in sorted(own, reverse=True))

    @functools.cached_property
    def top(self) -> IoLayer:
        """Highest layer of the program that moved data; without data, the highest of all."""
        for layer in self.layers:
            if self.calls(DATA, layers=[layer]).count:
                return layer
        return self.layers[0] if self.layers else IoLayer(int(self.rows["layer"].max()))

    @functools.cached_property
    def read_bytes(self) -> int:
        """Bytes that the program requested to read."""
        return int(self.rows["outermost_read_bytes"].sum())

    @functools.cached_property
    def write_bytes(self) -> int:
        """Bytes that the program requested to write."""
        return int(self.rows["outermost_write_bytes"].sum())

    @property
    def shared(self) -> bool:
        """Whether more than one rank moved its data."""
        return self.calls(DATA).ranks > 1

    @functools.cached_property
    def fallen(self) -> int:
        """Collective transfers that HDF5 carried out independently, as far as is known."""
        return int(fell_back(self._transfers).sum())

    @functools.cached_property
    def posted(self) -> bool:
        """Whether calls were posted to PnetCDF, so that its requests are those of the waits."""
        return bool((self.rows["flags"] & FileFlag.POSTED).any())

    @functools.cached_property
    def only_rank(self) -> int:
        """Only rank that used the file, -1 if several did."""
        first = int(self.keys[0])
        return first if first >= 0 and bool((self.keys == first).all()) else -1

    @functools.cached_property
    def extent(self) -> int:
        """End of the furthest byte, -1 if unknown."""
        return int(self.rows["maximum_offset"].max())

    def of_layer(self, layer: IoLayer) -> NDArray[Any]:
        """Return the rows of one layer."""
        rows: NDArray[Any] = self.rows[self.rows["layer"] == int(layer)]
        return rows

    @functools.cached_property
    def lowest(self) -> NDArray[Any]:
        """Rows of the lowest layer that moved data, the one closest to the storage."""
        for layer in sorted(self.seen):
            rows = self.of_layer(layer)
            if rows["count"][:, DATA].any():
                return rows
        return self.rows[:0]

    def order_share(self, kind: str, writing: bool) -> float:
        """Return the share of the lowest layer's calls that are "sequential" or "consecutive".

        NaN without calls, and if no share is known for layers other than POSIX, as not every
        source records their order.
        """
        ops, way = (WRITES, "writes") if writing else (READS, "reads")
        rows = self.lowest
        count = int(rows["count"][:, ops].sum())
        forward = float(rows[f"{kind}_{way}"].sum())
        is_recorded = forward or not len(rows) or rows["layer"][0] == IoLayer.POSIX
        return forward / count if count and is_recorded else float("nan")


def usage(profile: RunProfile, trace: Trace | None = None) -> tuple[CounterRows, list[FileUse]]:
    """Return all counters, and those of each file.

    Files without any information, and probes that a library made itself, are left out.
    """
    order = np.argsort(profile.counters["file"], kind="stable")
    rows, keys = profile.counters[order], profile.actors[order]
    weight = own_weights(rows)
    sums = functools.partial(
        GroupSums, profile.n_ranks, rows, keys, (weight, count_weights(rows, weight, trace))
    )
    files, starts, group = np.unique(rows["file"], return_index=True, return_inverse=True)
    bounds = itertools.pairwise([*starts.tolist(), len(rows)])
    by_file = sums(group)
    uses = (
        FileUse(profile, file, by_file, place, slice(*ends))
        for place, (file, ends) in enumerate(zip(files.tolist(), bounds, strict=True))
        if file >= 0
    )
    whole = CounterRows(sums(np.zeros_like(group)))
    whole.io = io_bounds(profile, trace)
    found = [use for use in uses if not _is_probe(use.rows)]
    for one in (whole, *found):
        one.longest = profile.elapsed_seconds if profile.elapsed_seconds > 0 else math.inf
    return whole, found


def _is_probe(rows: NDArray[Any]) -> bool:
    """Return whether a library created the file inside calls on another, and removed it unused.

    Open MPI tests in this way whether files can be locked: out.h5.locktest.0.
    """
    flags = int(np.bitwise_or.reduce(rows["flags"]))
    return (
        bool(flags & FileFlag.CREATED and flags & FileFlag.UNLINKED)
        and not rows["outermost_seconds"].any()
        and not rows["count"][:, DATA].any()
    )


# Sums over the calls in counter rows, for all files at once.

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calls:
    """Totals of some calls to one file, or to several.

    Attributes:
        count / bytes: Totals over all ranks.
        cumulated: Seconds over all ranks.
        elapsed: Seconds of the slowest rank; `least`: of the fastest that made such calls.
        rank: Slowest rank; -1 if unknown.
        ranks: Number of ranks that made such calls; 0 if unknown.
        surely: Lower bound of the slowest rank's time if rows of all ranks together do not show
            whose time is whose; otherwise `elapsed`.
    """

    count: int = 0
    bytes: int = 0
    cumulated: float = 0.0
    elapsed: float = 0.0
    least: float = 0.0
    rank: int = -1
    ranks: int = 0
    surely: float = 0.0

    @property
    def mean_bytes(self) -> float:
        """Mean bytes of one call, 0 without calls."""
        return self.bytes / self.count if self.count else 0.0


def _whole(sums: _Floats) -> _Ints:
    """Return sums as integers; larger values become the largest integer."""
    return np.clip(np.rint(sums), 0, float(1 << 62)).astype(np.int64)


class GroupSums:
    """Sums over groups of rows: those of each file, or all rows."""

    def __init__(
        self,
        n_ranks: int,
        rows: NDArray[Any],
        keys: _Ints,
        weights: tuple[_Floats, _Floats],
        group: _Ints,
    ) -> None:
        """Prepare sums over rows with given actors.

        Args:
            n_ranks: Number of ranks of the run.
            rows: (n,) `COUNTER_ROW` to sum.
            keys: (n,) rank or process; `ALL_RANKS` for all together (a reduced row).
            weights: (n, n_ops) program's own share: of bytes and time, and of calls.
            group: (n,) number of each row's group.
        """
        self.rows, self.keys = rows, keys
        self._n_ranks, self._group = n_ranks, group
        self._weight, self._counted = weights
        self.own: NDArray[Any] = np.any(self._weight, axis=1)
        self._reduced = keys == ALL_RANKS
        self._n_groups = int(group.max(initial=0)) + 1
        self._known: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}

    def of(
        self, group: int, ops: Sequence[Op], layers: Sequence[IoLayer] | None, own: bool
    ) -> Calls:
        """Sum up the calls of a group; see `Rows.calls`."""
        key = (tuple(ops), None if layers is None else tuple(layers), own)
        if key not in self._known:
            self._known[key] = self._of_all_groups(*key)
        return Calls(*self._known[key][group])

    def _of_all_groups(
        self, ops: tuple[Op, ...], layers: tuple[IoLayer, ...] | None, own: bool
    ) -> list[tuple[Any, ...]]:
        """Return the fields of `Calls` for each group."""
        pick = self.own if own else np.ones(len(self.rows), np.bool_)
        if layers is not None:
            pick = pick & np.isin(self.rows["layer"], layers)
        place, group = np.flatnonzero(pick), self._group[pick]
        cells = place[:, None], np.array(ops)
        weight, counted = (self._weight[cells], self._counted[cells]) if own else (1.0, 1.0)
        count = (self.rows["count"][cells] * counted).sum(axis=1)
        moved = (self.rows["bytes"][cells] * weight).sum(axis=1)
        spent = (self.rows["seconds"][cells] * weight).sum(axis=1)
        active = (count > 0) | (spent > 0)
        single = active & ~self._reduced[pick]
        together = active & self._reduced[pick]
        alone, least, slowest, ranks = self._of_ranks(place[single], spent[single])
        high, low, named, surely, n_ranks = self._of_reduced(place[together], spent[together])
        fields = (
            _whole(self._added(group, count)),
            _whole(self._added(group, moved)),
            self._added(group, spent),
            alone + high,
            least + low,
            np.where(ranks > 0, slowest, named),
            np.maximum(ranks, n_ranks),
            np.maximum(alone, surely),
        )
        return list(zip(*(field.tolist() for field in fields), strict=True))

    def _of_ranks(self, place: _Ints, spent: _Floats) -> tuple[NDArray[Any], ...]:
        """Return slowest, fastest, slowest rank and number of ranks, from rows of single ranks."""
        keys, group = self.keys[place], self._group[place]
        span = int(keys.max(initial=0)) + 2
        names, inverse = np.unique(group * span + keys + 1, return_inverse=True)
        seconds, group = np.bincount(inverse, spent), names // span
        alone, slowest = self._largest(group, seconds, names % span - 1)
        least = np.full(self._n_groups, np.inf)
        np.minimum.at(least, group, seconds)
        ranks = self._added(group)
        return alone, np.where(ranks > 0, least, 0.0), slowest, ranks

    def _of_reduced(self, place: _Ints, spent: _Floats) -> tuple[NDArray[Any], ...]:
        """Return slowest, fastest, slowest rank, lower bound and number of ranks of reduced rows.

        The slowest rank's time counts in proportion to the time of the chosen operations, and is
        at least the mean; the fastest rank's is at most the mean.
        """
        rows, group = self.rows[place], self._group[place]
        mean = spent / max(self._n_ranks, 1)
        share = np.divide(
            spent, rows["seconds"].sum(axis=1), out=np.zeros_like(mean), where=spent > 0
        )
        known = rows["slowest_seconds"] > 0
        high = np.where(known, np.maximum(rows["slowest_seconds"] * share, mean), mean)
        low = np.where(known, np.minimum(rows["fastest_seconds"] * share, mean), mean)
        named = self._largest(group, rows["slowest_seconds"], rows["slowest_rank"])[1]
        surely = np.maximum(self._largest(group, high, group)[0], self._added(group, mean))
        n_ranks = np.where(self._added(group) > 0, self._n_ranks, 0)
        return self._added(group, high), self._added(group, low), named, surely, n_ranks

    def _added(self, group: _Ints, values: _Floats | None = None) -> NDArray[Any]:
        """Return (n_groups,) sums of values, or numbers of rows."""
        sums = np.bincount(group, values, self._n_groups)  # integers if there are no rows
        return sums if values is None else sums.astype(np.float64)

    def _largest(self, group: _Ints, values: NDArray[Any], names: _Ints) -> tuple[_Floats, _Ints]:
        """Return (n_groups,) largest values, and the first name with each; 0 and -1 if none."""
        top, first = np.zeros(self._n_groups), np.full(self._n_groups, -1)
        np.maximum.at(top, group, values)
        has = np.flatnonzero(values == top[group])[::-1]
        first[group[has]] = names[has]  # the last assignment counts: the first of several
        return top, first


# Number of counted calls that are the program's own: exact if there is a trace.

LEAST_OWN = 0.05
"""Share of a row's bytes or time: with less, its calls are those that a library makes for itself
(metadata at the close of a file), and do not count as the program's (assumed).
"""

_KEY = ("file", "layer", "process")


def count_weights(
    rows: NDArray[Any], weight: NDArray[np.float64], trace: Trace | None
) -> NDArray[np.float64]:
    """Return each row's share of calls by the program, by operation: (n, n_ops) float64.

    Args:
        rows: (n,) `COUNTER_ROW` of the run.
        weight: Share of the program in bytes and time; few bytes need not be few calls.
        trace: Trace that is used if it has as many calls of an operation as the counters.
    """
    found: NDArray[np.float64] = np.where(weight < LEAST_OWN, 0.0, weight)
    if trace is None or not len(trace.rows) or not len(rows):
        return found
    every, own, parts = _traced(rows, trace)
    exact = (every == rows["count"]) & (every > 0)
    found[exact] = (own[exact] + parts[exact] * found[exact]) / every[exact]
    return found


def _traced(rows: NDArray[Any], trace: Trace) -> tuple[NDArray[np.float64], ...]:
    """Return the calls of the trace for each counter row and operation.

    Returns:
        All calls; the program's calls; parts of one call, such as the requests of a list
        (`lio_listio`), which do not show who made it.
    """
    calls = trace.rows
    keys = np.stack([rows[name].astype(np.int64) for name in _KEY], axis=1)
    others = np.stack([calls[name].astype(np.int64) for name in _KEY], axis=1)
    names, place = np.unique(np.concatenate([keys, others]), axis=0, return_inverse=True)
    place = place.reshape(-1)
    slot = place[len(rows) :] * len(Op) + calls["op"]
    size = len(names) * len(Op)
    number = calls["count"].astype(np.float64)
    chosen = place[: len(rows)]
    parent = calls["parent"]
    kinds = (np.True_, parent < 0, (parent >= 0) & (parent == calls["name"]))
    return tuple(
        np.bincount(slot, weights=number * kind, minlength=size)
        .astype(np.float64)
        .reshape(len(names), len(Op))[chosen]
        for kind in kinds
    )
