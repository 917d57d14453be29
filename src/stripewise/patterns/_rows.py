# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows: byte ranges at nested strides, as they come from views and from offset lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Pieces
from stripewise.patterns._boxes import Ints

MOST_LEVELS = 6


@dataclass(frozen=True, eq=False)
class Rows:
    """Ranges of `size` bytes, `times[l]` of them `step[l]` bytes apart on each level.

    Attributes:
        rank / call / offset / size: (n,) int64.
        times / step: (MOST_LEVELS, n) int64; of an unused level 1 and 0.  Used levels come
            first, in the order of their steps.
    """

    rank: Ints
    call: Ints
    offset: Ints
    size: Ints
    times: Ints
    step: Ints

    def take(self, index: NDArray[np.generic]) -> Rows:
        """Return some of them, or all in another order."""
        return Rows(
            self.rank[index], self.call[index], self.offset[index], self.size[index],
            self.times[:, index], self.step[:, index],
        )  # fmt: skip

    def total_bytes(self) -> float:
        """Bytes of all ranges."""
        return float((self.size * np.prod(self.times.astype(np.float64), axis=0)).sum())


def joined_rows(*parts: Rows) -> Rows:
    """Return several as one."""
    names = ("rank", "call", "offset", "size")
    rank, call, offset, size = (
        np.concatenate([getattr(part, name) for part in parts]) for name in names
    )
    return Rows(
        rank, call, offset, size,
        np.concatenate([part.times for part in parts], axis=1),
        np.concatenate([part.step for part in parts], axis=1),
    )  # fmt: skip


def rows_of(pieces: Pieces) -> Rows:
    """Return the rows of pieces; one that ends in the middle of a level becomes several."""
    something = (pieces.size > 0) & (pieces.repeat > 0)
    kept = slice(None) if something.all() else something
    n = pieces.rank[kept].size
    rows = Rows(
        pieces.rank[kept], pieces.call[kept], pieces.offset[kept], pieces.size[kept],
        np.ones((MOST_LEVELS, n), np.int64), np.zeros((MOST_LEVELS, n), np.int64),
    )  # fmt: skip
    repeat, inner, stride = pieces.repeat[kept], pieces.inner[kept], pieces.stride[kept]
    if (repeat == 1).all():
        return rows
    parts = _unfolded(rows, repeat, inner, stride)
    return canonical(joined_rows(*parts) if len(parts) > 1 else parts[0])


def _unfolded(rows: Rows, repeat: Ints, inner: Ints, stride: Ints) -> list[Rows]:
    """Return the full levels, and what is left over on the first and the second one."""
    a = np.where(inner[:, 0] == 0, repeat, np.minimum(inner[:, 0], repeat))
    b_limit = np.where(inner[:, 1] == 0, np.iinfo(np.int64).max, inner[:, 1])
    whole, rest = repeat // a, repeat % a
    at = (whole % b_limit) * stride[:, 1] + (whole // b_limit) * stride[:, 2]
    everywhere = np.ones(a.size, bool)
    b = np.minimum(b_limit, whole)
    full, over = whole // b, whole % b
    parts = [
        _levelled(rows, at, stride, (rest, 1, 1), rest > 0),
        _levelled(rows, full * stride[:, 2], stride, (a, over, 1), over > 0),
        _levelled(rows, np.zeros_like(a), stride, (a, b, full), everywhere),
    ]
    return [part for part in parts if part is not None]


def _levelled(
    rows: Rows, at: Ints, stride: Ints, times: Sequence[Ints | int], chosen: NDArray[np.bool_]
) -> Rows | None:
    """Return the chosen rows, `at` bytes further, with levels of so many ranges; None: none."""
    if not chosen.any():
        return None
    whole = bool(chosen.all())
    found = rows if whole else rows.take(chosen)
    new_times = np.ones_like(found.times)
    new_step = np.zeros_like(found.step)
    for level, n in enumerate(times):
        new_times[level] = n if whole or isinstance(n, int) else n[chosen]
        new_step[level] = stride[:, level] if whole else stride[chosen, level]
    offset = found.offset + (at if whole else at[chosen])
    return Rows(found.rank, found.call, offset, found.size, new_times, new_step)


def canonical(rows: Rows) -> Rows:
    """Order levels by step, join those without gaps, drop those of one range."""
    used = np.flatnonzero((rows.times != 1).any(axis=1))
    if not used.size:
        return rows
    times, step = rows.times[used], rows.step[used]
    offset, size = rows.offset + ((times - 1) * np.minimum(step, 0)).sum(axis=0), rows.size
    np.abs(step, out=step)
    times[step == 0] = 1
    for _ in range(MOST_LEVELS):
        times, step = _sorted(times, step)
        inside = (step[0] == size) & (times[0] > 1)
        size = np.where(inside, size * times[0], size)
        times[0, inside] = 1
        joins = (times[:-1] * step[:-1] == step[1:]) & (times[1:] > 1) & (times[:-1] > 1)
        joins[1:] &= ~joins[:-1]
        times[:-1][joins] *= times[1:][joins]
        times[1:][joins] = 1
        if not inside.any() and not joins.any():
            break
    times, step = _sorted(times, step)
    all_times, all_step = np.ones_like(rows.times), np.zeros_like(rows.step)
    all_times[: used.size], all_step[: used.size] = times, step
    return Rows(rows.rank, rows.call, offset, size, all_times, all_step)


def _sorted(times: Ints, step: Ints) -> tuple[Ints, Ints]:
    """Order levels by step, those of one range last."""
    step[times == 1] = 0
    key = np.where(step == 0, np.iinfo(np.int64).max, step)
    if (np.diff(key, axis=0) >= 0).all():
        return times, step
    order = np.argsort(key, axis=0)
    return np.take_along_axis(times, order, 0), np.take_along_axis(step, order, 0)
