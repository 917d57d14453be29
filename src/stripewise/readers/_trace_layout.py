# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The structs of a trace, field by field as in native/include/stripewise/trace.h.

A test compiles that header and compares every size and offset.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from stripewise._members import members
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
    members(
        ("header", RECORD_HEADER),
        "u4 thread tid n_slots slot_bytes",
        "u8 start_ns lost_calls",
        ("reserved", "<u8", (3,)),
    ),
    align=True,
)

EVENT = np.dtype(
    members(
        ("header", RECORD_HEADER),
        "u8 sequence start_ns duration_ns file_id",
        "i8 offset",
        "u8 bytes",
        "u4 name parent shape object",
        "u2 thread",
        "u1 layer op depth thread_high",
        "u2 flags",
    ),
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
    members(
        ("header", RECORD_HEADER),
        "u8 file_id",
        "u4 object element_bytes",
        "u1 layer type_class storage n_dims",
        "u4 name_bytes",
    ),
    align=True,
)

SHAPE_RECORD = np.dtype(
    members(
        ("header", RECORD_HEADER),
        "u4 shape object",
        "u1 kind n_dims",
        "u2 flags",
        "u4 n_boxes memory reserved",
        "u8 total_boxes elements",
    ),
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
    members(
        ("header", RECORD_HEADER),
        "u8 file_id",
        "u4 view flags",
        "i8 displacement",
        "u8 etype_bytes filetype_bytes",
        "i8 filetype_lower filetype_extent",
        "u8 total_pieces",
        "u4 n_pieces reserved",
    ),
    align=True,
)

BIN = np.dtype(
    members(
        "u8 start_ns",
        "u4 width_log2 calls",
        "u8 read_bytes write_bytes busy_ns",
    ),
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
