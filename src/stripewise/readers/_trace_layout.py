# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The structs of a trace, field by field as in native/include/stripewise/trace.h.

Each dtype is named as its struct is, without a flexible member at its end.  A test compiles that
header and compares every size and offset.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from stripewise._members import members
from stripewise.model import DURATION_BINS, ShapeKind
from stripewise.readers._container import RECORD

TRACE_VERSION = 1
RUN_LEVELS = 3
SHAPE_TRUNCATED = 0x1
VIEW_TRUNCATED = 0x1


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


TYPE_CLASSES = ("other", "integer", "float", "string", "compound")
"""Classes of an element, by number."""
STORAGES = ("other", "contiguous", "chunked", "compact")
"""How a dataset lies in its file, by number."""
SHAPE_KINDS = dict(enumerate(ShapeKind, start=1))

THREAD_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u4 thread tid n_slots slot_bytes",
        "u8 start_ns lost_calls",
        ("reserved", "<u8", (3,)),
    ),
    align=True,
)

EVENT = np.dtype(
    members(
        ("header", RECORD),
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

_BRIEF_FIELDS = members(
    ("first", EVENT),
    "u8 count last_start_ns end_ns min_ns max_ns",
    ("inner", "<u8", (RUN_LEVELS - 1,)),
    ("stride", "<i8", (RUN_LEVELS,)),
    ("sequence_stride", "<i8", (RUN_LEVELS,)),
)
RUN_WITHOUT_DURATIONS = np.dtype(_BRIEF_FIELDS, align=True)
RUN = np.dtype([*_BRIEF_FIELDS, ("durations", "<u4", (DURATION_BINS,))], align=True)

NAME_RECORD = np.dtype(members(("header", RECORD), "u4 name text_bytes"), align=True)

OBJECT_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u8 file_id",
        "u4 object element_bytes",
        "u1 layer type_class storage n_dims",
        "u4 name_bytes",
    ),
    align=True,
)

SHAPE_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u4 shape object",
        "u1 kind n_dims",
        "u2 flags",
        "u4 n_boxes memory reserved",
        "u8 total_boxes elements",
    ),
    align=True,
)

PIECE = np.dtype(
    members(
        "i8 offset",
        "u8 bytes count",
        ("inner", "<u8", (RUN_LEVELS - 1,)),
        ("stride", "<i8", (RUN_LEVELS,)),
    ),
    align=True,
)

VIEW_RECORD = np.dtype(
    members(
        ("header", RECORD),
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

BINS_RECORD = np.dtype(members(("header", RECORD), "u8 file_id", "u4 layer n_bins"), align=True)
