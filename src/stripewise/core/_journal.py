# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps an append-only journal: one checked JSON record a line, each fsync'ed.

    {"crc": "1c291ca3", "record": {"kind": "run-planned", "at": 1700000000.0, ...}}

Each checksum is over the record and the checksum before it, so that a line that was taken out,
doubled or moved is seen.  The last line may be torn by a kill; it is then dropped, with a note.
Damage anywhere else is an error that names the line, since what follows it would be told out of
context.
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
    """What the records of a journal hold.

    Attributes:
        what: Kind of the first record, "study" or "campaign"; it has the version.
        version: Of the records; a journal of another one is not gone on with.
        fields: Kind of a record -> name of what it must hold -> its type, or types.
    """

    what: str
    version: int
    fields: Mapping[str, Mapping[str, Any]]


class Journal:
    """Appends records; what was appended before is in `records`.

    Attributes:
        records: Those read at the start, in order.
        note: What was repaired at the start; "" if nothing.
    """

    def __init__(self, path: Path, form: JournalForm) -> None:
        """Open or make a journal.

        Raises:
            StudyError: It is damaged elsewhere than in its last line.
            StorageError: It cannot be read or written.
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
        """Write one record; it is on the disk when this returns.

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
    """Return a record's line and its checksum, given that of the line before."""
    text = json.dumps(record, separators=(",", ":"))
    checksum = crc32(text.encode(), before)
    return f'{{"crc":"{checksum:08x}","record":{text}}}\n'.encode(), checksum


def parse_journal(content: bytes, path: Path, form: JournalForm) -> tuple[list[Record], int, int]:
    """Read a journal.

    Returns:
        Its records; how many bytes they take, less than all if the last line is torn; the last
        checksum.

    Raises:
        StudyError: A line is damaged, but for a last one that is torn.
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
    """Return the record of a whole line; None if it is torn."""
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
    """Whether a record holds what one of its kind holds."""
    fields = {"at": (int, float), **form.fields.get(str(record.get("kind")), {"kind": ()})}
    return all(isinstance(record.get(name), kinds) for name, kinds in fields.items())
