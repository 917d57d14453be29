# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs `log.RANK` of a directory, or one of them -> Evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from stripewise.errors import TraceError
from stripewise.model import (
    EventFlag,
    Evidence,
    IoLayer,
    RunProfile,
    ShapeKind,
    Trace,
    TraceObject,
    TraceShape,
)
from stripewise.readers.sources._accesses import foreign_accesses
from stripewise.readers.sources._base import Source, head_of, open_text
from stripewise.readers.sources._calls import CallLog, counters_of, heat_of, set_processes
from stripewise.readers.sources._hdf5_recorder._follow import Follower, Hdf5Call
from stripewise.readers.sources._hdf5_recorder._line import (
    LONGEST_LINE,
    Line,
    is_timed,
    parse_line,
)
from stripewise.readers.sources._hdf5_recorder._objects import Dataset, Datasets
from stripewise.readers.sources._recorder import Interpreter, RankRecords, Tally, Views

MAXIMUM_CALLS = 5_000_000
_FILE = re.compile(r"log\.(\d{1,8})")
_HEAD_BYTES = 4096
_SOURCE = "Recorder (2013) log"
_FARTHEST = 1 << 62
_MOST_NOTES = 20


class Hdf5RecorderSource(Source):
    """A directory USER_PROGRAM/ with log.0, log.1, ... of the first Recorder, or one log."""

    name = "hdf5-recorder"
    summary = "logs of the 2013 Recorder (a directory with log.RANK files, or one of them)"

    def recognises(self, path: Path) -> bool:
        """Look for a line `time name (arguments) result duration`."""
        files = list(_log_files(path).values())[:4] if path.is_dir() else [path]
        return any(_has_line(file) for file in files)

    def read(self, path: Path) -> Evidence:
        """Read all logs of a directory, or one."""
        return read_hdf5_recorder(path)


def _has_line(path: Path) -> bool:
    lines = head_of(path, _HEAD_BYTES).decode("utf-8", "replace").splitlines()[:40]
    return any(is_timed(line) for line in lines)


def _log_files(directory: Path) -> dict[int, Path]:
    try:
        entries = list(directory.iterdir())
    except OSError:
        return {}
    found = {int(m[1]): entry for entry in entries if (m := _FILE.fullmatch(entry.name))}
    return dict(sorted(found.items()))


def read_hdf5_recorder(path: Path) -> Evidence:
    """Read logs of the 2013 Recorder.

    Raises:
        TraceError: They cannot be read, or hold no call.
    """
    notes: list[str] = []
    files = _log_files(path) if path.is_dir() else {_rank_of(path): path}
    if not files:
        raise TraceError(f"{path}: no files log.0, log.1, ... in it")
    if not path.is_dir():
        notes.append(f"one rank's log only (rank {_rank_of(path)}): name the directory for all")
    try:
        return _Run(files, notes).evidence()
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror})") from error


def _rank_of(path: Path) -> int:
    match = _FILE.fullmatch(path.name)
    return int(match[1]) if match else 0


def _lines(path: Path, notes: list[str]) -> Iterator[Line]:
    unread = 0
    with open_text(path) as file:
        while text := file.readline(LONGEST_LINE):
            line = parse_line(text)
            if line is not None:
                yield line
            elif text.strip():
                unread += 1
    if unread:
        notes.append(f"{path.name}: {unread} lines are no calls and are left out")


class _Run:
    """All ranks: calls first, then what needs all of them (extents, shapes, rows)."""

    def __init__(self, files: dict[int, Path], notes: list[str]) -> None:
        self._files = files
        self._notes = notes
        self._calls = CallLog()
        self._datasets = Datasets()
        self._objects: dict[int, int] = {}
        self._described: list[TraceObject] = []
        self._shapes: dict[tuple[object, ...], int] = {}
        self._shape_list: list[TraceShape] = []
        self._views = Views()
        self._untied = 0
        self._unknown_types: set[str] = set()

    def evidence(self) -> Evidence:
        partial_notes: list[str] = []
        origin = self._origin()
        pending: list[tuple[int, Hdf5Call]] = []
        for rank, path in self._files.items():
            follower = Follower(self._datasets, origin)
            room = MAXIMUM_CALLS - len(pending) - len(self._calls)
            for call in follower.follow(islice(_lines(path, partial_notes), room)):
                pending.append((rank, call))
            records = RankRecords(rank, iter(follower.others))
            Interpreter(rank, self._calls, self._views, Tally()).follow(records)
            self._untied += follower.untied
            if len(pending) + len(self._calls) >= MAXIMUM_CALLS:
                partial_notes.append(
                    f"more than {MAXIMUM_CALLS} calls: ranks behind {rank} are left out"
                )
                break
        if not pending and not len(self._calls):
            raise TraceError(f"{next(iter(self._files.values()))}: no call in it can be read")
        self._guess_extents(pending)
        for rank, call in pending:
            self._add(rank, call)
        return self._finish(origin, partial_notes)

    def _origin(self) -> float:
        """Earliest first line of any rank, seconds since 1970."""
        firsts = []
        for path in self._files.values():
            times = (line.start for line in _lines(path, []))
            firsts.append(next((time for time in times if not math.isnan(time)), math.inf))
        earliest = min(firsts)
        return earliest if math.isfinite(earliest) else 0.0

    def _guess_extents(self, pending: list[tuple[int, Hdf5Call]]) -> None:
        """Of datasets that were only opened: all selections together."""
        for _, call in pending:
            dataset, slab = call.dataset, call.slab
            if dataset is None or slab is None or slab.kind != ShapeKind.REGULAR:
                continue
            if dataset.extents is None:
                dataset.extents, dataset.guessed = slab.end, True
            elif dataset.guessed and len(dataset.extents) == len(slab.end):
                dataset.extents = tuple(map(max, dataset.extents, slab.end))

    def _add(self, rank: int, call: Hdf5Call) -> None:
        object_ = shape = -1
        offset: int | None = call.offset
        n_bytes = 0
        if call.dataset is not None:
            object_ = self._object(call.dataset)
            shape, offset = self._shape(object_, call)
            elements = self._shape_list[shape].elements
            n_bytes = elements * (call.dataset.element.n_bytes if call.dataset.element else 1)
        elif call.flags & EventFlag.NO_OFFSET:
            offset = None
        self._calls.add(
            rank,
            call.name,
            IoLayer.HDF5,
            call.op,
            path=call.path,
            start=call.start,
            end=call.end,
            offset=offset,
            n_bytes=n_bytes,
            flags=call.flags,
            object_=object_,
            shape=shape,
        )

    def _object(self, dataset: Dataset) -> int:
        key = id(dataset)
        if key not in self._objects:
            self._objects[key] = len(self._described)
            element = dataset.element
            if element is None:
                self._unknown_types.add(f"{dataset.path}:{dataset.name}")
            self._described.append(
                TraceObject(
                    file=self._calls.paths(dataset.path) if dataset.path else -1,
                    layer=IoLayer.HDF5,
                    name=dataset.name,
                    extents=dataset.extents or (),
                    chunk=dataset.chunk,
                    element_bytes=element.n_bytes if element else 1,
                    type_class=element.type_class if element else "other",
                    storage="chunked" if dataset.chunk else "contiguous",
                )
            )
        return self._objects[key]

    def _shape(self, object_: int, call: Hdf5Call) -> tuple[int, int | None]:
        """Index of the shape, and the place of its lower corner in C order."""
        extents = self._described[object_].extents
        slab = call.slab
        assert slab is not None
        offset: int | None = 0
        kind = slab.kind
        if kind == ShapeKind.REGULAR and len(slab.start) != len(extents):
            kind = ShapeKind.BOXES
        if kind == ShapeKind.REGULAR:
            offset = _corner(slab.start, extents)
        irregular = kind in (ShapeKind.BOXES, ShapeKind.POINTS)
        key = (object_, kind, slab.stride, slab.count, slab.block, irregular and call.elements)
        if key not in self._shapes:
            self._shapes[key] = len(self._shape_list)
            self._shape_list.append(_trace_shape(object_, kind, extents, call))
        return self._shapes[key], offset

    def _finish(self, origin: float, partial_notes: list[str]) -> Evidence:
        rows = self._calls.rows()
        ranks = set_processes(rows)
        notes = [*partial_notes[:_MOST_NOTES], *self._notes, *self._remarks()]
        trace = Trace(
            source=_SOURCE,
            rows=rows,
            names=self._calls.names.texts,
            paths=self._calls.paths.texts,
            objects=tuple(self._described),
            shapes=tuple(self._shape_list),
            views=self._views.all(),
            process_rank=ranks,
            process_host=np.full(len(ranks), -1, np.int64),
            n_ranks=max(self._files) + 1,
            start=origin,
            notes=tuple(notes),
        )
        elapsed = float(rows["end_ns"].max(initial=0)) * 1e-9
        heat, width = heat_of(trace, elapsed)
        profile = RunProfile(
            source=_SOURCE,
            n_ranks=trace.n_ranks,
            n_processes=len(self._files),
            start=origin,
            elapsed_seconds=elapsed,
            paths=trace.paths,
            counters=counters_of(trace),
            layers=("posix", "mpiio", "hdf5"),
            heat=heat,
            heat_bin_seconds=width,
            partial=bool(partial_notes or self._notes),
            notes=trace.notes,
        )
        return Evidence(profile, trace, foreign_accesses(trace))

    def _remarks(self) -> list[str]:
        notes = ["only the program's own calls are in these logs, not those that libraries made"]
        missing = max(self._files) + 1 - len(self._files)
        if missing and not self._notes:
            notes.append(f"logs of {missing} ranks below {max(self._files)} are missing")
        if self._untied:
            notes.append(f"{self._untied} reads and writes are of datasets that no line opened")
        guessed = [d.name for d in self._datasets.found.values() if d.guessed]
        if guessed:
            notes.append(
                f"extents of {len(guessed)} datasets are not in the logs: those of all selections"
                f" together are taken ({', '.join(sorted(guessed)[:4])})"
            )
        if self._unknown_types:
            shown = ", ".join(sorted(self._unknown_types)[:4])
            notes.append(f"element types without a known size count as 1 byte: {shown}")
        return notes


def _corner(start: tuple[int, ...], extents: tuple[int, ...]) -> int | None:
    """Index in C order; None if it lies outside of what can be said."""
    index = 0
    for place, (begin, extent) in enumerate(zip(start, extents, strict=True)):
        if place and begin >= max(extent, 1):
            return None
        index = index * max(extent, 1) + begin
    return index if index < _FARTHEST else None


def _trace_shape(
    object_: int, kind: ShapeKind, extents: tuple[int, ...], call: Hdf5Call
) -> TraceShape:
    slab = call.slab
    assert slab is not None
    if kind == ShapeKind.REGULAR:
        elements = _known(slab.elements)
        return TraceShape(
            object_, kind, extents, slab.stride, slab.count, slab.block, elements=elements
        )
    if kind in (ShapeKind.BOXES, ShapeKind.POINTS):
        return TraceShape(object_, kind, extents, truncated=True, elements=_known(call.elements))
    whole = math.prod(extents) if kind == ShapeKind.ALL else 0
    return TraceShape(object_, kind, extents, elements=_known(whole))


def _known(elements: int) -> int:
    return elements if elements < _FARTHEST else 0
