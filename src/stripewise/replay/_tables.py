# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What calls refer to, each described once in a plan."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

import numpy as np

from stripewise._interned import Interned
from stripewise.model import IoLayer, Op, ShapeKind, Trace, TraceObject, TraceShape, TraceView
from stripewise.replay._records import PlanFile
from stripewise.replay._text import escaped, words

LEAST_FILLED_SHARE = 0.5
"""Of the bytes of a file's datasets; metadata alone is far less."""


class Tables:
    """Files, objects, shapes and views of a trace that a plan uses.

    A number of -1 is answered by -1.

    Attributes:
        objects / shapes / views: In the words of the plan's text.
    """

    def __init__(self, trace: Trace, hints: Mapping[str, Mapping[str, str]]) -> None:
        """Begin empty.

        Args:
            trace: Whose indices are asked for.
            hints: Path to the hints that the program gave.
        """
        self.objects: Interned[str] = Interned()
        self.shapes: Interned[str] = Interned()
        self.views: Interned[str] = Interned()
        self._trace = trace
        self._filled = _filled_files(trace)
        self._hints = hints
        self._files: Interned[int] = Interned()
        self._variables: dict[int, list[int]] = defaultdict(list)
        self._first: dict[tuple[int, int, str], int] = {}

    def files(self) -> Iterator[PlanFile]:
        """Yield the files in the order of their numbers, each with a name of its own."""
        taken: set[str] = set()
        for index in self._files.values:
            path = self._trace.paths[index]
            wanted = os.path.basename(path) or "file"
            stem, suffix = os.path.splitext(wanted)
            name, number = wanted, 1
            while name in taken:
                number += 1
                name = f"{stem}-{number}{suffix}"
            taken.add(name)
            variables = tuple(self._variables[index])
            yield PlanFile(path, name, dict(self._hints.get(path, {})), variables)

    def file(self, index: int) -> int:
        """Return the number of a file of the trace."""
        return -1 if index < 0 else self._files.number(index)

    def object(self, index: int) -> int:
        """Return the number of a dataset or variable, as it was first described in its file."""
        if index < 0:
            return -1
        seen = self._trace.objects[index]
        key = (seen.file, int(seen.layer), seen.name)
        if key not in self._first:
            self._first[key] = self.objects.number(self._words(seen))
            if seen.layer != IoLayer.HDF5:
                self._variables[seen.file].append(self._first[key])
        return self._first[key]

    def _words(self, seen: TraceObject) -> str:
        if seen.layer != IoLayer.HDF5:
            return _object("variable", seen)
        return _object("filled" if seen.file in self._filled else "dataset", seen)

    def input_object(self, index: int, first_extent: int) -> int:
        """Return the number of a dataset that has to be there, so long if it can grow."""
        if not first_extent:
            return self.object(index)
        seen = self._trace.objects[index]
        extents = (first_extent, *seen.extents[1:])
        return self.objects.number(self._words(replace(seen, extents=extents)))

    def group(self, name: str) -> int:
        """Return the number of a group of HDF5."""
        return self.objects.number(_object("group", TraceObject(-1, IoLayer.HDF5, name, ())))

    def shape(self, index: int) -> int:
        """Return the number of a selection."""
        if index < 0:
            return -1
        shape = self._trace.shapes[index]
        memory = -1
        if shape.memory >= 0:
            memory = self.shapes.number(_shape(self._trace.shapes[shape.memory], -1))
        return self.shapes.number(_shape(shape, memory))

    def whole(self, index: int) -> int:
        """Return the number of the selection of all of an object, for its extents."""
        extents = self._trace.objects[index].extents if index >= 0 else ()
        return self.shapes.number(_shape(TraceShape(-1, ShapeKind.ALL, extents), -1))

    def view(self, index: int) -> int:
        """Return the number of a file view."""
        return -1 if index < 0 else self.views.number(_view(self._trace.views[index]))

    def buffer(self, index: int) -> int:
        """Return the number of the layout of a buffer; -1: taken for contiguous."""
        if index < 0:
            return -1
        view = self._trace.views[index]
        sound = not view.truncated and view.lower >= 0 and view.filetype_bytes > 0
        return self.view(index) if sound else -1


def _object(kind: str, one: TraceObject) -> str:
    n_dims = len(one.extents)
    maximum, chunk = one.maximum or one.extents, one.chunk or (0,) * n_dims
    head = (kind, one.type_class, one.storage, one.element_bytes, n_dims)
    return words(*head, *one.extents, *maximum, *chunk, escaped(one.name))


def _shape(one: TraceShape, memory: int) -> str:
    regular = one.kind == ShapeKind.REGULAR
    boxes = np.zeros(0, np.int64) if regular or one.boxes is None else one.boxes
    numbers = (*one.stride, *one.count, *one.block) if regular else boxes.reshape(-1).tolist()
    head = (one.kind, len(one.extents), one.elements, len(boxes), memory)
    return words(*head, *one.extents, *numbers)


def _view(one: TraceView) -> str:
    head = (one.displacement, one.etype_bytes, one.filetype_bytes, one.lower, one.extent)
    numbers = np.ascontiguousarray(one.pieces).view(np.int64)
    return words(*head, len(one.pieces), *numbers.tolist())


def _filled_files(trace: Trace) -> frozenset[int]:
    """Return the files in which H5Dcreate itself wrote the datasets' fill values.

    As much is written then as the datasets are large.
    """
    creating = [i for i, name in enumerate(trace.names) if name.startswith("H5Dcreate")]
    rows = trace.rows
    below = rows[
        np.isin(rows["parent"], creating)
        & np.isin(rows["layer"], (IoLayer.MPIIO, IoLayer.POSIX))
        & np.isin(rows["op"], (Op.WRITE, Op.WRITE_COLLECTIVE))
    ]
    found = []
    for file in map(int, np.unique(below["file"])):
        mine = below[below["file"] == file]
        written = int((mine["bytes"] * mine["count"]).sum())
        if written and written >= LEAST_FILLED_SHARE * _dataset_bytes(trace, file):
            found.append(file)
    return frozenset(found)


def _dataset_bytes(trace: Trace, file: int) -> int:
    sizes = {
        one.name: prod(one.extents) * one.element_bytes
        for one in trace.objects
        if one.file == file and one.layer == IoLayer.HDF5
    }
    return sum(sizes.values())
