# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the plan of a replay from a trace, with the files and sizes that it needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core.errors import UsageError
from stripewise.evidence.replay._calls import (
    MOST_CALLS,
    SELF,
    WORLD,
    Groups,
    Opening,
    RankCalls,
    find_openings,
    group_openings,
    one_clock,
    rank_calls,
    top_level,
)
from stripewise.evidence.replay._plan import COLUMNS, Plan, PlanInput, PlanRank, Tables, fold
from stripewise.evidence.replay._verbs import (
    RowKinds,
    call_columns,
    element_sizes,
    moves_members,
    row_columns,
    row_kinds,
)
from stripewise.evidence.replay._waiting import SYNC_VERBS, find_meetings, find_waits, with_waits
from stripewise.evidence.trace import (
    EventFlag,
    Interned,
    IoLayer,
    Op,
    RunProfile,
    ShapeKind,
    Trace,
    TraceShape,
)
from stripewise.present import plural

MOST_LOST_SHARE = 0.05
"""Maximum share of a trace's bytes that cannot be replayed; a larger one is refused."""


def build_plan(trace: Trace, profile: RunProfile | None = None) -> Plan:
    """Build the plan of a replay of a run.

    Args:
        trace: Trace of the run, with single calls and their functions' names.
        profile: Profile of the same run, for the hints that the program gave.

    Raises:
        UsageError: The trace has no calls, too many, or too much that cannot be replayed.
    """
    chosen = top_level(trace)
    _check_calls(trace, chosen)
    kinds = row_kinds(trace, chosen)
    _check_lost(trace, kinds)
    tables = Tables(trace, _hints(profile), _properties(profile))
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
        find_members(trace, kinds, tables),
    )


def _hints(profile: RunProfile | None) -> dict[str, Mapping[str, str]]:
    if profile is None:
        return {}
    return {profile.paths[i]: hints.requested for i, hints in profile.hints.items()}


def _properties(profile: RunProfile | None) -> dict[str, Mapping[str, str]]:
    if profile is None:
        return {}
    return {profile.paths[i]: own for i, own in profile.properties.items() if i >= 0}


def find_members(trace: Trace, kinds: RowKinds, tables: Tables) -> dict[int, tuple[int, ...]]:
    """Return the bytes of the members of compounds of which calls moved some, or converted them.

    Each number of bytes that calls moved of an element is that of the first members together.
    """
    partly = moves_members(trace)
    chosen = partly | ((trace.rows["flags"] & EventFlag.CONVERTED) != 0)
    size = element_sizes(trace)
    sizes: dict[int, set[int]] = defaultdict(set)
    for row in np.flatnonzero(chosen & (kinds.verb >= 0) & (trace.rows["object"] >= 0)).tolist():
        index = int(trace.rows["object"][row])
        whole = trace.objects[index].element_bytes
        if trace.objects[index].type_class == "compound" and whole > 1:
            wanted = {int(size[row])} if partly[row] else {whole // 2}
            for number in tables.numbers_of(index):
                sizes[number] |= {whole, *(one for one in wanted if 0 < one < whole)}
    return {
        number: tuple(np.diff([0, *sorted(found)]).tolist()) for number, found in sizes.items()
    }


def _check_calls(trace: Trace, chosen: NDArray[np.bool_]) -> None:
    n_calls = int(trace.rows["count"][chosen].sum())
    if not n_calls:
        raise UsageError(
            f"there is nothing to replay: the {trace.source} holds no call of the program itself; "
            "record one with: stripewise run --trace -- COMMAND"
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
        notes.append(f"{trace.lost_calls} calls are missing, as the trace reached its size limit")
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
    """Return sections, and the part of each rank in them."""
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


# Files that must exist before a replay begins.

_READS = (Op.READ, Op.READ_COLLECTIVE)
_WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
_KINDS = {IoLayer.HDF5: "hdf5", IoLayer.PNETCDF: "pnetcdf"}


def find_inputs(
    trace: Trace,
    kinds: RowKinds,
    openings: Sequence[Opening],
    tables: Tables,
    ranks: Sequence[RankCalls],
) -> tuple[PlanInput, ...]:
    """Return files that were opened or read before the program had created them."""
    by_file: dict[int, list[Opening]] = defaultdict(list)
    for opening in openings:
        if not opening.removes:
            by_file[opening.key[1]].append(opening)
    found = []
    for file, members in sorted(by_file.items()):
        first = min(members, key=lambda opening: opening.start)
        if first.empties or (first.creates and not _read_first(trace, file)):
            continue
        kind = _KINDS.get(IoLayer(first.key[0]), "bytes")
        objects = _needed(trace, kinds, file, tables, ranks) if kind != "bytes" else ()
        size = _size(trace.rows[trace.rows["file"] == file])
        found.append(PlanInput(tables.file(file), kind, size, objects))
    return tuple(found)


def _read_first(trace: Trace, file: int) -> bool:
    """Return whether the file was read before anything was written to it."""
    rows = trace.rows[(trace.rows["file"] == file) & (trace.rows["bytes"] > 0)]
    reads = rows["start_ns"][np.isin(rows["op"], _READS)]
    writes = rows["start_ns"][np.isin(rows["op"], _WRITES)]
    return bool(len(reads) and (not len(writes) or reads.min() < writes.min()))


def _size(rows: NDArray[Any]) -> int:
    """Return the end of the furthest byte that was read, as seen in the system's reads."""
    below = rows[np.isin(rows["layer"], (IoLayer.POSIX, IoLayer.STDIO))]
    below = below[np.isin(below["op"], _READS)]
    if not len(below):
        return 0
    count, inner, stride = below["count"], below["inner"], below["stride"]
    first = np.where(inner[:, 0] > 0, inner[:, 0], count)
    second = np.where(inner[:, 1] > 0, inner[:, 1], -(-count // np.maximum(first, 1)))
    third = -(-count // np.maximum(first * second, 1))
    turns = np.stack((first, second, third), axis=1)
    reach = (np.maximum(stride, 0) * np.maximum(turns - 1, 0)).sum(axis=1)
    ends = below["offset"] + reach + below["bytes"]
    in_turn = (below["bytes"] * count).sum()  # for reads with unknown offsets
    return int(max(ends.max(), in_turn if (below["offset"] < 0).all() else 0))


def _needed(
    trace: Trace, kinds: RowKinds, file: int, tables: Tables, ranks: Sequence[RankCalls]
) -> tuple[int, ...]:
    """Return the datasets of an input that the program did not create itself."""
    rows = trace.rows
    mine = (rows["file"] == file) & (rows["object"] >= 0) & (kinds.verb >= 0)
    made = rows["object"][mine & (kinds.verb == kinds.number("hdf5.dcreate"))]
    names = {trace.objects[index].name for index in made}
    used: dict[str, list[int]] = defaultdict(list)
    for index in np.unique(rows["object"][mine]).tolist():
        if trace.objects[index].name not in names:
            used[trace.objects[index].name].append(index)
    found = []
    for same in used.values():
        extents = trace.objects[same[0]].extents
        end = 0
        if extents and not extents[0]:
            at = np.flatnonzero(mine & np.isin(rows["object"], same))
            end = needed_extent(trace, at, ranks)
        found.append(tables.input_object(same[0], end))
    return tuple(dict.fromkeys(found))


# Size of a dataset that grows: its slowest dimension is 0 in a trace.

_DATA = (Op.READ, Op.WRITE, Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)


def _end(trace: Trace, row: int, offset: int) -> int:
    """Return where a selection ends in the slowest dimension, from the offset of its corner."""
    shape: TraceShape = trace.shapes[trace.rows["shape"][row]]
    first = offset // max(prod(shape.extents[1:]), 1)
    if shape.kind == ShapeKind.REGULAR and shape.count:
        return first + (shape.count[0] - 1) * shape.stride[0] + shape.block[0]
    if shape.boxes is not None and shape.boxes.size and shape.extents:
        return first + int(shape.boxes[:, 1, 0].max()) + 1
    return first


def needed_extent(trace: Trace, rows: NDArray[np.int64], ranks: Sequence[RankCalls]) -> int:
    """Return the end, in the slowest dimension, of what calls of some rows accessed."""
    wanted = rows[trace.rows["shape"][rows] >= 0]
    furthest = (
        _end(trace, row, int(calls.offset[calls.row == row].max()))
        for calls in ranks
        for row in np.intersect1d(wanted, calls.row).tolist()
    )
    return max(furthest, default=0)


def set_extents(trace: Trace, kinds: RowKinds, ranks: Sequence[RankCalls]) -> None:
    """Set the offset of each H5Dset_extent call to the extent that it gives its dataset.

    It is the extent that any rank uses until the next one, as it must be the same on all; no
    dataset shrinks. Without any use it is -1.
    """
    resizes = kinds.verb == kinds.number("hdf5.dset_extent")
    moves = np.isin(trace.rows["op"], _DATA) & (trace.rows["shape"] >= 0)
    extents: dict[tuple[int, str, int], int] = {}
    resized = []
    for calls in ranks if resizes.any() else ():
        turns: dict[tuple[int, str], int] = {}
        places = np.flatnonzero((resizes | moves)[calls.row])
        keys = {row: _dataset(trace, row) for row in np.unique(calls.row[places]).tolist()}
        for place, row in zip(places.tolist(), calls.row[places].tolist(), strict=True):
            key = keys[row]
            if resizes[row]:
                turns[key] = turns.get(key, -1) + 1
                resized.append((calls, place, (*key, turns[key])))
            elif key in turns:
                slot = (*key, turns[key])
                end = _end(trace, row, int(calls.offset[place]))
                extents[slot] = max(extents.get(slot, 0), end)
    largest: dict[tuple[int, str], int] = {}
    for file, name, turn in sorted(extents):
        most = max(largest.get((file, name), 0), extents[file, name, turn])
        extents[file, name, turn] = largest[file, name] = most
    for calls, place, wanted in resized:
        calls.offset[place] = extents.get(wanted, -1)


def _dataset(trace: Trace, row: int) -> tuple[int, str]:
    """Return file and name of the dataset that a row concerns."""
    index = int(trace.rows["object"][row])
    return int(trace.rows["file"][row]), trace.objects[index].name if index >= 0 else ""
