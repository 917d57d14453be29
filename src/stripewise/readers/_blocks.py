# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of a container and the records in a block, wherever the bytes come from."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import ContainerError
from stripewise.inputs import CONTAINER, CONTAINER_BLOCK, open_input
from stripewise.readers import _container as c

_LARGEST_READ = 1 << 30
_STREAK = 32
_AT_ONCE = 4096
_MOST_GAP_BYTES = 64 << 20
"""In which the next block is looked for, in a whole container: processes that were killed between
making room and using it leave 1 MiB each.  What lies behind is not of the container."""


@dataclass(frozen=True)
class Store:
    """Bytes of a container that are fetched when they are looked at.

    Attributes:
        name: For messages.
        size: In bytes.
        fetch: (offset, size) -> bytes, shorter at the end.
    """

    name: str
    size: int
    fetch: Callable[[int, int], bytes]


@dataclass(frozen=True)
class Block:
    """One block; `end` is where it should end, also where the file is cut off.

    `head` are the bytes of its header.
    """

    offset: int
    end: int
    kind: int
    process_id: int
    head: bytes


_NO_BLOCK = Block(0, 0, 0, 0, b"")
"""In the place of pages that hold something, and belong to no block."""


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """Open a container.

    Raises:
        ContainerError: It cannot be read.
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
    """Each block in turn; pages without a block are stepped over, and given as one of kind 0.

    Pages that were never written are not given: the process ended before it did.  Nothing bounds
    what somebody has put behind the last block, so it is not read to its end.

    Raises:
        StripewiseError: The blocks are larger than a container's budget.
    """
    offset, gap = c.PAGE, 0
    while offset + c.BLOCK_HEADER.itemsize <= store.size:
        data = store.fetch(offset, c.BLOCK_HEADER.itemsize)
        if len(data) < c.BLOCK_HEADER.itemsize:
            return
        header = np.frombuffer(data, c.BLOCK_HEADER, 1)[0]
        size = int(header["bytes"])
        if (
            int(header["magic"]) != c.BLOCK_MAGIC
            or not c.PAGE <= size <= CONTAINER_BLOCK.file_bytes
            or size % c.PAGE
        ):
            if any(data):
                yield _NO_BLOCK
            offset += c.PAGE
            gap += c.PAGE
            if gap > _MOST_GAP_BYTES:
                return
            continue
        CONTAINER.check_bytes(min(offset + size, store.size), store.name)
        yield Block(offset, offset + size, int(header["kind"]), int(header["process_id"]), data)
        offset += size


def is_container(path: Path) -> bool:
    """Whether a regular file begins as a container does; False if it cannot be read."""
    magic = c.CONTAINER_MAGIC.to_bytes(8, "little")
    try:
        with open_input(path) as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False


def container_bytes(path: Path) -> int:
    """Return how many bytes of a container belong to it: to the end of its last block.

    Raises:
        ContainerError: It cannot be read.
        StripewiseError: The blocks are larger than a container's budget.
    """
    with open_store(path) as store:
        end = max((block.end for block in blocks(store) if block is not _NO_BLOCK), default=c.PAGE)
        return min(end, store.size)


def _alike(payload: bytes, place: int, step: int, head: int) -> int:
    """Tell how many records from word `place` on, `step` words each, have the header `head`."""
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
        (n,) int64, offset of each record in bytes, and (n,) `RECORD`, its header.  What follows a
        record of size 0, or one that reaches beyond the end, is not looked at.
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
            more = _alike(payload, place, step, head)
            places.extend(range(place, place + more * step, step))
            heads.extend(array("Q", [head]) * more)
            place += more * step
    found = np.array(heads, np.uint64).view(c.RECORD)
    offsets = np.array(places, np.int64) * 8
    sound = (found["bytes"] % 8 == 0) & (offsets + found["bytes"] <= whole)
    count = len(sound) if sound.all() else int(np.argmin(sound))
    return offsets[:count], found[:count]
