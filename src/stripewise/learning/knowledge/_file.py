# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Opens the SQLite file of a store, which also stores what `run --auto` observed.

A run waits for this module, so it imports neither numpy nor pydantic.

The journal mode is the default one, not WAL: WAL needs memory shared by all writers, which a
network file system does not provide, and one short write per study gains nothing from it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from stripewise.core import data_directory
from stripewise.core.errors import StorageError

WAIT_SECONDS = 10.0
"""Maximum time to wait for another writer, in seconds."""
OWN_VARIABLE = "STRIPEWISE_KNOWLEDGE"


class StoreFile:
    """Database file that may not exist yet.

    Attributes:
        path: Path of the file.
        read_only: Whether the file is never written, like a site's store.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Store the arguments; nothing is opened yet."""
        self.path = path
        self.read_only = read_only

    def create(self) -> None:
        """Create the file, readable only by its owner because it reveals which programs they run.

        Raises:
            StorageError: The file cannot be created.
        """
        if self.read_only:
            raise StorageError(f"{self.path} is read only: it is the site's")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StorageError(self._unusable(error.strerror or str(error))) from error

    @contextmanager
    def opened(self, *, writing: bool) -> Iterator[sqlite3.Connection]:
        """Yield a connection inside one transaction; writing to an empty file creates the tables.

        Raises:
            StorageError: The file cannot be used.
        """
        if writing and self.read_only:
            raise StorageError(f"{self.path} is read only: it is the site's")
        uri = f"file:{quote(os.fsencode(self.path.absolute()))}?mode={self._mode(writing)}"
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS, isolation_level=None)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            self._prepare(connection, writing=writing)
            yield connection
            connection.execute("COMMIT")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            reason = " ".join(str(error).split())
            raise StorageError(self._unusable(reason)) from error
        finally:
            if connection is not None:
                connection.close()

    def _mode(self, writing: bool) -> str:
        """Return SQLite's open mode: reading may have to undo a killed writer's changes."""
        may = not self.read_only and os.access(self.path, os.W_OK)
        return "rw" if writing or may else "ro"

    def _prepare(self, connection: sqlite3.Connection, *, writing: bool) -> None:
        version = version_of(connection)
        if version not in (0, VERSION):
            age = "a newer" if version > VERSION else "an older"
            raise StorageError(
                f"{self.path} is of {age} Stripewise (version {version}); use that one, or "
                "name another file in STRIPEWISE_KNOWLEDGE"
            )
        if writing and not version:
            _make_tables(connection)

    def _unusable(self, reason: str) -> str:
        return (
            f"what earlier studies found cannot be used, {self.path}: {reason}; repair or "
            "remove the file, or name another one in STRIPEWISE_KNOWLEDGE"
        )


def own_path() -> Path:
    """Return the path of the user's own store."""
    if given := os.environ.get(OWN_VARIABLE):
        return Path(given)
    return data_directory() / "knowledge.sqlite"


# The tables of the store.

APPLICATION_ID = 0x53574B31
"""Application id that marks the file as ours: "SWK1"."""
VERSION = 5
"""Version of the tables; a store with another version is not used."""
_SCHEMA = (
    """CREATE TABLE study (
        id TEXT PRIMARY KEY,
        recorded_unix_seconds REAL NOT NULL,
        origin TEXT NOT NULL CHECK (origin IN ('own', 'imported')),
        program TEXT NOT NULL,
        executable_sha256 TEXT NOT NULL,
        n_ranks INTEGER NOT NULL,
        mpi_family TEXT NOT NULL,
        filesystem TEXT NOT NULL,
        improved INTEGER NOT NULL,
        effect_median REAL,
        effect_low REAL,
        effect_high REAL,
        document TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX study_of_family ON study (mpi_family, recorded_unix_seconds)",
    "CREATE INDEX study_of_executable ON study (executable_sha256)",
    "CREATE INDEX study_newest_of_program ON study (program, mpi_family, recorded_unix_seconds)",
    """CREATE TABLE profile (
        id TEXT PRIMARY KEY,
        executable_sha256 TEXT NOT NULL,
        ground TEXT NOT NULL,
        recorded_unix_seconds REAL NOT NULL,
        document TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX profile_of_executable ON profile (executable_sha256, ground)",
    """CREATE TABLE executable (
        path TEXT PRIMARY KEY,
        inode INTEGER NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        sha256 TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE TABLE migration (version INTEGER PRIMARY KEY, applied_unix_seconds REAL)",
)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a store; 0 for an empty file.

    Raises:
        sqlite3.DatabaseError: The file belongs to another application.
    """
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        return 0
    (identity,) = connection.execute("PRAGMA application_id").fetchone()
    if identity != APPLICATION_ID:
        raise sqlite3.DatabaseError("it is another application's database")
    (version,) = connection.execute("SELECT max(version) FROM migration").fetchone()
    return int(version or 0)


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO migration VALUES (?, ?)", (VERSION, time.time()))


# The programs that `run --auto` has seen, in tables of their own.

MOST_PROFILES = 2000
LARGEST_DOCUMENT = 1 << 20
"""Maximum size of one profile in bytes; a larger one was not written by Stripewise."""


@dataclass(frozen=True)
class KeptProfile:
    """Profile of a program with given arguments, ranks and storage.

    Attributes:
        identity: Digest of executable, arguments, ranks and storage.
        executable_sha256: Digest of the program's file.
        ground: Digest of what must be the same besides the executable: ranks and storage.
        document: What was observed, as plain JSON data.
    """

    identity: str
    executable_sha256: str
    ground: str
    document: Mapping[str, Any]


@dataclass(frozen=True)
class Lookup:
    """Result of looking up a program.

    Attributes:
        exact: Profile with this identity; None if there is none.
        others: Profiles of the same executable and ground, with other arguments, newest first.
        state: State of the stored studies, which changes when one is added or removed.
    """

    exact: KeptProfile | None = None
    others: tuple[KeptProfile, ...] = ()
    state: str = ""


class Profiles(StoreFile):
    """Profiles in the file of a store."""

    def look(self, identity: str, executable_sha256: str, ground: str) -> Lookup:
        """Return what is known about a program, in one transaction.

        Raises:
            StorageError: The file, or this profile, cannot be read.
        """
        if not self.path.exists():
            return Lookup()
        with self.opened(writing=False) as connection:
            if not version_of(connection):
                return Lookup()
            state = _state(connection)
            rows = connection.execute(
                "SELECT id, executable_sha256, ground, document FROM profile WHERE id = ?1"
                " OR (executable_sha256 = ?2 AND ground = ?3)"
                " ORDER BY recorded_unix_seconds DESC LIMIT 20",
                (identity, executable_sha256, ground),
            ).fetchall()
        found = [self._read(row) for row in rows]
        exact = next((one for one in found if one.identity == identity), None)
        return Lookup(exact, tuple(one for one in found if one is not exact), state)

    def keep(self, profile: KeptProfile) -> str:
        """Store a profile, replacing that of the same identity; return the state as in `look`.

        Raises:
            StorageError: The file cannot be written.
        """
        text = json.dumps(profile.document, separators=(",", ":"), allow_nan=False)
        row = (profile.identity, profile.executable_sha256, profile.ground, time.time(), text)
        self.create()
        with self.opened(writing=True) as connection:
            connection.execute("INSERT OR REPLACE INTO profile VALUES (?,?,?,?,?)", row)
            connection.execute(
                "DELETE FROM profile WHERE id IN (SELECT id FROM profile"
                " ORDER BY recorded_unix_seconds DESC LIMIT -1 OFFSET ?)",
                (MOST_PROFILES,),
            )
            return _state(connection)

    def forget(self, executable_sha256: str = "") -> int:
        """Remove the profiles of an executable, or all profiles; return how many were removed.

        Raises:
            StorageError: The file cannot be written.
        """
        if not self.path.exists():
            return 0
        with self.opened(writing=True) as connection:
            return connection.execute(
                "DELETE FROM profile WHERE ?1 = '' OR executable_sha256 = ?1",
                (executable_sha256,),
            ).rowcount

    def digest_of(self, path: Path) -> str:
        """Return the SHA-256 of a program's file; empty if it cannot be read.

        The digest is cached until the file's inode, size or change time differ.
        """
        try:
            known = path.stat()
            row = (str(path), known.st_ino, known.st_size, known.st_mtime_ns)
            return self._kept_digest(row) or self._new_digest(path, row)
        except OSError:
            return ""

    def _kept_digest(self, row: tuple[object, ...]) -> str:
        try:
            if not self.path.exists():
                return ""
            with self.opened(writing=False) as connection:
                if not version_of(connection):
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
        if not (digest := digest_of(path)):
            return ""
        try:
            self.create()
            with self.opened(writing=True) as connection:
                values = (*row, digest)
                connection.execute("INSERT OR REPLACE INTO executable VALUES (?,?,?,?,?)", values)
        except StorageError:
            pass  # the digest is computed again next time
        return digest

    def _read(self, row: tuple[str, str, str, str]) -> KeptProfile:
        identity, executable, ground, text = row
        try:
            document = json.loads(text) if len(text) <= LARGEST_DOCUMENT else None
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise StorageError(
                f"{self.path}: the record of this program's earlier runs is damaged; "
                "`stripewise knowledge forget --runs` removes it"
            )
        return KeptProfile(identity, executable, ground, document)


def digest_of(executable: Path | None) -> str:
    """Return the SHA-256 of a regular file that can be read; otherwise an empty string."""
    try:
        if executable is None or not executable.is_file():
            return ""
        with executable.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def _state(connection: sqlite3.Connection) -> str:
    number, newest = connection.execute(
        "SELECT count(*), max(recorded_unix_seconds) FROM study"
    ).fetchone()
    return f"{number}:{newest or 0.0:.3f}"
