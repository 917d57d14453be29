# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names, objects, shapes and views of a trace: parsed, and equal ones of all processes as one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._interned import Interned, T
from stripewise.model import (
    PIECE_ROW,
    RECORDED_LAYERS,
    ShapeKind,
    TraceObject,
    TraceShape,
    TraceView,
)
from stripewise.readers import _trace_layout as t
from stripewise.readers._rows import bounded, copy_common

_MOST_DIMS = 32
_LARGEST = np.iinfo(np.int64).max


class Lookup:
    """Which index each of many keys means."""

    def __init__(self, index: Mapping[int, int]) -> None:
        keys = np.fromiter(index.keys(), np.uint64, len(index))
        order = np.argsort(keys)
        self._keys = keys[order]
        self._places = np.fromiter(index.values(), np.int64, len(index))[order]

    def of(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """(n,) int64: indices of keys; -1 of those that are not known."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._places[at], -1)


class Described(Interned[T]):
    """Values that are equal in several processes, once each.

    `index` maps (process << 32 | number in that process) to the number here; of a number that
    is described twice the later description counts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.index: dict[int, int] = {}

    def add(self, process: int, number: int, key: Hashable, make: Callable[[], T]) -> None:
        """Note a description."""
        self.index[process << 32 | number] = self.number(key, make)

    def find(self, process: int, number: int) -> int:
        """Index of what was described before; -1 if it was not."""
        return self.index.get(process << 32 | number, -1) if number else -1

    @cached_property
    def table(self) -> Lookup:
        """Places of the keys of `index`, once all is described."""
        return Lookup(self.index)


@dataclass
class Descriptions:
    """All that the numbers in the rows of a run mean.

    Attributes:
        files: Index of the path by file id.
        damaged: Records that make no sense.
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
    head = _head(record, t.NAME_RECORD)
    start = t.NAME_RECORD.itemsize
    text = record[start : start + int(head["text_bytes"])]
    into.names.add(
        process, int(head["name"]), text, lambda: text.rstrip(b"\0").decode(errors="replace")
    )


def _add_object(into: Descriptions, process: int, record: bytes) -> None:
    head = _head(record, t.OBJECT_RECORD)
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
    head = _head(record, t.SHAPE_RECORD)
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
    head = _head(record, t.VIEW_RECORD)
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
"""How a record is parsed; `ValueError`: it is too short, or makes no sense."""


def _head(record: bytes, dtype: np.dtype[Any]) -> Any:
    return np.frombuffer(record, dtype, 1)[0]


def _numbers(record: bytes, start: int, count: int) -> NDArray[np.int64]:
    """(count,) int64 that stand at `start`."""
    return bounded(np.frombuffer(record, np.uint64, count, start))


def _pieces(found: NDArray[Any]) -> NDArray[Any]:
    rows = np.zeros(len(found), PIECE_ROW)
    copy_common(rows, found)
    for name in ("bytes", "count", "inner"):
        rows[name] = bounded(found[name])
    return rows


def _word(words: Sequence[str], number: int) -> str:
    return words[number] if number < len(words) else "other"
