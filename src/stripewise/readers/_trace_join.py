# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The traces of all containers of a run, joined into one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import BIN_ROW, TRACE_ROW, EventFlag, IoLayer, RunProfile, Trace
from stripewise.readers._expand import call_order
from stripewise.readers._parse import RawContainer, normal_path
from stripewise.readers._rows import join_in_order, join_rows, take_rows
from stripewise.readers._timeline import Timeline, timeline
from stripewise.readers._trace_described import Descriptions, Lookup

SOURCE = "stripewise trace"


def join_traces(raws: Sequence[RawContainer], profile: RunProfile) -> Trace | None:
    """Join what the containers of one run hold; None if none of its processes had capture on.

    Args:
        raws: In the order in which `profile` was joined from them.
        profile: Of the same containers; only the processes that it counts are kept.
    """
    if not any(raw.trace.tracing for raw in raws) and not profile.processes["capture"].any():
        return None
    clock = timeline(profile.processes)
    places = _places(raws, profile)
    files = _file_index(raws, profile)
    known = Descriptions(files)
    for place, raw in zip(places, raws, strict=True):
        for owner, kind, record in raw.trace.described:
            known.add(place[owner], kind, record)
    unknown: dict[int, int] = {}
    rows, left_out = _rows(raws, places, profile, known, clock, unknown)
    bins = _bins(raws, places, profile, files, clock, unknown)
    return Trace(
        source=SOURCE,
        rows=rows,
        names=known.names.values,
        paths=(*profile.paths, *(f"(file {number:016x})" for number in unknown)),
        objects=known.objects.values,
        shapes=known.shapes.values,
        views=known.views.values,
        bins=bins,
        process_rank=profile.program["rank"].astype(np.int64),
        process_host=profile.program["host"].astype(np.int64),
        hosts=profile.hosts,
        n_ranks=profile.n_ranks,
        start=clock.start,
        lost_calls=_lost_calls(raws, profile),
        notes=_notes(raws, places, profile, known, left_out, len(unknown)),
    )


def _places(raws: Sequence[RawContainer], profile: RunProfile) -> list[list[int]]:
    """Row in the profile's table of each container's processes."""
    place = np.argsort(profile.processes["number"]).tolist()
    ends = np.cumsum([len(raw.processes) for raw in raws]).tolist()
    return [place[end - len(raw.processes) : end] for end, raw in zip(ends, raws, strict=True)]


def _file_index(raws: Sequence[RawContainer], profile: RunProfile) -> dict[int, int]:
    index = {os.fsencode(path): row for row, path in enumerate(profile.paths)}
    return {
        int(entry.record["file_id"][0]): index[normal_path(entry.path)]
        for raw in raws
        for entry in raw.files
    }


def _rows(
    raws: Sequence[RawContainer],
    places: Sequence[Sequence[int]],
    profile: RunProfile,
    known: Descriptions,
    clock: Timeline,
    unknown: dict[int, int],
) -> tuple[NDArray[Any], int]:
    """All rows with the run's own indices, in order, and how many are of other processes."""
    meanings = _Meanings(known, _FileTable(known.files, len(profile.paths), unknown))
    parts, left_out = [], 0
    for place, raw in zip(places, raws, strict=True):
        for owner, found, ids in raw.trace.rows:
            process = place[owner]
            if process >= profile.n_processes:
                left_out += len(found)
                continue
            meanings.give(found, ids, process)
            for name in ("start_ns", "last_start_ns", "end_ns"):
                found[name] += clock.shift_ns[process]
            found["rank"] = profile.processes["rank"][process]
            parts.append(found)
        raw.trace.rows = []
    if not parts:
        return np.zeros(0, TRACE_ROW), left_out
    return _longest(join_in_order(parts, call_order(*parts))), left_out


class _FileTable:
    """Index of the path of each file id; -1 for 0; ids without a record get a new index."""

    def __init__(self, known: Mapping[int, int], n_paths: int, unknown: dict[int, int]) -> None:
        self.known = Lookup(known)
        self.n_paths, self.unknown = n_paths, unknown

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


class _Meanings:
    """Puts the run's indices in the place of the numbers of one process."""

    def __init__(self, known: Descriptions, files: _FileTable) -> None:
        self.files = files
        self.names, self.objects = Lookup(known.names.index), Lookup(known.objects.index)
        self.shapes, self.views = Lookup(known.shapes.index), Lookup(known.views.index)

    def give(self, rows: NDArray[Any], ids: NDArray[np.uint64], process: int) -> None:
        """Change rows of one process, in place."""

        def indices(name: str, table: Lookup) -> NDArray[np.int64]:
            number = rows[name].astype(np.uint32).astype(np.uint64)
            if not number.any():
                return np.full(len(number), -1)
            return np.where(number, table.of(number | np.uint64(process << 32)), -1)

        rows["process"] = process
        rows["file"] = self.files.of(ids)
        through = rows["layer"] == IoLayer.MPIIO
        rows["memory"] = np.where(through, indices("object", self.views), -1)
        rows["object"][through] = 0
        for name in ("name", "parent"):
            rows[name] = indices(name, self.names)
        rows["object"] = indices("object", self.objects)
        described = rows["shape"] != 0
        rows["view"], rows["shape"] = indices("shape", self.views), indices("shape", self.shapes)
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


def _bins(
    raws: Sequence[RawContainer],
    places: Sequence[Sequence[int]],
    profile: RunProfile,
    known: Mapping[int, int],
    clock: Timeline,
    unknown: dict[int, int],
) -> NDArray[Any]:
    files = _FileTable(known, len(profile.paths), unknown)
    parts = []
    for places_of, raw in zip(places, raws, strict=True):
        for owner, ids, layers, bins in raw.trace.bins:
            process = places_of[owner]
            if process >= profile.n_processes:
                continue
            record, place = np.nonzero(bins["width_log2"])
            used = bins[record, place]
            part = np.zeros(len(used), BIN_ROW)
            part["process"], part["rank"] = process, profile.processes["rank"][process]
            part["file"] = files.of(ids)[record]
            part["layer"] = layers[record]
            part["start_ns"] = used["start_ns"].astype(np.int64) + clock.shift_ns[process]
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
    places: Sequence[Sequence[int]],
    profile: RunProfile,
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
    traced = {p[o] for p, raw in zip(places, raws, strict=True) for o in raw.trace.tracing}
    used = np.flatnonzero(profile.program["outermost_ns"]).tolist()
    silent = [process for process in used if process not in traced]
    if silent:
        processes = "1 process" if len(silent) == 1 else f"{len(silent)} processes"
        notes.append(f"{processes} recorded no single calls, only counters")
    if left_out:
        notes.append(f"{left_out} records of launchers and helpers are left out")
    return tuple(notes)
