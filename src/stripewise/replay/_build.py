# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A trace -> the plan of its replay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._interned import Interned
from stripewise.errors import UsageError
from stripewise.model import RunProfile, Trace
from stripewise.replay._calls import MOST_CALLS, RankCalls, one_clock, rank_calls, top_level
from stripewise.replay._columns import call_columns, row_columns
from stripewise.replay._fold import fold
from stripewise.replay._growth import set_extents
from stripewise.replay._inputs import find_inputs
from stripewise.replay._kinds import RowKinds, row_kinds
from stripewise.replay._meetings import find_meetings
from stripewise.replay._opens import (
    SELF,
    WORLD,
    Groups,
    Opening,
    find_openings,
    group_openings,
)
from stripewise.replay._order import find_waits
from stripewise.replay._records import COLUMNS, Plan, PlanRank
from stripewise.replay._tables import Tables
from stripewise.replay._waiting import SYNC_VERBS, with_waits
from stripewise.text import plural

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
    ranks = rank_calls(trace, kinds.verb >= 0)
    set_extents(trace, kinds, ranks)
    openings = [one for calls in ranks for one in find_openings(calls, kinds.rows)]
    groups, doubts = group_openings(openings, one_clock=one_clock(trace), paths=trace.paths)
    communicators = _Communicators(len(ranks), Interned())
    sections, members = _fold_ranks(trace, kinds, tables, ranks, openings, groups, communicators)
    inputs = find_inputs(trace, kinds, openings, tables, ranks)
    return Plan(
        len(ranks),
        (*kinds.verbs, *SYNC_VERBS),
        tuple(tables.files()),
        tables.objects.values,
        tables.shapes.values,
        tables.views.values,
        communicators.others.values,
        inputs,
        sections,
        members,
        kinds.read_bytes,
        kinds.write_bytes,
        (*_notes(trace, kinds), *doubts),
        profile.mpi if profile and profile.mpi in ("mpich", "openmpi") else None,
    )


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
    notes = [f"left out: {plural(n, 'call')}, {why}" for why, n in kinds.lost.items()]
    if kinds.skipped:
        names = ", ".join(f"{name} ({n})" for name, n in sorted(kinds.skipped.items()))
        notes.append(f"calls that move no data are left out: {names}")
    if trace.lost_calls:
        notes.append(f"{trace.lost_calls} calls found no room in the trace and are missing")
    return tuple(notes)


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
    ranks: Sequence[RankCalls],
    openings: Sequence[Opening],
    groups: Groups,
    communicators: _Communicators,
) -> tuple[tuple[NDArray[Any], ...], tuple[PlanRank, ...]]:
    """Return sections, and what each rank does."""
    waits = find_waits(openings, groups)
    met = find_meetings(ranks, kinds.rows, openings, groups) if one_clock(trace) else []
    opened: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (rank, place), together in sorted(groups.items()):
        opened[rank].append((place, communicators.number(together)))
    meetings = [(communicators.number(meeting.ranks), meeting) for meeting in met]
    common = row_columns(trace, kinds, tables)
    sections: dict[bytes, tuple[int, NDArray[Any]]] = {}
    members = []
    for one in ranks:
        calls = call_columns(trace, tables, kinds, one, common, opened[one.rank])
        calls = with_waits(calls, one.rank, tables, waits, meetings, len(kinds.verbs))
        table, of_call = fold(calls)
        number, _ = sections.setdefault(table.tobytes(), (len(sections), table))
        members.append(PlanRank(one.rank, number, _own(calls, table, of_call)))
    return tuple(table for _, table in sections.values()), tuple(members)


def _own(
    calls: NDArray[Any], table: NDArray[Any], of_call: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """Return `COLUMNS` of a rank, of the first call of each folded run."""
    first = calls[table["place"]]
    total = np.bincount(of_call, calls["gap"], len(table))
    rest = (total - first["gap"]) / np.maximum(table["count"] - 1, 1)
    own = {name: first[name] for name in COLUMNS if name != "rest"}
    return {**own, "rest": np.rint(rest).astype(np.int64)}
