# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The store: one SQLite file, opened for the moment of each question.

The journal mode is the default one, not WAL: WAL needs memory that all writers share, which a
network file system does not give, and one short write a study gains nothing from it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from stripewise.errors import ConfigurationError, StorageError
from stripewise.knowledge._codec import decode, encode
from stripewise.knowledge._records import Lesson
from stripewise.knowledge._schema import MIGRATIONS, migrate, version_of
from stripewise.text import plural

WAIT_SECONDS = 10.0
"""How long another writer is waited for."""
MOST_LESSONS = 5000
"""The newest so many are looked at."""
OWN_VARIABLE = "STRIPEWISE_KNOWLEDGE"
SITE_VARIABLE = "STRIPEWISE_SITE_KNOWLEDGE"


class Store:
    """Lessons in a file; a file that does not exist holds none.

    Attributes:
        path: Of the file.
        read_only: Never written, as a site's store.
        damage: What the last reading passed over, in words; "" for nothing.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Take the path; nothing is opened yet."""
        self.path = path
        self.read_only = read_only
        self.damage = ""

    def lessons(self, *, mpi_family: str | None = None, program: str = "") -> list[Lesson]:
        """Return what is kept, the newest first; damaged rows are passed over.

        Args:
            mpi_family: Only studies of this one; None: of any.
            program: Only studies of the program of this name; "": of any.

        Raises:
            StorageError: The file cannot be read.
        """
        return [lesson for lesson, _ in self.entries(mpi_family=mpi_family, program=program)]

    def entries(
        self, *, mpi_family: str | None = None, program: str = ""
    ) -> list[tuple[Lesson, str]]:
        """Return lessons with their origin, "own" or "imported"; see `lessons`."""
        self.damage = ""
        if not self.path.exists():
            return []
        with self._opened(writing=False) as connection:
            if not version_of(connection):
                return []
            rows = connection.execute(
                "SELECT document, origin FROM study"
                " WHERE (?1 IS NULL OR mpi_family = ?1) AND (?2 = '' OR program = ?2)"
                " ORDER BY recorded_unix_seconds DESC, id LIMIT ?3",
                (mpi_family, program, MOST_LESSONS),
            ).fetchall()
        found, damaged = [], 0
        for document, origin in rows:
            try:
                found.append((decode(document), origin))
            except (ConfigurationError, TypeError):
                damaged += 1
        if damaged:
            number = plural(damaged, "study", "studies")
            self.damage = f"{self.path}: passed over {number} that cannot be read"
        return found

    def add(self, lessons: Sequence[Lesson], origin: str = "own") -> int:
        """Keep lessons in one transaction; return how many were new.

        Raises:
            StorageError: The file cannot be written.
            ConfigurationError: A lesson holds what cannot be kept.
        """
        rows = [_row(lesson, origin) for lesson in lessons]
        self._create()
        with self._opened(writing=True) as connection:
            before = connection.total_changes
            connection.executemany(
                "INSERT OR IGNORE INTO study VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", rows
            )
            return connection.total_changes - before

    def forget(self, study_ids: Sequence[str]) -> int:
        """Remove studies; return how many there were.

        Raises:
            StorageError: The file cannot be written.
        """
        if not study_ids or not self.path.exists():
            return 0
        with self._opened(writing=True) as connection:
            before = connection.total_changes
            connection.executemany("DELETE FROM study WHERE id = ?", [(i,) for i in study_ids])
            return connection.total_changes - before

    def _create(self) -> None:
        """Make the file for its owner alone: it tells which programs one runs."""
        if self.read_only:
            raise StorageError(f"{self.path} is read only: it is the site's")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StorageError(self._unusable(error.strerror or str(error))) from error

    @contextmanager
    def _opened(self, *, writing: bool) -> Iterator[sqlite3.Connection]:
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
        except sqlite3.Error as error:
            raise StorageError(self._unusable(str(error))) from error
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


def own_store() -> Store:
    """Return the user's own store."""
    if given := os.environ.get(OWN_VARIABLE):
        return Store(Path(given))
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    if not os.path.isabs(base):  # a user without a home: nothing can be kept, and that is said
        base = os.devnull
    return Store(Path(base) / "stripewise" / "knowledge.sqlite")


def site_stores(policy_paths: Sequence[str]) -> tuple[Store, ...]:
    """Return the site's stores, never written to: what policies name, then the environment's."""
    named = [*policy_paths, os.environ.get(SITE_VARIABLE, "")]
    paths = dict.fromkeys(Path(path) for path in named if path)
    return tuple(Store(path, read_only=True) for path in paths)


def _row(lesson: Lesson, origin: str) -> tuple[object, ...]:
    print_ = lesson.case.fingerprint
    effect = lesson.effect
    return (
        lesson.study_id,
        lesson.recorded_unix_seconds,
        origin,
        print_.program,
        print_.executable_sha256,
        print_.n_ranks,
        lesson.case.stack.mpi_family,
        lesson.case.machine.filesystem,
        int(lesson.improved),
        effect.median if effect else None,
        effect.low if effect else None,
        effect.high if effect else None,
        encode(lesson),
    )
