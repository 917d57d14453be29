# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks opened a file together: the communicator is not in a trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.replay._calls import RankCalls

WORLD, SELF = 0, 1


@dataclass(frozen=True)
class Opening:
    """One open of a file by one rank, or a call that removes or renames the file.

    Attributes:
        key: (layer, file).
        rank / place: Whose, and which of its calls.
        close: Place of the close, or of the removal; the number of calls if there is none.
        start: Of the call, ns; `latest`: its end at the latest; `closed`: end of the close.
        exact: The times are measured, not spread over a folded run.
        parallel: It may be collective.
        creates: It makes the file if there is none.
        removes: It is a removal.
        together: Number of collective calls until the close.
    """

    key: tuple[int, int]
    rank: int
    place: int
    close: int
    start: int
    latest: int
    closed: int
    exact: bool
    parallel: bool
    creates: bool
    removes: bool
    together: int


def find_openings(made: RankCalls, row_kinds: NDArray[Any]) -> list[Opening]:
    """Return the openings and removals of one rank; a close ends the latest open of its file.

    Args:
        made: Its calls.
        row_kinds: (n_rows,) `KIND_ROW`.
    """
    kinds = row_kinds[made.row]
    key_of = kinds["key"]
    open_now: dict[int, list[int]] = defaultdict(list)
    closed_at: dict[int, int] = {}
    for place in map(int, np.flatnonzero(kinds["opens"] | kinds["closes"])):
        key = int(key_of[place])
        if kinds["opens"][place]:
            open_now[key].append(place)
        elif open_now[key]:
            closed_at[open_now[key].pop()] = place
    together = {key: np.flatnonzero(kinds["collective"] & (key_of == key)) for key in open_now}
    n = len(kinds)
    found = []
    for place in map(int, np.flatnonzero(kinds["opens"] | kinds["removes"])):
        removes = bool(kinds["removes"][place])
        close = place if removes else closed_at.get(place, n)
        key = int(key_of[place])
        first, behind = np.searchsorted(together.get(key, ()), (place, close + 1))
        opening = Opening(
            key=(key >> 32, key & 0xFFFFFFFF),
            rank=made.rank,
            place=place,
            close=close,
            start=int(made.start[place]),
            latest=int(made.latest[place]),
            closed=int(made.end[min(close, n - 1)]),
            exact=bool(made.known[place]),
            parallel=bool(kinds["parallel"][place]),
            creates=bool(kinds["creates"][place]),
            removes=removes,
            together=int(behind - first),
        )
        found.append(opening)
    return found


Groups = dict[tuple[int, int], tuple[int, ...]]
"""(rank, place) of an open to the ranks that made it together."""


def group_openings(
    openings: Sequence[Opening], *, one_clock: bool, paths: Sequence[str]
) -> tuple[Groups, tuple[str, ...]]:
    """Find out which opens were one collective call.

    Opens of the same file belong together if their ranks opened it equally often and at the same
    time; without equal numbers the times decide.  Ranks whose further collective calls differ
    were not together.

    Args:
        openings: Of all ranks.
        one_clock: Times of different ranks can be compared (one host).
        paths: Of the files, for the notes.

    Returns:
        The groups, and what is doubtful.
    """
    by_key: dict[tuple[int, int], list[Opening]] = defaultdict(list)
    for opening in openings:
        if opening.parallel:
            by_key[opening.key].append(opening)
    groups: Groups = {}
    notes: list[str] = []
    for key, members in by_key.items():
        for group in _split(members, one_clock):
            alone = len({opening.together for opening in group}) > 1
            if alone:
                notes.append(
                    f"{paths[key[1]]}: ranks that opened it at the same time made different "
                    "collective calls; each opens it alone in the replay"
                )
            ranks = tuple(sorted(opening.rank for opening in group))
            for opening in group:
                own = (opening.rank,) if alone else ranks
                groups[opening.rank, opening.place] = own
    return groups, tuple(dict.fromkeys(notes))


def _split(members: Sequence[Opening], one_clock: bool) -> Iterable[list[Opening]]:
    by_rank: dict[int, list[Opening]] = defaultdict(list)
    for opening in sorted(members, key=lambda one: (one.rank, one.place)):
        by_rank[opening.rank].append(opening)
    counts = {len(own) for own in by_rank.values()}
    if len(counts) == 1:
        turns = [list(turn) for turn in zip(*by_rank.values(), strict=True)]
        if not one_clock or all(_overlap(turn) for turn in turns):
            return turns
    return _by_time(by_rank)


def _overlap(turn: Sequence[Opening]) -> bool:
    exact = [opening for opening in turn if opening.exact]
    if len(exact) < 2:
        return True
    return max(one.start for one in exact) <= min(one.latest for one in exact)


def _by_time(by_rank: dict[int, list[Opening]]) -> list[list[Opening]]:
    """Take the earliest open of all, and with it those that begin before all of them end."""
    waiting = {rank: list(reversed(own)) for rank, own in by_rank.items()}
    groups = []
    while waiting:
        heads = sorted((own[-1] for own in waiting.values()), key=lambda one: one.start)
        group, least_end = [heads[0]], heads[0].latest
        for head in heads[1:]:
            if head.start > least_end:
                break
            group.append(head)
            least_end = min(least_end, head.latest)
        for opening in group:
            own = waiting[opening.rank]
            own.pop()
            if not own:
                del waiting[opening.rank]
        groups.append(group)
    return groups
