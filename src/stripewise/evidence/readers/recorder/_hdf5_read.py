# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the logs `log.RANK` of a directory, or one of them, as evidence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from stripewise.core import Gap, ReportedPart
from stripewise.core.errors import TraceError
from stripewise.core.inputs import RECORDER_FILE
from stripewise.evidence.readers._base import RankLogs, parsed_lines
from stripewise.evidence.readers._calls import CallLog, evidence_of
from stripewise.evidence.readers.recorder._hdf5_calls import (
    Datasets,
    ElementType,
    Follower,
    Hdf5Call,
    Slab,
    is_timed,
    parse_line,
)
from stripewise.evidence.readers.recorder._interpret import Interpreter
from stripewise.evidence.trace import (
    EventFlag,
    Evidence,
    IoLayer,
    ShapeKind,
    TraceObject,
    TraceShape,
)

MAXIMUM_CALLS = 5_000_000
_FARTHEST = 1 << 62
_MOST_NOTES = 20


class Hdf5RecorderSource(RankLogs):
    """A directory USER_PROGRAM/ with log.0, log.1, ... of the first Recorder, or one log."""

    name = "hdf5-recorder"
    summary = "logs of the 2013 Recorder (a directory with log.RANK files, or one of them)"
    kind = "recorder"
    budget = RECORDER_FILE
    file_name = re.compile(r"log\.(\d{1,8})")

    def is_call(self, line: str) -> bool:
        """Return whether a line is `time name (arguments) result duration`."""
        return is_timed(line)

    def read_one(self, path: Path) -> Evidence:
        """Read all logs of a directory, or one.

        Raises:
            TraceError: They contain no call.
            OSError: They cannot be opened.
        """
        notes: list[str] = []
        files = self.texts(path)
        if not files:
            raise TraceError(f"{path}: no files log.0, log.1, ... in it")
        if not path.is_dir():
            notes.append(f"one rank's log only (rank {min(files)}): name the directory for all")
        return _Run(files, notes).evidence()


class _Run:
    """All ranks: first their calls, then what needs all of them (extents, shapes, rows)."""

    def __init__(self, files: dict[int, Path], notes: list[str]) -> None:
        self._files = files
        self._notes = notes
        self._calls = CallLog()
        self._datasets: Datasets = {}
        self._untied = 0
        self._unknown_types: set[str] = set()

    def evidence(self) -> Evidence:
        partial_notes: list[str] = []
        origin = self._origin()
        pending: list[tuple[int, Hdf5Call]] = []
        for rank, path in self._files.items():
            follower = Follower(self._datasets, origin)
            room = MAXIMUM_CALLS - len(pending) - len(self._calls)
            lines = parsed_lines(path, parse_line, partial_notes)
            pending += [(rank, call) for call in follower.follow(islice(lines, room))]
            Interpreter(rank, self._calls, Counter()).follow(follower.others)
            self._untied += follower.untied
            if len(pending) + len(self._calls) >= MAXIMUM_CALLS:
                partial_notes.append(
                    f"more than {MAXIMUM_CALLS} calls: ranks after {rank} are left out"
                )
                break
        if not pending and not len(self._calls):
            raise TraceError(f"{next(iter(self._files.values()))}: no call in it can be read")
        self._guess_extents(pending)
        for rank, call in pending:
            self._add(rank, call)
        return self._finish(origin, partial_notes)

    def _origin(self) -> float:
        """Return the time of the earliest line of any rank, in seconds since 1970."""
        firsts = []
        for path in self._files.values():
            times = (line.start for line in parsed_lines(path, parse_line, []))
            firsts.append(next((time for time in times if not math.isnan(time)), math.inf))
        earliest = min(firsts)
        return earliest if math.isfinite(earliest) else 0.0

    def _guess_extents(self, pending: list[tuple[int, Hdf5Call]]) -> None:
        """Estimate extents of datasets that were only opened, from all selections."""
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
        if call.dataset is not None and call.slab is not None:
            object_ = self._calls.objects.number(id(call.dataset), lambda: self._object(call))
            shape, offset = self._shape(object_, call.slab, call.elements)
            element = call.dataset.element
            n_bytes = self._calls.shapes[shape].elements * (element.n_bytes if element else 1)
        elif call.flags & EventFlag.NO_OFFSET:
            offset = None
        self._calls.add(
            *(rank, call.name, IoLayer.HDF5, call.op),
            path=call.path,
            start=call.start,
            end=call.end,
            offset=offset,
            n_bytes=n_bytes,
            flags=call.flags,
            object_=object_,
            shape=shape,
        )

    def _object(self, call: Hdf5Call) -> TraceObject:
        dataset = call.dataset
        assert dataset is not None
        if dataset.element is None:
            self._unknown_types.add(f"{dataset.path}:{dataset.name}")
        element = dataset.element or ElementType(1, "other")
        return TraceObject(
            file=self._calls.paths.number(dataset.path) if dataset.path else -1,
            layer=IoLayer.HDF5,
            name=dataset.name,
            extents=dataset.extents or (),
            chunk=dataset.chunk,
            element_bytes=element.n_bytes,
            type_class=element.type_class,
            storage="chunked" if dataset.chunk else "contiguous",
        )

    def _shape(self, object_: int, slab: Slab, elements: int) -> tuple[int, int | None]:
        """Return the index of the shape, and the place of its lower corner in C order."""
        extents = self._calls.objects[object_].extents
        kind = slab.kind
        if kind == ShapeKind.REGULAR and len(slab.start) != len(extents):
            kind = ShapeKind.BOXES
        regular = kind == ShapeKind.REGULAR
        if regular:
            elements = slab.elements
        elif kind == ShapeKind.ALL:
            elements = math.prod(extents)
        shape = TraceShape(
            object_,
            kind,
            extents,
            stride=slab.stride if regular else (),
            count=slab.count if regular else (),
            block=slab.block if regular else (),
            truncated=kind in (ShapeKind.BOXES, ShapeKind.POINTS),
            elements=elements if elements < _FARTHEST and kind != ShapeKind.NONE else 0,
        )
        offset = _corner(slab.start, extents) if regular else 0
        return self._calls.shapes.number(shape), offset

    def _finish(self, origin: float, partial_notes: list[str]) -> Evidence:
        return evidence_of(
            self._calls,
            self._calls.rows(),
            [*partial_notes[:_MOST_NOTES], *self._notes, *self._remarks()],
            gaps=tuple(self._gaps(partial_notes)),
            n_processes=len(self._files),
            layers=("posix", "mpiio", "hdf5"),
            partial=bool(partial_notes or self._notes),
            source="Recorder (2013) log",
            n_ranks=max(self._files) + 1,
            start=origin,
        )

    def _gaps(self, partial_notes: list[str]) -> Iterator[Gap]:
        """Yield the amounts that are unknown or incomplete."""
        yield from (
            Gap(ReportedPart.ALL, text) for text in (*partial_notes[:_MOST_NOTES], *self._notes)
        )
        if text := self._missing_ranks():
            yield Gap(ReportedPart.ALL, text)
        if text := self._without_dataset():
            yield Gap(ReportedPart.BYTES, text)
        if self._unknown_types:
            yield Gap(ReportedPart.BYTES, "the sizes of some element types are not known")

    def _missing_ranks(self) -> str:
        missing = max(self._files) + 1 - len(self._files)
        if not missing or self._notes:
            return ""
        return f"logs of {missing} ranks below {max(self._files)} are missing"

    def _without_dataset(self) -> str:
        if not self._untied:
            return ""
        return f"{self._untied} reads and writes are of datasets that no line opened"

    def _remarks(self) -> list[str]:
        notes = ["only the program's own calls are in these logs, not those that libraries made"]
        notes += filter(None, (self._missing_ranks(), self._without_dataset()))
        guessed = [d.name for d in self._datasets.values() if d.guessed]
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
    """Return the index in C order; None if it is outside of the range of numbers."""
    index = 0
    for place, (begin, extent) in enumerate(zip(start, extents, strict=True)):
        if place and begin >= max(extent, 1):
            return None
        index = index * max(extent, 1) + begin
    return index if index < _FARTHEST else None
