# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which numbers of nodes of a tier are worth a try."""

from __future__ import annotations

from stripewise.errors import UsageError


def ladder(least: int, free: int) -> tuple[int, ...]:
    """Return the least number of nodes, twice it, four times it ... up to what is free.

    With 4 of 268 nodes: 4, 8, 16, 32, 64, 128, 256.  Empty if fewer than the least are free.

    Raises:
        UsageError: The least is not positive.

    Source: Markomanolis (KAUST), ExPBB, CUG 2017.
    """
    if least < 1:
        raise UsageError(f"{least} nodes of a burst buffer: ask for at least 1")
    numbers = []
    while least <= free:
        numbers.append(least)
        least *= 2
    return tuple(numbers)
