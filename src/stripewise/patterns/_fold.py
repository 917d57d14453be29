# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fold the byte ranges of each rank into few rows at nested strides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stripewise.patterns._boxes import Ints, mixed
from stripewise.patterns._rows import MOST_LEVELS, Rows, canonical


def without_repeats(rows: Rows) -> Rows:
    """Return the rows without those that a rank moves again; ordered by rank and offset."""
    if (np.diff(rows.rank) > 0).all():
        return rows
    rows = rows.take(np.lexsort((rows.offset, rows.rank)))
    key = mixed(rows.rank, rows.offset, rows.size, *rows.times, *rows.step)
    if (np.diff(np.sort(key)) != 0).all():
        return rows
    _, first = np.unique(key, return_index=True)
    return rows if first.size == key.size else rows.take(np.sort(first))


def fold(rows: Rows) -> Rows:
    """Join what touches, then what lies at equal distances, until nothing changes."""
    before = rows.rank.size + 1
    while 1 < rows.rank.size < before:
        before = rows.rank.size
        if (np.diff(rows.rank) > 0).all():
            break
        rows = canonical(_regular(canonical(_touching(rows))))
    if (np.diff(rows.rank) > 0).all():
        return rows
    return rows.take(np.lexsort((rows.offset, rows.rank)))


def _by(rows: Rows, key: NDArray[np.uint64]) -> tuple[Rows, NDArray[np.bool_]]:
    """Order rows by key and offset; whether each goes on where the one before it was."""
    order = np.lexsort((rows.offset, key, rows.rank))
    key = key[order]
    return rows.take(order), key[1:] == key[:-1]


def _touching(rows: Rows) -> Rows:
    """Join ranges of equal levels that end where the next one begins."""
    rows, same = _by(rows, mixed(rows.rank, *rows.times, *rows.step))
    goes_on = same & (rows.offset[:-1] + rows.size[:-1] == rows.offset[1:])
    if not goes_on.any():
        return rows
    first = np.flatnonzero(np.concatenate(([True], ~goes_on)))
    size = np.add.reduceat(rows.size, first)
    fits = (rows.step[0, first] == 0) | (size <= rows.step[0, first])
    group = np.repeat(np.arange(first.size), np.diff(np.append(first, rows.rank.size)))
    keep = ~fits[group]
    keep[first] = True
    changed = rows.size.copy()
    changed[first[fits]] = size[fits]
    return Rows(rows.rank, rows.call, rows.offset, changed, rows.times, rows.step).take(keep)


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
    first = np.flatnonzero(np.concatenate(([True], ~goes_on)))
    counts = np.diff(np.append(first, rows.rank.size))
    found = rows.take(first)
    found.times[MOST_LEVELS - 1] = np.where(counts > 1, counts, found.times[-1])
    found.step[MOST_LEVELS - 1] = np.where(counts > 1, usual[group[first]], found.step[-1])
    return found


def _most_common(group: Ints, value: Ints, n_groups: int) -> Ints:
    """Return the most common value of each group, of equally common ones the least; or 0."""
    found = np.zeros(n_groups, np.int64)
    if not group.size:
        return found
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    new = np.concatenate(([True], (np.diff(group) != 0) | (np.diff(value) != 0)))
    first = np.flatnonzero(new)
    counts = np.diff(np.append(first, group.size))
    best = np.lexsort((-value[first], counts, group[first]))
    found[group[first][best]] = value[first][best]
    return found
