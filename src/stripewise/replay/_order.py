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


@dataclass(frozen=True)
class Removal:
    """A call that removes or renames a file."""

    file: int
    rank: int
    place: int
    start: int
    end: int


def find_waits(
    openings: Sequence[Opening], groups: Groups, removals: Sequence[Removal]
) -> list[Wait]:
    """Return what has to wait, by the times of the trace.

    An open that needs the file to exist waits for those that had closed it by then, unless it
    closed it together with them; a removal waits for them too.
    """
    by_file: dict[int, list[Opening]] = defaultdict(list)
    for opening in openings:
        by_file[opening.key[1]].append(opening)
    waits: list[Wait] = []
    for file, members in by_file.items():
        ranks = {opening.rank for opening in members}
        gone = [removal for removal in removals if removal.file == file]
        if len(ranks | {removal.rank for removal in gone}) < 2:
            continue
        for opening in members:
            if not opening.creates:
                waits += _waits_of(
                    opening.rank, opening.place, opening.start, members, groups, gone
                )
        for removal in gone:
            waits += _waits_of(removal.rank, removal.place, removal.start, members, groups, ())
    return sorted(set(waits), key=lambda wait: (wait.waiter, wait.before, wait.maker))


def _waits_of(
    rank: int,
    place: int,
    start: int,
    members: Sequence[Opening],
    groups: Groups,
    gone: Sequence[Removal],
) -> list[Wait]:
    last: dict[int, tuple[int, int]] = {}
    for maker in members:
        if maker.rank == rank or maker.closed > start:
            continue
        if rank in groups.get((maker.rank, maker.place), ()):
            continue
        last[maker.rank] = max(last.get(maker.rank, (0, 0)), (maker.closed, maker.close))
    for removal in gone:
        if removal.rank != rank and removal.end <= start:
            known = last.get(removal.rank, (0, 0))
            last[removal.rank] = max(known, (removal.end, removal.place))
    latest = sorted(((end, after, maker) for maker, (end, after) in last.items()), reverse=True)
    file = members[0].key[1]
    return [Wait(maker, after, rank, place, file) for _, after, maker in latest[:MOST_WAITS]]
