# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of one container -> its processes and records.  Pure: no I/O but the read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import ContainerError
from stripewise.readers import _container as c
from stripewise.readers._blocks import Store, blocks, open_store, scan_records, store_of
from stripewise.readers._trace_layout import TraceBlockKind
from stripewise.readers._trace_parse import RawTrace, add_events, add_shared_records

_TRACE_BLOCKS = tuple(TraceBlockKind)


@dataclass(frozen=True)
class RawSettings:
    """A settings record or a note, as found."""

    process: int
    file_id: int
    layer: int
    kind: int
    text: str


@dataclass
class RawContainer:
    """What one container holds.

    Attributes:
        host / run_id: Of its header.
        processes: One `PROCESS` scalar each.
        records: One `FILE_RECORD` scalar each; `owners` gives the process's index and
            `paths` the path of each.
        settings / notes: In the order of the file.
        trace: The events; empty if they were not asked for.
        problems: What of it cannot be read, in words.
    """

    host: str
    run_id: str
    processes: list[NDArray[np.void]] = field(default_factory=list)
    records: list[NDArray[np.void]] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    paths: list[bytes] = field(default_factory=list)
    settings: list[RawSettings] = field(default_factory=list)
    notes: list[RawSettings] = field(default_factory=list)
    trace: RawTrace = field(default_factory=RawTrace)
    problems: list[str] = field(default_factory=list)


def parse_container(data: bytes, name: str = "container", *, events: bool = False) -> RawContainer:
    """Parse a container; what lies behind the last committed record is ignored.

    Args:
        data: The whole file.
        name: For messages.
        events: Parse the trace too.

    Raises:
        ContainerError: `data` is not a container, or is one of another version.
    """
    return _parse(store_of(data, name), events=events)


def read_container(path: Path, *, events: bool = False, room: int | None = None) -> RawContainer:
    """Read and parse one container file, block by block.

    Args:
        path: Of the file.
        events: Parse the trace too.
        room: Most rows of it that are read, if not `MOST_ROWS`.

    Raises:
        ContainerError: It cannot be read, or is not a container of this version.
    """
    store, close = open_store(path)
    try:
        return _parse(store, events=events, room=room)
    finally:
        close()


def read_container_header(path: Path) -> RawContainer:
    """Read only the host and the run of a container.

    Raises:
        ContainerError: It cannot be read, or is not a container of this version.
    """
    store, close = open_store(path)
    try:
        return _parse_header(store)
    finally:
        close()


def _parse(store: Store, *, events: bool, room: int | None = None) -> RawContainer:
    raw = _parse_header(store)
    if room is not None:
        raw.trace.room = room
    process_of: dict[int, int] = {}
    for block in blocks(store):
        if block.cut:
            raw.problems.append("the container is cut off: its last block is incomplete")
        in_trace = block.kind in _TRACE_BLOCKS
        if in_trace and not events:
            continue
        start = block.offset + c.BLOCK_HEADER.itemsize
        payload = store.fetch(start, block.end - start)
        first = 0
        if block.kind == c.BlockKind.PROCESS:
            if len(payload) < c.PROCESS.itemsize:
                continue
            process_of[block.offset] = len(raw.processes)
            raw.processes.append(np.frombuffer(payload, c.PROCESS, 1).copy())
            first = c.PROCESS.itemsize
        owner = process_of.get(block.process_id)
        if owner is None:
            raw.problems.append("a block belongs to no process")
        elif in_trace:
            add_events(payload, owner, raw.trace, begins=block.kind == TraceBlockKind.THREAD)
        else:
            _parse_records(payload, first, owner, raw, events=events)
    return raw


def _parse_header(store: Store) -> RawContainer:
    name = store.name
    if not store.size:
        raise ContainerError(
            f"{name}: not a Stripewise container (it is empty: its disk was full; make room there)"
        )
    data = store.fetch(0, c.CONTAINER_HEADER.itemsize)
    if len(data) < c.CONTAINER_HEADER.itemsize:
        raise ContainerError(
            f"{name}: not a Stripewise container ({len(data)} bytes are too few for its header)"
        )
    header: Any = np.frombuffer(data, c.CONTAINER_HEADER, 1)[0]
    if int(header["magic"]) != c.CONTAINER_MAGIC:
        raise ContainerError(f"{name}: not a Stripewise container (wrong magic number)")
    if int(header["version"]) != c.CONTAINER_VERSION:
        raise ContainerError(
            f"{name}: container version {int(header['version'])}, this Stripewise reads "
            f"{c.CONTAINER_VERSION}; rebuild the library with `stripewise runtime build`"
        )
    return RawContainer(_text(header["host"]), _text(header["run_id"]))


def _parse_records(
    payload: bytes, first: int, owner: int, raw: RawContainer, *, events: bool
) -> None:
    offsets, heads = scan_records(payload, first)
    if events:
        add_shared_records(payload, offsets, heads, owner, raw.trace)
    for start, head in zip(offsets.tolist(), heads.tolist(), strict=True):
        size, kind = head & 0xFFFFFFFF, head >> 32 & 0xFFFF
        if kind == c.RecordKind.FILE:
            _add_file(payload, start, size, owner, raw)
        elif kind in (c.RecordKind.SETTINGS, c.RecordKind.NOTE):
            _add_settings(payload, start, size, owner, raw, note=kind == c.RecordKind.NOTE)


def _add_file(data: bytes, start: int, size: int, owner: int, raw: RawContainer) -> None:
    fixed = c.FILE_RECORD.itemsize
    if size < fixed:
        return
    record = np.frombuffer(data, c.FILE_RECORD, 1, start).copy()
    length = min(int(record["path_bytes"][0]), size - fixed)
    raw.records.append(record)
    raw.owners.append(owner)
    raw.paths.append(data[start + fixed : start + fixed + length])


def _add_settings(
    data: bytes, start: int, size: int, owner: int, raw: RawContainer, *, note: bool
) -> None:
    fixed = c.SETTINGS_RECORD.itemsize
    if size < fixed:
        return
    record: Any = np.frombuffer(data, c.SETTINGS_RECORD, 1, start)[0]
    length = min(int(record["text_bytes"]), size - fixed)
    settings = RawSettings(
        owner,
        int(record["file_id"]),
        int(record["layer"]),
        int(record["kind"]),
        _text(data[start + fixed : start + fixed + length]),
    )
    (raw.notes if note else raw.settings).append(settings)


def _text(data: bytes) -> str:
    return bytes(data).rstrip(b"\0").decode(errors="replace")
