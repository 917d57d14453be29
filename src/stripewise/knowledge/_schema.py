# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the store, and how older ones become newer ones."""

from __future__ import annotations

import sqlite3
import time

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
