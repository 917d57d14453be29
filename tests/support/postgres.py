# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A PostgreSQL server that tests have to themselves, and databases in it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

BINARIES = Path("/usr/lib/postgresql/15/bin")
"""Where Debian puts the programs of the server: they are not on PATH."""
_SETTINGS = (
    *("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"),
    *("listen_addresses=", "shared_buffers=64MB", "max_connections=50", "timezone=UTC"),
)
_START_SECONDS = 60


@dataclass(frozen=True)
class Postgres:
    """A server that runs.

    Attributes:
        directory: With its data, its log and its socket.
    """

    directory: Path

    def url(self, database: str = "postgres") -> str:
        """Return the URL of a database."""
        return f"postgresql://postgres@/{database}?host={self.directory}"

    def run(self, statement: str) -> None:
        """Run a statement that needs no transaction."""
        import psycopg

        place = f"host={self.directory} user=postgres dbname=postgres"
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(statement.encode())

    @contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """Make a database and yield its name; it is dropped at the end."""
        name = f"t{uuid.uuid4().hex}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield name
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")


def missing() -> str:
    """Return why there is no server here; "": there can be one."""
    if program("postgres") is None or program("initdb") is None:
        return "no PostgreSQL server (Debian: postgresql-15)"
    if shutil.which("setpriv") is None:
        return "no setpriv on PATH (Debian: util-linux)"
    return ""


def program(name: str) -> str | None:
    """Return the path of a program of the server: those on PATH first."""
    return shutil.which(name) or shutil.which(name, path=str(BINARIES))


@contextmanager
def running(parent: Path | None = None, settings: tuple[str, ...] = ()) -> Iterator[Postgres]:
    """Start a server of its own in a new directory; stop it and remove it at the end.

    It also ends when this process is killed.

    Args:
        parent: Where the directory is made; None: in that for temporary files.
        settings: Further ones, as "name=value".
    """
    # Not below pytest's own directory, which nobody else may enter; and sockets have short paths.
    directory = Path(tempfile.mkdtemp(prefix="swpg-", dir=parent))
    words = _as_nobody(directory)
    server = None
    try:
        made = [program("initdb"), "-D", directory / "data", "-U", "postgres", "-A", "trust"]
        made += ["-E", "UTF8", "--no-locale", "--no-sync"]
        _checked([*words, *made], directory)
        options = [word for one in (*_SETTINGS, *settings) for word in ("-c", one)]
        with (directory / "log").open("wb") as log:
            server = subprocess.Popen(
                [*words, program("postgres"), "-D", directory / "data", "-k", directory, *options],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=directory,
            )  # fmt: skip
        found = Postgres(directory)
        _wait(found, server)
        yield found
    finally:
        if server is not None:
            server.send_signal(2)
            server.wait(60)
        shutil.rmtree(directory, ignore_errors=True)


def _as_nobody(directory: Path) -> list[Any]:
    """Return the words before a command: another user for root, whom the server refuses."""
    words: list[Any] = ["setpriv", "--pdeathsig", "INT"]
    if os.geteuid() != 0:
        return words
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    os.chown(directory, user.pw_uid, user.pw_gid)
    return [*words, "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]


def _checked(words: list[Any], directory: Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True, cwd=directory)
    assert done.returncode == 0, done.stderr


def _wait(server: Postgres, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    end = time.monotonic() + _START_SECONDS
    while True:
        try:
            return server.run("SELECT 1")
        except psycopg.OperationalError as error:
            log = (server.directory / "log").read_text(errors="replace")
            if process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"PostgreSQL did not start: {log}") from error
            time.sleep(0.05)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Yield a server that all tests of a process share."""
    why = missing()
    if why:
        pytest.skip(why)
    pytest.importorskip("psycopg", reason="psycopg is not installed (stripewise[db])")
    with running() as server:
        yield server
