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
    bins = [np.zeros(0, BIN_ROW), *_of_program([raw.trace.bins for raw in raws], joined, files)]
    lost_calls = _lost_calls(raws, profile)
    return Trace(
        source=SOURCE,
        rows=rows,
        names=known.names.values,
        paths=(*profile.paths, *(f"(file {number:016x})" for number in files.unknown)),
        objects=known.objects.values,
        shapes=known.shapes.values,
        views=known.views.values,
        bins=join_rows(bins),
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
    parts, everyone = [], sum(len(rows) for raw in raws for _, rows, _ in raw.trace.rows)
    for rows in _of_program([raw.trace.rows for raw in raws], joined, files):
        _give_meaning(rows, known)
        parts.append(rows)
    for raw in raws:
        raw.trace.rows = []
    left_out = everyone - sum(map(len, parts))
    if not parts:
        return np.zeros(0, TRACE_ROW), left_out
    return _longest(join_in_order(parts, call_order(*parts))), left_out


def _of_program(
    found: Sequence[Sequence[tuple[int, NDArray[Any], NDArray[np.uint64]]]],
    joined: Joined,
    files: _FileTable,
) -> Iterator[NDArray[Any]]:
    """Yield rows of the program's processes, with the run's processes, files and clock.

    Args:
        found: Of each container: (owner, rows, file ids); the rows are changed.
        joined: Of the same containers.
        files: What the ids mean.
    """
    processes = joined.profile.processes
    for place, parts in zip(joined.places, found, strict=True):
        for owner, rows, ids in parts:
            process = processes[place[owner]]
            if not process["is_program"]:
                continue
            rows["process"], rows["rank"] = place[owner], process["rank"]
            rows["file"] = files.of(ids)
            for name in {"start_ns", "last_start_ns", "end_ns"}.intersection(
                rows.dtype.names or ()
            ):
                rows[name] += process["shift_ns"]
            yield rows


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


def _give_meaning(rows: NDArray[Any], known: Descriptions) -> None:
    """Put the run's indices in the place of the numbers of their process, in place."""
    process = rows["process"].astype(np.uint64) << np.uint64(32)

    def indices(name: str, of: Described[Any]) -> NDArray[np.int64]:
        number = rows[name].astype(np.uint32).astype(np.uint64)
        if not number.any():
            return np.full(len(number), -1)
        return np.where(number, of.table.of(number | process), -1)

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


def _lost_calls(raws: Sequence[RawContainer], profile: RunProfile) -> int:
    """Calls that found no room, as the threads or as the processes tell, whichever is more."""
    by_thread = sum(raw.trace.lost for raw in raws)
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
