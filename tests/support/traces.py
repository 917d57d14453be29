# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Make traces without running a program: what a process's part of a container holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.containers import _trace_blocks as t
from stripewise.evidence.trace import IoLayer, Op, ShapeKind

UNLIMITED = 2**64 - 1
RUN_BRIEF = 8
"""Calls from which on a run is written with its histogram, as in trace.h."""
BINS_PER_RECORD = 15
"""As in trace.h."""


@dataclass
class FakeCall:
    """A call, or a run of `count` equal ones; the members are those of `sw_event` and `sw_run`.

    Attributes:
        file: Path, "" for none.
        name / parent: Of functions; "" for none.
        object / shape: Numbers of a `FakeObject`, and of a `FakeShape` or `FakeView`, from 1.
        duration_ns: Of each call.
        step_ns: From one start to the next.
    """

    file: str = ""
    name: str = "pwrite"
    op: Op = Op.WRITE
    layer: IoLayer = IoLayer.POSIX
    offset: int = 0
    bytes: int = 0
    sequence: int = 1
    start_ns: int = 0
    duration_ns: int = 1000
    parent: str = ""
    depth: int = 0
    flags: int = 0
    object: int = 0
    shape: int = 0
    count: int = 1
    inner: tuple[int, int] = (0, 0)
    stride: tuple[int, int, int] = (0, 0, 0)
    sequence_stride: tuple[int, int, int] = (1, 0, 0)
    step_ns: int = 1000


@dataclass
class FakeObject:
    """A dataset."""

    file: str
    name: str
    extents: Sequence[int]
    element_bytes: int = 8
    layer: IoLayer = IoLayer.HDF5
    type_class: str = "float"
    storage: str = "contiguous"
    maximum: Sequence[int] = ()
    chunk: Sequence[int] = ()


@dataclass
class FakeShape:
    """A selection without where it begins.

    Attributes:
        numbers: Behind the extents: stride, count, block; or the boxes.
    """

    extents: Sequence[int]
    kind: ShapeKind = ShapeKind.REGULAR
    numbers: Sequence[int] = ()
    object: int = 1
    n_boxes: int = 0
    total_boxes: int = 1
    elements: int = 1
    flags: int = 0


@dataclass
class FakeView:
    """A file view; `pieces` are (offset, bytes, count, inner, stride)."""

    file: str
    pieces: Sequence[tuple[int, int, int, tuple[int, int], tuple[int, int, int]]]
    filetype_bytes: int
    extent: int
    displacement: int = 0
    etype_bytes: int = 1
    lower: int = 0
    flags: int = 0


@dataclass
class FakeBins:
    """Time bins of a file in a layer: (start_ns, width_log2, calls, read, written, busy_ns)."""

    file: str
    layer: IoLayer
    bins: Sequence[tuple[int, int, int, int, int, int]]


@dataclass
class FakeThread:
    """One thread: runs that are open in slots, its log, and logs in further blocks."""

    number: int = 1
    slots: Sequence[FakeCall] = ()
    log: Sequence[FakeCall] = ()
    more: Sequence[Sequence[FakeCall]] = ()
    lost_calls: int = 0


@dataclass
class FakeTrace:
    """What a process recorded; shapes and views share their numbers, in this order."""

    threads: Sequence[FakeThread] = (FakeThread(),)
    objects: Sequence[FakeObject] = ()
    shapes: Sequence[FakeShape | FakeView] = ()
    bins: Sequence[FakeBins] = ()
    names: dict[str, int] = field(default_factory=dict)

    def payloads(self, file_id: Any) -> list[tuple[int, bytes]]:
        """Kind and payload of each block; `file_id` maps a path to its number."""
        threads = [part for thread in self.threads for part in self._thread(thread, file_id)]
        shared = b"".join(
            [
                *(_name(text, number) for text, number in self.names.items()),
                *(_object(o, i, file_id) for i, o in enumerate(self.objects, start=1)),
                *(_selection(s, i, file_id) for i, s in enumerate(self.shapes, start=1)),
                *(_bins(entry, file_id) for entry in self.bins),
            ]
        )
        return [(2, shared), *threads]

    def _thread(self, thread: FakeThread, file_id: Any) -> list[tuple[int, bytes]]:
        head = np.zeros(1, t.THREAD_RECORD)
        head["thread"], head["tid"], head["lost_calls"] = thread.number, 1, thread.lost_calls
        head["n_slots"], head["slot_bytes"] = len(thread.slots) + 1, t.RUN.itemsize
        slots = b"".join(self._run(call, thread.number, file_id) for call in thread.slots)
        slots += bytes(t.RUN.itemsize)
        first = packed(head, t.TraceRecordKind.THREAD) + slots
        first += self._log(thread.log, thread.number, file_id)
        more = [self._log(log, thread.number, file_id) for log in thread.more]
        events = int(t.TraceBlockKind.EVENTS)
        return [(int(t.TraceBlockKind.THREAD), first), *((events, log) for log in more)]

    def _log(self, calls: Sequence[FakeCall], thread: int, file_id: Any) -> bytes:
        parts = []
        for call in calls:
            data = self._run(call, thread, file_id)
            if call.count == 1:
                size, kind = t.EVENT.itemsize, t.TraceRecordKind.EVENT
            else:
                brief = call.count < RUN_BRIEF
                size = (t.RUN_WITHOUT_DURATIONS if brief else t.RUN).itemsize
                kind = t.TraceRecordKind.RUN
            parts.append(_headed(data[:size], kind))
        return b"".join(parts)

    def _run(self, call: FakeCall, thread: int, file_id: Any) -> bytes:
        row = np.zeros(1, t.RUN)
        first = row["first"]
        for name in ("op", "layer", "offset", "bytes", "sequence", "start_ns"):
            first[name] = getattr(call, name)
        for name in ("depth", "flags", "object", "shape"):
            first[name] = getattr(call, name)
        first["thread"], first["file_id"] = thread, file_id(call.file) if call.file else 0
        first["duration_ns"] = call.duration_ns * call.count
        for name in ("name", "parent"):
            text = getattr(call, name)
            first[name] = self.names.setdefault(text, len(self.names) + 1) if text else 0
        for name in ("count", "inner", "stride", "sequence_stride"):
            row[name] = getattr(call, name)
        row["min_ns"] = row["max_ns"] = call.duration_ns
        row["last_start_ns"] = call.start_ns + (call.count - 1) * call.step_ns
        row["end_ns"] = row["last_start_ns"] + call.duration_ns
        bits = (call.duration_ns >> 8).bit_length()
        row["durations"][0, min((bits + 1) // 2, t.DURATION_BINS - 1)] = min(
            call.count, 0xFFFFFFFF
        )
        return _headed(row.tobytes(), t.TraceRecordKind.RUN)


def packed(row: NDArray[Any], kind: int, tail: bytes = b"") -> bytes:
    """A record: struct and tail, padded, with its header."""
    return _headed(row.tobytes() + tail, kind)


def _headed(data: bytes, kind: int) -> bytes:
    data = data.ljust(-(-len(data) // 8) * 8, b"\0")
    header = np.zeros(1, t.EVENT["header"])
    header["bytes"], header["kind"], header["version"] = len(data), kind, t.TRACE_VERSION
    return header.tobytes() + data[header.itemsize :]


def _numbers(values: Sequence[int]) -> bytes:
    return np.array(list(values), np.uint64).tobytes()


def _name(text: str, number: int) -> bytes:
    row = np.zeros(1, t.NAME_RECORD)
    row["name"], row["text_bytes"] = number, len(text.encode())
    return packed(row, t.TraceRecordKind.NAME, text.encode())


def _object(entry: FakeObject, number: int, file_id: Any) -> bytes:
    row = np.zeros(1, t.OBJECT_RECORD)
    name = entry.name.encode()
    row["file_id"], row["object"], row["n_dims"] = file_id(entry.file), number, len(entry.extents)
    row["element_bytes"], row["layer"] = entry.element_bytes, entry.layer
    row["type_class"] = t.TYPE_CLASSES.index(entry.type_class)
    row["storage"] = t.STORAGES.index(entry.storage)
    row["name_bytes"] = len(name)
    maximum = entry.maximum or entry.extents
    chunk = entry.chunk or [0] * len(entry.extents)
    numbers = _numbers(entry.extents) + _numbers(maximum) + _numbers(chunk)
    return packed(row, t.TraceRecordKind.OBJECT, numbers + name)


def _selection(entry: FakeShape | FakeView, number: int, file_id: Any) -> bytes:
    return _view(entry, number, file_id) if isinstance(entry, FakeView) else _shape(entry, number)


def _shape(entry: FakeShape, number: int) -> bytes:
    row = np.zeros(1, t.SHAPE_RECORD)
    row["shape"], row["n_dims"] = number, len(entry.extents)
    row["kind"] = next(number for number, kind in t.SHAPE_KINDS.items() if kind is entry.kind)
    for name in ("object", "flags", "n_boxes", "total_boxes", "elements"):
        row[name] = getattr(entry, name)
    return packed(row, t.TraceRecordKind.SHAPE, _numbers(entry.extents) + _numbers(entry.numbers))


def _view(entry: FakeView, number: int, file_id: Any) -> bytes:
    row = np.zeros(1, t.VIEW_RECORD)
    row["file_id"], row["view"], row["flags"] = file_id(entry.file), number, entry.flags
    row["displacement"], row["etype_bytes"] = entry.displacement, entry.etype_bytes
    row["filetype_bytes"], row["filetype_lower"] = entry.filetype_bytes, entry.lower
    row["filetype_extent"], row["n_pieces"] = entry.extent, len(entry.pieces)
    row["total_pieces"] = sum(piece[2] for piece in entry.pieces)
    return packed(row, t.TraceRecordKind.VIEW, np.array(list(entry.pieces), t.PIECE).tobytes())


def _bins(entry: FakeBins, file_id: Any) -> bytes:
    row = np.zeros(1, t.BINS_RECORD)
    row["file_id"], row["layer"] = file_id(entry.file), entry.layer
    bins = np.zeros(BINS_PER_RECORD, t.BIN)
    row["n_bins"] = len(entry.bins)
    bins[: len(entry.bins)] = np.array(list(entry.bins), t.BIN)
    return packed(row, t.TraceRecordKind.BINS, bins.tobytes())
