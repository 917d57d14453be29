# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of one container -> its processes and records.  Pure: no I/O but the read."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import ContainerError
from stripewise.model import IoLayer
from stripewise.readers import _container as c
from stripewise.readers._blocks import Store, blocks, open_store, scan_records, store_of
from stripewise.readers._checksums import Seals, checksum, does_not_match
from stripewise.readers._trace_layout import TraceBlockKind, TraceRecordKind
from stripewise.readers._trace_parse import RawTrace, add_events, add_shared_records

_TRACE_BLOCKS = tuple(TraceBlockKind)
_KINDS = (*c.BlockKind, *_TRACE_BLOCKS)
_RECORD_KINDS = (*c.RecordKind, *TraceRecordKind)
_MOST_RANKS = 1 << 24
_MOST_BYTES = 1 << 62
_LATEST_NS = 1 << 62


@dataclass(frozen=True)
class RawSettings:
    """A settings record or a note, as found."""

    process: int
    file_id: int
    layer: int
    kind: int
    text: str


@dataclass(frozen=True)
class RawNamed:
    """A record of a process with the path that it is for."""

    process: int
    record: NDArray[np.void]
    path: bytes


@dataclass
class RawContainer:
    """What one container holds.

    Attributes:
        host / run_id: Of its header.
        processes: One `PROCESS` scalar each.
        files: Counters of files, one `FILE_RECORD` scalar each.
        settings / notes: In the order of the file.
        issued: Of the system calls that libc made for streams, as `files`.
        metadata: Calls on names, by directory: one `METADATA_RECORD` scalar each.
        trace: The events; empty if they were not asked for.
        unchecked: Processes whose blocks have no checksums: they were killed, had threads at
            their end or went on after it, or their library is an earlier one.
        problems: What of it cannot be read, in words.
    """

    host: str
    run_id: str
    processes: list[NDArray[np.void]] = field(default_factory=list)
    files: list[RawNamed] = field(default_factory=list)
    settings: list[RawSettings] = field(default_factory=list)
    notes: list[RawSettings] = field(default_factory=list)
    issued: list[RawNamed] = field(default_factory=list)
    metadata: list[RawNamed] = field(default_factory=list)
    trace: RawTrace = field(default_factory=RawTrace)
    unchecked: int = 0
    problems: list[str] = field(default_factory=list)


def parse_container(data: bytes, name: str = "container", *, events: bool = False) -> RawContainer:
    """Parse a container; what lies behind the last committed record is ignored.

    Args:
        data: The whole file.
        name: For messages.
        events: Parse the trace too.

    Raises:
        ContainerError: `data` is not a container, is one of another version, or does not match
            its checksums.
    """
    return _parse(store_of(data, name), events=events)


def read_container(path: Path, *, events: bool = False, room: int | None = None) -> RawContainer:
    """Read and parse one container file, block by block.

    Args:
        path: Of the file.
        events: Parse the trace too.
        room: Most rows of it that are read, if not `MOST_ROWS`.

    Raises:
        ContainerError: It cannot be read, is not a container of this version, or does not match
            its checksums.
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
    strange: Counter[str] = Counter()
    seals = Seals(store)
    end = 2 * c.PAGE
    for block in blocks(store):
        end = max(end, block.end)
        if block.kind not in _KINDS:
            strange["pages that belong to no block"] += 1
            continue
        seals.meet(block)
        in_trace = block.kind in _TRACE_BLOCKS
        if in_trace and not events:
            continue
        start = block.offset + c.BLOCK_HEADER.itemsize
        payload = store.fetch(start, min(block.end, store.size) - start)
        seals.check(block, payload)
        first = 0
        if block.kind == c.BlockKind.PROCESS:
            if len(payload) < c.PROCESS.itemsize or not _is_process(payload):
                strange["processes that make no sense"] += 1
                continue
            process_of[block.offset] = len(raw.processes)
            raw.processes.append(np.frombuffer(payload, c.PROCESS, 1).copy())
            first = c.PROCESS.itemsize
        owner = process_of.get(block.process_id)
        if owner is None:
            strange["blocks that belong to no process"] += 1
        elif in_trace:
            add_events(payload, owner, raw.trace, begins=block.kind == TraceBlockKind.THREAD)
        else:
            _parse_records(payload, first, owner, raw, strange, events=events)
    raw.unchecked = len(process_of.keys() - seals.blocks.keys())
    if end <= store.size and (missing := seals.missing()):
        strange["blocks that are missing"] += missing
    found = [f"{number} {what}" for what, number in strange.items()]
    if end > store.size:
        found.insert(0, f"cut off, {store.size} of at least {end} bytes")
    if found:
        raw.problems.append(f"{Path(store.name).name} is damaged: {'; '.join(found)}")
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
            f"{name}: not a Stripewise container, or cut off: {len(data)} bytes are too few for "
            "its header"
        )
    header: Any = np.frombuffer(data, c.CONTAINER_HEADER, 1)[0]
    if int(header["magic"]) != c.CONTAINER_MAGIC:
        raise ContainerError(f"{name}: not a Stripewise container (wrong magic number)")
    if int(header["version"]) != c.CONTAINER_VERSION:
        raise ContainerError(
            f"{name}: container version {int(header['version'])}, this Stripewise reads "
            f"{c.CONTAINER_VERSION}; rebuild the library with `stripewise runtime build`"
        )
    if header["sum"] and checksum(data[: c.SUMMED_HEADER_BYTES]) != header["sum"]:
        raise does_not_match(name)
    raw = RawContainer(_text(header["host"]), _text(header["run_id"]))
    if lost := int(header["lost_processes"]):
        raw.problems.append(
            f"{lost} processes were not recorded: the container reached STRIPEWISE_RUN_BYTES"
        )
    return raw


def _parse_records(
    payload: bytes,
    first: int,
    owner: int,
    raw: RawContainer,
    strange: Counter[str],
    *,
    events: bool,
) -> None:
    offsets, heads = scan_records(payload, first)
    if events:
        add_shared_records(payload, offsets, heads, owner, raw.trace)
    for start, head in zip(offsets.tolist(), heads.tolist(), strict=True):
        size, kind = head & 0xFFFFFFFF, head >> 32 & 0xFFFF
        if kind == c.RecordKind.FILE:
            trouble = _add_file(payload, start, size, owner, raw)
            if trouble:
                strange[f"records of files {trouble}"] += 1
        elif kind == c.RecordKind.ISSUED:
            raw.issued += _named(c.FILE_RECORD, payload, start, size, owner)
        elif kind == c.RecordKind.METADATA:
            raw.metadata += _named(c.METADATA_RECORD, payload, start, size, owner)
        elif kind not in _RECORD_KINDS:
            strange["records of an unknown kind"] += 1
        elif kind in (c.RecordKind.SETTINGS, c.RecordKind.NOTE):
            _add_settings(payload, start, size, owner, raw, note=kind == c.RecordKind.NOTE)


def _named(
    dtype: np.dtype[np.void], data: bytes, start: int, size: int, owner: int
) -> list[RawNamed]:
    """The record at `start`, if it is a whole one."""
    fixed = dtype.itemsize
    if size < fixed:
        return []
    record = np.frombuffer(data, dtype, 1, start).copy()
    length = min(int(record["path_bytes"][0]), size - fixed)
    return [RawNamed(owner, record, data[start + fixed : start + fixed + length])]


def _is_process(payload: bytes) -> bool:
    """Whether the numbers of a process are possible."""
    row: Any = np.frombuffer(payload, c.PROCESS, 1)[0]
    return bool(
        -1 <= row["rank"] < _MOST_RANKS
        and 0 <= row["world_size"] <= _MOST_RANKS
        and (row["rank"] < 0 or row["rank"] < max(row["world_size"], 1))
        and row["mpi_family"] < len(c.MpiFamily)
        and row["plugin_state"] < len(c.PluginState)
        and row["capture"] < len(c.CaptureMode)
        and max(row["start_ns"], row["end_ns"], row["clock_ns"]) < _LATEST_NS
    )


def _add_file(data: bytes, start: int, size: int, owner: int, raw: RawContainer) -> str:
    """Add the counters of a file, unless they are impossible; say what is wrong with them."""
    fixed = c.FILE_RECORD.itemsize
    if size < fixed:
        return "that are cut off"
    record = np.frombuffer(data, c.FILE_RECORD, 1, start).copy()
    length = int(record["path_bytes"][0])
    if length > size - fixed or not _is_possible(record[0]):
        return "that make no sense, and are left out"
    raw.files.append(RawNamed(owner, record, data[start + fixed : start + fixed + length]))
    return "" if _is_sound(record[0]) else "that contradict themselves"


def _is_possible(row: Any) -> bool:
    if row["layer"] >= len(IoLayer):
        return False
    ops = row["ops"]
    largest = max(ops["bytes"].max(), ops["count"].max(), row["maximum_offset"])
    latest = max(ops["ns"].max(), row["outermost_ns"], row["first_ns"], row["last_ns"])
    return bool(largest < _MOST_BYTES and latest < _LATEST_NS)


def _is_sound(row: Any) -> bool:
    """Whether the counters of a file agree with each other."""
    ops = row["ops"]
    for kind, one, all_ in (
        ("read", c.Op.READ, c.Op.READ_COLLECTIVE),
        ("write", c.Op.WRITE, c.Op.WRITE_COLLECTIVE),
    ):
        count = int(ops["count"][one]) + int(ops["count"][all_])
        moved = int(ops["bytes"][one]) + int(ops["bytes"][all_])
        low, high = int(row[f"{kind}_min"]), int(row[f"{kind}_max"])
        if high and (low > high or high > moved or moved > count * high):
            return False
    return True


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


def normal_path(path: bytes) -> bytes:
    """Take `..` and doubled slashes out of a path."""
    return os.path.normpath(path) if path else path
