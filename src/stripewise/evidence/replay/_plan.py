# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the plan of a replay with its files, datasets and views, and writes it as text."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stripewise.core import whole_file
from stripewise.evidence.trace import (
    Interned,
    IoLayer,
    Op,
    ShapeKind,
    Trace,
    TraceObject,
    TraceShape,
    TraceView,
    expand,
    members,
)

CALL_ROW = np.dtype(
    members(
        "i8 verb",  # index into `Plan.verbs`
        "i8 op flags bytes count",
        ("inner", "<i8", (2,)),
        ("stride", "<i8", (3,)),
        "i8 place",  # place of the first call among those of the rank
        ("place_stride", "<i8", (3,)),
    ),
)
"""A folded run of calls, as in `TRACE_ROW`; values that differ between ranks are in `COLUMNS`."""

COLUMNS = ("file", "object", "detail", "group", "offset", "gap", "rest")
"""Values of each rank for each row of its section: file, object (dataset, variable or group),
detail (view of a set_view, selection of others), communicator of an open, first offset,
nanoseconds before the first call and before each further one. -1 if there is none."""


@dataclass(frozen=True)
class PlanFile:
    """A file: its original path, its name in the replay, and what the program set for it.

    `hints` are those of MPI-IO, `properties` those of HDF5's file access; `variables` are those of
    PnetCDF, which all ranks define together.
    """

    path: str
    name: str
    hints: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[int, ...] = ()


@dataclass(frozen=True)
class PlanInput:
    """A file that must exist before the replay; `objects` are the datasets that it needs."""

    file: int
    kind: str  # how it is created: "bytes", "hdf5" or "pnetcdf"
    size_bytes: int
    objects: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class PlanRank:
    """Part of one rank: its section, and (n,) int64 for each of `COLUMNS`."""

    rank: int
    section: int
    columns: Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Plan:
    """Complete plan of a replay.

    Attributes:
        n_ranks: Number of ranks with which it must run.
        verbs / files / objects / shapes / views / groups: Tables that indices refer to; objects,
            shapes and views are described as in the plan's text, `groups` are ranks that open a
            file together, without the first two (all ranks; the rank by itself).
        members: Bytes of the members of each compound, by its object, if some are moved apart.
        inputs: Files that are created before the replay.
        sections: (n,) `CALL_ROW` each; ranks with the same calls share one.
        ranks: Parts of the ranks, in order.
        read_bytes / write_bytes: Bytes of the program's own calls that are replayed.
        notes: Messages on what is left out or doubtful.
        mpi: MPI family that the program ran on, "mpich" or "openmpi"; None if unknown.
    """

    n_ranks: int
    verbs: tuple[str, ...]
    files: tuple[PlanFile, ...]
    objects: tuple[str, ...]
    shapes: tuple[str, ...]
    views: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    inputs: tuple[PlanInput, ...]
    sections: tuple[NDArray[Any], ...]
    ranks: tuple[PlanRank, ...]
    read_bytes: int = 0
    write_bytes: int = 0
    notes: tuple[str, ...] = ()
    mpi: str | None = None
    members: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


# A plan as text, which the replay program reads; see docs/reference/replay-plan.md.

PLAN_VERSION = 1
_MARKS = "!#$&'()+,-./:;<=>?@[]^_`{|}~"


def plan_text(plan: Plan) -> str:
    """Return a plan as text (ASCII)."""
    return "".join(f"{line}\n" for line in _lines(plan))


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan that only its owner can read, as it contains names of files.

    Raises:
        StorageError: The plan cannot be written.
    """
    with whole_file(path) as place, place.open("w", encoding="ascii") as stream:
        stream.writelines(f"{line}\n" for line in _lines(plan))


def _lines(plan: Plan) -> Iterator[str]:
    yield f"stripewise-replay {PLAN_VERSION}"
    yield f"ranks {plan.n_ranks}"
    yield f"bytes {plan.read_bytes} {plan.write_bytes}"
    tables: dict[str, Sequence[str]] = {
        "verb": plan.verbs,
        "file": [escaped(file.name) for file in plan.files],
        "object": plan.objects,
        "shape": plan.shapes,
        "view": plan.views,
        "group": [words(len(ranks), number_list(ranks)) for ranks in plan.groups],
    }
    for name, values in tables.items():
        yield f"{name}s {len(values)}"
    yield f"inputs {len(plan.inputs)}"
    for name, values in tables.items():
        for index, value in enumerate(values):
            yield f"{name} {index} {value}"
            if name == "file":
                yield from _file_lines(index, plan.files[index])
            if name == "object" and index in plan.members:
                widths = plan.members[index]
                yield words("members", index, len(widths), *widths)
    for one in plan.inputs:
        yield words("input", one.file, one.kind, one.size_bytes, len(one.objects), *one.objects)
    for index, table in enumerate(plan.sections):
        yield f"section {index} {len(table)}"
        yield from _calls(table)
    yield from map(_rank, plan.ranks)
    yield "end"


def _file_lines(index: int, file: PlanFile) -> Iterator[str]:
    for key, value in file.hints.items():
        yield f"hint {index} {escaped(key)} {escaped(value)}"
    for key, value in file.properties.items():
        yield f"property {index} {escaped(key)} {escaped(value)}"
    if file.variables:
        yield f"variables {index} {len(file.variables)} {words(*file.variables)}"


def escaped(text: str) -> str:
    """Return a name as one word: bytes other than letters, digits and marks become %XX."""
    return quote(os.fsencode(text), safe=_MARKS) or "%"


def number_list(numbers: ArrayLike) -> str:
    """Return numbers as words: A, A*N for N equal ones, A+D*N for N at distance D."""
    values = np.asarray(numbers, np.int64)
    steps, last = np.diff(values), len(values) - 1
    ends = [
        *(np.flatnonzero(steps[1:] != steps[:-1]) + 1).tolist(),
        last,
    ]  # of equal distances
    found, at = [], 0
    while at <= last:
        end = at if at == last else ends[bisect_right(ends, at)]
        step = int(steps[at]) if end > at else 0
        if step and end == at + 1:  # two numbers are shorter as separate words
            end, step = at, 0
        distance, times = f"+{step}" if step else "", f"*{end - at + 1}" if end > at else ""
        found.append(f"{values[at]}{distance}{times}")
        at = end + 1
    return " ".join(found)


def words(*values: object) -> str:
    """Return values as words of a line."""
    return " ".join(map(str, values))


def _calls(table: NDArray[Any]) -> Iterator[str]:
    """Yield a line for each row: all members of `CALL_ROW` are 64-bit integers."""
    rows = np.ascontiguousarray(table).view((np.int64, CALL_ROW.itemsize // 8))
    return (words(*row) for row in rows.tolist())


def _rank(one: PlanRank) -> str:
    lists = (number_list(one.columns[name]) for name in COLUMNS)
    return words("rank", one.rank, one.section, *filter(None, lists))


# Folding of equal calls at regular distances into one line of a plan.

LEVELS = 3
_STEP = ("offset", "place")
_RUN = np.dtype(
    [
        *((name, "<i8") for name in ("key", *_STEP)),  # of the first call
        ("length", "<i8", (LEVELS,)),
        ("stride", "<i8", (LEVELS, len(_STEP))),
    ]
)


def fold(calls: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Fold calls with equal keys whose offsets and places have up to three regular strides.

    Args:
        calls: (n,) `CALL` of one rank.

    Returns:
        (m,) `CALL_ROW`, the runs in the order of their first calls, and (n,) the run of each call.
    """
    order = np.argsort(calls["key"], kind="stable")
    runs = np.zeros(len(order), _RUN)
    runs["key"], runs["offset"] = calls["key"][order], calls["offset"][order]
    runs["place"], runs["length"] = order, 1
    for level in range(LEVELS):
        starts, length, step = _join(runs, level)
        runs = runs[starts]
        runs["length"][:, level], runs["stride"][:, level] = length, step
    count = runs["length"].prod(axis=1)
    by_place = np.argsort(runs["place"])
    of_call = np.empty(len(order), np.int64)
    of_call[order] = np.repeat(np.argsort(by_place), count)
    return _rows(calls, runs[by_place], count[by_place]), of_call


def _join(
    runs: NDArray[Any], level: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Join equal runs at equal distances, from the first on.

    Returns:
        Where joined runs begin, how many runs they join, and (m, 2) their distance in offset and
        place.
    """
    alike = runs["key"][1:] == runs["key"][:-1]
    for inner in (runs["stride"][:, :level], runs["length"][:, :level, np.newaxis]):
        alike &= (inner[1:] == inner[:-1]).all(axis=(1, 2))
    steps = np.stack([np.diff(runs[name]) for name in _STEP], axis=1)
    reach = _reach(alike, steps)
    starts = []
    at = 0
    while at < len(runs):
        starts.append(at)
        at = int(reach[at]) + 1
    begins = np.array(starts, np.int64)
    many = reach[begins] - begins + 1
    step = np.zeros((len(begins), len(_STEP)), np.int64)
    step[many > 1] = steps[begins[many > 1]]
    return begins, many, step


def _reach(alike: NDArray[np.bool_], steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each run, the last one reached from it by equal steps over equal runs."""
    n = len(alike) + 1
    reach = np.arange(n)
    goes_on = np.zeros(n - 1, bool)
    goes_on[:-1] = alike[:-1] & alike[1:] & (steps[:-1] == steps[1:]).all(axis=1)
    stops = np.where(goes_on, n, np.arange(n - 1))
    last_step = np.minimum.accumulate(stops[::-1])[::-1]
    reach[:-1] = np.where(alike, last_step + 1, reach[:-1])
    return reach


def _rows(calls: NDArray[Any], runs: NDArray[Any], count: NDArray[np.int64]) -> NDArray[Any]:
    rows = np.zeros(len(runs), CALL_ROW)
    for name in ("verb", "op", "flags", "bytes"):
        rows[name] = calls[name][runs["place"]]
    length = runs["length"]
    rows["count"], rows["inner"], rows["place"] = count, length[:, :-1], runs["place"]
    rows["inner"][length[:, 1:].prod(axis=1) == 1, 0] = 0  # no outer loop: unlimited
    rows["inner"][length[:, 2] == 1, 1] = 0
    rows["stride"], rows["place_stride"] = runs["stride"][..., 0], runs["stride"][..., 1]
    return rows


# Objects that calls refer to, each described once in a plan.

LEAST_FILLED_SHARE = 0.5
"""Share of the bytes of a dataset; metadata without fill values is far less."""


class Tables:
    """Files, objects, shapes and views of a trace that a plan uses.

    For an index of -1, methods return -1.

    Attributes:
        objects / shapes / views: Descriptions as in the plan's text.
    """

    def __init__(
        self,
        trace: Trace,
        hints: Mapping[str, Mapping[str, str]],
        properties: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Start with empty tables.

        Args:
            trace: Trace that the indices refer to.
            hints: Hints that the program gave, by path.
            properties: Properties of HDF5's file access that it set, by path.
        """
        self.objects: Interned[str] = Interned()
        self.shapes: Interned[str] = Interned()
        self.views: Interned[str] = Interned()
        self._trace = trace
        self._filled = _filled_datasets(trace)
        self._hints = hints
        self._properties = properties or {}
        self._of_name: dict[tuple[int, str], set[int]] = defaultdict(set)
        self._files: Interned[int] = Interned()
        self._variables: dict[int, list[int]] = defaultdict(list)
        self._first: dict[tuple[int, int, str], int] = {}

    def files(self) -> Iterator[PlanFile]:
        """Yield the files in the order of their numbers, each with a unique name."""
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
            hints, own = dict(self._hints.get(path, {})), dict(self._properties.get(path, {}))
            yield PlanFile(path, name, hints, own, variables)

    def file(self, index: int) -> int:
        """Return the number of a file of the trace."""
        return -1 if index < 0 else self._files.number(index)

    def object(self, index: int) -> int:
        """Return the number of a dataset or variable, as first described in its file."""
        if index < 0:
            return -1
        seen = self._trace.objects[index]
        key = (seen.file, int(seen.layer), seen.name)
        if key not in self._first:
            self._first[key] = self.objects.number(self._words(seen))
            self._of_name[seen.file, seen.name].add(self._first[key])
            if seen.layer != IoLayer.HDF5:
                self._variables[seen.file].append(self._first[key])
        return self._first[key]

    def _words(self, seen: TraceObject) -> str:
        if seen.layer != IoLayer.HDF5:
            return _object("variable", seen)
        return _object("filled" if (seen.file, seen.name) in self._filled else "dataset", seen)

    def input_object(self, index: int, first_extent: int) -> int:
        """Return the number of a dataset that must exist, with this extent if it can grow."""
        if not first_extent:
            return self.object(index)
        seen = self._trace.objects[index]
        extents = (first_extent, *seen.extents[1:])
        number = self.objects.number(self._words(replace(seen, extents=extents)))
        self._of_name[seen.file, seen.name].add(number)
        return number

    def numbers_of(self, index: int) -> frozenset[int]:
        """Return all numbers of a dataset of the trace."""
        seen = self._trace.objects[index]
        return frozenset(self._of_name[seen.file, seen.name])

    def group(self, name: str) -> int:
        """Return the number of an HDF5 group."""
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
        """Return the number of the selection of a whole object, for its extents."""
        extents = self._trace.objects[index].extents if index >= 0 else ()
        return self.shapes.number(_shape(TraceShape(-1, ShapeKind.ALL, extents), -1))

    def view(self, index: int) -> int:
        """Return the number of a file view."""
        return -1 if index < 0 else self.views.number(_view(self._trace.views[index]))

    def buffer(self, index: int) -> int:
        """Return the number of a buffer's layout; -1 if it is assumed to be contiguous."""
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


def _filled_datasets(trace: Trace) -> frozenset[tuple[int, str]]:
    """Return file and name of the datasets whose fill values H5Dcreate itself wrote.

    In this case, as many bytes are written then as the dataset contains.
    """
    rows = trace.rows
    creating = [i for i, name in enumerate(trace.names) if name.startswith("H5Dcreate")]
    creates = np.isin(rows["name"], creating) & (rows["object"] >= 0)
    below = np.isin(rows["parent"], creating) & np.isin(
        rows["op"], (Op.WRITE, Op.WRITE_COLLECTIVE)
    )
    if not (creates & (rows["depth"] == 0)).any() or not below.any():
        return frozenset()
    calls = expand(trace, rows[creates | below])
    written: Counter[tuple[int, str]] = Counter()
    sizes: dict[tuple[int, str], int] = {}
    for call in calls[np.isin(calls["parent"], creating) & (calls["parent_index"] >= 0)]:
        made = trace.objects[calls["object"][call["parent_index"]]]
        sizes[made.file, made.name] = prod(made.extents) * made.element_bytes
        written[made.file, made.name] += int(call["bytes"])
    return frozenset(
        key for key, n in written.items() if n and n >= LEAST_FILLED_SHARE * sizes[key]
    )
