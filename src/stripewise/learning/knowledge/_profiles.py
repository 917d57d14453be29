# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The programs that `run --auto` has seen: a table of its own in the store.

A run waits for what is here, so this module needs neither numpy nor pydantic.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.core.errors import StorageError
from stripewise.learning.knowledge._file import StoreFile

MOST_PROFILES = 2000
LARGEST_DOCUMENT = 1 << 20
"""Bytes of one profile; a longer one is none of ours."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class KeptProfile:
    """A program on so many ranks, on a storage.

    Attributes:
        identity: Digest of executable, arguments, ranks and storage.
        executable_sha256: Of the program's file.
        ground: Digest of what must be the same besides the executable: ranks and storage.
        document: What was seen; plain JSON data.
    """

    identity: str
    executable_sha256: str
    ground: str
    document: Mapping[str, Any]


@dataclass(frozen=True)
class Looked:
    """What a look-up found.

    Attributes:
        exact: The profile of this identity; None: there is none.
        others: Of the same executable and ground, with other arguments, the newest first.
        state: Of the studies that are kept: it changes when one is added or removed.
    """

    exact: KeptProfile | None = None
    others: tuple[KeptProfile, ...] = ()
    state: str = ""


class Profiles:
    """Profiles in the file of a store.

    Attributes:
        file: Of the store.
    """

    def __init__(self, file: StoreFile) -> None:
        """Take the file; nothing is opened yet."""
        self.file = file

    def look(self, identity: str, executable_sha256: str, ground: str) -> Looked:
        """Return what is known of a program, in one transaction.

        Raises:
            StorageError: The file, or this profile, cannot be read.
        """
        if not self.file.path.exists():
            return Looked()
        with self.file.opened(writing=False) as connection:
            if not _has(connection, "study"):
                return Looked()
            state = _state(connection)
            if not _has(connection, "profile"):
                return Looked(state=state)
            rows = connection.execute(
                "SELECT id, executable_sha256, ground, document FROM profile WHERE id = ?1"
                " OR (executable_sha256 = ?2 AND ground = ?3)"
                " ORDER BY recorded_unix_seconds DESC LIMIT 20",
                (identity, executable_sha256, ground),
            ).fetchall()
        found = [self._read(row) for row in rows]
        exact = next((one for one in found if one.identity == identity), None)
        return Looked(exact, tuple(one for one in found if one is not exact), state)

    def keep(self, profile: KeptProfile) -> str:
        """Keep a profile in place of the one of its identity; return the state, as `look` does.

        Raises:
            StorageError: The file cannot be written.
        """
        text = json.dumps(profile.document, separators=(",", ":"), allow_nan=False)
        row = (profile.identity, profile.executable_sha256, profile.ground, time.time(), text)
        self.file.create()
        with self.file.opened(writing=True) as connection:
            connection.execute("INSERT OR REPLACE INTO profile VALUES (?,?,?,?,?)", row)
            connection.execute(
                "DELETE FROM profile WHERE id IN (SELECT id FROM profile"
                " ORDER BY recorded_unix_seconds DESC LIMIT -1 OFFSET ?)",
                (MOST_PROFILES,),
            )
            return _state(connection)

    def forget(self, executable_sha256: str = "") -> int:
        """Remove the profiles of an executable, or all; return how many there were.

        Raises:
            StorageError: The file cannot be written.
        """
        if not self.file.path.exists():
            return 0
        with self.file.opened(writing=True) as connection:
            return connection.execute(
                "DELETE FROM profile WHERE ?1 = '' OR executable_sha256 = ?1",
                (executable_sha256,),
            ).rowcount

    def digest_of(self, path: Path) -> str:
        """Return the SHA-256 of a program's file; "" if it cannot be read.

        It is computed once for a file that keeps its inode, size and time of change.
        """
        try:
            known = path.stat()
            row = (str(path), known.st_ino, known.st_size, known.st_mtime_ns)
            return self._kept_digest(row) or self._new_digest(path, row)
        except OSError:
            return ""

    def _kept_digest(self, row: tuple[object, ...]) -> str:
        try:
            if not self.file.path.exists():
                return ""
            with self.file.opened(writing=False) as connection:
                if not _has(connection, "executable"):
                    return ""
                found = connection.execute(
                    "SELECT sha256 FROM executable"
                    " WHERE path = ? AND inode = ? AND size = ? AND mtime_ns = ?",
                    row,
                ).fetchone()
            return str(found[0]) if found else ""
        except StorageError:
            return ""

    def _new_digest(self, path: Path, row: tuple[object, ...]) -> str:
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        try:
            self.file.create()
            with self.file.opened(writing=True) as connection:
                values = (*row, digest)
                connection.execute("INSERT OR REPLACE INTO executable VALUES (?,?,?,?,?)", values)
        except StorageError:
            pass  # it is computed again
        return digest

    def _read(self, row: tuple[str, str, str, str]) -> KeptProfile:
        identity, executable, ground, text = row
        try:
            document = json.loads(text) if len(text) <= LARGEST_DOCUMENT else None
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise StorageError(
                f"{self.file.path}: what was kept of this program's runs is damaged; "
                "`stripewise knowledge forget --runs` removes it"
            )
        return KeptProfile(identity, executable, ground, document)


def _state(connection: sqlite3.Connection) -> str:
    number, newest = connection.execute(
        "SELECT count(*), max(recorded_unix_seconds) FROM study"
    ).fetchone()
    return f"{number}:{newest or 0.0:.3f}"


def _has(connection: sqlite3.Connection, table: str) -> bool:
    found = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
    )
    return found.fetchone() is not None
