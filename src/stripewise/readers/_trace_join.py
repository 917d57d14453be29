# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The traces of all containers of a run, joined into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import BIN_ROW, TRACE_ROW, EventFlag, IoLayer, RunProfile, Trace
from stripewise.readers._expand import call_order
from stripewise.readers._join import Joined
from stripewise.readers._parse import RawContainer
from stripewise.readers._rows import join_in_order, join_rows, take_rows
from stripewise.readers._trace_described import Described, Descriptions, Lookup

SOURCE = "stripewise trace"


def join_traces(raws: Sequence[RawContainer], joined: Joined) -> Trace | None:
    """Join what the containers of one run hold; None if none of its processes had capture on.

    Args:
        raws: Their rows are given up.
        joined: Their counters; only the processes that are the program's are kept.
    """
    profile, places = joined.profile, joined.places
    if not any(raw.trace.tracing for raw in raws) and not profile.processes["capture"].any():
        return None
    known = Descriptions(joined.files)
    for place, raw in zip(places, raws, strict=True):
        for owner, kind, record in raw.trace.described:
            known.add(place[owner], kind, record)
    files = _FileTable(joined.files, len(profile.paths))
    rows, left_out = _rows(raws, joined, known, files)
    bins = _bins(raws, joined, files)
    lost_calls = _lost_calls(raws, profile)
    return Trace(
        source=SOURCE,
        rows=rows,
        names=known.names.values,
        paths=(*profile.paths, *(f"(file {number:016x})" for number in files.unknown)),
        objects=known.objects.values,
        shapes=known.shapes.values,
        views=known.views.values,
        bins=bins,
        process_rank=profile.program["rank"].astype(np.int64),
        process_host=profile.program["host"].astype(np.int64),
        hosts=profile.hosts,
        n_ranks=profile.n_ranks,
        start=profile.start,
        lost_calls=lost_calls,
        notes=tuple(_notes(raws, joined, lost_calls, known.damaged, len(files.unknown), left_out)),
    )


def _rows(
    raws: Sequence[RawContainer], joined: Joined, known: Descriptions, files: _FileTable
) -> tuple[NDArray[Any], int]:
    """All rows with the run's own indices, in order, and how many are of other processes."""
    processes = joined.profile.processes
    parts, left_out = [], 0
    for place, raw in zip(joined.places, raws, strict=True):
        for owner, found, ids in raw.trace.rows:
            process = place[owner]
            if not processes["is_program"][process]:
                left_out += len(found)
                continue
            _give_meaning(found, process, known)
            found["process"], found["file"] = process, files.of(ids)
            for name in ("start_ns", "last_start_ns", "end_ns"):
                found[name] += processes["shift_ns"][process]
            found["rank"] = processes["rank"][process]
            parts.append(found)
        raw.trace.rows = []
    if not parts:
        return np.zeros(0, TRACE_ROW), left_out
    return _longest(join_in_order(parts, call_order(*parts))), left_out


class _FileTable:
    """Index of the path of each file id; -1 for 0; ids without a record get a new index."""

    def __init__(self, known: Mapping[int, int], n_paths: int) -> None:
        self.known, self.n_paths = Lookup(known), n_paths
        self.unknown: dict[int, int] = {}

    def of(self, ids: NDArray[np.uint64]) -> NDArray[np.int64]:
        """(n,) int64 indices of ids."""
        found = self.known.of(ids)
        strange = (found < 0) & (ids != 0)
        if strange.any():
            unique, inverse = np.unique(ids[strange], return_inverse=True)
            places = [
                self.unknown.setdefault(number, self.n_paths + len(self.unknown))
                for number in unique.tolist()
            ]
            found[strange] = np.array(places)[inverse.reshape(-1)]
        return found


def _give_meaning(rows: NDArray[Any], process: int, known: Descriptions) -> None:
    """Put the run's indices in the place of the numbers of one process, in place."""

    def indices(name: str, of: Described[Any]) -> NDArray[np.int64]:
        number = rows[name].astype(np.uint32).astype(np.uint64)
        if not number.any():
            return np.full(len(number), -1)
        return np.where(number, of.table.of(number | np.uint64(process << 32)), -1)

    through = rows["layer"] == IoLayer.MPIIO
    rows["memory"] = np.where(through, indices("object", known.views), -1)
    rows["object"][through] = 0
    for name in ("name", "parent"):
        rows[name] = indices(name, known.names)
    rows["object"] = indices("object", known.objects)
    described = rows["shape"] != 0
    rows["view"], rows["shape"] = indices("shape", known.views), indices("shape", known.shapes)
    lost = described & (rows["shape"] < 0) & (rows["view"] < 0)
    rows["flags"][lost] |= np.uint16(EventFlag.NO_OFFSET)


def _longest(rows: NDArray[Any]) -> NDArray[Any]:
    """Of a run that is in slot and log only the longer one; the rows are in order."""
    same = np.ones(max(len(rows) - 1, 0), bool)
    for name in ("sequence", "thread", "process"):
        same &= rows[name][1:] == rows[name][:-1]
        if not same.any():
            return rows
    place = np.cumsum(np.concatenate([[True], ~same])) - 1
    order = np.lexsort((-rows["count"], place))
    return take_rows(rows, order[np.searchsorted(place, np.arange(place[-1] + 1))])


def _bins(raws: Sequence[RawContainer], joined: Joined, files: _FileTable) -> NDArray[Any]:
    processes = joined.profile.processes
    parts = []
    for place, raw in zip(joined.places, raws, strict=True):
        for owner, ids, layers, bins in raw.trace.bins:
            process = place[owner]
            if not processes["is_program"][process]:
                continue
            record, number = np.nonzero(bins["width_log2"])
            used = bins[record, number]
            part = np.zeros(len(used), BIN_ROW)
            part["process"], part["rank"] = process, processes["rank"][process]
            part["file"] = files.of(ids)[record]
            part["layer"] = layers[record]
            part["start_ns"] = used["start_ns"].astype(np.int64) + processes["shift_ns"][process]
            part["width_ns"] = np.int64(1) << used["width_log2"].astype(np.int64)
            for name in ("calls", "read_bytes", "write_bytes", "busy_ns"):
                part[name] = np.minimum(used[name], np.uint64(1 << 62)).astype(np.int64)
            parts.append(part)
    return join_rows(parts) if parts else np.zeros(0, BIN_ROW)


def _lost_calls(raws: Sequence[RawContainer], profile: RunProfile) -> int:
    """Calls that found no room, as the threads or as the processes tell, whichever is more."""
    by_thread = sum(sum(raw.trace.lost.values()) for raw in raws)
    return max(by_thread, int(profile.processes["lost_events"].sum(dtype=np.float64)))


def _notes(
    raws: Sequence[RawContainer],
    joined: Joined,
    lost: int,
    damaged: int,
    unknown: int,
    helpers: int,
) -> Iterator[str]:
    """Yield what is missing: calls, descriptions, names of files, and records of helpers."""
    if lost:
        yield (
            f"{lost} calls found no room in the trace (the counters have them): "
            "raise STRIPEWISE_CAPTURE_BYTES"
        )
    for what, number in sum((raw.trace.damaged for raw in raws), Counter()).items():
        yield f"{number} {what} were left out"
    if damaged:
        yield f"{damaged} damaged descriptions (names, datasets, views) left out"
    if unknown:
        yield f"the names of {unknown} files found no room in the container"
    traced = {p[o] for p, raw in zip(joined.places, raws, strict=True) for o in raw.trace.tracing}
    used = np.flatnonzero(joined.profile.program["outermost_ns"]).tolist()
    silent = len([process for process in used if process not in traced])
    if silent:
        processes = "1 process" if silent == 1 else f"{silent} processes"
        yield f"{processes} recorded no single calls, only counters"
    if helpers:
        yield f"{helpers} records of launchers and helpers are left out"
