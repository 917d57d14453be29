# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The mapping that the processes of an emulated run share.

The format is that of native/include/stripewise/emulate.h; a test compares the two.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

from stripewise.errors import StorageError, UsageError

if TYPE_CHECKING:
    from stripewise.emulation._storage import EmulatedStorage

MAGIC = b"SWEMULAT"
VERSION = 2
HEADER_BYTES = 4096
COUNTERS_BYTES = 512
ROOT_BYTES = 3072
FIGURES_ROOM = 64
CLOCKS_FIXED = 8
FILE_BYTES = 64
OBJECT_BYTES = 64
FILES = 1024
OBJECTS = 16384
"""Room for files and for stripe objects; what finds none shares clocks with others."""
FLAG_LUSTRE = 1
FLAG_PRIVATE = 2

FIGURES = (
    "client.process_write",
    "client.process_read",
    "client.file_write",
    "client.file_read",
    "client.turns",
    "client.sharing",
    "client.node_write",
    "client.node_read",
    "client.request",
    "servers.target_write",
    "servers.target_read",
    "servers.target_request",
    "servers.jitter",
    "servers.whole_write",
    "servers.whole_read",
    "locks.revoke",
    "locks.ahead",
    "locks.hold",
    "locks.extent",
    "locks.page",
    "locks.page_size",
    "exchange.round",
    "exchange.rank",
    "exchange.bandwidth",
    "metadata.open",
    "metadata.create",
    "metadata.stat",
    "metadata.remove",
    "metadata.object",
    "metadata.latency",
    "metadata.growth",
    "servers.slow_share",
    "servers.slow_target",
)
COUNTERS = (
    "processes",
    "writes",
    "reads",
    "written_bytes",
    "read_bytes",
    "metadata",
    "exchanges",
    "held",
    "held_ns",
    "model_ns",
    "late",
    "late_ns",
    "mapped",
    "rings",
    "tables_full",
    "stripes_cut",
    "layouts_refused",
    "layouts_unkept",
    "static_programs",
)
LIMITS = (
    "request",
    "exchange",
    "lock",
    "process",
    "file",
    "node",
    "target",
    "whole",
    "metadata",
)
"""Resources, by what a request waited for."""

HEADER = struct.Struct(f"<8sIIQIIIIIIiIQdQ{FIGURES_ROOM}d{ROOT_BYTES}s")
_WORDS = struct.Struct(f"<{len(COUNTERS) + len(LIMITS)}Q")
_NEXT_TARGET = HEADER_BYTES + COUNTERS_BYTES + 2 * 8
"""Place of SW_CLOCK_NEXT_TARGET."""
_ROOT_OFFSET = HEADER.size - ROOT_BYTES


def mapping_bytes(targets: int, nodes: int) -> int:
    """Return the size of a mapping."""
    clocks = 8 * (CLOCKS_FIXED + targets + nodes + FILES * nodes)
    tables = FILE_BYTES * FILES + OBJECT_BYTES * OBJECTS
    return HEADER_BYTES + COUNTERS_BYTES + (clocks + 63) // 64 * 64 + tables


def header(
    storage: EmulatedStorage,
    root: str,
    environment: Mapping[str, str],
    run_id: str,
    ranks: int = 0,
) -> bytes:
    """Return the header of a mapping.

    Args:
        storage: To be emulated.
        root: Real path of the directory whose files are.
        environment: Of the run: it can choose the transport.
        run_id: Of the run; the noise depends on it.
        ranks: Of the run: on one virtual node the network is not used; 0: not known.

    Raises:
        UsageError: The path is too long.
    """
    path = os.fsencode(root)
    if len(path) >= ROOT_BYTES:
        raise UsageError(f"{root}: the path is too long to be emulated; give a shorter --root")
    options = storage.options
    nodes = ceil(ranks / options.ranks_per_node)
    described = storage.storage.over(storage.transport(environment), nodes)
    lustre = FLAG_LUSTRE if storage.has_driver else 0
    figures = [described.value(name) for name in FIGURES]
    return HEADER.pack(
        MAGIC,
        VERSION,
        lustre | (FLAG_PRIVATE if options.private else 0),
        mapping_bytes(storage.targets, storage.nodes),
        storage.targets,
        storage.nodes,
        options.ranks_per_node,
        0,
        FILES,
        OBJECTS,
        storage.striping.stripe_count,
        len(FIGURES),
        storage.striping.stripe_size,
        storage.noise_factor(run_id),
        options.seed % (1 << 64),
        *figures,
        *[0.0] * (FIGURES_ROOM - len(FIGURES)),
        path,
    )


def write_mapping(descriptor: int, head: bytes, first: int = 0) -> None:
    """Make an empty file a mapping; its room is there from the beginning.

    Args:
        descriptor: Of the file.
        head: As `header` returns it.
        first: Target of the first new file.

    Raises:
        StorageError: There is no room for it.
    """
    size = HEADER.unpack(head)[3]
    try:
        os.posix_fallocate(descriptor, 0, size)
        os.pwrite(descriptor, head, 0)
        os.pwrite(descriptor, struct.pack("<Q", first), _NEXT_TARGET)
    except OSError as error:
        raise StorageError(
            f"no room for the clocks of an emulation ({size >> 10} KiB of shared memory): "
            f"{error.strerror}"
        ) from error


def read_root(descriptor: int) -> str:
    """Return the root that a mapping is for; "" if it is none, or not complete yet."""
    data = os.pread(descriptor, HEADER.size, 0)
    if len(data) < HEADER.size or not data.startswith(MAGIC):
        return ""
    return os.fsdecode(data[_ROOT_OFFSET:].rstrip(b"\0"))


def read_counters(descriptor: int) -> dict[str, int]:
    """Return the counters by name; those of the limits are named "limit.process" and so on."""
    data = os.pread(descriptor, _WORDS.size, HEADER_BYTES)
    values = _WORDS.unpack(data.ljust(_WORDS.size, b"\0"))
    return dict(zip((*COUNTERS, *(f"limit.{name}" for name in LIMITS)), values, strict=True))
