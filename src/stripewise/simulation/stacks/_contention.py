# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who meets whom at an object of a file: shares of requests that find its lock elsewhere."""

from __future__ import annotations

import math

PAGE = 4096
"""Bytes of a page of the client's cache; assumed here, as a stack does not know the machine."""


def handovers(writers: float, nodes: float) -> float:
    """Return the share of requests that find an object's lock at another node.

    The requests of all writers of the object come in any order, one of each in turn: the one
    before is of another process, and this is on another node as often as processes are.

    Args:
        writers: Processes that use the object.
        nodes: That these are on.
    """
    if nodes <= 1 or writers <= 1:
        return 0.0
    return min((1 - 1 / nodes) * writers / (writers - 1), 1.0)


def unaligned(*sizes: int) -> float:
    """Return the share of places that lie within a page, of places that are these sizes apart."""
    step = math.gcd(PAGE, *sizes)
    return 1 - step / PAGE


def crossing(distance: int, ranks_per_node: int, ranks: int) -> float:
    """Return the share of pairs of ranks, `distance` apart, that are on two nodes."""
    if ranks <= ranks_per_node:
        return 0.0
    return min(distance / ranks_per_node, 1.0)


def stripes_touched(first: int, end: int, stripe_size: int) -> int:
    """Return how many stripes a range of bytes lies in."""
    return -(-end // stripe_size) - first // stripe_size if end > first else 0
