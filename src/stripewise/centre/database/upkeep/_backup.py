# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Deletes old rows, and backs up a database: SQLite by an online copy, PostgreSQL by its tools."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, delete, exists, inspect, or_, select
from sqlalchemy.engine import URL

from stripewise.centre.database._engine import database_errors, shown, sqlite_file, url_text
from stripewise.centre.database._schema import check, current
from stripewise.centre.database.store._samples import DAY, KEPT_DAYS, prune_samples
from stripewise.centre.database.tables._access import LoginAttempt, Session, Token
from stripewise.centre.database.tables._jobs import Job, JobFile, JobSource
from stripewise.centre.database.tables._storage import FileSystem, JobLoad, JobTag
from stripewise.core import whole_file
from stripewise.core.errors import RuntimeMissingError, StorageError, UsageError

_SQLITE_HEAD = b"SQLite format 3\0"
_POSTGRES_HEAD = b"PGDMP"


def backup(engine: Engine, file: Path) -> None:
    """Write the whole database, as it is at one moment, to a file; others may continue to write.

    Args:
        engine: Engine of the database; its tables may be of an older version.
        file: New file, which is written completely or not at all.

    Raises:
        UsageError: The file exists already.
        StorageError: The database is empty, or the database or the file cannot be read or written.
    """
    if os.path.lexists(file):
        raise UsageError(f"{file} is there already: give the name of a new file")
    source = sqlite_file(engine)
    if (source is not None and not source.exists()) or not _revision(engine):
        raise StorageError(f"{_name(engine)} holds no statistics: there is nothing to back up")
    with whole_file(file) as place:
        if sqlite_file(engine) is None:
            _run("pg_dump", engine.url, ["--format=custom", "--no-owner", f"--file={place}"])
        else:
            _copy_sqlite(engine, place)


def restore(engine: Engine, file: Path, *, replace: bool = False) -> str:
    """Restore a backup, and return the revision of its tables.

    Args:
        engine: Engine of the database to restore into.
        file: File that `backup` wrote.
        replace: Whether to replace the content of the database, if that has the same revision.

    Raises:
        UsageError: The file is not a backup of this kind of database.
        StorageError: The database has content that may not be replaced, or refuses.
    """
    is_sqlite = sqlite_file(engine) is not None
    _check_file(file, is_sqlite)
    revision = _revision_of_file(engine, file, is_sqlite)
    _check_room(engine, revision, replace)
    if is_sqlite:
        _restore_sqlite(engine, file)
    else:
        engine.dispose()
        _run("pg_restore", engine.url, ["--clean", "--if-exists", "--no-owner", "--exit-on-error",
                                        "--single-transaction", str(file)])  # fmt: skip
    return revision


def _check_file(file: Path, is_sqlite: bool) -> None:
    wanted, what = (_SQLITE_HEAD, "SQLite") if is_sqlite else (_POSTGRES_HEAD, "PostgreSQL")
    try:
        with file.open("rb") as stream:
            head = stream.read(len(wanted))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}: give a backup of `centre backup`") from error
    if head != wanted:
        raise UsageError(
            f"{file} is not a backup of {what}: give a file that `stripewise centre backup` wrote "
            f"of a "
            "database of the same kind"
        )


def _revision_of_file(engine: Engine, file: Path, is_sqlite: bool) -> str:
    if is_sqlite:
        found = ""
        with _sqlite(file) as data, suppress(sqlite3.OperationalError):  # the table does not exist
            found = data.execute("SELECT max(version_num) FROM alembic_version").fetchone()[0]
    else:
        words = ["--data-only", "--table=alembic_version", "--file=-", str(file)]
        lines = _run("pg_restore", None, words).splitlines()
        start = next((i for i, line in enumerate(lines) if line.startswith("COPY ")), None)
        found = lines[start + 1].strip() if start is not None and start + 1 < len(lines) else ""
    if not found:
        raise UsageError(
            f"{file} holds no statistics: give a backup of `stripewise centre backup`"
        )
    return found


def _check_room(engine: Engine, revision: str, replace: bool) -> None:
    """Refuse to overwrite anything that is not to be replaced."""
    name, now = _name(engine), _revision(engine)
    with database_errors(engine), engine.connect() as connection:
        tables = inspect(connection).get_table_names()
    if not tables:
        return
    if now != revision:
        what = f"tables of revision {now}" if now else "other tables"
        raise StorageError(
            f"{name} holds {what}, the backup those of {revision}: restore into an empty database"
        )
    if not replace:
        raise StorageError(
            f"{name} is not empty: give --replace to drop what it holds, or an empty database"
        )


def _copy_sqlite(engine: Engine, place: Path) -> None:
    source = sqlite_file(engine)
    assert source is not None
    with _sqlite(source) as data, _sqlite(place) as copy:
        data.backup(copy, pages=4096)
        copy.execute("PRAGMA journal_mode = DELETE")  # everything in one file


def _restore_sqlite(engine: Engine, file: Path) -> None:
    engine.dispose()
    target = sqlite_file(engine)
    assert target is not None
    with _sqlite(file) as data, _sqlite(target) as copy:
        data.backup(copy)
        copy.execute("PRAGMA journal_mode = WAL")


@contextmanager
def _sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise StorageError(
            f"{path}: {error}: check the file, and the free space on its disk"
        ) from error


def _run(program: str, url: URL | None, words: Sequence[str]) -> str:
    """Run a PostgreSQL program; its password is passed only in the environment."""
    found = shutil.which(program)
    if found is None:
        raise RuntimeMissingError(f"{program} is not found: install PostgreSQL's client programs")
    environment = dict(os.environ)
    place = []
    if url is not None:
        from psycopg.conninfo import make_conninfo

        settings: dict[str, Any] = {
            "host": url.host,
            "port": url.port,
            "user": url.username,
            "dbname": url.database,
        }
        known = {name: value for name, value in {**settings, **url.query}.items() if value}
        if password := known.pop("password", url.password):
            environment["PGPASSWORD"] = str(password)
        place = [f"--dbname={make_conninfo(**known)}"]
    done = subprocess.run(
        [found, *place, *words], env=environment, capture_output=True, text=True, check=False,
        errors="replace",
    )  # fmt: skip
    if done.returncode:
        said = " ".join(done.stderr.split())[:500] or f"exit code {done.returncode}"
        raise StorageError(f"{program}: {said}: check that PostgreSQL runs, and the URL")
    return done.stdout


def _revision(engine: Engine) -> str:
    with database_errors(engine), engine.connect() as connection:
        return current(connection)


def _name(engine: Engine) -> str:
    return shown(url_text(engine))


# Deletion of rows past their age limit: samples, job counters, rows of single files, logins.


@dataclass(frozen=True)
class Pruned:
    """Numbers of deleted rows.

    Attributes:
        samples: Samples and roll-ups.
        loads: Rows of servers' counters of jobs over time; the sums of the jobs are kept.
        files: Rows of single files; the figures and profiles of their jobs are kept.
        logins: Sessions, tokens and login attempts that have expired.
    """

    samples: int
    loads: int
    files: int
    logins: int


def prune(engine: Engine, now: int, files_older_days: int | None = None) -> Pruned:
    """Delete rows past their age limit, all in one transaction.

    Args:
        engine: Engine of the database.
        now: Current time, in seconds since 1970.
        files_older_days: Age in days of runs whose rows of files are deleted; None to keep them.

    Raises:
        StorageError: The database refuses; nothing is deleted.
    """
    check(engine)
    with database_errors(engine), engine.execution_options(writing=True).begin() as connection:
        samples = prune_samples(connection, now, KEPT_DAYS)
        loads = prune_loads(connection, now)
        files = 0
        if files_older_days is not None:
            old = select(JobSource.id).where(JobSource.start_at < now - files_older_days * DAY)
            files = _gone(connection, JobFile, JobFile.source_id.in_(old))
        logins = sum(
            _gone(connection, table, table.expires_at < now)
            for table in (Session, Token, LoginAttempt)
        )
        return Pruned(samples, loads, files, logins)


def _gone(connection: Connection, table: Any, where: Any) -> int:
    return int(connection.execute(delete(table).where(where)).rowcount)


# Old rows of servers' counters are deleted; their jobs keep the sums.

KEPT_LOAD_DAYS = 90


def prune_loads(connection: Connection, now: int, kept_days: int = KEPT_LOAD_DAYS) -> int:
    """Delete rows past their age limit, and return how many.

    Rows of a job are deleted together, when it ended before the limit, and so are rows of no known
    job and names that have no rows any more.

    Args:
        connection: Connection within a transaction.
        now: Current time, in seconds since 1970.
        kept_days: Age limit in days.
    """
    before = now - kept_days * DAY
    over = exists(select(Job.id).where(Job.id == JobLoad.job_id, Job.end_at < before))
    gone = 0
    for key in connection.scalars(select(FileSystem.id)).all():
        line = delete(JobLoad).where(
            JobLoad.file_system_id == key,
            JobLoad.at < before,
            or_(JobLoad.job_id.is_(None), over),
        )
        gone += connection.execute(line).rowcount
    if gone:
        used = exists(select(JobLoad.tag_id).where(JobLoad.tag_id == JobTag.id))
        connection.execute(delete(JobTag).where(~used))
    return gone
