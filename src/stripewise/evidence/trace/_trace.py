# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records what a program did call by call, with equal calls folded, and what each rank moved."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag, StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Parts of a file or dataset that each rank moved: the basis of patterns.


@dataclass(frozen=True, eq=False, kw_only=True)
class _Access:
    """Data that all ranks moved in one direction.

    Attributes:
        file: Path of the file.
        writing: Whether the data was written; otherwise it was read.
        rank: (n,) int64, rank of each selection or range.
        order: (n,) int64, place of the call in its rank's order.
        collective: (n,) bool, whether the call is collective.
        n_ranks: Number of ranks of the run, including those that moved nothing.
        element_bytes: Size of one element if known (the elementary type of a view), otherwise 1.
        notes: Messages on what is missing.
    """

    file: str
    writing: bool
    rank: NDArray[np.int64]
    order: NDArray[np.int64]
    collective: NDArray[np.bool_]
    n_ranks: int
    element_bytes: int = 1
    notes: tuple[str, ...] = ()


UNLISTED_ROW = np.dtype([("rank", "<i8"), ("calls", "<i8"), ("collective", "?")])
"""Equal calls of one rank whose selections are not listed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Selections(_Access):
    """Regular hyperslabs of one dataset that all ranks moved in one direction.

    A call that selected several hyperslabs has as many entries, with the same `order`.

    Attributes:
        dataset: Name inside the file (empty for a whole file).
        extents: Elements per dimension, C order (last fastest); 0 if unknown.
        start / stride / count / block: (n, n_dims) int64, the arguments of H5Sselect_hyperslab.
        unlisted: (m,) `UNLISTED_ROW`, calls that moved data and whose selection is not listed,
            since it is not known completely; the notes describe them.
        left_out: Number of further calls that are left out because there are too many.
        source: "hdf5", "pnetcdf" or "adios2".
    """

    dataset: str
    extents: tuple[int, ...]
    start: NDArray[np.int64]
    stride: NDArray[np.int64]
    count: NDArray[np.int64]
    block: NDArray[np.int64]
    unlisted: NDArray[Any] = field(default_factory=lambda: np.zeros(0, UNLISTED_ROW))
    left_out: int = 0
    source: str = "hdf5"

    @property
    def irregular(self) -> int:
        """Number of calls whose selections are not listed."""
        return int(self.unlisted["calls"].sum()) + self.left_out


@dataclass(frozen=True, eq=False, kw_only=True)
class Pieces(_Access):
    """Byte ranges of one file without known datasets, that all ranks moved in one direction.

    They may be folded: row r represents `repeat[r]` ranges of `size[r]` bytes whose offsets are at
    levels i, j, l as in `TRACE_ROW`: `inner` (n, 2), `stride` (n, 3).

    Attributes:
        offset / size / repeat: (n,) int64; offset and size in bytes.
        call: (n,) int64, number of the call; ranges of one call (one file view) share it.
        source: "view" (MPI-IO) or "offsets" (POSIX, DXT).
    """

    offset: NDArray[np.int64]
    size: NDArray[np.int64]
    repeat: NDArray[np.int64]
    inner: NDArray[np.int64]
    stride: NDArray[np.int64]
    call: NDArray[np.int64]
    source: str = "offsets"


# Runs of equal calls at regular strides, and the calls that they represent.


def expanded_index(count: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the index of its run and its number in it, (n,) each, for each call of runs."""
    row = np.repeat(np.arange(len(count)), count)
    begins = np.cumsum(count) - count
    return row, np.arange(len(row)) - begins[row]


def levels_of(k: NDArray[np.int64], inner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (n, 3) int64: i, j, l of the k-th call of a run with `inner` (n, 2)."""
    endless = np.iinfo(np.int64).max
    first = np.where(inner[:, 0] > 0, inner[:, 0], endless)
    second = np.where(inner[:, 1] > 0, inner[:, 1], endless)
    outer = k // first
    return np.stack([k % first, outer % second, outer // second], axis=1)


def moved(levels: NDArray[np.int64], stride: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (n,) int64: distance of a call at `levels` (n, 3) from the first of its run."""
    with np.errstate(over="ignore"):
        return np.asarray((levels * stride).sum(axis=1))


# Members of structured arrays, written as in a C declaration.


def members(*declared: str | tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return the argument of `numpy.dtype` for a struct.

    Args:
        *declared: A type and the names of its members, as "u8 start_ns end_ns" (little-endian); or
            a member as in numpy: name, type, shape.
    """
    found: list[tuple[Any, ...]] = []
    for entry in declared:
        if isinstance(entry, str):
            kind, *names = entry.split()
            found += [(name, f"<{kind}") for name in names]
        else:
            found.append(entry)
    return found


# A program's I/O, call by call: the common form of every trace that is read.


class IoLayer(IntEnum):
    """The interface that was called; a larger number is closer to the program.

    Negative ones occur only in logs of other tools: the runtime library does not observe them.
    """

    DAOS = -2
    DFS = -1
    POSIX = 0
    STDIO = 1
    MPIIO = 2
    PNETCDF = 3
    HDF5 = 4
    ADIOS2 = 5


class Op(IntEnum):
    """Kind of operation; separates collective from independent ones."""

    OPEN = 0
    CLOSE = 1
    READ = 2
    WRITE = 3
    READ_COLLECTIVE = 4
    WRITE_COLLECTIVE = 5
    SYNC = 6
    META = 7


READS = (Op.READ, Op.READ_COLLECTIVE)
WRITES = (Op.WRITE, Op.WRITE_COLLECTIVE)
DATA_OPS = (*READS, *WRITES)
COLLECTIVE_OPS = (Op.READ_COLLECTIVE, Op.WRITE_COLLECTIVE)
SYSTEM_LAYERS = (IoLayer.POSIX, IoLayer.STDIO)
"""Layers below all libraries."""
RECORDED_LAYERS = tuple(layer for layer in IoLayer if layer >= 0)
"""Layers that the runtime library observes; the place of each is its number."""


class EventFlag(IntFlag):
    """Bits of `flags` of a row."""

    FAILED = 0x1
    NONBLOCKING = 0x2
    SPLIT = 0x4
    SHARED = 0x8
    POINTER = 0x10
    WAIT = 0x20
    NO_OFFSET = 0x40
    SYNC = 0x80
    ATTRIBUTE = 0x100
    CONVERTED = 0x200
    MEMBERS = 0x400


class OpenBit(IntFlag):
    """Bits of `offset` of a row with `Op.OPEN` (0 if unknown)."""

    READ = 0x1
    WRITE = 0x2
    CREATE = 0x4
    TRUNCATE = 0x8
    APPEND = 0x10
    EXCLUSIVE = 0x20


class ShapeKind(StrEnum):
    """Form in which a selection is described."""

    ALL = "all"
    REGULAR = "regular"
    BOXES = "boxes"
    POINTS = "points"
    NONE = "none"


DURATION_BINS = 16

TRACE_ROW = np.dtype(
    members(
        "i4 process",  # row of `Trace.process_rank`
        "i4 rank",  # -1 without MPI
        "i4 thread",
        "i4 file",  # index into `Trace.paths`; -1 if there is none
        "i4 name",  # of the function, index into `Trace.names`
        "i4 parent",  # name of the call that made it, -1 if the program did
        "i4 object",  # index into `Trace.objects`, or -1
        "i4 shape",  # index into `Trace.shapes`, or -1
        "i4 view",  # index into `Trace.views`, or -1
        "i4 memory",  # MPI-IO: buffer with holes; index into `Trace.views`, or -1
        "u1 layer op depth",
        "u2 flags",
        "i8 offset",  # of the first call
        "i8 bytes",  # of one call
        "i8 count",
        ("inner", "<i8", (2,)),  # 0: unlimited
        ("stride", "<i8", (3,)),
        "i8 sequence",  # of the first call, in its thread
        ("sequence_stride", "<i8", (3,)),
        "i8 start_ns",  # since `Trace.start`
        "i8 last_start_ns end_ns",
        "i8 busy_ns",  # sum of the durations
        "i8 min_ns max_ns",
        ("durations", "<u4", (DURATION_BINS,)),  # bin b: below 4^b x 256 ns
    ),
)
"""One run of equal calls at a regular stride, or one call (`count` 1).

Call k has i = k % inner[0], j = k // inner[0] % inner[1], l = k // (inner[0] * inner[1]), an inner
of 0 being unlimited; its offset is offset + i stride[0] + j stride[1] + l stride[2], and its
sequence correspondingly. `offset` is, by layer: bytes in POSIX and stdio; elementary types of the
view in MPI-IO; the C order index of the selection's lower corner in HDF5 and PnetCDF; `OpenBit` of
an open; the size that was set by a META call.
"""

BIN_ROW = np.dtype(
    members(
        "i4 rank process file",
        "u1 layer",
        "i8 start_ns",  # since `Trace.start`
        "i8 width_ns calls read_bytes write_bytes busy_ns",
    ),
)
"""Activity of one file in one layer, by one process, in a span of time."""

PIECE_ROW = np.dtype(
    members(
        "i8 offset",  # bytes from the start of the filetype
        "i8 bytes count",
        ("inner", "<i8", (2,)),
        ("stride", "<i8", (3,)),
    ),
)
"""Pieces of a flattened datatype, folded as calls are in `TRACE_ROW`."""


@dataclass(frozen=True)
class TraceObject:
    """A dataset or variable, as one process described it.

    Attributes:
        file: Index into `Trace.paths`.
        layer: `IoLayer` that described it.
        name: Absolute name inside the file.
        extents: Elements per dimension, C order; in `maximum`, -1 is unlimited.
        chunk: Elements per dimension, empty if not chunked.
        element_bytes: Size of one element in the file.
        type_class: "integer", "float", "string", "compound" or "other".
        storage: "contiguous", "chunked", "filtered" (chunked with filters), "compact", "other".
    """

    file: int
    layer: int
    name: str
    extents: tuple[int, ...]
    maximum: tuple[int, ...] = ()
    chunk: tuple[int, ...] = ()
    element_bytes: int = 1
    type_class: str = "other"
    storage: str = "other"


@dataclass(frozen=True)
class TraceShape:
    """Elements that a call moves, relative to where it begins.

    Attributes:
        object: Index into `Trace.objects`, -1 if there is none.
        extents: Extents of the object at that time.
        stride / count / block: Parameters of a regular hyperslab; empty otherwise.
        boxes: (n, 2, n_dims) int64, first and last element (inclusive) of each box of an irregular
            selection, relative to the lower corner; None otherwise. The elements of the boxes of
            points, in C order, are the points in their order.
        truncated: Whether boxes are missing; `total_boxes` is their full number.
        elements: Number of all selected elements.
        memory: Index into `Trace.shapes` of the buffer's shape if that has holes (a halo); -1 if
            the buffer is contiguous or unknown.
    """

    object: int
    kind: ShapeKind
    extents: tuple[int, ...]
    stride: tuple[int, ...] = ()
    count: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    boxes: NDArray[np.int64] | None = None
    truncated: bool = False
    total_boxes: int = 0
    elements: int = 0
    memory: int = -1


@dataclass(frozen=True)
class TraceView:
    """A file view of MPI-IO with its flattened filetype.

    Attributes:
        file: Index into `Trace.paths`.
        displacement / etype_bytes / filetype_bytes / lower / extent: Sizes and offsets in bytes.
        pieces: (n,) `PIECE_ROW` of the filetype.
        truncated: Whether the datatype has more pieces than are listed.
    """

    file: int
    displacement: int
    etype_bytes: int
    filetype_bytes: int
    lower: int
    extent: int
    pieces: NDArray[Any]
    truncated: bool = False
    total_pieces: int = 0

    @property
    def contiguous(self) -> bool:
        """Whether the view has no holes."""
        return not self.truncated and self.filetype_bytes == self.extent


@dataclass(frozen=True, eq=False)
class Trace:
    """All calls of one run that were recorded.

    Attributes:
        source: Name of the source: "stripewise trace", "Darshan 3.4.1 log (DXT)".
        rows: (n,) `TRACE_ROW`, ordered by process, thread and sequence.
        names / paths / objects / shapes / views: Tables that the indices in the rows refer to.
        bins: (m,) `BIN_ROW` of the processes.
        process_rank: (n_processes,) int64, -1 without MPI; `process_host`: index into `hosts`.
        n_ranks: Number of ranks of the run, recorded or not; 0 without MPI.
        start: Origin of all `*_ns`, seconds since 1970.
        lost_calls: Number of calls dropped because the trace was full (counters include them).
        notes: Messages on what is missing or doubtful.
    """

    source: str
    rows: NDArray[Any]
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    objects: tuple[TraceObject, ...] = ()
    shapes: tuple[TraceShape, ...] = ()
    views: tuple[TraceView, ...] = ()
    bins: NDArray[Any] = field(default_factory=lambda: np.zeros(0, BIN_ROW))
    process_rank: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    process_host: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    hosts: tuple[str, ...] = ()
    n_ranks: int = 0
    start: float = 0.0
    lost_calls: int = 0
    notes: tuple[str, ...] = ()
