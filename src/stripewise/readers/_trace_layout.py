# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The structs of a trace, field by field as in native/include/stripewise/trace.h.

A test compiles that header and compares every size and offset.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from stripewise.readers._container import RECORD_HEADER

TRACE_VERSION = 1
RUN_LEVELS = 3
DURATION_BINS = 16
RUN_BRIEF = 8
SHAPE_MOST_BOXES = 64
SHAPE_TRUNCATED = 0x1
VIEW_TRUNCATED = 0x1
VIEW_MOST_PIECES = 256
BIN_LEAST_LOG2 = 24
BINS_PER_RECORD = 15


class TraceBlockKind(IntEnum):
    """Continues `BlockKind`."""

    THREAD = 3
    EVENTS = 4


class TraceRecordKind(IntEnum):
    """Continues `RecordKind`."""

    THREAD = 16
    EVENT = 17
    RUN = 18
    NAME = 19
    OBJECT = 20
    SHAPE = 21
    VIEW = 22
    BINS = 23


class TypeClass(IntEnum):
    """Class of an element."""

    OTHER = 0
    INTEGER = 1
    FLOAT = 2
    STRING = 3
    COMPOUND = 4


class Storage(IntEnum):
    """How a dataset lies in its file."""

    OTHER = 0
    CONTIGUOUS = 1
    CHUNKED = 2
    COMPACT = 3


class RawShapeKind(IntEnum):
    """How a selection is described."""

    ALL = 1
    REGULAR = 2
    BOXES = 3
    POINTS = 4
    NONE = 5


THREAD_RECORD = np.dtype(
    [
        ("header", RECORD_HEADER),
        ("thread", "<u4"),
        ("tid", "<u4"),
        ("n_slots", "<u4"),
        ("slot_bytes", "<u4"),
        ("start_ns", "<u8"),
        ("lost_calls", "<u8"),
        ("reserved", "<u8", (3,)),
    ],
    align=True,
)

EVENT = np.dtype(
    [
        ("header", RECORD_HEADER),
        ("sequence", "<u8"),
        ("start_ns", "<u8"),
        ("duration_ns", "<u8"),
        ("file_id", "<u8"),
        ("offset", "<i8"),
        ("bytes", "<u8"),
        ("name", "<u4"),
        ("parent", "<u4"),
        ("shape", "<u4"),
        ("object", "<u4"),
        ("thread", "<u2"),
        ("layer", "u1"),
        ("op", "u1"),
        ("depth", "u1"),
        ("thread_high", "u1"),
        ("flags", "<u2"),
    ],
    align=True,
)

_BRIEF_FIELDS = [
    ("first", EVENT),
    ("count", "<u8"),
    ("last_start_ns", "<u8"),
    ("end_ns", "<u8"),
    ("min_ns", "<u8"),
    ("max_ns", "<u8"),
    ("inner", "<u8", (RUN_LEVELS - 1,)),
    ("stride", "<i8", (RUN_LEVELS,)),
    ("sequence_stride", "<i8", (RUN_LEVELS,)),
]
RUN_WITHOUT_DURATIONS = np.dtype(_BRIEF_FIELDS, align=True)
RUN = np.dtype([*_BRIEF_FIELDS, ("durations", "<u4", (DURATION_BINS,))], align=True)

NAME_RECORD = np.dtype(
    [("header", RECORD_HEADER), ("name", "<u4"), ("text_bytes", "<u4")], align=True
)

OBJECT_RECORD = np.dtype(
    [
        ("header", RECORD_HEADER),
        ("file_id", "<u8"),
        ("object", "<u4"),
        ("element_bytes", "<u4"),
        ("layer", "u1"),
        ("type_class", "u1"),
        ("storage", "u1"),
        ("n_dims", "u1"),
        ("name_bytes", "<u4"),
    ],
    align=True,
)

SHAPE_RECORD = np.dtype(
    [
        ("header", RECORD_HEADER),
        ("shape", "<u4"),
        ("object", "<u4"),
        ("kind", "u1"),
        ("n_dims", "u1"),
        ("flags", "<u2"),
        ("n_boxes", "<u4"),
        ("memory", "<u4"),
        ("reserved", "<u4"),
        ("total_boxes", "<u8"),
        ("elements", "<u8"),
    ],
    align=True,
)

PIECE = np.dtype(
    [
        ("offset", "<i8"),
        ("bytes", "<u8"),
        ("count", "<u8"),
        ("inner", "<u8", (RUN_LEVELS - 1,)),
        ("stride", "<i8", (RUN_LEVELS,)),
    ],
    align=True,
)

VIEW_RECORD = np.dtype(
    [
        ("header", RECORD_HEADER),
        ("file_id", "<u8"),
        ("view", "<u4"),
        ("flags", "<u4"),
        ("displacement", "<i8"),
        ("etype_bytes", "<u8"),
        ("filetype_bytes", "<u8"),
        ("filetype_lower", "<i8"),
        ("filetype_extent", "<i8"),
        ("total_pieces", "<u8"),
        ("n_pieces", "<u4"),
        ("reserved", "<u4"),
    ],
    align=True,
)

BIN = np.dtype(
    [
        ("start_ns", "<u8"),
        ("width_log2", "<u4"),
        ("calls", "<u4"),
        ("read_bytes", "<u8"),
        ("write_bytes", "<u8"),
        ("busy_ns", "<u8"),
    ],
    align=True,
)

BINS_RECORD = np.dtype(
    [("header", RECORD_HEADER), ("file_id", "<u8"), ("layer", "<u4"), ("n_bins", "<u4")],
    align=True,
)

TRACE_STRUCTS: dict[str, np.dtype[np.void]] = {
    "sw_thread_record": THREAD_RECORD,
    "sw_event": EVENT,
    "sw_run": RUN,
    "sw_name_record": NAME_RECORD,
    "sw_object_record": OBJECT_RECORD,
    "sw_shape_record": SHAPE_RECORD,
    "sw_piece": PIECE,
    "sw_view_record": VIEW_RECORD,
    "sw_bin": BIN,
    "sw_bins_record": BINS_RECORD,
}
"""Name of the C struct to its dtype (without a flexible member at its end)."""
