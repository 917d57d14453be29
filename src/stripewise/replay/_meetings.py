# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks had waited for each other before a collective call: a barrier of the program.

No trace has the program's barriers.  Without them a rank that was early would wait inside of the
collective call, and that time would count as I/O.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.replay._calls import RankCalls
from stripewise.replay._opens import Groups, Opening

LEAST_WAIT_NS = 20_000
"""Shorter waits are no sign of a barrier."""
CLOSER = 4
"""Ranks that met come so much closer together than they had left their calls before."""


@dataclass(frozen=True, eq=False)
class Meeting:
    """Ranks wait for each other before calls that they make together.

    Attributes:
        ranks: In order.
        places: (n_ranks, n) int64, before which calls.
        gap: (n,) int64, ns that pass before it.
    """

    ranks: tuple[int, ...]
    places: NDArray[np.int64]
    gap: NDArray[np.int64]

    def of(self, rank: int) -> NDArray[np.int64]:
        """Return the places of one rank, none if it is not among them."""
        return self.places[self.ranks.index(rank)] if rank in self.ranks else self.places[0, :0]


@dataclass(frozen=True, eq=False)
class Timed:
    """The calls of one rank, (n,) `KIND_ROW` of them, and (n,) int64, ns before each."""

    calls: RankCalls
    kinds: NDArray[Any]
    gaps: NDArray[np.int64]


def find_meetings(
    ranks: Sequence[Timed], openings: Sequence[Opening], groups: Groups
) -> list[Meeting]:
    """Return where ranks met, judged by times of one clock."""
    together: dict[tuple[tuple[int, int], tuple[int, ...]], dict[int, list[Opening]]]
    together = defaultdict(lambda: defaultdict(list))
    for opening in sorted(openings, key=lambda one: (one.rank, one.place)):
        members = groups.get((opening.rank, opening.place), ())
        if len(members) > 1:
            together[opening.key, members][opening.rank].append(opening)
    found = []
    for (_, members), of_rank in together.items():
        for turn in zip(*(of_rank[rank] for rank in members), strict=False):
            meeting = _meetings_of(ranks, members, turn)
            if len(meeting.gap):
                found.append(meeting)
    return found


def _meetings_of(
    ranks: Sequence[Timed], members: tuple[int, ...], turn: Sequence[Opening]
) -> Meeting:
    """Look at the calls of one opening that its ranks made together."""
    of = [ranks[rank] for rank in members]
    places = _together([one.kinds for one in of], turn)
    exact = np.stack([_exact(one.calls, at) for one, at in zip(of, places, strict=True)])
    start = np.stack([one.calls.start[at] for one, at in zip(of, places, strict=True)])
    gap = np.stack([one.gaps[at] for one, at in zip(of, places, strict=True)])
    known = np.asarray(exact.all(axis=0), dtype=bool)
    met = _met(start, gap, known, of[0].calls.row[places[0]])
    # The last one to come is the one that the others waited for.
    return Meeting(members, np.stack(places)[:, met], gap.min(axis=0)[met])


def _together(kinds: Sequence[NDArray[Any]], turn: Sequence[Opening]) -> list[NDArray[np.int64]]:
    """Return the places of calls that correspond, (n,) of each rank.

    What need not be made together counts only if all ranks made the same of it, in the same order.
    """
    for joint in (True, False):
        places = [_places(one, at, joint) for one, at in zip(kinds, turn, strict=True)]
        order = {one["joint"][at].tobytes() for one, at in zip(kinds, places, strict=True)}
        if len(order) == 1:
            return places
    return [np.zeros(0, np.int64) for _ in turn]


def _places(kinds: NDArray[Any], opening: Opening, joint: bool) -> NDArray[np.int64]:
    chosen = kinds["collective"] | kinds["opens"] | (kinds["joint"] & joint)
    mine = np.flatnonzero(chosen & (kinds["key"] == kinds["key"][opening.place]))
    low, high = np.searchsorted(mine, (opening.place, opening.close + 1))
    return mine[low:high]


def _exact(calls: RankCalls, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether the times before calls were measured."""
    before = np.maximum(places - 1, 0)
    return np.asarray(calls.known[places] & calls.known[before])


def _met(
    start: NDArray[np.int64],
    gap: NDArray[np.int64],
    exact: NDArray[np.bool_],
    row: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return (n,) bool; calls whose times are not known do as those of the same row."""
    apart = start.max(axis=0) - start.min(axis=0)
    waited = gap.max(axis=0) - gap.min(axis=0)
    left = (start - gap).max(axis=0)  # when the last one left its call before
    tells = exact & (waited >= LEAST_WAIT_NS)
    met = tells & (apart * CLOSER <= waited) & (left <= start.min(axis=0) + LEAST_WAIT_NS)
    _, of_row = np.unique(row, return_inverse=True)
    votes = np.bincount(of_row, np.where(tells, np.where(met, 1, -1), 0))
    return np.asarray(met | (~tells & (votes[of_row] > 0)), dtype=bool)
