# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of one container -> its processes and records.  Pure: no I/O but the read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.errors import ContainerError
from stripewise.readers import _container as c


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
    """

    host: str
    run_id: str
    processes: list[NDArray[np.void]] = field(default_factory=list)
    records: list[NDArray[np.void]] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    paths: list[bytes] = field(default_factory=list)
    settings: list[RawSettings] = field(default_factory=list)
    notes: list[RawSettings] = field(default_factory=list)


def parse_container(data: bytes, name: str = "container") -> RawContainer:
    """Parse a container; what lies behind the last committed record is ignored.

    Args:
        data: The whole file.
        name: For messages.

    Raises:
        ContainerError: `data` is not a container, or is one of another version.
    """
    raw = _parse_header(data, name)
    process_of: dict[int, int] = {}
    for offset, header in _blocks(data):
        start = offset + c.BLOCK_HEADER.itemsize
        end = min(offset + int(header["bytes"]), len(data))
        if header["kind"] == c.BlockKind.PROCESS:
            if end - start < c.PROCESS.itemsize:
                continue
            process_of[offset] = len(raw.processes)
            raw.processes.append(np.frombuffer(data, c.PROCESS, 1, start).copy())
            start += c.PROCESS.itemsize
        owner = process_of.get(int(header["process_id"]))
        if owner is not None:
            _parse_records(data, start, end, owner, raw)
    return raw


def read_container(path: Path) -> RawContainer:
    """Read and parse one container file.

    Raises:
        ContainerError: It cannot be read, or is not a container of this version.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ContainerError(f"cannot read container {path}: {error.strerror}") from error
    return parse_container(data, str(path))


def _parse_header(data: bytes, name: str) -> RawContainer:
    if not data:
        raise ContainerError(
            f"{name}: not a Stripewise container (it is empty: its disk was full; make room there)"
        )
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


def _blocks(data: bytes) -> Iterator[tuple[int, Any]]:
    """Offset and header of each block; pages that no block owns are stepped over."""
    offset = c.PAGE
    while offset + c.BLOCK_HEADER.itemsize <= len(data):
        header = np.frombuffer(data, c.BLOCK_HEADER, 1, offset)[0]
        size = int(header["bytes"])
        if int(header["magic"]) == c.BLOCK_MAGIC and size >= c.PAGE and size % c.PAGE == 0:
            yield offset, header
            offset += size
        else:
            offset += c.PAGE


def _parse_records(data: bytes, start: int, end: int, owner: int, raw: RawContainer) -> None:
    view = memoryview(data)
    while start + c.RECORD_HEADER.itemsize <= end:
        size = int.from_bytes(view[start : start + 4], "little")
        kind = int.from_bytes(view[start + 4 : start + 6], "little")
        if size < c.RECORD_HEADER.itemsize or size % 8 or start + size > end:
            return
        if kind == c.RecordKind.FILE:
            _add_file(data, start, size, owner, raw)
        elif kind in (c.RecordKind.SETTINGS, c.RecordKind.NOTE):
            _add_settings(data, start, size, owner, raw, note=kind == c.RecordKind.NOTE)
        start += size


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
