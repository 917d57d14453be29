# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the blocks and records of a container, and verifies their checksums.

Each dtype has the name of its struct, without the flexible member at its end. A test compiles
native/include/stripewise/container.h and compares every size and offset.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core.errors import ContainerError
from stripewise.core.inputs import CONTAINER, CONTAINER_BLOCK, open_input
from stripewise.evidence.trace import (
    ALIGN_BINS,
    N_ACTIONS,
    N_CAUSES,
    N_CHUNK_MODES,
    N_MODES,
    RECORDED_LAYERS,
    Op,
    members,
)

CONTAINER_MAGIC = 0x314E4F435754530A
CONTAINER_VERSION = 1
PAGE = 4096
BLOCK_MAGIC = 0x4B4C4253
SUM_STEP = 0x9E3779B97F4A7C15
SUMMED_HEADER_BYTES = 344
SUMMED_BLOCK_BYTES = 40
SIZE_BINS = 10
NOTE_UNSEEN = "not seen: "
"""Beginning of a note that names a program into which the library was not loaded."""


class BlockKind(IntEnum):
    """Kind of a block, by what its payload starts with."""

    PROCESS = 1
    RECORDS = 2


class RecordKind(IntEnum):
    """Kind of a record."""

    FILE = 1
    SETTINGS = 2
    NOTE = 3
    METADATA = 4
    ISSUED = 5
    TRANSFERS = 6


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
        ("own_ns", "<u8", (len(RECORDED_LAYERS),)),
        ("own_samples", "<u4", (len(RECORDED_LAYERS),)),
        ("reserved_text", "S40"),
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

TRANSFERS_RECORD = np.dtype(
    members(
        ("header", RECORD),
        "u8 file_id",
        "u4 writes element_bytes",
        "u8 count bytes ns compared converted converted_bytes converted_ns",
        "u8 members members_bytes members_ns collective collective_ns answered",
        ("modes", "<u8", (N_MODES,)),
        "u8 independent_ns",
        ("chunk_modes", "<u8", (N_CHUNK_MODES,)),
        ("local_causes", "<u8", (N_CAUSES,)),
        ("global_causes", "<u8", (N_CAUSES,)),
        "u4 name_bytes reserved",
    ),
    align=True,
)


# The blocks of a container and the records in a block, wherever the bytes come from.

_LARGEST_READ = 1 << 30
_STREAK = 32
_AT_ONCE = 4096
_MOST_GAP_BYTES = 64 << 20
"""Range in which the next block of a container is searched: processes that were killed between
reserving space and using it leave 1 MiB each. Data behind it is not part of the container.
"""


@dataclass(frozen=True)
class Store:
    """Bytes of a container, fetched when they are read.

    Attributes:
        name: Name of the container, for messages.
        size: Size in bytes.
        fetch: Function from (offset, size) to bytes, which are fewer at the end.
    """

    name: str
    size: int
    fetch: Callable[[int, int], bytes]


@dataclass(frozen=True)
class Block:
    """One block; `end` is where it should end, even if the file is cut off before.

    `head` contains the bytes of its header.
    """

    offset: int
    end: int
    kind: int
    process_id: int
    head: bytes


_NO_BLOCK = Block(0, 0, 0, 0, b"")
"""Represents pages that contain data but belong to no block."""


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """Open a container.

    Raises:
        ContainerError: The file cannot be read.
    """
    try:
        with open_input(path) as file:
            descriptor = file.fileno()
            yield Store(str(path), os.fstat(descriptor).st_size, partial(_fetch, descriptor))
    except OSError as error:
        raise ContainerError(f"cannot read container {path}: {error.strerror}") from error


def _fetch(descriptor: int, offset: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.pread(descriptor, min(size, _LARGEST_READ), offset)):
        parts.append(part)
        offset, size = offset + len(part), size - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def blocks(store: Store) -> Iterator[Block]:
    """Yield each block in turn; pages without a block are skipped, and yielded with kind 0.

    Pages that were never written are not yielded: the process ended before it wrote them. Data
    that somebody appended behind the last block may have any size, so it is not read to its end.

    Raises:
        StripewiseError: The blocks exceed the budget of a container.
    """
    offset, gap = PAGE, 0
    while offset + BLOCK_HEADER.itemsize <= store.size:
        data = store.fetch(offset, BLOCK_HEADER.itemsize)
        if len(data) < BLOCK_HEADER.itemsize:
            return
        header = np.frombuffer(data, BLOCK_HEADER, 1)[0]
        size = int(header["bytes"])
        if (
            int(header["magic"]) != BLOCK_MAGIC
            or not PAGE <= size <= CONTAINER_BLOCK.file_bytes
            or size % PAGE
        ):
            if any(data):
                yield _NO_BLOCK
            offset += PAGE
            gap += PAGE
            if gap > _MOST_GAP_BYTES:
                return
            continue
        CONTAINER.check_bytes(min(offset + size, store.size), store.name)
        yield Block(offset, offset + size, int(header["kind"]), int(header["process_id"]), data)
        offset += size


def is_container(path: Path) -> bool:
    """Return whether a path is a regular file with a container's header; False if unreadable."""
    magic = CONTAINER_MAGIC.to_bytes(8, "little")
    try:
        with open_input(path) as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False


def container_bytes(path: Path) -> int:
    """Return the size of a container up to the end of its last block.

    Raises:
        ContainerError: The file cannot be read.
        StripewiseError: The blocks exceed the budget of a container.
    """
    with open_store(path) as store:
        end = max((block.end for block in blocks(store) if block is not _NO_BLOCK), default=PAGE)
        return min(end, store.size)


def _count_equal_heads(payload: bytes, place: int, step: int, head: int) -> int:
    """Return how many records from word `place` on, `step` words apart, have the header `head`."""
    found = 0
    words = np.frombuffer(payload, np.uint64, len(payload) // 8)
    while True:
        heads = words[place : place + _AT_ONCE * step : step]
        same = heads == np.uint64(head)
        if len(same) < _AT_ONCE or not same.all():
            return found + (len(same) if same.all() else int(np.argmin(same)))
        found += _AT_ONCE
        place += _AT_ONCE * step


def scan_records(payload: bytes, start: int = 0) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Find the committed records of a payload, from `start` (a multiple of 8) on.

    Returns:
        (n,) int64, offset of each record in bytes, and (n,) `RECORD`, its header. The search ends
        at a record of size 0 or one that extends beyond the end.
    """
    whole = len(payload) // 8 * 8
    words = memoryview(payload)[:whole].cast("Q")
    places, heads = array("q"), array("Q")
    add_place, add_head = places.append, heads.append
    place, end = start // 8, len(words)
    last, streak = 0, 0
    while place < end:
        head = words[place]
        step = (head & 0xFFFFFFFF) >> 3
        if not step:
            break
        add_place(place)
        add_head(head)
        place += step
        streak = streak + 1 if head == last else 0
        last = head
        if streak == _STREAK:
            streak = 0
            more = _count_equal_heads(payload, place, step, head)
            places.extend(range(place, place + more * step, step))
            heads.extend(array("Q", [head]) * more)
            place += more * step
    found = np.array(heads, np.uint64).view(RECORD)
    offsets = np.array(places, np.int64) * 8
    sound = (found["bytes"] % 8 == 0) & (offsets + found["bytes"] <= whole)
    count = len(sound) if sound.all() else int(np.argmin(sound))
    return offsets[:count], found[:count]


# Checksums of a container's blocks, as in native/include/stripewise/container.h.

_MODULUS = 1 << 64
_AT_ONCE_CHECKSUMS = 1 << 16
"""Number of words; small enough that the products stay in the cache."""


@cache
def _weights() -> NDArray[np.uint64]:
    return np.arange(_AT_ONCE_CHECKSUMS, dtype=np.uint64) * np.uint64(SUM_STEP)


def checksum(*parts: bytes) -> int:
    """Return the checksum of consecutive parts of 8 x n bytes each."""
    total = first = 0
    for part in parts:
        words = np.frombuffer(part, "<u8")
        for start in range(0, len(words), _AT_ONCE_CHECKSUMS):
            piece = words[start : start + _AT_ONCE_CHECKSUMS]
            begin = np.uint64((first + start) * SUM_STEP % _MODULUS)
            weights = (_weights()[: len(piece)] + begin) | np.uint64(1)
            total += int(((piece ^ (piece >> np.uint64(32))) * weights).sum())
        first += len(words)
    return total % _MODULUS or 1


def does_not_match(name: str) -> ContainerError:
    """Return the error for damage that a checksum reveals."""
    return ContainerError(f"{Path(name).name} is damaged: its checksum does not match")


@dataclass
class Seals:
    """Processes whose blocks have valid checksums.

    Attributes:
        store: Bytes of the container.
        blocks: Number of blocks by process.
        found: Number of blocks met so far, by process.
    """

    store: Store
    blocks: dict[int, int] = field(default_factory=dict)
    found: Counter[int] = field(default_factory=Counter)

    def meet(self, block: Block) -> None:
        """Count a block, whether or not its payload is read."""
        sealed = int(_header(block.head)["sealed"])
        if block.kind == BlockKind.PROCESS and sealed:
            self.blocks[block.process_id] = sealed
        self.found[block.process_id] += 1

    def check(self, block: Block, payload: bytes) -> None:
        """Compare a block with its checksum, if the block is complete and has one.

        Raises:
            ContainerError: The block does not match its checksum.
        """
        if block.process_id not in self.blocks or block.end > self.store.size:
            return
        if not _matches(block.head, payload) and not self._has_changed(block):
            raise does_not_match(self.store.name)

    def _has_changed(self, block: Block) -> bool:
        """Return whether its process has continued meanwhile and so withdrawn its checksums."""
        again = self.store.fetch(block.offset, block.end - block.offset)
        if _matches(again[: BLOCK_HEADER.itemsize], again[BLOCK_HEADER.itemsize :]):
            return True
        owner = self.store.fetch(block.process_id, BLOCK_HEADER.itemsize)
        return len(owner) == BLOCK_HEADER.itemsize and not _header(owner)["sealed"]

    def missing(self) -> int:
        """Return how many blocks of processes with checksums were not met."""
        return sum(max(number - self.found[owner], 0) for owner, number in self.blocks.items())


def _header(head: bytes) -> Any:
    return np.frombuffer(head, BLOCK_HEADER, 1)[0]


def _matches(head: bytes, payload: bytes) -> bool:
    return checksum(head[:SUMMED_BLOCK_BYTES], payload) == int(_header(head)["sum"])
