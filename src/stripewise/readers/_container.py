# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The structs of a container, field by field as in native/include/stripewise/container.h.

A test compiles that header and compares every size and offset.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from stripewise._members import members
from stripewise.model import ALIGN_BINS, N_ACTIONS, IoLayer
from stripewise.model import FileFlag as FileFlag
from stripewise.model import MpiFamily as MpiFamily
from stripewise.model import Op as Op
from stripewise.model import PluginState as PluginState
from stripewise.model import ProcessFlag as ProcessFlag
from stripewise.model import SettingsKind as SettingsKind

CONTAINER_MAGIC = 0x314E4F435754530A
CONTAINER_VERSION = 1
PAGE = 4096
BLOCK_MAGIC = 0x4B4C4253
SUM_STEP = 0x9E3779B97F4A7C15
SUMMED_HEADER_BYTES = 344
SUMMED_BLOCK_BYTES = 40
SIZE_BINS = 10


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


ContainerLayer = IoLayer
"""The layer that counted; a larger number is closer to the program."""


class CaptureMode(IntEnum):
    """Whether a process recorded events."""

    OFF = 0
    FOLD = 1
    ALL = 2


CONTAINER_HEADER = np.dtype(
    [
        ("magic", "<u8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("created_ns", "<u8"),
        ("host", "S256"),
        ("run_id", "S64"),
        ("lost_processes", "<u8"),
        ("sum", "<u8"),
    ],
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

RECORD_HEADER = np.dtype([("bytes", "<u4"), ("kind", "<u2"), ("version", "<u2")], align=True)

OP_COUNTERS = np.dtype([("count", "<u8"), ("bytes", "<u8"), ("ns", "<u8")], align=True)

FILE_RECORD = np.dtype(
    members(
        ("header", RECORD_HEADER),
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
        ("header", RECORD_HEADER),
        "u8 file_id",
        "u4 layer kind text_bytes reserved",
    ),
    align=True,
)

METADATA_COUNTERS = np.dtype([("count", "<u8"), ("failed", "<u8"), ("ns", "<u8")], align=True)

METADATA_RECORD = np.dtype(
    [
        ("header", RECORD_HEADER),
        ("actions", METADATA_COUNTERS, (N_ACTIONS,)),
        ("path_bytes", "<u4"),
        ("reserved", "<u4"),
    ],
    align=True,
)

STRUCTS: dict[str, np.dtype[np.void]] = {
    "sw_container_header": CONTAINER_HEADER,
    "sw_block_header": BLOCK_HEADER,
    "sw_process": PROCESS,
    "sw_record": RECORD_HEADER,
    "sw_op_counters": OP_COUNTERS,
    "sw_file_record": FILE_RECORD,
    "sw_settings_record": SETTINGS_RECORD,
    "sw_metadata_counters": METADATA_COUNTERS,
    "sw_metadata_record": METADATA_RECORD,
}
"""Name of the C struct to its dtype (without a flexible member at its end)."""
