# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds where a rank waits for others, at barriers or for files, and inserts waits as calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.replay._calls import Groups, Opening, RankCalls
from stripewise.evidence.replay._plan import Tables
from stripewise.evidence.replay._verbs import CALL, combined
from stripewise.evidence.trace import Op

SYNC_VERBS = ("sync.signal", "sync.barrier", "sync.wait")
"""Verbs in their order before one call, which avoids circular waits."""


_ADDED = np.dtype([(name, "<i8") for name in ("at", "verb", "offset", "bytes", "group", "gap")])
"""An inserted call; `at` is the call of the program before which it is inserted."""


def with_waits(
    calls: NDArray[Any],
    rank: int,
    tables: Tables,
    waits: Sequence[Wait],
    meetings: Sequence[tuple[int, Meeting]],
    n_verbs: int,
) -> NDArray[Any]:
    """Insert signals, barriers and waits between the calls of a rank.

    Args:
        calls: (n,) `CALL` of the rank.
        rank: Rank that makes the calls.
        tables: Tables, for the numbers of files.
        waits: Waits of all ranks.
        meetings: Meetings of all ranks, each with the number of its communicator.
        n_verbs: Number of the first one of `SYNC_VERBS`.
    """
    barriers = (_barriers(rank, number, one, n_verbs + 1) for number, one in meetings)
    added = np.concatenate([_messages(rank, tables, waits, n_verbs), *barriers])
    if not len(added):
        return calls
    added = added[np.lexsort([added[name] for name in ("bytes", "offset", "verb", "at")])]
    met = added["verb"] == n_verbs + 1
    calls["gap"][added["at"][met]] = 0  # the gap passes before the barrier
    made = np.full(len(added), -1, CALL)
    for name in ("verb", "offset", "bytes", "group", "gap"):
        made[name] = added[name]
    made["op"], made["flags"] = Op.META, 0
    made["key"] = combined(added["verb"], added["bytes"], added["group"])
    made["key"] += calls["key"].max(initial=-1) + 1
    return np.insert(calls, np.minimum(added["at"], len(calls)), made)


def _messages(rank: int, tables: Tables, waits: Sequence[Wait], signal: int) -> NDArray[Any]:
    found = []
    for wait in waits:
        file = tables.file(wait.file)
        if wait.maker == rank:
            found.append((wait.after + 1, signal, wait.waiter, file, -1, 0))
        if wait.waiter == rank:
            found.append((wait.before, signal + 2, wait.maker, file, -1, 0))
    return np.array(found, _ADDED)


def _barriers(rank: int, communicator: int, meeting: Meeting, verb: int) -> NDArray[Any]:
    places = meeting.of(rank)
    added = np.zeros(len(places), _ADDED)
    added["at"], added["verb"], added["offset"] = places, verb, -1
    added["group"], added["gap"] = communicator, meeting.gap[: len(places)]
    return added


# Waits of ranks for each other before a collective call: a barrier of the program. No trace
# contains the program's barriers. Without them, a rank that is early would wait inside the
# collective call, and that time would count as I/O.

LEAST_WAIT_NS = 20_000
"""Shorter waits are no sign of a barrier."""
CLOSER = 4
"""Factor by which ranks that met are closer together than when they left their previous calls."""


@dataclass(frozen=True, eq=False)
class Meeting:
    """A point where ranks wait for each other before calls that they make together.

    Attributes:
        ranks: Ranks, in order.
        places: (n_ranks, n) int64, calls before which they wait.
        gap: (n,) int64, ns that pass before the wait.
    """

    ranks: tuple[int, ...]
    places: NDArray[np.int64]
    gap: NDArray[np.int64]

    def of(self, rank: int) -> NDArray[np.int64]:
        """Return the places of one rank; none if it does not take part."""
        return self.places[self.ranks.index(rank)] if rank in self.ranks else self.places[0, :0]


def find_meetings(
    ranks: Sequence[RankCalls],
    row_kinds: NDArray[Any],
    openings: Sequence[Opening],
    groups: Groups,
) -> list[Meeting]:
    """Return where ranks met, judged by times of one clock.

    Args:
        ranks: Calls of each rank.
        row_kinds: (n_rows,) `KIND_ROW` of the trace.
        openings: Openings of all ranks.
        groups: Openings that were made together.
    """
    together: dict[tuple[tuple[int, int], tuple[int, ...]], dict[int, list[Opening]]]
    together = defaultdict(lambda: defaultdict(list))
    for opening in sorted(openings, key=lambda one: (one.rank, one.place)):
        members = groups.get((opening.rank, opening.place), ())
        if len(members) > 1:
            together[opening.key, members][opening.rank].append(opening)
    found = []
    for (_, members), of_rank in together.items():
        of = [ranks[rank] for rank in members]
        for turn in zip(*(of_rank[rank] for rank in members), strict=False):
            places = _together(of, row_kinds, turn)
            met, gap = _met(of, places)
            if len(gap):
                found.append(Meeting(members, places[:, met], gap))
    return found


def _together(
    of: Sequence[RankCalls], row_kinds: NDArray[Any], turn: Sequence[Opening]
) -> NDArray[np.int64]:
    """Return the places of corresponding calls while a file was open, (n_ranks, n).

    Calls that need not be made together count only if all ranks made the same in the same order.
    """
    spans = [
        (one.place, row_kinds[calls.row[one.place : one.close + 1]])
        for calls, one in zip(of, turn, strict=True)
    ]
    for joint in (True, False):
        chosen = [_chosen(kinds, joint) for _, kinds in spans]
        order = {
            kinds["joint"][at].tobytes() for (_, kinds), at in zip(spans, chosen, strict=True)
        }
        if len(order) == 1:
            return np.stack([place + at for (place, _), at in zip(spans, chosen, strict=True)])
    return np.zeros((len(of), 0), np.int64)


def _chosen(kinds: NDArray[Any], joint: bool) -> NDArray[np.int64]:
    """Return which calls the ranks make together, of those from an open on."""
    collective = kinds["collective"] | kinds["opens"] | (kinds["joint"] & joint)
    return np.flatnonzero(collective & (kinds["key"] == kinds["key"][0]))


def _met(
    of: Sequence[RankCalls], places: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return before which calls the ranks met, (n,) bool, and the ns that passed before each.

    Calls with unknown times are treated like those of the same row.
    """
    pairs = list(zip(of, places, strict=True))
    start = np.stack([calls.start[at] for calls, at in pairs])
    gap = np.stack([calls.gap[at] for calls, at in pairs])
    known = np.stack([calls.known[at] & calls.known[np.maximum(at - 1, 0)] for calls, at in pairs])
    apart = start.max(axis=0) - start.min(axis=0)
    waited = gap.max(axis=0) - gap.min(axis=0)
    left = (start - gap).max(axis=0)  # when the last rank left its previous call
    tells = known.all(axis=0) & (waited >= LEAST_WAIT_NS)
    met = tells & (apart * CLOSER <= waited) & (left <= start.min(axis=0) + LEAST_WAIT_NS)
    _, of_row = np.unique(of[0].row[places[0]], return_inverse=True)
    votes = np.bincount(of_row, np.where(tells, np.where(met, 1, -1), 0))
    met |= ~tells & (votes[of_row] > 0)
    # The rank that arrived last is the one that the others waited for.
    return met, gap.min(axis=0)[met]


# Calls that must wait for another rank: opens of a file that another rank made before.

MOST_WAITS = 64
"""Maximum number of ranks that one open waits for; if there are more, the last that closed."""


@dataclass(frozen=True)
class Wait:
    """Rank `waiter` begins its call `before` after rank `maker` has ended its call `after`.

    `file` distinguishes several waits of the same ranks.
    """

    maker: int
    after: int
    waiter: int
    before: int
    file: int


def find_waits(openings: Sequence[Opening], groups: Groups) -> list[Wait]:
    """Return the calls that must wait, by the times of the trace.

    An open that needs the file to exist waits for the ranks that had closed or removed it by then,
    unless it closed it together with them; a removal waits for those that had closed it.

    Args:
        openings: Openings and removals of all ranks.
        groups: Openings that were made together.
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
