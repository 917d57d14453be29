# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of one container -> its processes and records.  Pure: no I/O but the read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import ContainerError
from stripewise.model import READS, WRITES, IoLayer, MpiFamily, PluginState
from stripewise.readers import _container as c
from stripewise.readers._blocks import Store, blocks, scan_records
from stripewise.readers._checksums import Seals, checksum, does_not_match
from stripewise.readers._trace_layout import TraceBlockKind, TraceRecordKind
from stripewise.readers._trace_parse import MOST_ROWS, RawTrace, add_events, add_shared_records

_TRACE_BLOCKS = tuple(TraceBlockKind)
_KINDS = (*c.BlockKind, *_TRACE_BLOCKS)
_TRACE_RECORDS = tuple(TraceRecordKind)
_RECORDS: dict[int, tuple[np.dtype[np.void], str]] = {
    c.RecordKind.FILE: (c.FILE_RECORD, "path_bytes"),
    c.RecordKind.SETTINGS: (c.SETTINGS_RECORD, "text_bytes"),
    c.RecordKind.NOTE: (c.SETTINGS_RECORD, "text_bytes"),
    c.RecordKind.METADATA: (c.METADATA_RECORD, "path_bytes"),
    c.RecordKind.ISSUED: (c.FILE_RECORD, "path_bytes"),
}
"""What a record begins with, and its member that tells how long its tail is."""
_MOST_RANKS = 1 << 24
_MOST_BYTES = 1 << 62
_LATEST_NS = 1 << 62


@dataclass(frozen=True)
class RawRecord:
    """A record of a process.

    Attributes:
        process: Index in `RawContainer.processes`.
        record: (1,) of the dtype of its kind.
        tail: The path or the text behind it.
    """

    process: int
    record: NDArray[np.void]
    tail: bytes


@dataclass
class RawContainer:
    """What one container holds.

    Attributes:
        host / run_id: Of its header.
        processes: (1,) `PROCESS` each.
        records: By `RecordKind`, in the order of the file.
        trace: The events; empty if they were not asked for.
        unchecked: Processes whose blocks have no checksums: they were killed, had threads at
            their end or went on after it, or their library is an earlier one.
        problems: What of it cannot be read, in words.
    """

    host: str
    run_id: str
    processes: list[NDArray[np.void]] = field(default_factory=list)
    records: dict[int, list[RawRecord]] = field(default_factory=lambda: {k: [] for k in _RECORDS})
    trace: RawTrace = field(default_factory=RawTrace)
    unchecked: int = 0
    problems: list[str] = field(default_factory=list)


def parse_container(store: Store, *, events: bool = False, room: int = MOST_ROWS) -> RawContainer:
    """Parse a container, block by block; what lies behind the last committed record is ignored.

    Args:
        store: Its bytes.
        events: Parse the trace too.
        room: Most rows of it that are read.

    Raises:
        ContainerError: It cannot be read, is not a container of this version, or does not match
            its checksums.
    """
    raw = parse_header(store)
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


def parse_header(store: Store) -> RawContainer:
    """Parse only the host and the run of a container.

    Raises:
        ContainerError: It cannot be read, or is not a container of this version.
    """
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
    raw = RawContainer(text_of(header["host"]), text_of(header["run_id"]))
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
    for start, (size, kind, _) in zip(offsets.tolist(), heads.tolist(), strict=True):
        if kind in _RECORDS:
            trouble = _add_record(payload[start : start + size], kind, owner, raw)
            if trouble:
                strange[f"records of files {trouble}"] += 1
        elif kind not in _TRACE_RECORDS:
            strange["records of an unknown kind"] += 1


def _add_record(data: bytes, kind: int, owner: int, raw: RawContainer) -> str:
    """Add a record, but no impossible counters of a file; say what is wrong with such."""
    dtype, length = _RECORDS[kind]
    counts = kind == c.RecordKind.FILE
    if len(data) < dtype.itemsize:
        return "that are cut off" if counts else ""
    record = np.frombuffer(data, dtype, 1).copy()
    tail = data[dtype.itemsize :][: int(record[length][0])]
    if counts and (len(tail) < record[length][0] or not _is_possible(record[0])):
        return "that make no sense, and are left out"
    raw.records[kind].append(RawRecord(owner, record, tail))
    return "that contradict themselves" if counts and not _is_sound(record[0]) else ""


def _is_process(payload: bytes) -> bool:
    """Whether the numbers of a process are possible."""
    row: Any = np.frombuffer(payload, c.PROCESS, 1)[0]
    return bool(
        -1 <= row["rank"] < _MOST_RANKS
        and 0 <= row["world_size"] <= _MOST_RANKS
        and (row["rank"] < 0 or row["rank"] < max(row["world_size"], 1))
        and row["mpi_family"] < len(MpiFamily)
        and row["plugin_state"] < len(PluginState)
        and row["capture"] < len(c.CaptureMode)
        and max(row["start_ns"], row["end_ns"], row["clock_ns"]) < _LATEST_NS
    )


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
    for kind, (one, all_) in (("read", READS), ("write", WRITES)):
        count = int(ops["count"][one]) + int(ops["count"][all_])
        moved = int(ops["bytes"][one]) + int(ops["bytes"][all_])
        low, high = int(row[f"{kind}_min"]), int(row[f"{kind}_max"])
        if high and (low > high or high > moved or moved > count * high):
            return False
    return True


def text_of(data: bytes) -> str:
    """A text of a container; bytes that are not UTF-8 are replaced."""
    return bytes(data).rstrip(b"\0").decode(errors="replace")
