# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Columns of numbers, one place for each access: runs, repetitions, what is most common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Columns:
    """Arrays whose last axis is the same: n accesses of all ranks."""

    def take(self, index: NDArray[np.generic]) -> Self:
        """Return some of them, or all in another order."""
        return replace(self, **{name: column[..., index] for name, column in vars(self).items()})


Table = TypeVar("Table", bound=Columns)


def joined(*parts: Table) -> Table:
    """Return several as one."""
    if len(parts) == 1:
        return parts[0]
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in vars(parts[0])
    }
    return replace(parts[0], **columns)


def runs(goes_on: Flags) -> tuple[Ints, Ints]:
    """Return where each run of accesses begins, and how many they are.

    Args:
        goes_on: (n - 1,) whether each but the first is of the same run as the one before it.
    """
    first = np.flatnonzero(np.concatenate(([True], ~goes_on)))
    return first, np.diff(np.append(first, goes_on.size + 1))


def alike(column: Ints | Keys) -> Flags:
    """(n - 1,) Whether each but the first is equal to the one before it."""
    same: Flags = column[1:] == column[:-1]
    return same


def mixed(*columns: Ints) -> Keys:
    """Return a number per place that differs where any of the columns (n,) differs.

    Only numbers of one call can be compared.  They are 64 well mixed bits: among 10^6 different
    columns two collide with a probability of 10^-8.
    """
    found = np.full(columns[0].size, 0x9E3779B97F4A7C15, np.uint64)
    for row in columns:
        if row.size and row[0] == row[-1] and (row == row[0]).all():
            continue  # tells nothing
        found ^= row.view(np.uint64) if row.flags.c_contiguous else row.astype(np.uint64)
        found *= np.uint64(0xBF58476D1CE4E5B9)
        found ^= found >> np.uint64(29)
        found *= np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(32)
    return found


def without_equals(table: Table, key: Keys) -> Table:
    """Return what has a key that none before it has, in the same order."""
    if not alike(np.sort(key)).any():
        return table
    return table.take(np.sort(np.unique(key, return_index=True)[1]))


def most_common(values: Ints) -> int:
    """Return the most common value; of equally common ones the largest."""
    if (values == values[0]).all():  # without sorting
        return int(values[0])
    kinds, counts = np.unique(values, return_counts=True)
    return int(kinds[np.flatnonzero(counts == counts.max())[-1]])
