# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What has to wait for another rank: a file is opened that somebody else made before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.replay._opens import Groups, Opening

MOST_WAITS = 64
"""Ranks that one open waits for; of more it is the last ones that closed the file."""


@dataclass(frozen=True)
class Wait:
    """Rank `waiter` begins its call `before` after rank `maker` has ended its call `after`.

    `file` tells several of the same ranks apart.
    """

    maker: int
    after: int
    waiter: int
    before: int
    file: int


def find_waits(openings: Sequence[Opening], groups: Groups) -> list[Wait]:
    """Return what has to wait, by the times of the trace.

    An open that needs the file to exist waits for those that had closed or removed it by then,
    unless it closed it together with them; a removal waits for those that had closed it.

    Args:
        openings: Of all ranks, and removals.
        groups: Which were made together.
    """
    by_file: dict[int, list[Opening]] = defaultdict(list)
    for opening in openings:
        by_file[opening.key[1]].append(opening)
    waits: list[Wait] = []
    for members in by_file.values():
        opens = [one for one in members if not one.removes]
        for waiter in members if opens else ():
            if not waiter.creates:
                waits += _waits_of(waiter, opens if waiter.removes else members, groups)
    return sorted(waits, key=lambda wait: (wait.waiter, wait.before, wait.maker))


def _waits_of(waiter: Opening, makers: Sequence[Opening], groups: Groups) -> list[Wait]:
    last: dict[int, tuple[int, int]] = {}
    for maker in makers:
        if maker.rank == waiter.rank or maker.closed > waiter.start:
            continue
        if waiter.rank in groups.get((maker.rank, maker.place), ()):
            continue
        last[maker.rank] = max(last.get(maker.rank, (0, 0)), (maker.closed, maker.close))
    latest = sorted(((end, after, maker) for maker, (end, after) in last.items()), reverse=True)
    file = waiter.key[1]
    return [
        Wait(maker, after, waiter.rank, waiter.place, file)
        for _, after, maker in latest[:MOST_WAITS]
    ]
