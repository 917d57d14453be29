# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The traces of all containers of a run, joined into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import BIN_ROW, TRACE_ROW, EventFlag, Trace
from stripewise.readers._parse import RawContainer
from stripewise.readers._profile import Profile
from stripewise.readers._trace_described import Descriptions

SOURCE = "stripewise trace"


@dataclass(frozen=True)
class Timeline:
    """One clock for all processes.

    Attributes:
        start: Seconds since 1970 of its origin, the load of the first process.
        shift_ns: (n_processes,) int64, what is added to a process's own times.
    """

    start: float
    shift_ns: NDArray[np.int64]


def timeline(profile: Profile) -> Timeline:
    """Join the clocks of a run's processes.

    The monotonic clock is common to the processes of a node, so it orders them exactly; the
    nodes are joined by the time of day, whose offset is the median over a node's processes.
    """
    table = profile.processes
    if not len(table):
        return Timeline(0.0, np.zeros(0, np.int64))
    wall, clock = table["start_ns"].astype(np.int64), table["clock_ns"].astype(np.int64)
    loaded = np.empty(len(table), np.int64)
    for host in np.unique(table["host"]):
        mine = table["host"] == host
        offsets = np.sort(wall[mine] - clock[mine])
        loaded[mine] = clock[mine] + offsets[len(offsets) // 2]
    origin = int(loaded.min())
    return Timeline(origin * 1e-9, loaded - origin)


def join_traces(raws: Sequence[RawContainer], profile: Profile) -> Trace | None:
    """Join what the containers of one run hold; None if none of its processes had capture on.

    Args:
        raws: In the order in which `profile` was joined from them.
        profile: Of the same containers; only the processes that it counts are kept.
    """
    if not any(raw.trace.tracing for raw in raws) and not profile.processes["capture"].any():
        return None
    clock = timeline(profile)
    firsts = np.cumsum([0, *(len(raw.processes) for raw in raws)])[:-1].tolist()
    known = Descriptions(_file_index(profile))
    for first, raw in zip(firsts, raws, strict=True):
        for owner, kind, record in raw.trace.described:
            known.add(first + owner, kind, record)
    unknown: dict[int, int] = {}
    rows, left_out = _rows(raws, firsts, profile, known, clock, unknown)
    kept = np.flatnonzero(profile.counted)
    bins = _bins(raws, firsts, profile, clock, unknown)
    return Trace(
        source=SOURCE,
        rows=rows,
        names=tuple(known.names.values),
        paths=(*profile.paths, *(f"(file {number:016x})" for number in unknown)),
        objects=tuple(known.objects.values),
        shapes=tuple(known.shapes.values),
        views=tuple(known.views.values),
        bins=bins,
        process_rank=profile.processes["rank"][kept].astype(np.int64),
        process_host=profile.processes["host"][kept].astype(np.int64),
        hosts=profile.hosts,
        n_ranks=profile.n_ranks if profile.is_rank.any() else 0,
        start=clock.start,
        lost_calls=_lost_calls(raws, profile),
        notes=_notes(raws, profile, known, left_out, len(unknown)),
    )


def _file_index(profile: Profile) -> dict[int, int]:
    records = profile.records
    return dict(zip(records["file_id"].tolist(), records["path"].tolist(), strict=True))


def _rows(
    raws: Sequence[RawContainer],
    firsts: Sequence[int],
    profile: Profile,
    known: Descriptions,
    clock: Timeline,
    unknown: dict[int, int],
) -> tuple[NDArray[Any], int]:
    """All rows with the run's own indices, in order, and how many are of other processes."""
    counted = profile.counted
    parts, file_parts, left_out = [], [], 0
    for first, raw in zip(firsts, raws, strict=True):
        for owner, found, ids in raw.trace.rows:
            if counted[first + owner]:
                found["process"] = first + owner
                parts.append(found)
                file_parts.append(ids)
            else:
                left_out += len(found)
        raw.trace.rows = []
    if not parts:
        return np.zeros(0, TRACE_ROW), left_out
    rows, ids = np.concatenate(parts), np.concatenate(file_parts)
    del parts
    rows, ids = _in_order(rows, ids)
    process = rows["process"].astype(np.int64)
    rows["file"] = _files(ids, known.files, len(profile.paths), unknown)
    for name, table in (("name", known.names), ("parent", known.names), ("object", known.objects)):
        rows[name] = table.resolve(process, rows[name].astype(np.uint32))
    number = rows["shape"].astype(np.uint32)
    rows["shape"] = known.shapes.resolve(process, number)
    rows["view"] = known.views.resolve(process, number)
    lost = (number != 0) & (rows["shape"] < 0) & (rows["view"] < 0)
    rows["flags"][lost] |= np.uint16(EventFlag.NO_OFFSET)
    for name in ("start_ns", "last_start_ns", "end_ns"):
        rows[name] += clock.shift_ns[process]
    rows["rank"] = profile.processes["rank"][process]
    rows["process"] = (np.cumsum(counted) - 1)[process]
    return rows, left_out


def _in_order(
    rows: NDArray[Any], ids: NDArray[np.uint64]
) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """By process, thread and sequence; of a run that is in slot and log the longer one."""
    order = np.lexsort((-rows["count"], rows["sequence"], rows["thread"], rows["process"]))
    rows, ids = rows[order], ids[order]
    first = np.ones(len(rows), bool)
    same = np.ones(len(rows) - 1, bool)
    for name in ("process", "thread", "sequence"):
        same &= rows[name][1:] == rows[name][:-1]
    first[1:] = ~same
    return (rows, ids) if first.all() else (rows[first], ids[first])


def _files(
    ids: NDArray[np.uint64], known: Any, n_paths: int, unknown: dict[int, int]
) -> NDArray[np.int64]:
    """Index of the path of each file id; -1 for 0; ids without a record get a new index."""
    unique, inverse = np.unique(ids, return_inverse=True)
    places = np.full(len(unique), -1)
    for i, number in enumerate(unique.tolist()):
        if number in known:
            places[i] = known[number]
        elif number:
            places[i] = unknown.setdefault(number, n_paths + len(unknown))
    return places[inverse.reshape(-1)]


def _bins(
    raws: Sequence[RawContainer],
    firsts: Sequence[int],
    profile: Profile,
    clock: Timeline,
    unknown: dict[int, int],
) -> NDArray[Any]:
    counted, files = profile.counted, _file_index(profile)
    parts = []
    for first, raw in zip(firsts, raws, strict=True):
        for owner, ids, layers, bins in raw.trace.bins:
            process = first + owner
            if not counted[process]:
                continue
            record, place = np.nonzero(bins["width_log2"])
            used = bins[record, place]
            part = np.zeros(len(used), BIN_ROW)
            part["process"], part["rank"] = process, profile.processes["rank"][process]
            part["file"] = _files(ids, files, len(profile.paths), unknown)[record]
            part["layer"] = layers[record]
            part["start_ns"] = used["start_ns"].astype(np.int64) + clock.shift_ns[process]
            part["width_ns"] = np.int64(1) << used["width_log2"].astype(np.int64)
            for name in ("calls", "read_bytes", "write_bytes", "busy_ns"):
                part[name] = np.minimum(used[name], np.uint64(1 << 62)).astype(np.int64)
            parts.append(part)
    joined = np.concatenate(parts) if parts else np.zeros(0, BIN_ROW)
    joined["process"] = (np.cumsum(counted) - 1)[joined["process"]] if len(joined) else 0
    return joined


def _lost_calls(raws: Sequence[RawContainer], profile: Profile) -> int:
    """Calls that found no room, as the threads or as the processes tell, whichever is more."""
    by_thread = sum(sum(raw.trace.lost.values()) for raw in raws)
    return max(by_thread, int(profile.processes["lost_events"].sum(dtype=np.float64)))


def _notes(
    raws: Sequence[RawContainer],
    profile: Profile,
    known: Descriptions,
    left_out: int,
    n_unknown: int,
) -> tuple[str, ...]:
    notes = []
    lost = _lost_calls(raws, profile)
    if lost:
        notes.append(
            f"{lost} calls found no room in the trace (the counters have them): "
            "raise STRIPEWISE_CAPTURE_BYTES"
        )
    damaged: Counter[str] = Counter()
    for raw in raws:
        damaged.update({key: number for key, number in raw.trace.damaged.items() if number})
    notes += [f"{number} {what} were left out" for what, number in damaged.items()]
    if known.damaged:
        notes.append(f"{known.damaged} damaged descriptions (names, datasets, views) left out")
    if n_unknown:
        notes.append(f"the names of {n_unknown} files found no room in the container")
    firsts = np.cumsum([0, *(len(raw.processes) for raw in raws)])[:-1].tolist()
    traced = {f + o for f, raw in zip(firsts, raws, strict=True) for o in raw.trace.tracing}
    silent = [p for p in np.flatnonzero(profile.counted).tolist() if p not in traced]
    silent = [p for p in silent if profile.processes["outermost_ns"][p]]
    if silent:
        notes.append(f"{len(silent)} processes recorded no single calls, only counters")
    if left_out:
        notes.append(f"{left_out} records of launchers and helpers are left out")
    return tuple(notes)
