# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The file of a store: SQLite, opened for the moment of each question.

The journal mode is the default one, not WAL: WAL needs memory that all writers share, which a
network file system does not give, and one short write a study gains nothing from it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from stripewise.errors import StorageError
from stripewise.knowledge._schema import MIGRATIONS, migrate, version_of
from stripewise.policy import data_directory

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
