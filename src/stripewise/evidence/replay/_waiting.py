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
"""In the order in which they come before one call: so nobody waits in a circle."""


_ADDED = np.dtype([(name, "<i8") for name in ("at", "verb", "offset", "bytes", "group", "gap")])
"""A call that is put in; `at`: before which call of the program."""


def with_waits(
    calls: NDArray[Any],
    rank: int,
    tables: Tables,
    waits: Sequence[Wait],
    meetings: Sequence[tuple[int, Meeting]],
    n_verbs: int,
) -> NDArray[Any]:
    """Put signals, barriers and waits between the calls of a rank.

    Args:
        calls: (n,) `CALL`, the rank's own.
        rank: Whose.
        tables: For the numbers of files.
        waits: Of all ranks.
        meetings: Of all ranks, each with the number of its communicator.
        n_verbs: The verb of the first one of `SYNC_VERBS`.
    """
    barriers = (_barriers(rank, number, one, n_verbs + 1) for number, one in meetings)
    added = np.concatenate([_messages(rank, tables, waits, n_verbs), *barriers])
    if not len(added):
        return calls
    added = added[np.lexsort([added[name] for name in ("bytes", "offset", "verb", "at")])]
    met = added["verb"] == n_verbs + 1
    calls["gap"][added["at"][met]] = 0  # it passes before the barrier
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


# Where ranks had waited for each other before a collective call: a barrier of the program.
#
# No trace has the program's barriers.  Without them a rank that was early would wait inside of the
# collective call, and that time would count as I/O.

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


def find_meetings(
    ranks: Sequence[RankCalls],
    row_kinds: NDArray[Any],
    openings: Sequence[Opening],
    groups: Groups,
) -> list[Meeting]:
    """Return where ranks met, judged by times of one clock.

    Args:
        ranks: Calls of each.
        row_kinds: (n_rows,) `KIND_ROW`.
        openings: Of all ranks.
        groups: Which were made together.
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
    """Return the places of calls that correspond, (n_ranks, n), while a file was open.

    What need not be made together counts only if all ranks made the same of it, in the same order.
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
    """Return before which calls the ranks met, (n,) bool, and ns that passed before each of those.

    Calls whose times are not known do as those of the same row.
    """
    pairs = list(zip(of, places, strict=True))
    start = np.stack([calls.start[at] for calls, at in pairs])
    gap = np.stack([calls.gap[at] for calls, at in pairs])
    known = np.stack([calls.known[at] & calls.known[np.maximum(at - 1, 0)] for calls, at in pairs])
    apart = start.max(axis=0) - start.min(axis=0)
    waited = gap.max(axis=0) - gap.min(axis=0)
    left = (start - gap).max(axis=0)  # when the last one left its call before
    tells = known.all(axis=0) & (waited >= LEAST_WAIT_NS)
    met = tells & (apart * CLOSER <= waited) & (left <= start.min(axis=0) + LEAST_WAIT_NS)
    _, of_row = np.unique(of[0].row[places[0]], return_inverse=True)
    votes = np.bincount(of_row, np.where(tells, np.where(met, 1, -1), 0))
    met |= ~tells & (votes[of_row] > 0)
    # The last one to come is the one that the others waited for.
    return met, gap.min(axis=0)[met]


# What has to wait for another rank: a file is opened that somebody else made before.

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
