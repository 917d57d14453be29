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
    """Parts of rows; ranks that have a row each for themselves are summed first."""
    columns = [int(op) for op in ops]
    scale = 1.0 if weight is None else weight[:, columns]
    calls_scale = 1.0 if counted is None else counted[:, columns]
    moved, seconds = (
        (rows[name][:, columns] * scale).sum(axis=1) for name in ("bytes", "seconds")
    )
    count = (rows["count"][:, columns] * calls_scale).sum(axis=1)
    reduced = rows["rank"] == ALL_RANKS
    found = [
        Part(
            ALL_RANKS,
            count[place],
            moved[place],
            seconds[place],
            float(rows["seconds"][place].sum()),
            float(rows["slowest_seconds"][place]),
            float(rows["fastest_seconds"][place]),
            int(rows["slowest_rank"][place]),
        )
        for place in np.flatnonzero(reduced)
    ]
    single = ~reduced & ((count > 0) | (seconds > 0))
    if single.any():
        names, inverse = np.unique(keys[single], return_inverse=True)
        sums = [np.bincount(inverse, weights=v[single]) for v in (count, moved, seconds)]
        for name, calls, size, spent in zip(
            names.tolist(), *(values.tolist() for values in sums), strict=True
        ):
            found.append(Part(name, calls, size, spent, 0.0, 0.0, 0.0, -1))
    return found


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
        self.keys: list[int] = np.where(rows["rank"] == ALL_RANKS, ALL_RANKS, keys).tolist()
        self.layers: list[int] = rows["layer"].tolist()
        self.weight: list[list[float]] = weight.tolist()
        self.counted: list[list[float]] = counted.tolist()
        self.count: list[list[int]] = rows["count"].tolist()
        self.moved: list[list[int]] = rows["bytes"].tolist()
        self.seconds: list[list[float]] = rows["seconds"].tolist()
        self.slowest: list[float] = rows["slowest_seconds"].tolist()
        self.fastest: list[float] = rows["fastest_seconds"].tolist()
        self.slowest_rank: list[int] = rows["slowest_rank"].tolist()

    def parts(self, ops: Sequence[Op], layers: Sequence[IoLayer] | None, own: bool) -> list[Part]:
        """As `parts_of`, but a rank may have several."""
        found = []
        for place, key in enumerate(self.keys):
            weight = self.weight[place] if own else _ALL
            if not any(weight) or (layers is not None and self.layers[place] not in layers):
                continue
            seconds = self.seconds[place]
            share = self.counted[place] if own else _ALL
            found.append(
                Part(
                    key,
                    sum(share[op] * self.count[place][op] for op in ops),
                    sum(weight[op] * self.moved[place][op] for op in ops),
                    sum(weight[op] * seconds[op] for op in ops),
                    sum(seconds),
                    self.slowest[place],
                    self.fastest[place],
                    self.slowest_rank[place],
                )
            )
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
