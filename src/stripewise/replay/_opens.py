# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks opened a file together: the communicator is not in a trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.replay._calls import RankCalls

WORLD, SELF = 0, 1


@dataclass(frozen=True)
class Opening:
    """One open of a file by one rank.

    Attributes:
        key: (layer, file).
        rank / place: Whose, and which of its calls.
        close: Place of the close; the number of calls if there is none.
        start / end: Of the open, ns; `latest`: its end at the latest; `closed`: of the close.
        exact: The times are measured, not spread over a folded run.
        parallel: It may be collective.
        creates: It makes the file if there is none.
        together: Number of collective calls until the close.
    """

    key: tuple[int, int]
    rank: int
    place: int
    close: int
    start: int
    end: int
    latest: int
    closed: int
    exact: bool
    parallel: bool
    creates: bool
    together: int


@dataclass(frozen=True, eq=False)
class OpenCalls:
    """Calls of one rank that openings are made of, each (n_calls,).

    Attributes:
        key: int64, a number for layer and file; -1 of calls without a file.
        opens / closes / collective / parallel / creates: bool.
        joint: bool; the ranks make it together as a rule, but it need not be.
    """

    key: NDArray[np.int64]
    opens: NDArray[np.bool_]
    closes: NDArray[np.bool_]
    collective: NDArray[np.bool_]
    parallel: NDArray[np.bool_]
    creates: NDArray[np.bool_]
    joint: NDArray[np.bool_]


def find_openings(made: RankCalls, calls: OpenCalls) -> list[Opening]:
    """Return the openings of one rank; a close ends the latest open one of its file."""
    start, end = made.start, made.end
    open_now: dict[int, list[int]] = defaultdict(list)
    closed_at: dict[int, int] = {}
    for place in map(int, np.flatnonzero(calls.opens | calls.closes)):
        key = int(calls.key[place])
        if calls.opens[place]:
            open_now[key].append(place)
        elif open_now[key]:
            closed_at[open_now[key].pop()] = place
    together = _Counter(calls)
    n = len(start)
    found = []
    for place in map(int, np.flatnonzero(calls.opens)):
        close = closed_at.get(place, n)
        key = int(calls.key[place])
        found.append(
            Opening(
                (key >> 32, key & 0xFFFFFFFF),
                made.rank,
                place,
                close,
                int(start[place]),
                int(end[place]),
                int(start[place] + made.longest[place]),
                int(end[min(close, n - 1)]),
                bool(made.known[place]),
                bool(calls.parallel[place]),
                bool(calls.creates[place]),
                together(key, place, close),
            )
        )
    return found


class _Counter:
    """Counts collective calls of a file between two places."""

    def __init__(self, calls: OpenCalls) -> None:
        self._calls = calls
        self._places: dict[int, NDArray[np.int64]] = {}

    def __call__(self, key: int, first: int, last: int) -> int:
        if key not in self._places:
            chosen = self._calls.collective & (self._calls.key == key)
            self._places[key] = np.flatnonzero(chosen)
        low, high = np.searchsorted(self._places[key], (first, last + 1))
        return int(high - low)


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
