# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How processes are laid out in a grid, as MPI_Dims_create does it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isqrt


def process_grid(ranks: int, is_cut: Sequence[bool]) -> tuple[int, ...]:
    """Return the parts of each dimension: as equal as possible, larger ones first, 1 if not cut.

    Source: MPI 4.0, 8.5.2 (MPI_Dims_create): "as close to each other as possible", not
    increasing.

    Args:
        ranks: To be laid out.
        is_cut: Of each dimension, whether it is divided.
    """
    numbers = iter(_balanced(ranks, sum(is_cut), ranks) or ())
    return tuple(next(numbers) if cut else 1 for cut in is_cut)


@lru_cache(maxsize=4096)
def _balanced(number: int, n_factors: int, most: int) -> tuple[int, ...] | None:
    """Return factors of at most `most`, the largest first and as small as it can be."""
    if n_factors == 0:
        return ()
    if n_factors == 1:
        return (number,) if number <= most else None
    for factor in _divisors(number):
        if factor**n_factors >= number and factor <= most:
            rest = _balanced(number // factor, n_factors - 1, factor)
            if rest is not None:
                return (factor, *rest)
    return None


@lru_cache(maxsize=1024)
def _divisors(number: int) -> tuple[int, ...]:
    low = [n for n in range(1, isqrt(number) + 1) if number % n == 0]
    return tuple(sorted({*low, *(number // n for n in low)}))
