# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Orders the program's own calls by rank, and finds which ranks opened a file together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import (
    EventFlag,
    Trace,
    expanded_index,
    left_to_libraries,
    levels_of,
    moved,
)

MOST_CALLS = 50_000_000
"""Maximum number of calls of one rank; each takes about 100 bytes while a plan is built."""
STARTUP_NS = 10_000_000
"""Time by which ranks may leave MPI_Init apart by chance: they begin together in the replay."""


@dataclass(frozen=True, eq=False)
class RankCalls:
    """Calls of one rank in the order in which the program made them.

    Attributes:
        rank: Rank in the run; 0 for a program without MPI.
        row: (n,) int64, row of `Trace.rows`.
        offset: (n,) int64, as in `TRACE_ROW`; -1 if unknown.
        start: (n,) int64, ns; calls inside a folded run are spread evenly.
        end: (n,) int64, ns; exact for the last call of a folded run, by the mean for the others.
        latest: (n,) int64, ns, latest possible end.
        known: (n,) bool, whether `start` was measured.
        gap: (n,) int64, ns before the call.
    """

    rank: int
    row: NDArray[np.int64]
    offset: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    latest: NDArray[np.int64]
    known: NDArray[np.bool_]
    gap: NDArray[np.int64]


def top_level(trace: Trace) -> NDArray[np.bool_]:
    """Return which rows are calls of the program itself that did not fail.

    Calls by which a library closes what the program left open are not the program's.
    """
    rows = trace.rows
    failed = (rows["flags"] & EventFlag.FAILED) != 0
    chosen = (rows["depth"] == 0) & (rows["parent"] < 0) & ~failed
    chosen &= ~left_to_libraries(rows)
    if trace.n_ranks:
        chosen &= rows["rank"] >= 0
    return np.asarray(chosen, dtype=bool)


def rank_calls(trace: Trace, chosen: NDArray[np.bool_]) -> list[RankCalls]:
    """Return the calls of each rank, including ranks without calls.

    Calls of all threads and processes of a rank are put in one order by their times.

    Args:
        trace: Trace of the run.
        chosen: (n_rows,) bool, rows to include.
    """
    index = np.flatnonzero(chosen)
    ranks = trace.rows["rank"][index] if trace.n_ranks else np.zeros(len(index), np.int64)
    order = np.argsort(ranks, kind="stable")
    borders = np.searchsorted(ranks[order], np.arange(1, max(trace.n_ranks, 1) + 1))
    parts = np.split(index[order], borders)[:-1]  # the rest belongs to no rank of the run
    found = [_calls_of(rank, trace.rows, part) for rank, part in enumerate(parts)]
    if one_clock(trace):
        _begin_late(found)
    return found


def one_clock(trace: Trace) -> bool:
    """Return whether times of different ranks can be compared."""
    return len(trace.hosts) <= 1


def _begin_late(ranks: list[RankCalls]) -> None:
    """Set the gap of first calls to the time since the first one of all, if it is not chance."""
    begun = [calls for calls in ranks if len(calls.row)]
    begin = min((int(calls.start[0]) for calls in begun), default=0)
    for calls in begun:
        late = int(calls.start[0]) - begin
        calls.gap[0] = late if late > STARTUP_NS else 0


def _calls_of(rank: int, rows: NDArray[Any], index: NDArray[np.int64]) -> RankCalls:
    mine = rows[index]
    count = mine["count"]
    each, k = expanded_index(count)
    levels = levels_of(k, mine["inner"][each])
    offset = mine["offset"][each] + moved(levels, mine["stride"][each])
    offset[((mine["flags"] & EventFlag.NO_OFFSET) != 0)[each]] = -1
    sequence = mine["sequence"][each] + moved(levels, mine["sequence_stride"][each])
    last = np.maximum(count - 1, 1)[each]
    span = (mine["last_start_ns"] - mine["start_ns"])[each]
    start = mine["start_ns"][each] + (span * (k / last)).astype(np.int64)
    final = np.maximum(mine["end_ns"] - mine["last_start_ns"], 0)
    final = np.where(count == 1, mine["busy_ns"], final)
    others = np.maximum(mine["busy_ns"] - final, 0) // np.maximum(count - 1, 1)
    ends = k == count[each] - 1
    duration = np.where(ends, final[each], others[each])
    longest = np.where(ends | (count[each] == 2), duration, mine["max_ns"][each])
    known = (k == 0) | ends
    order = _one_order(mine["process"][each], mine["thread"][each], sequence, start)
    row, start, known = index[each][order], start[order], known[order]
    end = start + duration[order]
    latest = np.maximum(end, start + longest[order])
    return RankCalls(
        rank, row, offset[order], start, end, latest, known, _gaps(row, start, end, known)
    )


def _one_order(
    process: NDArray[np.int64],
    thread: NDArray[np.int64],
    sequence: NDArray[np.int64],
    start: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the order of calls: by sequence for one thread, by time for several."""
    order = np.lexsort((sequence, thread, process))
    of_thread = np.stack((process[order], thread[order]), axis=1)
    borders = np.flatnonzero((of_thread[1:] != of_thread[:-1]).any(axis=1)) + 1
    if not len(borders):
        return order
    times = [np.maximum.accumulate(part) for part in np.split(start[order], borders)]
    return order[np.argsort(np.concatenate(times), kind="stable")]


def _gaps(
    row: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    known: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return how long a rank did something else before each call, (n,) int64, ns.

    It is exact between two calls whose times were measured. If folding kept only the first and the
    last call of a run, the remaining time between such calls is distributed over those in between,
    in proportion to what was measured before calls of the same run.
    """
    n = len(row)
    if n == 0:
        return np.zeros(0, np.int64)
    anchors = np.flatnonzero(known)
    segment = np.searchsorted(anchors, np.arange(n))  # the anchor at or behind a call
    left = np.zeros(len(anchors))
    left[1:] = start[anchors[1:]] - end[anchors[:-1]]
    inside = np.where(known, 0, end - start)
    left -= np.bincount(np.minimum(segment, len(anchors) - 1), inside, len(anchors))
    left = np.maximum(left, 0)
    weight = _weights(row, np.maximum(start[1:] - end[:-1], 0), known)
    total = np.bincount(segment, weight, len(anchors))
    gaps = weight * (left / np.where(total > 0, total, 1.0))[segment]
    gaps[0] = 0
    return np.rint(gaps).astype(np.int64)


def _weights(
    row: NDArray[np.int64], seen: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the least gap that was measured before calls of the same run, at least 1 ns."""
    exact = 1 + np.flatnonzero(known[1:] & known[:-1])
    rows, of_row = np.unique(row, return_inverse=True)
    least = np.full(len(rows), np.inf)
    np.minimum.at(least, of_row[exact], seen[exact - 1])
    least[np.isinf(least)] = 0
    return np.asarray(least[of_row] + 1.0)


# Which ranks opened a file together: a trace does not contain the communicator.

WORLD, SELF = 0, 1


@dataclass(frozen=True)
class Opening:
    """One open of a file by one rank, or a call that removes or renames the file.

    Attributes:
        key: (layer, file) of the call.
        rank / place: Rank, and the place among its calls.
        close: Place of the close, or of the removal; the number of calls if there is none.
        start: Start of the call, ns; `latest`: its latest end; `closed`: end of the close.
        exact: Whether the times are measured, not spread over a folded run.
        parallel: Whether it may be collective.
        creates: Whether it creates the file if there is none.
        empties: Whether it begins with an empty file.
        removes: Whether it is a removal.
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
    empties: bool
    removes: bool
    together: int


def find_openings(made: RankCalls, row_kinds: NDArray[Any]) -> list[Opening]:
    """Return the openings and removals of one rank; a close ends the latest open of its file.

    Args:
        made: Calls of the rank.
        row_kinds: (n_rows,) `KIND_ROW` of the trace.
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
            empties=bool(kinds["empties"][place]),
            removes=removes,
            together=int(behind - first),
        )
        found.append(opening)
    return found


Groups = dict[tuple[int, int], tuple[int, ...]]
"""Mapping from (rank, place) of an open to the ranks that made it together."""


def group_openings(
    openings: Sequence[Opening], *, one_clock: bool, paths: Sequence[str]
) -> tuple[Groups, tuple[str, ...]]:
    """Determine which opens were one collective call.

    Opens of the same file belong together if their ranks opened it equally often and at the same
    time; if the numbers differ, the times decide. Ranks whose further collective calls differ were
    not together.

    Args:
        openings: Openings of all ranks.
        one_clock: Whether times of different ranks can be compared (one host).
        paths: Paths of the files, for the notes.

    Returns:
        The groups, and notes on doubtful ones.
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
    """Return the earliest open of all, and with it those that begin before all of them end."""
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
