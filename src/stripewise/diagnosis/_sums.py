# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the counter rows of one file; a file of few rows is summed without arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stripewise.model import ALL_RANKS, IoLayer, Op

FEW_ROWS = 8
_ALL = (1.0,) * len(Op)


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


class Part(NamedTuple):
    """What one row gives: the chosen operations, and what it says of all ranks if it is reduced.

    Attributes:
        key: Rank (or process); `ALL_RANKS`: all together (a reduced row).
        calls / moved / seconds: Of the chosen operations, weighted.
        total: Seconds of all operations of the row.
        slowest / fastest / slowest_rank: Of a reduced row.
    """

    key: int
    calls: float
    moved: float
    seconds: float
    total: float
    slowest: float
    fastest: float
    slowest_rank: int


def parts_of(
    rows: NDArray[Any],
    keys: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    counted: NDArray[np.float64] | None,
    ops: Sequence[Op],
) -> list[Part]:
    """Parts of rows, summed for each rank; each row of all ranks together is one."""
    columns = [int(op) for op in ops]
    scale = 1.0 if weight is None else weight[:, columns]
    calls_scale = 1.0 if counted is None else counted[:, columns]
    moved, seconds = (
        (rows[name][:, columns] * scale).sum(axis=1) for name in ("bytes", "seconds")
    )
    count = (rows["count"][:, columns] * calls_scale).sum(axis=1)
    apart = np.where(keys == ALL_RANKS, ALL_RANKS - np.arange(len(rows)), keys)
    names, inverse = np.unique(apart, return_inverse=True)
    told = [rows[name] for name in ("slowest_seconds", "fastest_seconds", "slowest_rank")]
    values = (count, moved, seconds, rows["seconds"].sum(axis=1), *told)
    sums = [np.bincount(inverse, weights=value).tolist() for value in values]
    return [
        Part(max(name, ALL_RANKS), calls, size, own, total, slowest, fastest, int(rank))
        for name, calls, size, own, total, slowest, fastest, rank in zip(
            names.tolist(), *sums, strict=True
        )
    ]


class FewRows:
    """Rows of a file that has few, as plain numbers."""

    def __init__(
        self,
        rows: NDArray[Any],
        keys: NDArray[np.int64],
        weight: NDArray[np.float64],
        counted: NDArray[np.float64],
    ) -> None:
        """Take the rows."""
        numbers = [rows[name] for name in ("count", "bytes", "seconds")]
        told = [rows[name] for name in ("slowest_seconds", "fastest_seconds", "slowest_rank")]
        columns = (keys, rows["layer"], weight, counted, *numbers, *told)
        self.rows = list(zip(*(values.tolist() for values in columns), strict=True))

    def parts(self, ops: Sequence[Op], layers: Sequence[IoLayer] | None, own: bool) -> list[Part]:
        """As `parts_of`, but a rank may have several."""
        found = []
        for key, layer, weight, counted, count, moved, seconds, *told in self.rows:
            by, by_count = (weight, counted) if own else (_ALL, _ALL)
            if any(by) and (layers is None or layer in layers):
                calls = sum(by_count[op] * count[op] for op in ops)
                size = sum(by[op] * moved[op] for op in ops)
                spent = sum(by[op] * seconds[op] for op in ops)
                found.append(Part(key, calls, size, spent, sum(seconds), *told))
        return found


def add_up(parts: Sequence[Part], n_ranks: int) -> Calls:
    """Sum parts up.

    Of a row that holds all ranks together, the slowest rank's time counts in proportion to the
    time of the chosen operations, at least the mean; the fastest rank's at most the mean.
    """
    active = [part for part in parts if part.calls > 0 or part.seconds > 0]
    by_rank: dict[int, float] = {}
    highs, means = [0.0], [0.0]
    low = 0.0
    named, named_seconds = -1, -1.0
    for part in active:
        if part.key != ALL_RANKS:
            by_rank[part.key] = by_rank.get(part.key, 0.0) + part.seconds
            continue
        mean = part.seconds / max(n_ranks, 1)
        share = part.seconds / part.total if part.total > 0 else 0.0
        known = part.slowest > 0
        highs.append(max(part.slowest * share, mean) if known else mean)
        means.append(mean)
        low += min(part.fastest * share, mean) if known else mean
        if part.slowest > named_seconds:
            named, named_seconds = part.slowest_rank, part.slowest
    slowest = max(by_rank, key=lambda rank: (by_rank[rank], -rank)) if by_rank else named
    together = named_seconds >= 0
    alone = max(by_rank.values(), default=0.0)
    return Calls(
        count=round(sum(part.calls for part in parts)),
        bytes=round(sum(part.moved for part in parts)),
        cumulated=sum(part.seconds for part in parts),
        elapsed=alone + sum(highs),
        least=min(by_rank.values(), default=0.0) + low,
        rank=slowest,
        ranks=max(len(by_rank), n_ranks if together else 0),
        surely=max(alone, *highs, sum(means)),
    )
