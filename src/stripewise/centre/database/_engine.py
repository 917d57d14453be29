# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds and opens the database, and begins transactions, with one writer at a time."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, event, text
from sqlalchemy import create_engine as create
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.pool import QueuePool

from stripewise.core import data_directory
from stripewise.core.errors import StorageError, UsageError
from stripewise.core.extras import require

VARIABLE = "STRIPEWISE_DB"
ACCOUNTS = "accounts"
"""Option of a transaction that writes only accounts or the audit trail."""
_WAIT_SECONDS = 30
_ANALYSED_ROWS = 4000
_SQLITE = "sqlite"
_POSTGRES = "postgresql+psycopg"


def database_url(given: str = "") -> str:
    """Return the URL of the database: as given, from the environment, or the user's SQLite file.

    Args:
        given: A URL, the path of an SQLite file, or "".

    Raises:
        UsageError: It is not a URL of SQLite or PostgreSQL.
    """
    text = given or os.environ.get(VARIABLE, "") or str(data_directory() / "fleet.sqlite")
    if "://" not in text:
        path = str(Path(text).expanduser().absolute())
        return URL.create(_SQLITE, database=path).render_as_string()
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # the URL may contain a password
        raise UsageError(
            f"the URL of the database is none: {_FORMS} (in a password, write %40 for @)"
        ) from None
    kind = url.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise UsageError(f"{kind} is not a database that Stripewise uses: {_FORMS}")
    if kind == "postgresql":
        url = url.set(drivername=_POSTGRES)
    return url.render_as_string(hide_password=False)


_ALWAYS: Any = {"hide_parameters": True}  # errors are logged, and values contain names and secrets
_FORMS = "give the path of a file, or postgresql://USER@HOST/NAME"


def create_engine(given: str = "", connections: int | None = None) -> Engine:
    """Return the engine of the database without opening a connection.

    Args:
        given: A URL, the path of an SQLite file, or "".
        connections: Maximum number of open connections; None for SQLAlchemy's default.

    Raises:
        UsageError: It is not a URL of SQLite or PostgreSQL.
        RuntimeMissingError: SQLAlchemy or psycopg is not installed.
    """
    require("db", "the statistics database")
    url = database_url(given)
    words: dict[str, Any] = dict(_ALWAYS)
    if connections is not None:
        words |= {"pool_size": connections, "max_overflow": 0, "poolclass": QueuePool}
    try:
        if url.startswith(_SQLITE):
            engine = create(url, **words, connect_args={"timeout": _WAIT_SECONDS})
            event.listen(engine, "do_connect", _make_private)
            event.listen(engine, "connect", _tune_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
        else:
            arguments = {"connect_timeout": 10}
            engine = create(url, **words, pool_pre_ping=True, connect_args=arguments)
            event.listen(engine, "connect", _tune_postgres)
    except (ArgumentError, NoSuchModuleError) as error:
        raise UsageError(f"{shown(url)} cannot be used ({error}): {_FORMS}") from error
    return engine


@contextmanager
def transaction(on: Engine | Connection, *, writing: bool = False) -> Iterator[Connection]:
    """Begin a transaction on accounts or the audit trail, and commit it at the end.

    Args:
        on: The engine, on which a connection is opened; or a connection that the caller has open.
            In the latter case the transaction begun by earlier reads ends, so that no second
            connection is needed for writing.
        writing: Whether the transaction changes something.
    """
    if isinstance(on, Engine):
        engine = on.execution_options(writing=ACCOUNTS) if writing else on
        with engine.begin() as connection:
            yield connection
        return
    on.rollback()
    on.execution_options(writing=ACCOUNTS if writing else False)
    try:
        with on.begin():
            yield on
    finally:
        on.execution_options(writing=False)


def shown(url: str) -> str:
    """Return a URL without its passwords, for display."""
    made = make_url(url)
    hidden = {name: "hidden" for name in made.query if "password" in name}
    made = made.set(drivername=made.get_backend_name()).update_query_dict(hidden)
    return made.render_as_string(hide_password=True)


def sqlite_file(engine: Engine) -> Path | None:
    """Return the file of an SQLite database, or None if it is another kind of database."""
    name = engine.url.database
    if engine.dialect.name != _SQLITE or not name or name == ":memory:":
        return None
    return Path(name)


def need_file(engine: Engine) -> None:
    """Raise an error if an SQLite file does not exist, because opening it would create it.

    Raises:
        StorageError: The file does not exist.
    """
    path = sqlite_file(engine)
    if path is not None and not path.exists():
        raise StorageError(
            f"{path} is not there and holds no statistics: run {to_initialise(engine)}, or check "
            "the path"
        )


def revisions() -> set[str]:
    """Return the table revisions that this version knows, taken from the names of the migrations.

    Alembic could list them too, but needs memory that an agent does not have.
    """
    versions = files("stripewise.centre.database") / "migrations" / "versions"
    return {one.name.partition("_")[0] for one in versions.iterdir() if one.name[0].isdigit()}


def newest() -> str:
    """Return the newest table revision, which this version creates."""
    return max(revisions())


def check_known(engine: Engine, revision: str) -> None:
    """Refuse tables of a newer version, or of a development state before the first release.

    Raises:
        StorageError: The tables are of such a version.
    """
    if not revision or revision in (known := revisions()):
        return
    name = shown(url_text(engine))
    if revision < min(known):
        raise StorageError(
            f"{name} was made by a development version before the first release (its tables have "
            f"revision {revision}) and cannot be brought up to date: make a database elsewhere "
            "(`stripewise centre init --db OTHER`), read the same inputs again with `stripewise "
            "centre ingest`, and add the accounts again"
        )
    raise StorageError(
        f"{name} was made by a newer Stripewise (its tables have revision {revision}): update "
        "Stripewise"
    )


def check_revision(engine: Engine, revision: str) -> None:
    """Refuse tables of any other version than this one.

    Raises:
        StorageError: There are no tables, or older or newer ones.
    """
    name = shown(url_text(engine))
    if not revision:
        raise StorageError(f"{name} holds no statistics: run {to_initialise(engine)}")
    check_known(engine, revision)
    if revision != newest():
        raise StorageError(
            f"{name} has tables of an older version ({revision}; {newest()} is needed): make a "
            f"backup (`stripewise centre backup`), then run {to_initialise(engine)}"
        )


def to_initialise(engine: Engine) -> str:
    """Return the command that creates or upgrades the tables of a database."""
    path = sqlite_file(engine)
    name = shown(url_text(engine)) if path is None else str(path)
    return f"`stripewise centre init --db {shlex.quote(name)}`"


def _make_private(_dialect: Any, _record: Any, words: Any, _options: Any) -> None:
    """Make the file of a new SQLite database private, because it contains data about all users.

    SQLite creates the file at the first connection, whatever that is for.
    """
    if words and words[0] != ":memory:":
        with suppress(OSError):  # it exists already, or SQLite reports why it cannot be made
            os.close(os.open(words[0], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def refresh_statistics(engine: Engine) -> None:
    """Update SQLite's statistics on how selective its indexes are; PostgreSQL does so itself.

    Without it, a search by several conditions may follow the wrong index through all jobs.
    """
    if engine.dialect.name != _SQLITE:
        return
    with engine.execution_options(writing=True).begin() as connection:
        connection.exec_driver_sql(f"PRAGMA analysis_limit = {_ANALYSED_ROWS}")
        connection.exec_driver_sql("ANALYZE")


@contextmanager
def database_errors(engine: Engine) -> Iterator[None]:
    """Turn errors of the database into errors of Stripewise.

    Raises:
        StorageError: The database cannot be reached, is full, locked or damaged.
    """
    try:
        yield
    except DBAPIError as error:
        what = " ".join(str(error.orig).split()) or type(error.orig).__name__
        remedy = _remedy(engine, what, error)
        raise StorageError(f"{shown(url_text(engine))}: {what}: {remedy}") from error


def url_text(engine: Engine) -> str:
    """Return the URL of an engine, including its password."""
    return engine.url.render_as_string(hide_password=False)


def _remedy(engine: Engine, what: str, error: DBAPIError) -> str:
    if "full" in what or "No space" in what:
        return "free some space on the disk; what was stored before is intact"
    if "locked" in what:
        return "another process writes to it; try again when it has ended"
    if "malformed" in what or "not a database" in what:
        return "check its path, or restore a backup into a new file (`stripewise centre restore`)"
    if engine.dialect.name != _SQLITE and ("permission denied" in what or "read-only" in what):
        return "let the user of the URL write to the tables, or name the one who owns them"
    if "readonly" in what or "permission" in what or "unable to open" in what:
        return "check that its directory exists, and that this user may read and write both"
    if isinstance(error, OperationalError) and engine.dialect.name != _SQLITE:
        return (
            "check that PostgreSQL runs, and the user, the password and the name of the database"
        )
    return "check the database (`stripewise centre status`)"


def _tune_sqlite(connection: Any, _record: Any) -> None:
    """Let readers run beside a writer, enforce foreign keys, and begin nothing implicitly."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for line in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON",
                 "cache_size = -65536", "mmap_size = 1073741824"):  # fmt: skip
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _tune_postgres(connection: Any, _record: Any) -> None:
    """Let the planner prefer indexes: what pages need is in memory or on flash, not on a disk."""
    connection.execute("SET random_page_cost = 1.1")
    connection.commit()


def _begin_sqlite(connection: Any) -> None:
    """Begin a transaction at once; the driver would begin it only at the first change."""
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


# One writer at a time.

_LOCK = 7305317


def write_alone(connection: Connection, wait_seconds: float = 0.0) -> None:
    """Keep all others from writing until the end of the transaction, on PostgreSQL as on SQLite.

    What is looked up in the meantime stays true until then.

    Args:
        connection: Connection within a transaction; on SQLite, one that has begun as a writing
            one.
        wait_seconds: How long to wait for other writers; 0 to wait for ever.
    """
    if connection.dialect.name != "postgresql":
        return
    if wait_seconds:
        connection.execute(text(f"SET LOCAL lock_timeout = {int(wait_seconds * 1000)}"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
