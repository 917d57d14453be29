# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What calls refer to, each described once in a plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from stripewise._interned import Interned
from stripewise.model import IoLayer, ShapeKind, Trace, TraceShape, TraceView
from stripewise.replay._fills import filled_files
from stripewise.replay._records import PlanFile, PlanObject, PlanShape, PlanView

_DESCRIBED = [one.name for one in fields(PlanObject) if one.name != "kind"]


class Tables:
    """Files, objects, shapes and views of a trace that a plan uses.

    A number of -1 is answered by -1.
    """

    def __init__(self, trace: Trace, hints: Mapping[str, Mapping[str, str]]) -> None:
        """Begin empty.

        Args:
            trace: Whose indices are asked for.
            hints: Path to the hints that the program gave.
        """
        self._trace = trace
        self._filled = filled_files(trace)
        self._hints = hints
        self._files: dict[int, PlanFile] = {}
        self._numbers: dict[int, int] = {}
        self._names: set[str] = set()
        self._variables: dict[int, list[int]] = {}
        self._objects: Interned[PlanObject] = Interned()
        self._shapes: Interned[PlanShape] = Interned()
        self._views: Interned[PlanView] = Interned()
        self._first: dict[tuple[int, int, str], int] = {}

    @property
    def files(self) -> tuple[PlanFile, ...]:
        """In the order of their numbers."""
        return tuple(
            replace(file, variables=tuple(self._variables.get(number, ())))
            for number, file in enumerate(self._files.values())
        )

    @property
    def objects(self) -> tuple[PlanObject, ...]:
        """In the order of their numbers."""
        return self._objects.values

    @property
    def shapes(self) -> tuple[PlanShape, ...]:
        """In the order of their numbers."""
        return self._shapes.values

    @property
    def views(self) -> tuple[PlanView, ...]:
        """In the order of their numbers."""
        return self._views.values

    def file(self, index: int) -> int:
        """Return the number of a file of the trace."""
        if index < 0:
            return -1
        if index not in self._numbers:
            path = self._trace.paths[index]
            name = self._free_name(os.path.basename(path) or "file")
            self._numbers[index] = len(self._files)
            self._files[index] = PlanFile(path, name, dict(self._hints.get(path, {})))
        return self._numbers[index]

    def _free_name(self, wanted: str) -> str:
        stem, suffix = os.path.splitext(wanted)
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{stem}-{number}{suffix}"
        self._names.add(name)
        return name

    def object(self, index: int) -> int:
        """Return the number of a dataset or variable, as it was first described in its file."""
        if index < 0:
            return -1
        seen = self._trace.objects[index]
        key = (seen.file, int(seen.layer), seen.name)
        if key not in self._first:
            kind = "variable"
            if seen.layer == IoLayer.HDF5:
                kind = "filled" if seen.file in self._filled else "dataset"
            known = {name: getattr(seen, name) for name in _DESCRIBED}
            described = PlanObject(kind, **known)
            self._first[key] = self._objects.number(described)
            if kind == "variable":
                number = self.file(seen.file)
                self._variables.setdefault(number, []).append(self._first[key])
        return self._first[key]

    def input_object(self, index: int, first_extent: int) -> int:
        """Return the number of a dataset that has to be there, so long if it can grow."""
        number = self.object(index)
        described = self._objects[number]
        if not first_extent:
            return number
        extents = (first_extent, *described.extents[1:])
        return self._objects.number(replace(described, extents=extents))

    def group(self, name: str) -> int:
        """Return the number of a group of HDF5."""
        return self._objects.number(PlanObject("group", name))

    def shape(self, index: int) -> int:
        """Return the number of a selection."""
        if index < 0:
            return -1
        shape = self._trace.shapes[index]
        memory = -1
        if shape.memory >= 0:
            memory = self._shapes.number(_shape(self._trace.shapes[shape.memory]))
        return self._shapes.number(replace(_shape(shape), memory=memory))

    def whole(self, index: int) -> int:
        """Return the number of the selection of all of an object, for its extents."""
        extents = self._trace.objects[index].extents if index >= 0 else ()
        return self._shapes.number(PlanShape(ShapeKind.ALL, extents, 0))

    def view(self, index: int) -> int:
        """Return the number of a file view."""
        return -1 if index < 0 else self._views.number(_view(self._trace.views[index]))

    def buffer(self, index: int) -> int:
        """Return the number of the layout of a buffer; -1: taken for contiguous."""
        if index < 0:
            return -1
        view = self._trace.views[index]
        sound = not view.truncated and view.lower >= 0 and view.filetype_bytes > 0
        return self.view(index) if sound else -1


def _shape(shape: TraceShape) -> PlanShape:
    if shape.kind != ShapeKind.REGULAR and shape.boxes is not None:
        boxes = tuple(shape.boxes.reshape(-1).tolist())
        return PlanShape(shape.kind, shape.extents, shape.elements, len(shape.boxes), boxes)
    regular = shape.kind == ShapeKind.REGULAR
    numbers = (*shape.stride, *shape.count, *shape.block) if regular else ()
    return PlanShape(shape.kind, shape.extents, shape.elements, 0, numbers)


def _view(view: TraceView) -> PlanView:
    numbers = np.ascontiguousarray(view.pieces).view(np.int64).reshape(len(view.pieces), -1)
    return PlanView(
        *(view.displacement, view.etype_bytes, view.filetype_bytes, view.lower, view.extent),
        pieces=tuple(map(tuple, numbers.tolist())),
    )
