# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps an append-only journal with one checksummed, fsync'ed JSON record per line.

    {"crc": "1c291ca3", "record": {"kind": "run-planned", "at": 1700000000.0, ...}}

Each checksum covers the record and the previous checksum, which detects lines that were removed,
duplicated or moved.  A kill may leave the last line incomplete; it is then dropped, with a note.
Damage anywhere else is an error that names the line, since the records after it cannot be
interpreted without it.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from stripewise.core._files import append_durably, open_private, sync_directory
from stripewise.core.errors import StorageError, StudyError

Record = dict[str, Any]
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class JournalForm:
    """Format of the records in a journal.

    Attributes:
        what: Kind of the first record, "study" or "campaign", which contains the version.
        version: Version of the records; a journal of another version cannot be continued.
        fields: For each kind of record, its mandatory members and their type or types.
    """

    what: str
    version: int
    fields: Mapping[str, Mapping[str, Any]]


class Journal:
    """A journal file to which records are appended.

    Attributes:
        records: Records that were in the file when it was opened, in order.
        note: What was repaired when it was opened; empty if nothing was.
    """

    def __init__(self, path: Path, form: JournalForm) -> None:
        """Open or create a journal.

        Raises:
            StudyError: It is damaged before its last line.
            StorageError: The file cannot be read or written.
        """
        self._path, self._form = path, form
        self._checksum = 0
        self.records: list[Record] = []
        self.note = ""
        try:
            self._descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            with open(os.dup(self._descriptor), "rb") as stream:
                self._load(stream.read())
            sync_directory(path.parent)
        except OSError as error:
            raise StorageError(f"cannot open the journal {path}: {error.strerror}") from error

    def append(self, kind: str, **data: Any) -> Record:
        """Write one record to disk and wait until it is durable.

        Raises:
            StorageError: The disk is full, read-only, or refuses.
        """
        record: Record = {"kind": kind, "at": time.time(), "clock": time.monotonic(), **data}
        try:
            line, checksum = encoded(record, self._checksum)
            append_durably(self._descriptor, line)
            self._checksum = checksum
        except OSError as error:
            raise StorageError(
                f"cannot write the journal {self._path}: {error.strerror}; "
                "free some space and continue with --resume"
            ) from error
        return record

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _load(self, content: bytes) -> None:
        self.records, good_bytes, self._checksum = parse_journal(content, self._path, self._form)
        if good_bytes < len(content):
            torn = len(content) - good_bytes
            os.ftruncate(self._descriptor, good_bytes)
            os.fsync(self._descriptor)
            self.note = f"dropped an incomplete last record of the journal ({torn} bytes)"


def encoded(record: Mapping[str, Any], before: int) -> tuple[bytes, int]:
    """Return the line for a record and its checksum, given the previous checksum."""
    text = json.dumps(record, separators=(",", ":"))
    checksum = crc32(text.encode(), before)
    return f'{{"crc":"{checksum:08x}","record":{text}}}\n'.encode(), checksum


def parse_journal(content: bytes, path: Path, form: JournalForm) -> tuple[list[Record], int, int]:
    """Parse the content of a journal.

    Returns:
        The records; their size in bytes, without an incomplete last line; and the last checksum.

    Raises:
        StudyError: A line other than an incomplete last one is damaged.
    """
    records: list[Record] = []
    good_bytes = checksum = 0
    lines = _LINE.findall(content)
    for number, line in enumerate(lines, start=1):
        record = _decode(line)
        if record is None and number == len(lines):
            break
        _check_version(record or {}, path, form)
        again, checksum = encoded(record or {}, checksum)
        if record is None or again != line or not _is_complete(record, form):
            raise StudyError(
                f"the journal {path} is damaged in line {number}; restore it from a copy, "
                "or start over with --force"
            )
        records.append(record)
        good_bytes += len(line)
    return records, good_bytes, checksum


def _decode(line: bytes) -> Record | None:
    """Return the record in a complete line; None if the line is damaged."""
    try:
        record = json.loads(line)["record"] if line.endswith(b"}\n") else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _check_version(record: Record, path: Path, form: JournalForm) -> None:
    if record.get("kind") == form.what and record.get("version") != form.version:
        raise StudyError(
            f"{path.parent} is a {form.what} of version {record.get('version')!r}, and this "
            f"Stripewise reads version {form.version}; finish it with the version of Stripewise "
            "that started it, or start over with --force"
        )


def _is_complete(record: Record, form: JournalForm) -> bool:
    """Return whether a record has all members that its kind requires."""
    fields = {"at": (int, float), **form.fields.get(str(record.get("kind")), {"kind": ()})}
    return all(isinstance(record.get(name), kinds) for name, kinds in fields.items())
