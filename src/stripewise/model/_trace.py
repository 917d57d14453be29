# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a program did, call by call: the one form into which every trace is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag, StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise._members import members


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
