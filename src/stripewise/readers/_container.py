# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The structs of a container, field by field as in native/include/stripewise/container.h.

Each dtype is named as its struct is, without a flexible member at its end.  A test compiles that
header and compares every size and offset.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from stripewise._members import members
from stripewise.model import ALIGN_BINS, N_ACTIONS, Op

CONTAINER_MAGIC = 0x314E4F435754530A
CONTAINER_VERSION = 1
PAGE = 4096
BLOCK_MAGIC = 0x4B4C4253
SUM_STEP = 0x9E3779B97F4A7C15
SUMMED_HEADER_BYTES = 344
SUMMED_BLOCK_BYTES = 40
SIZE_BINS = 10
NOTE_UNSEEN = "not seen: "
"""How a note begins that names a program which the library is not in."""


class BlockKind(IntEnum):
    """What a block's payload starts with."""

    PROCESS = 1
    RECORDS = 2


class RecordKind(IntEnum):
    """What a record holds."""

    FILE = 1
    SETTINGS = 2
    NOTE = 3
    METADATA = 4
    ISSUED = 5


class CaptureMode(IntEnum):
    """Whether a process recorded events."""

    OFF = 0
    FOLD = 1
    ALL = 2


CONTAINER_HEADER = np.dtype(
    members(
        "u8 magic",
        "u4 version header_bytes",
        "u8 created_ns",
        ("host", "S256"),
        ("run_id", "S64"),
        "u8 lost_processes sum",
    ),
    align=True,
)

BLOCK_HEADER = np.dtype(
    members(
        "u4 magic",
        "u2 kind version",
        "u8 bytes process_id",
        "u4 pid reserved",
        "u8 previous sum sealed padding",
    ),
    align=True,
)

PROCESS = np.dtype(
    members(
        "u4 pid ppid",
        "i4 rank world_size",
        "u4 mpi_family plugin_state flags reserved",
        "u8 start_ns end_ns clock_ns outermost_ns outermost_read_bytes outermost_write_bytes",
        "u8 lost_records lost_calls",
        ("mpi_version", "S256"),
        ("exe", "S512"),
        ("command", "S1024"),
        "u4 capture reserved_number",
        "u8 lost_events",
        ("reserved_text", "S112"),
    ),
    align=True,
)

RECORD = np.dtype(members("u4 bytes", "u2 kind version"), align=True)

OP_COUNTERS = np.dtype(members("u8 count bytes ns"), align=True)

FILE_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u8 file_id",
        "u4 layer flags",
        ("ops", OP_COUNTERS, (len(Op),)),
        "u8 outermost_ns outermost_read_bytes outermost_write_bytes first_ns last_ns read_min",
        "u8 read_max write_min write_max sequential_writes consecutive_writes sequential_reads",
        "u8 consecutive_reads maximum_offset",
        ("read_sizes", "<u4", (SIZE_BINS,)),
        ("write_sizes", "<u4", (SIZE_BINS,)),
        ("write_alignment", "<u4", (ALIGN_BINS,)),
        "u4 path_bytes reserved",
    ),
    align=True,
)

SETTINGS_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u8 file_id",
        "u4 layer kind text_bytes reserved",
    ),
    align=True,
)

METADATA_COUNTERS = np.dtype(members("u8 count failed ns"), align=True)

METADATA_RECORD = np.dtype(
    members(
        ("header", RECORD),
        ("actions", METADATA_COUNTERS, (N_ACTIONS,)),
        "u4 path_bytes reserved",
    ),
    align=True,
)
