# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The structs of a container, field by field as in native/include/stripewise/container.h.

A test compiles that header and compares every size and offset.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

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
    ],
    align=True,
)

BLOCK_HEADER = np.dtype(
    [
        ("magic", "<u4"),
        ("kind", "<u2"),
        ("version", "<u2"),
        ("bytes", "<u8"),
        ("process_id", "<u8"),
        ("pid", "<u4"),
        ("reserved", "<u4"),
        ("padding", "<u8", (4,)),
    ],
    align=True,
)

PROCESS = np.dtype(
    [
        ("pid", "<u4"),
        ("ppid", "<u4"),
        ("rank", "<i4"),
        ("world_size", "<i4"),
        ("mpi_family", "<u4"),
        ("plugin_state", "<u4"),
        ("flags", "<u4"),
        ("reserved", "<u4"),
        ("start_ns", "<u8"),
        ("end_ns", "<u8"),
        ("clock_ns", "<u8"),
        ("outermost_ns", "<u8"),
        ("outermost_read_bytes", "<u8"),
        ("outermost_write_bytes", "<u8"),
        ("lost_records", "<u8"),
        ("lost_calls", "<u8"),
        ("mpi_version", "S256"),
        ("exe", "S512"),
        ("command", "S1024"),
        ("capture", "<u4"),
        ("reserved_number", "<u4"),
        ("lost_events", "<u8"),
        ("reserved_text", "S112"),
    ],
    align=True,
)

RECORD_HEADER = np.dtype([("bytes", "<u4"), ("kind", "<u2"), ("version", "<u2")], align=True)

OP_COUNTERS = np.dtype([("count", "<u8"), ("bytes", "<u8"), ("ns", "<u8")], align=True)

FILE_RECORD = np.dtype(
    [
        ("header", RECORD_HEADER),
        ("file_id", "<u8"),
        ("layer", "<u4"),
        ("flags", "<u4"),
        ("ops", OP_COUNTERS, (len(Op),)),
        ("outermost_ns", "<u8"),
        ("outermost_read_bytes", "<u8"),
        ("outermost_write_bytes", "<u8"),
        ("first_ns", "<u8"),
        ("last_ns", "<u8"),
        ("read_min", "<u8"),
        ("read_max", "<u8"),
        ("write_min", "<u8"),
        ("write_max", "<u8"),
        ("sequential_writes", "<u8"),
        ("consecutive_writes", "<u8"),
        ("sequential_reads", "<u8"),
        ("consecutive_reads", "<u8"),
        ("maximum_offset", "<u8"),
        ("read_sizes", "<u4", (SIZE_BINS,)),
        ("write_sizes", "<u4", (SIZE_BINS,)),
        ("write_alignment", "<u4", (ALIGN_BINS,)),
        ("path_bytes", "<u4"),
        ("reserved", "<u4"),
    ],
    align=True,
)

SETTINGS_RECORD = np.dtype(
    [
        ("header", RECORD_HEADER),
        ("file_id", "<u8"),
        ("layer", "<u4"),
        ("kind", "<u4"),
        ("text_bytes", "<u4"),
        ("reserved", "<u4"),
    ],
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
