# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the calls in counter rows, for all files at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import ALL_RANKS, IoLayer, Op

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calls:
    """Some calls to one file, or to several.

    Attributes:
        count / bytes: Over all ranks.
        cumulated: Seconds over all ranks.
        elapsed: Of the slowest rank; `least`: of the fastest that made such calls.
        rank: The slowest; -1: not known.
        ranks: That made such calls; 0: not known.
        surely: The slowest rank took at least so long, where rows of all ranks together leave
            open whose time is whose; otherwise `elapsed`.
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
        """Bytes of one call, 0 without any."""
        return self.bytes / self.count if self.count else 0.0


def _whole(sums: _Floats) -> _Ints:
    """Return sums as whole numbers, the largest there is for what is larger."""
    return np.clip(np.rint(sums), 0, float(1 << 62)).astype(np.int64)


class Sums:
    """Sums over groups of rows: those of each file, or all."""

    def __init__(
        self,
        n_ranks: int,
        rows: NDArray[Any],
        keys: _Ints,
        weights: tuple[_Floats, _Floats],
        group: _Ints,
    ) -> None:
        """Take rows and who made their calls.

        Args:
            n_ranks: Of the run.
            rows: (n,) `COUNTER_ROW`.
            keys: (n,) rank or process; `ALL_RANKS`: all together (a reduced row).
            weights: (n, n_ops) shares that are the program's own: of bytes and time, of calls.
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
        """Fields of `Calls` for each group."""
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
        """Of rows of single ranks: slowest, fastest, which is the slowest, how many there are."""
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
        """Of rows of all ranks together: slowest, fastest, who, at least so long, how many ranks.

        The slowest rank's time counts in proportion to the time of the chosen operations, at
        least the mean; the fastest rank's at most the mean.
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
        """(n_groups,) sums of values, or numbers of rows."""
        sums = np.bincount(group, values, self._n_groups)  # whole numbers where there is no row
        return sums if values is None else sums.astype(np.float64)

    def _largest(self, group: _Ints, values: NDArray[Any], names: _Ints) -> tuple[_Floats, _Ints]:
        """(n_groups,) the largest value, and the first name that has it; 0 and -1: none."""
        top, first = np.zeros(self._n_groups), np.full(self._n_groups, -1)
        np.maximum.at(top, group, values)
        has = np.flatnonzero(values == top[group])[::-1]
        first[group[has]] = names[has]  # of several the last is kept, which was the first
        return top, first
