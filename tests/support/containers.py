# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Make containers without running a program: for tests of what reads them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.containers import _join, _parse
from stripewise.evidence.containers import container as c
from stripewise.evidence.containers.container import Store, blocks, checksum
from stripewise.evidence.trace import IoLayer, Op, ProcessFlag, RunProfile, SettingsKind
from support.traces import FakeTrace

_OURS = ("BIN_ROW", "RUN_WITHOUT_DURATIONS", "TRACE_ROW")
"""What no struct in C stands for: rows of tables in memory."""


def structs(module: ModuleType) -> dict[str, np.dtype[np.void]]:
    """Name of each C struct whose dtype a module has; of a run, the whole one."""
    whole = {name: value for name, value in vars(module).items() if name not in _OURS}
    return {f"sw_{name.lower()}": d for name, d in whole.items() if isinstance(d, np.dtype)}


@dataclass
class FakeFile:
    """Counters of one file in one layer.

    Attributes:
        path: Absolute.
        layer: Layer that counted.
        flags: `FileFlag` bits.
        ops: Operation to (count, bytes, nanoseconds).
        outermost: (nanoseconds, bytes read, bytes written).
        write_sizes / write_alignment: Bin to count.
        extremes: (smallest, largest) write.
    """

    path: str | bytes
    layer: IoLayer = IoLayer.POSIX
    flags: int = 0
    ops: Mapping[Op, tuple[int, int, int]] = field(default_factory=dict)
    outermost: tuple[int, int, int] = (0, 0, 0)
    write_sizes: Mapping[int, int] = field(default_factory=dict)
    write_alignment: Mapping[int, int] = field(default_factory=dict)
    extremes: tuple[int, int] = (0, 0)


@dataclass
class FakeProcess:
    """One process; `fields` are further members of `sw_process` by name.

    Attributes:
        files: Its file records.
        settings: (path or "" for the process, layer, kind, text) each.
        notes: Texts of its notes.
        split: Put the records into a RECORDS block of their own.
        trace: Its single calls; None without capture.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[FakeFile] = ()
    settings: Sequence[tuple[str | bytes, IoLayer, SettingsKind, str]] = ()
    notes: Sequence[str] = ()
    split: bool = False
    trace: FakeTrace | None = None


def build_container(
    processes: Sequence[FakeProcess], *, host: str = "node1", run_id: str = "run"
) -> bytes:
    """Bytes of a container as the library would leave it."""
    header = np.zeros(1, c.CONTAINER_HEADER)
    header["magic"], header["version"] = c.CONTAINER_MAGIC, c.CONTAINER_VERSION
    header["header_bytes"], header["created_ns"] = c.PAGE, 1
    header["host"], header["run_id"] = host.encode(), run_id.encode()
    data = header.tobytes().ljust(c.PAGE, b"\0")
    for number, process in enumerate(processes, start=1):
        own = len(data)
        row = _process(process, number)
        records = _records(process)
        first = row if process.split else row + records
        data += _block(c.BlockKind.PROCESS, own, number, first)
        if process.split:
            data += _block(c.BlockKind.RECORDS, own, number, records)
        for kind, payload in process.trace.payloads(file_id) if process.trace else ():
            data += _block(kind, own, number, payload)
    return data


def store_of(data: bytes, name: str = "container") -> Store:
    """A container that is in memory."""
    return Store(name, len(data), lambda offset, size: data[offset : offset + size])


def parse_container(
    data: bytes, name: str = "container", *, events: bool = False
) -> _parse.RawContainer:
    """A container that is in memory, parsed."""
    return _parse.parse_container(store_of(data, name), events=events)


def join_containers(raws: Sequence[_parse.RawContainer]) -> RunProfile:
    """The counters of parsed containers."""
    return _join.join_containers(raws).profile


def sealed(container: bytes) -> bytes:
    """The same with the checksums that processes leave which end in order."""
    data = bytearray(container)
    found = list(blocks(store_of(container, "")))
    counts = Counter(block.process_id for block in found)
    for block in found:
        header = np.frombuffer(data, c.BLOCK_HEADER, 1, block.offset)
        if block.kind == c.BlockKind.PROCESS:
            header["sealed"] = counts[block.process_id]
        payload = container[block.offset + c.BLOCK_HEADER.itemsize : block.end]
        header["sum"] = checksum(block.head[: c.SUMMED_BLOCK_BYTES], payload)
    np.frombuffer(data, c.CONTAINER_HEADER, 1)["sum"] = checksum(data[: c.SUMMED_HEADER_BYTES])
    return bytes(data)


def file_id(path: str | bytes) -> int:
    """FNV-1a of a path, as the library computes it."""
    value = 0xCBF29CE484222325
    for byte in os.fsencode(path):
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def _process(process: FakeProcess, number: int) -> bytes:
    row = np.zeros(1, c.PROCESS)
    defaults = {"pid": 100 + number, "rank": -1, "start_ns": number, "flags": ProcessFlag.EXITED}
    defaults["capture"] = c.CaptureMode.FOLD if process.trace else c.CaptureMode.OFF
    for name, value in {**defaults, **process.fields}.items():
        row[name] = value.encode() if isinstance(value, str) else value
    return row.tobytes()


def _block(kind: int, process_id: int, pid: int, payload: bytes) -> bytes:
    header = np.zeros(1, c.BLOCK_HEADER)
    size = -(-(c.BLOCK_HEADER.itemsize + len(payload)) // c.PAGE) * c.PAGE
    header["magic"], header["kind"], header["version"] = c.BLOCK_MAGIC, kind, 1
    header["bytes"], header["process_id"], header["pid"] = size, process_id, 100 + pid
    return (header.tobytes() + payload).ljust(size, b"\0")


def _records(process: FakeProcess) -> bytes:
    data = b"".join(_file(file) for file in process.files)
    for path, layer, kind, text in process.settings:
        data += _settings(c.RecordKind.SETTINGS, path, layer, kind, text)
    for text in process.notes:
        data += _settings(c.RecordKind.NOTE, b"", IoLayer.POSIX, 0, text)
    return data


def _file(file: FakeFile) -> bytes:
    path = os.fsencode(file.path)
    row = np.zeros(1, c.FILE_RECORD)
    row["file_id"], row["layer"], row["flags"] = file_id(path), file.layer, file.flags
    for op, counters in file.ops.items():
        row["ops"][0, op] = counters
    row["outermost_ns"], row["outermost_read_bytes"], row["outermost_write_bytes"] = file.outermost
    for name in ("write_sizes", "write_alignment"):
        for place, count in getattr(file, name).items():
            row[name][0, place] = count
    row["write_min"], row["write_max"] = file.extremes
    row["path_bytes"] = len(path)
    return _record(row, c.RecordKind.FILE, path)


def _settings(
    record: c.RecordKind, path: str | bytes, layer: IoLayer, kind: int, text: str
) -> bytes:
    row = np.zeros(1, c.SETTINGS_RECORD)
    row["file_id"] = file_id(path) if path else 0
    row["layer"], row["kind"], row["text_bytes"] = layer, kind, len(text.encode())
    return _record(row, record, text.encode())


def _record(row: NDArray[Any], kind: c.RecordKind, tail: bytes) -> bytes:
    size = -(-(row.itemsize + len(tail)) // 8) * 8
    row["header"]["bytes"], row["header"]["kind"], row["header"]["version"] = size, kind, 1
    return (row.tobytes() + tail).ljust(size, b"\0")
