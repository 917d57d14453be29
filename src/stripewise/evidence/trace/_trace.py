# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records what a program did call by call, with equal calls folded, and what each rank moved."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag, StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Which parts of a file or dataset each rank moved: what patterns are found in.


@dataclass(frozen=True, eq=False, kw_only=True)
class _Access:
    """What all ranks moved in one direction.

    Attributes:
        file: Path.
        writing: Written, otherwise read.
        rank: (n,) int64, whose selection or range.
        order: (n,) int64, the rank's own order of its calls.
        collective: (n,) bool.
        n_ranks: Ranks of the run, also those that moved nothing.
        element_bytes: Of one element if known (the elementary type of a view), otherwise 1.
        notes: What is missing, in words.
    """

    file: str
    writing: bool
    rank: NDArray[np.int64]
    order: NDArray[np.int64]
    collective: NDArray[np.bool_]
    n_ranks: int
    element_bytes: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Selections(_Access):
    """Regular hyperslabs of one dataset, by all ranks, one direction.

    Attributes:
        dataset: Name inside the file ("" for a whole file).
        extents: Elements per dimension, C order (last fastest); 0: not known.
        start / stride / count / block: (n, n_dims) int64, as H5Sselect_hyperslab takes them.
        irregular: Selections that are no regular hyperslab and are not listed here; the notes
            say what they are.
        source: "hdf5", "pnetcdf" or "adios2".
    """

    dataset: str
    extents: tuple[int, ...]
    start: NDArray[np.int64]
    stride: NDArray[np.int64]
    count: NDArray[np.int64]
    block: NDArray[np.int64]
    irregular: int = 0
    source: str = "hdf5"


@dataclass(frozen=True, eq=False, kw_only=True)
class Pieces(_Access):
    """Byte ranges of one file, by all ranks, one direction: where no dataset is known.

    They may be folded: row r stands for `repeat[r]` ranges of `size[r]` bytes whose offsets lie
    at i, j, l as in `TRACE_ROW`: `inner` (n, 2), `stride` (n, 3).

    Attributes:
        offset / size / repeat: (n,) int64; offset and size in bytes.
        call: (n,) int64, ranges of one call (one file view) share a number.
        source: "view" (MPI-IO) or "offsets" (POSIX, DXT).
    """

    offset: NDArray[np.int64]
    size: NDArray[np.int64]
    repeat: NDArray[np.int64]
    inner: NDArray[np.int64]
    stride: NDArray[np.int64]
    call: NDArray[np.int64]
    source: str = "offsets"


# Runs of equal calls at regular strides: which calls they stand for.


def expanded_index(count: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each call of runs of `count` calls: (n,) the index of its run, (n,) its number in it."""
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
    """Return (n,) int64: how far a call at `levels` (n, 3) lies from the first of its run."""
    with np.errstate(over="ignore"):
        return np.asarray((levels * stride).sum(axis=1))


# Members of structured arrays, written as C declares them.


def members(*declared: str | tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return what `numpy.dtype` takes for a struct.

    Args:
        *declared: A type and the names that have it, as "u8 start_ns end_ns" (little-endian);
            or a member as numpy has it: name, type, shape.
    """
    found: list[tuple[Any, ...]] = []
    for entry in declared:
        if isinstance(entry, str):
            kind, *names = entry.split()
            found += [(name, f"<{kind}") for name in names]
        else:
            found.append(entry)
    return found


# What a program did, call by call: the one form into which every trace is read.


class IoLayer(IntEnum):
    """The interface that was called; a larger number is closer to the program.

    Those below zero are known from logs of others alone: the runtime library does not watch them.
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
    """Kind of operation; tells collective from independent."""

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
"""Those that the runtime library watches; the place of each is its number."""


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


class OpenBit(IntFlag):
    """What `offset` of a row with `Op.OPEN` says (0: not known)."""

    READ = 0x1
    WRITE = 0x2
    CREATE = 0x4
    TRUNCATE = 0x8
    APPEND = 0x10
    EXCLUSIVE = 0x20


class ShapeKind(StrEnum):
    """How a selection is described."""

    ALL = "all"
    REGULAR = "regular"
    BOXES = "boxes"
    POINTS = "points"
    NONE = "none"


DURATION_BINS = 16

TRACE_ROW = np.dtype(
    members(
        "i4 process",  # row of `Trace.process_rank`
        "i4 rank",  # -1: no MPI
        "i4 thread",
        "i4 file",  # index into `Trace.paths`; -1: none
        "i4 name",  # of the function, index into `Trace.names`
        "i4 parent",  # name of the call it serves, -1: the program's own
        "i4 object",  # index into `Trace.objects`, -1
        "i4 shape",  # index into `Trace.shapes`, -1
        "i4 view",  # index into `Trace.views`, -1
        "i4 memory",  # MPI-IO: the buffer, if it has holes; index into `Trace.views`, -1
        "u1 layer op depth",
        "u2 flags",
        "i8 offset",  # of the first call
        "i8 bytes",  # of one call
        "i8 count",
        ("inner", "<i8", (2,)),  # 0: without end
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

Call k has i = k % inner[0], j = k // inner[0] % inner[1], l = k // (inner[0] * inner[1]), an
inner of 0 being without end; its offset is offset + i stride[0] + j stride[1] + l stride[2], and
its sequence alike.  `offset` is, by layer: bytes in POSIX and stdio; elementary types of the view
in MPI-IO; the C order index of the selection's lower corner in HDF5 and PnetCDF; `OpenBit` of an
open; the size that was set by a META call.
"""

BIN_ROW = np.dtype(
    members(
        "i4 rank process file",
        "u1 layer",
        "i8 start_ns",  # since `Trace.start`
        "i8 width_ns calls read_bytes write_bytes busy_ns",
    ),
)
"""What one file saw in one layer, from one process, in a span of time."""

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
        extents: Elements per dimension, C order; `maximum`: -1 is unlimited.
        chunk: Elements per dimension, empty: not chunked.
        element_bytes: Of one element in the file.
        type_class: "integer", "float", "string", "compound" or "other".
        storage: "contiguous", "chunked", "compact" or "other".
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
    """Which elements a call moves, without where it begins.

    Attributes:
        object: Index into `Trace.objects`, -1: none.
        extents: Of the object at that time.
        stride / count / block: Of a regular hyperslab; empty otherwise.
        boxes: (n, 2, n_dims) int64, first and last element (inclusive) of each box of an
            irregular selection, relative to the lower corner; None otherwise.
        truncated: Not all boxes are listed; `total_boxes` tells how many there were.
        elements: Selected in all.
        memory: Index into `Trace.shapes` of the buffer's shape where that has holes (a halo);
            -1: it is contiguous, or not known.
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
        displacement / etype_bytes / filetype_bytes / lower / extent: In bytes.
        pieces: (n,) `PIECE_ROW`.
        truncated: The datatype has more pieces than are listed.
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
        source: Where it comes from, in words: "stripewise trace", "Darshan 3.4.1 log (DXT)".
        rows: (n,) `TRACE_ROW`, ordered by process, thread and sequence.
        names / paths / objects / shapes / views: What the rows' indices mean.
        bins: (m,) `BIN_ROW`.
        process_rank: (n_processes,) int64, -1 without MPI; `process_host`: index into `hosts`.
        n_ranks: Ranks of the run, recorded or not; 0 without MPI.
        start: Seconds since 1970 of the origin of all `*_ns`.
        lost_calls: Calls that found no room in the trace (counters have them all the same).
        notes: What is missing or doubtful, in words.
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
