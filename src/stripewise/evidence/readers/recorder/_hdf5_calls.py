# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses the lines of one rank of the first Recorder, and follows HDF5 identifiers in them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from stripewise.evidence.readers._base import LONGEST_LINE
from stripewise.evidence.readers.recorder._interpret import Record
from stripewise.evidence.trace import EventFlag, Op, OpenBit, ShapeKind

# One line: `start name (arguments) result duration`.
#
#     1396296304.23708 H5Sselect_hyperslab (67108867,0,{0;0},{1;1},{6;24},NULL) 0 0.00002
#
# Vectors are {a;b;c}; the start, the result and the duration may be missing.  Source: the lines
# printed in Behzad et al., "Pattern-driven parallel I/O tuning" (PDSW 2015).

MOST_DIMENSIONS = 32
_LINE = re.compile(
    r"\s*(?:(?P<start>\d{1,12}(?:\.\d{0,12})?)\s+)?(?P<name>[A-Za-z_]\w{0,80})\s*\((?P<rest>.*)"
)
_TAIL = re.compile(
    r"\s*(?P<result>[^\s()]{1,200})?(?:\s+(?P<duration>\d{1,12}(?:\.\d{0,12})?(?:[eE]-?\d{1,3})?))?\s*"
)
_TIMED = re.compile(r"\s*\d+\.\d+\s+[A-Za-z_]\w*\s+\(.*\)\s+\S+\s+\d+\.\d+\s*")
_WHOLE = re.compile(r"\s*(\d{1,19})\s*")


class Line(NamedTuple):
    """A call; `start` and `duration` in seconds, nan if the line has none."""

    start: float
    duration: float
    name: str
    arguments: tuple[str, ...]
    result: str


def is_timed(line: str) -> bool:
    """Return whether a line has every part of this form."""
    return len(line) <= LONGEST_LINE and _TIMED.fullmatch(line) is not None


def parse_line(text: str) -> Line | None:
    """Return one call; None if the line is not a call."""
    match = _LINE.fullmatch(text.rstrip("\r\n"))
    if match is None:
        return None
    rest = match["rest"]
    close = rest.rfind(")")
    if close < 0:
        return None
    tail = _TAIL.fullmatch(rest[close + 1 :])
    if tail is None:
        return None
    return Line(
        float(match["start"]) if match["start"] else math.nan,
        float(tail["duration"]) if tail["duration"] else math.nan,
        match["name"],
        split_arguments(rest[:close]),
        tail["result"] or "",
    )


def split_arguments(text: str) -> tuple[str, ...]:
    """Split arguments at commas outside braces."""
    if not text.strip():
        return ()
    found: list[str] = []
    depth = begin = 0
    for place, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(depth - 1, 0)
        elif character == "," and not depth:
            found.append(text[begin:place].strip())
            begin = place + 1
    found.append(text[begin:].strip())
    return tuple(found)


def vector(text: str) -> tuple[int, ...] | None:
    """Return `{a;b;c}` as numbers; None for NULL and for other texts."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    parts = [part for part in re.split(r"[;,]", text[1:-1]) if part.strip()]
    if len(parts) > MOST_DIMENSIONS:
        return None
    numbers = []
    for part in parts:
        match = _WHOLE.fullmatch(part)
        if match is None or int(match[1]) >= 1 << 62:
            return None
        numbers.append(int(match[1]))
    return tuple(numbers)


# Objects that ids of HDF5 refer to: spaces, types, datasets.

_SIZED = re.compile(r"H5T_[A-Z]+_([IUFBRSD])(?:NT)?(\d{1,3})(?:LE|BE)?")
_NATIVE = {
    name: (type_class, n_bytes)
    for type_class, n_bytes, names in (
        ("integer", 1, "CHAR SCHAR UCHAR HBOOL"),
        ("integer", 2, "SHORT USHORT"),
        ("integer", 4, "INT UINT HERR"),
        ("integer", 8, "LONG ULONG LLONG ULLONG HSIZE HSSIZE HADDR"),
        ("float", 4, "FLOAT"),
        ("float", 8, "DOUBLE"),
        ("float", 16, "LDOUBLE"),
    )
    for name in names.split()
}


@dataclass(frozen=True)
class ElementType:
    """Size of an element, and its class as in `TraceObject`."""

    n_bytes: int
    type_class: str


def element_type(name: str) -> ElementType | None:
    """Return a type by its name in HDF5; None if the name contains no size."""
    if name == "H5T_C_S1" or name == "H5T_FORTRAN_S1":
        return ElementType(1, "string")
    native = _NATIVE.get(name.removeprefix("H5T_NATIVE_"))
    if name.startswith("H5T_NATIVE_") and native:
        return ElementType(native[1], native[0])
    match = _SIZED.fullmatch(name)
    if match is None or int(match[2]) % 8 or not int(match[2]):
        return None
    type_class = {"F": "float", "I": "integer", "U": "integer"}.get(match[1], "other")
    return ElementType(int(match[2]) // 8, type_class)


@dataclass(frozen=True)
class Slab:
    """A selection: "all", "none", "regular" with its four vectors, otherwise irregular."""

    kind: ShapeKind
    start: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    count: tuple[int, ...] = ()
    block: tuple[int, ...] = ()

    @property
    def elements(self) -> int:
        """Number of elements of a regular selection."""
        return math.prod(c * b for c, b in zip(self.count, self.block, strict=True))

    @property
    def end(self) -> tuple[int, ...]:
        """End (exclusive) of the selection, per dimension."""
        return tuple(
            a + (c - 1) * s + b if c else 0
            for a, s, c, b in zip(self.start, self.stride, self.count, self.block, strict=True)
        )


ALL = Slab(ShapeKind.ALL)


@dataclass
class Dataset:
    """A dataset, shared by all ranks that name it alike.

    Attributes:
        extents: Extents; None if no line contains them.
        guessed: Extents estimated from all selections, if no line contains them.
    """

    path: str
    name: str
    extents: tuple[int, ...] | None = None
    element: ElementType | None = None
    chunk: tuple[int, ...] = ()
    guessed: bool = False


@dataclass
class Dataspace:
    """A dataspace; `extents` is None if unknown, `dataset` the one it was taken from."""

    extents: tuple[int, ...] | None
    slab: Slab = ALL
    dataset: Dataset | None = None

    @property
    def elements(self) -> int:
        """Number of selected elements; 0 if unknown, or none."""
        if self.slab.kind == ShapeKind.REGULAR:
            return self.slab.elements
        return math.prod(self.extents) if self.slab is ALL and self.extents else 0


Datasets = dict[tuple[str, str], Dataset]
"""All datasets of a run, by file and name."""


# Interpretation of the lines of one rank: ids tie calls together.

_ZERO = ("0", "H5S_ALL", "H5P_DEFAULT", "")
_LOCATED = ("H5Gcreate", "H5Gcreate1", "H5Gcreate2", "H5Gopen", "H5Gopen1", "H5Gopen2")
_CREATE = ("H5Dcreate", "H5Dcreate1", "H5Dcreate2")
_OPEN = ("H5Dopen", "H5Dopen1", "H5Dopen2")
_DESCRIPTORS = ("open", "open64", "creat", "creat64", "fopen", "fopen64", "fdopen")
_META = ("H5F", "H5D", "H5G", "H5A", "H5L", "H5O")


@dataclass(frozen=True)
class Hdf5Call:
    """An HDF5 call that does I/O.

    Attributes:
        offset: Bits of an open; for reads and writes it comes from the selection.
        dataset / slab: Dataset and selection of reads and writes.
        elements: Number of elements of the selection in memory, 0 if unknown.
    """

    start: float
    end: float
    name: str
    op: Op
    path: str
    offset: int = 0
    flags: int = 0
    dataset: Dataset | None = None
    slab: Slab | None = None
    elements: int = 0


class Follower:
    """State of one rank while its lines are interpreted."""

    def __init__(self, datasets: Datasets, origin: float) -> None:
        self.untied = 0
        self.others: list[Record] = []
        self._datasets = datasets
        self._origin = origin
        self._clock = 0.0
        self._files: dict[str, str] = {}
        self._groups: dict[str, tuple[str, str]] = {}
        self._spaces: dict[str, Dataspace] = {}
        self._types: dict[str, ElementType] = {}
        self._open: dict[str, Dataset] = {}
        self._chunks: dict[str, tuple[int, ...]] = {}
        self._collective: dict[str, bool] = {}
        self._descriptors: dict[str, str] = {}
        self._line = Line(0.0, 0.0, "", (), "")

    def follow(self, lines: Iterator[Line]) -> Iterator[Hdf5Call]:
        """Yield the calls of HDF5 in their order; collect those of other layers in `others`."""
        for line in lines:
            self._line = line
            start, end = self._times(line)
            if not line.name.startswith("H5"):
                self.others.append(self._record(line, start, end))
                continue
            step = _STEPS.get(line.name)
            call = step(self) if step is not None else None
            if call is None and line.name.startswith(_META):
                call = self._named_file(Op.META)
            if line.name.endswith("close"):
                self._forget()
            if call is not None:
                yield replace(call, start=start, end=end, name=line.name)

    def _times(self, line: Line) -> tuple[float, float]:
        """Return the seconds since the origin; a line without a time follows the previous one."""
        start = line.start - self._origin
        start = self._clock if math.isnan(start) or start < 0 else start
        duration = line.duration
        end = start + (duration if math.isfinite(duration) else 0.0)
        self._clock = max(self._clock, start)
        return start, end

    def _argument(self, place: int) -> str:
        arguments = self._line.arguments
        return arguments[place] if place < len(arguments) else ""

    def _record(self, line: Line, start: float, end: float) -> Record:
        """Return a call of another layer as in the later Recorder: a path for a descriptor."""
        arguments = list(line.arguments)
        if line.name in _DESCRIPTORS and arguments:
            self._descriptors[line.result] = arguments[0]
        elif not line.name.startswith("MPI_"):
            arguments = [self._descriptors.get(argument, argument) for argument in arguments]
        return Record(start, end, line.name, 0, tuple(arguments))

    def _path_of(self, identifier: str) -> str:
        if identifier in self._files:
            return self._files[identifier]
        if identifier in self._groups:
            return self._groups[identifier][0]
        dataset = self._open.get(identifier)
        return dataset.path if dataset else ""

    def _named_file(self, op: Op, path: str | None = None) -> Hdf5Call:
        """Return a call without data, on the given file or that of its first argument."""
        return Hdf5Call(0, 0, "", op, self._path_of(self._argument(0)) if path is None else path)

    def _forget(self) -> None:
        for known in (self._files, self._groups, self._spaces, self._types, self._open):
            known.pop(self._argument(0), None)

    def _file(self) -> Hdf5Call:
        path, flags = self._argument(0), self._argument(1)
        self._files[self._line.result] = path
        writes = flags not in ("0", "H5F_ACC_RDONLY")
        bits = OpenBit.READ | OpenBit.WRITE if writes else OpenBit.READ
        if self._line.name == "H5Fcreate":
            bits |= OpenBit.CREATE | OpenBit.WRITE
            truncates = flags in ("2", "H5F_ACC_TRUNC")
            bits |= OpenBit.TRUNCATE if truncates else OpenBit.EXCLUSIVE
        return Hdf5Call(0, 0, "", Op.OPEN, path, int(bits))

    def _located(self) -> tuple[str, str]:
        """Return file and absolute name of an object created or opened at a location."""
        where, name = self._argument(0), self._argument(1)
        path, prefix = self._groups.get(where, (self._files.get(where, ""), ""))
        return path, name if name.startswith("/") else f"{prefix}/{name}"

    def _group(self) -> None:
        path, name = self._located()
        self._groups[self._line.result] = (path, name.rstrip("/"))

    def _space(self) -> None:
        extents = vector(self._argument(1))
        self._spaces[self._line.result] = Dataspace(extents)

    def _scalar(self) -> None:
        self._spaces[self._line.result] = Dataspace(())

    def _space_copy(self) -> None:
        space = self._spaces.get(self._argument(0))
        if space is not None:
            self._spaces[self._line.result] = replace(space)

    def _space_dims(self) -> None:
        space, extents = self._spaces.get(self._argument(0)), vector(self._argument(1))
        if space is not None and extents and space.extents is None:
            space.extents = extents
            if space.dataset is not None and space.dataset.extents is None:
                space.dataset.extents = extents

    def _dataset_space(self) -> None:
        dataset = self._open.get(self._argument(0))
        extents = dataset.extents if dataset else None
        self._spaces[self._line.result] = Dataspace(extents, dataset=dataset)

    def _type_copy(self) -> None:
        known = self._type(self._argument(0))
        if known is not None:
            self._types[self._line.result] = known

    def _type_size(self) -> None:
        known, size = self._types.get(self._argument(0)), self._argument(1)
        if known is not None and size.isdecimal() and 0 < int(size[:10]) < 1 << 30:
            self._types[self._argument(0)] = replace(known, n_bytes=int(size[:10]))

    def _type(self, text: str) -> ElementType | None:
        return self._types.get(text) or element_type(text)

    def _create(self) -> Hdf5Call:
        dataset = self._dataset()
        space = self._spaces.get(self._argument(3))
        dataset.element = self._type(self._argument(2)) or dataset.element
        if space is not None and space.extents is not None:
            dataset.extents = space.extents
        creation = self._argument(5 if self._line.name == "H5Dcreate2" else 4)
        dataset.chunk = self._chunks.get(creation, dataset.chunk)
        return self._named_file(Op.META, dataset.path)

    def _dataset(self) -> Dataset:
        place = self._located()
        dataset = self._datasets.setdefault(place, Dataset(*place))
        self._open[self._line.result] = dataset
        return dataset

    def _extent(self) -> Hdf5Call:
        dataset, extents = self._open.get(self._argument(0)), vector(self._argument(1))
        if dataset is not None and extents:
            known = dataset.extents
            if known is not None and len(known) == len(extents):
                extents = tuple(map(max, known, extents))
            dataset.extents = extents
        return self._named_file(Op.META, dataset.path if dataset else "")

    def _chunk(self) -> None:
        chunk = vector(self._argument(2))
        if chunk:
            self._chunks[self._argument(0)] = chunk

    def _transfer(self) -> None:
        mode = self._argument(1)
        self._collective[self._argument(0)] = mode in ("1", "H5FD_MPIO_COLLECTIVE")

    def _hyperslab(self) -> None:
        space = self._spaces.setdefault(self._argument(0), Dataspace(None))
        start, count = vector(self._argument(2)), vector(self._argument(4))
        replaces = self._argument(1) in ("0", "H5S_SELECT_SET")
        if not replaces or start is None or count is None or len(start) != len(count):
            space.slab = Slab(ShapeKind.BOXES)
            return
        stride = _ones(vector(self._argument(3)), len(start))
        block = _ones(vector(self._argument(5)), len(start))
        space.slab = Slab(ShapeKind.REGULAR, start, stride, count, block)

    def _select(self) -> None:
        kinds = {"H5Sselect_all": ALL, "H5Sselect_none": Slab(ShapeKind.NONE)}
        space = self._spaces.setdefault(self._argument(0), Dataspace(None))
        space.slab = kinds.get(self._line.name, Slab(ShapeKind.POINTS))

    def _data(self) -> Hdf5Call:
        reads = self._line.name == "H5Dread"
        collective = self._collective.get(self._argument(4), False)
        if reads:
            op = Op.READ_COLLECTIVE if collective else Op.READ
        else:
            op = Op.WRITE_COLLECTIVE if collective else Op.WRITE
        dataset = self._open.get(self._argument(0))
        if dataset is None:
            self.untied += 1
            return Hdf5Call(0, 0, "", op, "", flags=int(EventFlag.NO_OFFSET))
        chosen = self._argument(3)
        space = Dataspace(dataset.extents) if chosen in _ZERO else self._spaces.get(chosen)
        slab = space.slab if space is not None else Slab(ShapeKind.BOXES)
        if space is not None and dataset.extents is None:
            dataset.extents = space.extents
        memory = self._spaces.get(self._argument(2))
        elements = memory.elements if memory is not None else 0
        return Hdf5Call(0, 0, "", op, dataset.path, dataset=dataset, slab=slab, elements=elements)

    def _attribute(self) -> Hdf5Call:
        op = Op.READ if self._line.name == "H5Aread" else Op.WRITE
        return Hdf5Call(0, 0, "", op, "", flags=int(EventFlag.ATTRIBUTE | EventFlag.NO_OFFSET))


def _ones(values: tuple[int, ...] | None, n_dims: int) -> tuple[int, ...]:
    """Replace NULL, and 0 as printed in the paper, by 1."""
    if values is None or len(values) != n_dims:
        return (1,) * n_dims
    return tuple(max(value, 1) for value in values)


_STEPS: dict[str, Callable[[Follower], Hdf5Call | None]] = {
    "H5Fcreate": Follower._file,
    "H5Fopen": Follower._file,
    "H5Fclose": lambda self: self._named_file(Op.CLOSE),
    "H5Fflush": lambda self: self._named_file(Op.SYNC),
    "H5Screate_simple": Follower._space,
    "H5Screate": Follower._scalar,
    "H5Scopy": Follower._space_copy,
    "H5Sget_simple_extent_dims": Follower._space_dims,
    "H5Sselect_hyperslab": Follower._hyperslab,
    "H5Sselect_all": Follower._select,
    "H5Sselect_none": Follower._select,
    "H5Sselect_elements": Follower._select,
    "H5Dget_space": Follower._dataset_space,
    "H5Dwrite": Follower._data,
    "H5Dread": Follower._data,
    "H5Dset_extent": Follower._extent,
    "H5Dextend": Follower._extent,
    "H5Tcopy": Follower._type_copy,
    "H5Tset_size": Follower._type_size,
    "H5Pset_chunk": Follower._chunk,
    "H5Pset_dxpl_mpio": Follower._transfer,
    "H5Aread": Follower._attribute,
    "H5Awrite": Follower._attribute,
    **dict.fromkeys(_LOCATED, Follower._group),
    **dict.fromkeys(_CREATE, Follower._create),
    **dict.fromkeys(_OPEN, lambda self: self._named_file(Op.META, self._dataset().path)),
}
