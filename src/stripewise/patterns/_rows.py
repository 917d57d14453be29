# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows: byte ranges at nested strides, as they come from views and from offset lists.

The ranges of each rank are folded into few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stripewise.model import Pieces
from stripewise.patterns._columns import (
    Columns,
    Flags,
    Ints,
    Keys,
    alike,
    joined,
    mixed,
    runs,
    without_equals,
)

MOST_LEVELS = 6


@dataclass(frozen=True, eq=False)
class Rows(Columns):
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

    def total_bytes(self) -> float:
        """Bytes of all ranges."""
        return float((self.size * np.prod(self.times.astype(np.float64), axis=0)).sum())


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
    return canonical(joined(*_unfolded(rows, repeat, inner, stride)))


def _unfolded(rows: Rows, repeat: Ints, inner: Ints, stride: Ints) -> list[Rows]:
    """Return the full levels, and what is left over on the first and the second one."""
    a = np.where(inner[:, 0] == 0, repeat, np.minimum(inner[:, 0], repeat))
    b_limit = np.where(inner[:, 1] == 0, np.iinfo(np.int64).max, inner[:, 1])
    whole, rest = repeat // a, repeat % a
    at = (whole % b_limit) * stride[:, 1] + (whole // b_limit) * stride[:, 2]
    b = np.minimum(b_limit, whole)
    full, over = whole // b, whole % b
    return [
        *_levelled(rows, at, stride, (rest, 1, 1), rest > 0),
        *_levelled(rows, full * stride[:, 2], stride, (a, over, 1), over > 0),
        *_levelled(rows, np.zeros_like(a), stride, (a, b, full), a > 0),
    ]


def _levelled(
    rows: Rows, at: Ints, stride: Ints, times: Sequence[Ints | int], chosen: Flags
) -> list[Rows]:
    """Return the chosen rows, `at` bytes further, with levels of so many ranges, if any are."""
    if not chosen.any():
        return []
    new_times, new_step = np.ones_like(rows.times), np.zeros_like(rows.step)
    for level, n in enumerate(times):
        new_times[level], new_step[level] = n, stride[:, level]
    found = replace(rows, offset=rows.offset + at, times=new_times, step=new_step)
    return [found if chosen.all() else found.take(chosen)]


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
    return replace(rows, offset=offset, size=size, times=all_times, step=all_step)


def _sorted(times: Ints, step: Ints) -> tuple[Ints, Ints]:
    """Order levels by step, those of one range last."""
    step[times == 1] = 0
    key = np.where(step == 0, np.iinfo(np.int64).max, step)
    if (np.diff(key, axis=0) >= 0).all():
        return times, step
    order = np.argsort(key, axis=0)
    return np.take_along_axis(times, order, 0), np.take_along_axis(step, order, 0)


def without_repeats(rows: Rows) -> Rows:
    """Return the rows without those that a rank moves again; ordered by rank and offset."""
    if (np.diff(rows.rank) > 0).all():
        return rows
    rows = rows.take(np.lexsort((rows.offset, rows.rank)))
    return without_equals(rows, mixed(rows.rank, rows.offset, rows.size, *rows.times, *rows.step))


def fold(rows: Rows) -> Rows:
    """Join what touches, then what lies at equal distances, until nothing changes."""
    before = rows.rank.size + 1
    while rows.rank.size < before and not (np.diff(rows.rank) > 0).all():
        before = rows.rank.size
        rows = canonical(_regular(canonical(_touching(rows))))
    if (np.diff(rows.rank) > 0).all():
        return rows
    return rows.take(np.lexsort((rows.offset, rows.rank)))


def _by(rows: Rows, key: Keys) -> tuple[Rows, Flags]:
    """Order rows by key and offset; whether each goes on where the one before it was."""
    order = np.lexsort((rows.offset, key, rows.rank))
    return rows.take(order), alike(key[order])


def _touching(rows: Rows) -> Rows:
    """Join ranges of equal levels that end where the next one begins."""
    rows, same = _by(rows, mixed(rows.rank, *rows.times, *rows.step))
    goes_on = same & (rows.offset[:-1] + rows.size[:-1] == rows.offset[1:])
    if not goes_on.any():
        return rows
    first, number = runs(goes_on)
    size = np.add.reduceat(rows.size, first)
    fits = (rows.step[0, first] == 0) | (size <= rows.step[0, first])
    keep = ~np.repeat(fits, number)
    keep[first] = True
    changed = rows.size.copy()
    changed[first[fits]] = size[fits]
    return replace(rows, size=changed).take(keep)


def _regular(rows: Rows) -> Rows:
    """Make a new level of equal rows that lie at the distance which is most common."""
    rows, same = _by(rows, mixed(rows.rank, rows.size, *rows.times, *rows.step))
    steps = np.diff(rows.offset)
    free = rows.times[MOST_LEVELS - 1] == 1
    group = np.concatenate(([0], np.cumsum(~same)))
    usual = _most_common(group[1:][same], steps[same], int(group[-1]) + 1)
    goes_on = same & (steps == usual[group[1:]]) & free[1:] & (steps >= rows.size[1:])
    if not goes_on.any():
        return rows
    first, number = runs(goes_on)
    found = rows.take(first)
    found.times[MOST_LEVELS - 1] = np.where(number > 1, number, found.times[-1])
    found.step[MOST_LEVELS - 1] = np.where(number > 1, usual[group[first]], found.step[-1])
    return found


def _most_common(group: Ints, value: Ints, n_groups: int) -> Ints:
    """Return the most common value of each group, of equally common ones the least; or 0."""
    found = np.zeros(n_groups, np.int64)
    if not group.size:
        return found
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    first, number = runs(alike(group) & alike(value))
    best = np.lexsort((-value[first], number, group[first]))
    found[group[first][best]] = value[first][best]
    return found
