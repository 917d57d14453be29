# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Opens the SQLite file of a store, creates its tables and migrates older ones.

The journal mode is the default one, not WAL: WAL needs memory that all writers share, which a
network file system does not give, and one short write a study gains nothing from it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from stripewise.core import data_directory
from stripewise.core.errors import StorageError

WAIT_SECONDS = 10.0
"""How long another writer is waited for."""
OWN_VARIABLE = "STRIPEWISE_KNOWLEDGE"


class StoreFile:
    """A file that may not exist yet.

    Attributes:
        path: Of the file.
        read_only: Never written, as a site's store.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Take the path; nothing is opened yet."""
        self.path = path
        self.read_only = read_only

    def create(self) -> None:
        """Make the file for its owner alone: it tells which programs one runs.

        Raises:
            StorageError: It cannot be made.
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
        """Yield a connection inside one transaction; writing brings older tables up to date.

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
        """Reading may have to undo what a killed writer left, so it may write where it can."""
        may = not self.read_only and os.access(self.path, os.W_OK)
        return "rw" if writing or may else "ro"

    def _prepare(self, connection: sqlite3.Connection, *, writing: bool) -> None:
        version = version_of(connection)
        if version > len(MIGRATIONS):
            raise StorageError(
                f"{self.path} is of a newer Stripewise (version {version}); use that one, or "
                "name another file in STRIPEWISE_KNOWLEDGE"
            )
        if writing:
            migrate(connection, version)

    def _unusable(self, reason: str) -> str:
        return (
            f"what earlier studies found cannot be used, {self.path}: {reason}; repair or "
            "remove the file, or name another one in STRIPEWISE_KNOWLEDGE"
        )


def own_path() -> Path:
    """Return where the user's own store is."""
    if given := os.environ.get(OWN_VARIABLE):
        return Path(given)
    return data_directory() / "knowledge.sqlite"


# The tables of the store, and how older ones become newer ones.

APPLICATION_ID = 0x53574B31
"""Marks the file as ours: "SWK1"."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
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
        "CREATE INDEX study_of_program ON study (program)",
    ),
    (
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
    ),
    (
        """CREATE TABLE page (
            number INTEGER PRIMARY KEY,
            mpi_family TEXT NOT NULL,
            features BLOB NOT NULL
        )""",
        "CREATE INDEX page_of_family ON page (mpi_family)",
        "CREATE TABLE page_study (number INTEGER PRIMARY KEY, studies BLOB NOT NULL)",
        """CREATE TABLE term (
            kind TEXT NOT NULL,
            number INTEGER NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (kind, number)
        ) WITHOUT ROWID""",
        "CREATE UNIQUE INDEX term_of_text ON term (kind, text)",
        "CREATE TABLE page_layout (layout INTEGER NOT NULL)",
        "CREATE INDEX study_of_executable ON study (executable_sha256)",
    ),
    (
        "CREATE INDEX study_newest_of_program"
        " ON study (program, mpi_family, recorded_unix_seconds)",
    ),
    # The cases themselves are compared, no features of them.
    ("DROP TABLE page", "DROP TABLE page_study", "DROP TABLE term", "DROP TABLE page_layout"),
)
"""Statements that lead from one version to the next; never changed, only added to."""


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a store; 0 for an empty file.

    Raises:
        sqlite3.DatabaseError: The file is another application's.
    """
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        return 0
    (identity,) = connection.execute("PRAGMA application_id").fetchone()
    if identity != APPLICATION_ID:
        raise sqlite3.DatabaseError("it is another application's database")
    (version,) = connection.execute("SELECT max(version) FROM migration").fetchone()
    return int(version or 0)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a store of a version to the present one, inside the caller's transaction."""
    if not version:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(
            "CREATE TABLE migration (version INTEGER PRIMARY KEY, applied_unix_seconds REAL)"
        )
    for number, statements in enumerate(MIGRATIONS, start=1):
        if number > version:
            for statement in statements:
                connection.execute(statement)
            connection.execute("INSERT INTO migration VALUES (?, ?)", (number, time.time()))
