# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A trace -> the plan of its replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._interned import Interned
from stripewise.errors import UsageError
from stripewise.model import RunProfile, Trace
from stripewise.replay._calls import MOST_CALLS, RankCalls, rank_calls, top_level
from stripewise.replay._columns import Columns, call_columns, row_columns
from stripewise.replay._fold import fold
from stripewise.replay._gaps import gaps_of
from stripewise.replay._growth import Growth
from stripewise.replay._inputs import find_inputs
from stripewise.replay._kinds import RowKinds, row_kinds
from stripewise.replay._meetings import Timed, find_meetings
from stripewise.replay._opens import (
    SELF,
    WORLD,
    Groups,
    Opening,
    find_openings,
    group_openings,
)
from stripewise.replay._order import Removal, find_waits
from stripewise.replay._records import CALL_ROW, COLUMNS, Plan, PlanRank
from stripewise.replay._tables import Tables
from stripewise.replay._waiting import SYNC_VERBS, with_waits

MOST_LOST_SHARE = 0.05
"""A trace of which a larger share of the bytes cannot be replayed is refused."""


def build_plan(trace: Trace, profile: RunProfile | None = None) -> Plan:
    """Return what a replay of a run does.

    Args:
        trace: Of the run, with single calls and their functions' names.
        profile: Of the same run, for the hints that the program gave.

    Raises:
        UsageError: The trace has no calls, too many, or too much that cannot be replayed.
    """
    chosen = top_level(trace)
    _check_calls(trace, chosen)
    kinds = row_kinds(trace, chosen)
    _check_lost(trace, kinds)
    tables = Tables(trace, _hints(profile))
    ranks = list(rank_calls(trace, kinds.verb >= 0))
    timed = _timed(trace, kinds, ranks)
    openings = [one for rank in timed for one in find_openings(rank.calls, rank.kinds)]
    groups, doubts = group_openings(openings, one_clock=_one_clock(trace), paths=trace.paths)
    sections, members, communicators = _fold_ranks(trace, kinds, tables, timed, openings, groups)
    inputs = find_inputs(trace, kinds, openings, tables, ranks)
    return Plan(
        max(trace.n_ranks, 1),
        (*kinds.verbs, *SYNC_VERBS),
        tables.files,
        tables.objects,
        tables.shapes,
        tables.views,
        communicators,
        inputs,
        sections,
        members,
        kinds.read_bytes,
        kinds.write_bytes,
        kinds.lost_bytes,
        (*_notes(trace, kinds), *doubts),
    )


def _one_clock(trace: Trace) -> bool:
    return len(trace.hosts) <= 1


def _timed(trace: Trace, kinds: RowKinds, ranks: Sequence[RankCalls]) -> list[Timed]:
    starts = [int(calls.start[0]) for calls in ranks if len(calls)]
    begin = min(starts, default=0) if _one_clock(trace) else None
    return [Timed(one, kinds.rows[one.row], gaps_of(one, begin)) for one in ranks]


def _hints(profile: RunProfile | None) -> dict[str, Mapping[str, str]]:
    if profile is None:
        return {}
    return {profile.paths[i]: hints.requested for i, hints in profile.hints.items()}


def _check_calls(trace: Trace, chosen: NDArray[np.bool_]) -> None:
    n_calls = int(trace.rows["count"][chosen].sum())
    if not n_calls:
        raise UsageError(
            f"there is nothing to replay: the {trace.source} holds no call of the program itself; "
            "record one with: stripewise trace -- COMMAND"
        )
    if n_calls > MOST_CALLS * max(trace.n_ranks, 1):
        raise UsageError(f"{n_calls} calls are too many for a replay; trace a shorter run")


def _check_lost(trace: Trace, kinds: RowKinds) -> None:
    lost, moved = kinds.lost_bytes, kinds.read_bytes + kinds.write_bytes
    if lost > MOST_LOST_SHARE * (lost + moved):
        why = "; ".join(kinds.lost)
        raise UsageError(
            f"{lost / (lost + moved):.0%} of the bytes cannot be replayed ({why}); at most "
            f"{MOST_LOST_SHARE:.0%} may be left out: tune the program itself"
        )
    if not moved and not (kinds.verb >= 0).any():
        raise UsageError(f"nothing of the {trace.source} can be replayed: {'; '.join(kinds.lost)}")


def _notes(trace: Trace, kinds: RowKinds) -> tuple[str, ...]:
    notes = [f"left out: {n} calls, {why}" for why, n in kinds.lost.items()]
    if kinds.skipped:
        names = ", ".join(f"{name} ({n})" for name, n in sorted(kinds.skipped.items()))
        notes.append(f"calls that move no data are left out: {names}")
    if trace.lost_calls:
        notes.append(f"{trace.lost_calls} calls found no room in the trace and are missing")
    return tuple(notes)


def _removals(trace: Trace, kinds: RowKinds, ranks: Sequence[RankCalls]) -> list[Removal]:
    found = []
    for calls in ranks:
        for place in map(int, np.flatnonzero(kinds.rows["removes"][calls.row])):
            file = int(trace.rows["file"][calls.row[place]])
            start, end = int(calls.start[place]), int(calls.end[place])
            found.append(Removal(file, calls.rank, place, start, end))
    return found


@dataclass(frozen=True)
class _Communicators:
    """Numbers of the communicators of a plan."""

    n_ranks: int
    others: Interned[tuple[int, ...]]

    def number(self, ranks: tuple[int, ...]) -> int:
        if len(ranks) == 1:
            return SELF
        if len(ranks) == self.n_ranks:
            return WORLD
        return 2 + self.others.number(ranks)


def _fold_ranks(
    trace: Trace,
    kinds: RowKinds,
    tables: Tables,
    timed: list[Timed],
    openings: Sequence[Opening],
    groups: Groups,
) -> tuple[tuple[NDArray[Any], ...], tuple[PlanRank, ...], tuple[tuple[int, ...], ...]]:
    """Return sections, what each rank does, and the communicators."""
    communicators = _Communicators(max(trace.n_ranks, 1), Interned())
    ranks = [one.calls for one in timed]
    waits = find_waits(openings, groups, _removals(trace, kinds, ranks))
    met = find_meetings(timed, openings, groups) if _one_clock(trace) else []
    fixed = row_columns(trace, kinds, tables)
    growth = Growth(trace, kinds, ranks)
    opened: dict[int, list[Opening]] = {}
    for opening in openings:
        opened.setdefault(opening.rank, []).append(opening)
    sections: dict[bytes, tuple[int, NDArray[Any]]] = {}
    members = []
    for one in timed:
        calls = one.calls
        group = np.full(len(calls), -1, np.int64)
        for opening in opened.get(calls.rank, ()):
            if together := groups.get((opening.rank, opening.place)):
                group[opening.place] = communicators.number(together)
        columns = call_columns(trace, tables, kinds, calls, fixed, group, one.gaps, growth)
        meetings = [(communicators.number(meeting.ranks), meeting) for meeting in met]
        columns = with_waits(columns, calls.rank, tables, waits, meetings, len(kinds.verbs))
        table, own = _fold_rank(columns)
        number, _ = sections.setdefault(table.tobytes(), (len(sections), table))
        members.append(PlanRank(calls.rank, number, own))
    tables_in_order = tuple(table for _, table in sections.values())
    return tables_in_order, tuple(members), communicators.others.values


def _fold_rank(columns: Columns) -> tuple[NDArray[Any], dict[str, NDArray[np.int64]]]:
    runs = fold(columns.key, columns["offset"])
    table = np.zeros(len(runs.first), CALL_ROW)
    for name in ("verb", "op", "flags", "bytes"):
        table[name] = columns[name][runs.first]
    table["count"], table["inner"], table["stride"] = runs.count, runs.inner, runs.stride
    table["place"], table["place_stride"] = runs.first, runs.place_stride
    gap = columns["gap"].astype(np.float64)
    total = np.bincount(runs.of_call, gap, len(runs.first))
    own = {name: columns[name][runs.first] for name in COLUMNS if name != "rest"}
    others = np.maximum(runs.count - 1, 1)
    own["rest"] = np.rint((total - own["gap"]) / others).astype(np.int64)
    own["rest"][runs.count == 1] = 0
    return table, own
