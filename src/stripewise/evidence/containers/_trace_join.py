# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Joins the traces of all containers of a run, with their names, datasets and views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.containers import _trace_blocks as t
from stripewise.evidence.containers._join import Joined
from stripewise.evidence.containers._parse import RawContainer
from stripewise.evidence.trace import (
    BIN_ROW,
    PIECE_ROW,
    RECORDED_LAYERS,
    TRACE_ROW,
    EventFlag,
    Interned,
    IoLayer,
    RunProfile,
    ShapeKind,
    T,
    Trace,
    TraceObject,
    TraceShape,
    TraceView,
    bounded,
    call_order,
    copy_common,
    join_in_order,
    join_rows,
    take_rows,
)

SOURCE = "stripewise trace"


def join_traces(raws: Sequence[RawContainer], joined: Joined) -> Trace | None:
    """Join the traces in the containers of one run; None if none of its processes recorded events.

    Args:
        raws: Parsed containers; their rows are released.
        joined: Counters of these containers; only processes of the program are kept.
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
    """Return all rows in order, with the indices of the run, and the number of other rows."""
    parts, everyone = [], sum(len(rows) for raw in raws for _, rows, _ in raw.trace.rows)
    for rows in _of_program([raw.trace.rows for raw in raws], joined, files):
        _resolve_numbers(rows, known)
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
    """Yield the rows of the program's processes, with the run's processes, files and clock.

    Args:
        found: (owner, rows, file ids) of each container; the rows are changed.
        joined: Counters of the same containers.
        files: Table that maps file ids to indices of paths.
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
        """Return (n,) int64: indices of the ids."""
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


def _resolve_numbers(rows: NDArray[Any], known: Descriptions) -> None:
    """Replace the numbers of each row's process by the indices of the run, in place."""
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
    """Keep only the longer copy of a run that is in both slot and log; the rows are in order."""
    same = np.ones(max(len(rows) - 1, 0), bool)
    for name in ("sequence", "thread", "process"):
        same &= rows[name][1:] == rows[name][:-1]
        if not same.any():
            return rows
    place = np.cumsum(np.concatenate([[True], ~same])) - 1
    order = np.lexsort((-rows["count"], place))
    return take_rows(rows, order[np.searchsorted(place, np.arange(place[-1] + 1))])


def _lost_calls(raws: Sequence[RawContainer], profile: RunProfile) -> int:
    """Return the number of lost calls reported by threads or by processes, whichever is more."""
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
    """Yield notes on missing calls, descriptions and file names, and on records of helpers."""
    if lost:
        yield (
            f"{lost} calls were lost, as the trace reached its size limit (the counters "
            "include them): raise STRIPEWISE_CAPTURE_BYTES"
        )
    for what, number in sum((raw.trace.damaged for raw in raws), Counter()).items():
        yield f"{number} {what} were left out"
    if damaged:
        yield f"{damaged} damaged descriptions (names, datasets, views) left out"
    if unknown:
        yield f"the names of {unknown} files were lost, as the container reached its size limit"
    traced = {p[o] for p, raw in zip(joined.places, raws, strict=True) for o in raw.trace.tracing}
    used = np.flatnonzero(joined.profile.program["outermost_ns"]).tolist()
    silent = len([process for process in used if process not in traced])
    if silent:
        processes = "1 process" if silent == 1 else f"{silent} processes"
        yield f"{processes} recorded no single calls, only counters"
    if helpers:
        yield f"{helpers} records of launchers and helpers are left out"


# Names, objects, shapes and views of a trace: parsed, with equal ones of all processes merged.

_MOST_DIMS = 32
_LARGEST = np.iinfo(np.int64).max


class Lookup:
    """Index of each of many keys."""

    def __init__(self, index: Mapping[int, int]) -> None:
        keys = np.fromiter(index.keys(), np.uint64, len(index))
        order = np.argsort(keys)
        self._keys = keys[order]
        self._places = np.fromiter(index.values(), np.int64, len(index))[order]

    def of(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return (n,) int64: indices of keys; -1 for unknown keys."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._places[at], -1)


class Described(Interned[T]):
    """Values of all processes, with equal ones stored once.

    `index` maps (process << 32 | number in that process) to the number here; if a number is
    described twice, the later description applies.
    """

    def __init__(self) -> None:
        super().__init__()
        self.index: dict[int, int] = {}

    def add(self, process: int, number: int, key: Hashable, make: Callable[[], T]) -> None:
        """Store a description."""
        self.index[process << 32 | number] = self.number(key, make)

    def find(self, process: int, number: int) -> int:
        """Return the index of an earlier description; -1 if there is none."""
        return self.index.get(process << 32 | number, -1) if number else -1

    @cached_property
    def table(self) -> Lookup:
        """Lookup table of the keys of `index`, once everything is described."""
        return Lookup(self.index)


@dataclass
class Descriptions:
    """Meanings of all the numbers in the rows of a run.

    Attributes:
        files: Index of the path by file id.
        damaged: Number of records that make no sense.
    """

    files: Mapping[int, int]
    names: Described[str] = field(default_factory=Described)
    objects: Described[TraceObject] = field(default_factory=Described)
    shapes: Described[TraceShape] = field(default_factory=Described)
    views: Described[TraceView] = field(default_factory=Described)
    damaged: int = 0

    def add(self, process: int, kind: int, record: bytes) -> None:
        """Parse one record of a process."""
        try:
            _PARSERS[kind](self, process, record)
        except ValueError:
            self.damaged += 1


def _add_name(into: Descriptions, process: int, record: bytes) -> None:
    head = _fixed_part(record, t.NAME_RECORD)
    start = t.NAME_RECORD.itemsize
    text = record[start : start + int(head["text_bytes"])]
    into.names.add(
        process, int(head["name"]), text, lambda: text.rstrip(b"\0").decode(errors="replace")
    )


def _add_object(into: Descriptions, process: int, record: bytes) -> None:
    head = _fixed_part(record, t.OBJECT_RECORD)
    start, n = t.OBJECT_RECORD.itemsize, int(head["n_dims"])
    numbers = _numbers(record, start, 3 * n)
    if n > _MOST_DIMS or head["layer"] >= len(RECORDED_LAYERS):
        raise ValueError
    end = start + 24 * n + int(head["name_bytes"])
    key = record[8:16] + record[20:end]

    def make() -> TraceObject:
        extents, maximum, chunk = (numbers[i * n : (i + 1) * n].tolist() for i in range(3))
        unlimited = np.frombuffer(record, np.uint64, n, start + 8 * n) == np.uint64(2**64 - 1)
        name = record[start + 24 * n : end].rstrip(b"\0").decode(errors="replace")
        return TraceObject(
            file=into.files.get(int(head["file_id"]), -1),
            layer=int(head["layer"]),
            name=name,
            extents=tuple(extents),
            maximum=tuple(
                -1 if free else most for most, free in zip(maximum, unlimited, strict=True)
            ),
            chunk=tuple(chunk) if any(chunk) else (),
            element_bytes=int(head["element_bytes"]),
            type_class=_word(t.TYPE_CLASSES, int(head["type_class"])),
            storage=_word(t.STORAGES, int(head["storage"])),
        )

    into.objects.add(process, int(head["object"]), key, make)


def _add_shape(into: Descriptions, process: int, record: bytes) -> None:
    head = _fixed_part(record, t.SHAPE_RECORD)
    kind, n, boxes = (
        t.SHAPE_KINDS.get(int(head["kind"])),
        int(head["n_dims"]),
        int(head["n_boxes"]),
    )
    if n > _MOST_DIMS or kind is None:
        raise ValueError
    listed = kind in (ShapeKind.BOXES, ShapeKind.POINTS)
    more = 3 * n if kind is ShapeKind.REGULAR else 2 * n * boxes if listed else 0
    numbers = _numbers(record, t.SHAPE_RECORD.itemsize, n + more)
    owner = into.objects.find(process, int(head["object"]))
    memory = into.shapes.find(process, int(head["memory"]))
    end = t.SHAPE_RECORD.itemsize + 8 * (n + more)

    def make() -> TraceShape:
        regular = numbers[n:].reshape(3, n).tolist() if kind is ShapeKind.REGULAR else None
        stride, count, block = map(tuple, regular) if regular else ((), (), ())
        return TraceShape(
            object=owner,
            kind=kind,
            extents=tuple(numbers[:n].tolist()),
            stride=stride,
            count=count,
            block=block,
            boxes=numbers[n:].reshape(boxes, 2, n) if listed else None,
            truncated=bool(int(head["flags"]) & t.SHAPE_TRUNCATED),
            total_boxes=min(int(head["total_boxes"]), _LARGEST),
            elements=min(int(head["elements"]), _LARGEST),
            memory=memory,
        )

    key = (owner, memory, record[16:24], record[32:end])
    into.shapes.add(process, int(head["shape"]), key, make)


def _add_view(into: Descriptions, process: int, record: bytes) -> None:
    head = _fixed_part(record, t.VIEW_RECORD)
    pieces = np.frombuffer(record, t.PIECE, int(head["n_pieces"]), t.VIEW_RECORD.itemsize)

    def make() -> TraceView:
        return TraceView(
            file=into.files.get(int(head["file_id"]), -1),
            displacement=int(head["displacement"]),
            etype_bytes=min(int(head["etype_bytes"]), _LARGEST),
            filetype_bytes=min(int(head["filetype_bytes"]), _LARGEST),
            lower=int(head["filetype_lower"]),
            extent=int(head["filetype_extent"]),
            pieces=_pieces(pieces),
            truncated=bool(int(head["flags"]) & t.VIEW_TRUNCATED),
            total_pieces=min(int(head["total_pieces"]), _LARGEST),
        )

    end = t.VIEW_RECORD.itemsize + pieces.nbytes
    into.views.add(process, int(head["view"]), record[8:16] + record[20:end], make)


_PARSERS: dict[int, Callable[[Descriptions, int, bytes], None]] = {
    t.TraceRecordKind.NAME: _add_name,
    t.TraceRecordKind.OBJECT: _add_object,
    t.TraceRecordKind.SHAPE: _add_shape,
    t.TraceRecordKind.VIEW: _add_view,
}
"""Parser of each kind of record; `ValueError` if it is too short, or makes no sense."""


def _fixed_part(record: bytes, dtype: np.dtype[Any]) -> Any:
    return np.frombuffer(record, dtype, 1)[0]


def _numbers(record: bytes, start: int, count: int) -> NDArray[np.int64]:
    """Return (count,) int64 numbers of a record, from `start` on."""
    return bounded(np.frombuffer(record, np.uint64, count, start))


def _pieces(found: NDArray[Any]) -> NDArray[Any]:
    rows = np.zeros(len(found), PIECE_ROW)
    copy_common(rows, found)
    for name in ("bytes", "count", "inner"):
        rows[name] = bounded(found[name])
    return rows


def _word(words: Sequence[str], number: int) -> str:
    return words[number] if number < len(words) else "other"
