# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The append-only journal of a study: one checked JSON record a line, each fsync'ed.

    {"crc": "1c291ca3", "record": {"kind": "run-planned", "at": 1700000000.0, ...}}

The last line may be torn by a kill; it is then dropped, with a note.  Damage anywhere else is
an error that names the line, since what follows it would be told out of context.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from stripewise.errors import StorageError, StudyError

Record = dict[str, Any]
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


class Journal:
    """Appends records; what was appended before is in `records`.

    Attributes:
        records: Those read at the start, in order.
        note: What was repaired at the start; "" if nothing.
    """

    def __init__(self, path: Path) -> None:
        """Open or make a journal.

        Raises:
            StudyError: It is damaged elsewhere than in its last line.
            StorageError: It cannot be read or written.
        """
        self._path = path
        self.records: list[Record] = []
        self.note = ""
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._load(path.read_bytes())
            _sync_directory(path.parent)
        except OSError as error:
            raise StorageError(f"cannot open the journal {path}: {error.strerror}") from error

    def append(self, kind: str, **data: Any) -> Record:
        """Write one record; it is on the disk when this returns.

        Raises:
            StorageError: The disk is full, read-only, or refuses.
        """
        record: Record = {"kind": kind, "at": time.time(), "clock": time.monotonic(), **data}
        try:
            _write_all(self._descriptor, encode(record))
            os.fsync(self._descriptor)
        except OSError as error:
            raise StorageError(
                f"cannot write the journal {self._path}: {error.strerror}; "
                "free some space and go on with --resume"
            ) from error
        return record

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _load(self, content: bytes) -> None:
        self.records, good_bytes = parse(content, self._path)
        if good_bytes < len(content):
            torn = len(content) - good_bytes
            os.ftruncate(self._descriptor, good_bytes)
            os.fsync(self._descriptor)
            self.note = f"dropped a torn last record of the journal ({torn} bytes)"


def encode(record: Mapping[str, Any]) -> bytes:
    """Return a record as its line."""
    text = json.dumps(record, separators=(",", ":"))
    return f'{{"crc":"{crc32(text.encode()):08x}","record":{text}}}\n'.encode()


def parse(content: bytes, path: Path) -> tuple[list[Record], int]:
    """Read a journal.

    Returns:
        Its records, and how many bytes they take; less than all if the last line is torn.

    Raises:
        StudyError: A line before the last one is damaged.
    """
    records: list[Record] = []
    good_bytes = 0
    lines = _LINE.findall(content)
    for number, line in enumerate(lines, start=1):
        record = _decode(line)
        if record is None:
            if number == len(lines):
                break
            raise StudyError(
                f"the journal {path} is damaged in line {number}; restore it from a copy, "
                "or start anew with --force"
            )
        records.append(record)
        good_bytes += len(line)
    return records, good_bytes


def _decode(line: bytes) -> Record | None:
    if not line.endswith(b"}\n"):
        return None
    try:
        outer = json.loads(line)
        record: Record = outer["record"]
        good: bool = encode(record) == line and isinstance(record["kind"], str)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return record if good else None


def _write_all(descriptor: int, line: bytes) -> None:
    """Write a line; take back the part of it that got on a full disk."""
    before = os.fstat(descriptor).st_size
    try:
        written = 0
        while written < len(line):
            written += os.write(descriptor, line[written:])
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
