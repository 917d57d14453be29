# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The form of the tables: made, checked, brought up to date."""

from __future__ import annotations

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text

from stripewise.centre.database._engine import (
    need_file,
    refusals_said,
    shown,
    str_of,
    to_initialise,
)
from stripewise.core.errors import StorageError


def initialise(engine: Engine) -> str:
    """Make the tables, or bring them up to date; return the revision that they have then.

    Raises:
        StorageError: The database refuses, or a newer Stripewise has made it.
    """
    with refusals_said(engine), engine.execution_options(writing=True).connect() as connection:
        if engine.dialect.name == "sqlite":
            return _initialise_sqlite(connection)
        with connection.begin():
            connection.execute(text("SELECT pg_advisory_xact_lock(7305316)"))
            return _upgrade(connection)


def _initialise_sqlite(connection: Connection) -> str:
    """Bring tables up to date while they may be made anew: rows elsewhere refer to them."""
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.execute("PRAGMA foreign_keys = OFF")
    try:
        with connection.begin():
            return _upgrade(connection)
    finally:
        driver.execute("PRAGMA foreign_keys = ON")


def _upgrade(connection: Connection) -> str:
    check_known(connection)
    configuration = _configuration()
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, "head")
    return current(connection)


def check(engine: Engine) -> None:
    """Refuse a database whose tables are not of this version.

    Raises:
        StorageError: It has none, older or newer ones, or cannot be reached.
    """
    need_file(engine)
    with refusals_said(engine), engine.connect() as connection:
        revision = current(connection)
        name = shown(str_of(engine))
        if not revision:
            raise StorageError(f"{name} holds no statistics: run {to_initialise(engine)}")
        check_known(connection)
        if revision != newest():
            raise StorageError(
                f"{name} has tables of an older version ({revision}; {newest()} is needed): make "
                f"a backup (`stripewise db backup`), then run {to_initialise(engine)}"
            )


def current(connection: Connection) -> str:
    """Return the revision of a database; "" without tables."""
    return MigrationContext.configure(connection).get_current_revision() or ""


def newest() -> str:
    """Return the revision that this version makes."""
    return ScriptDirectory.from_config(_configuration()).get_current_head() or ""


def check_known(connection: Connection) -> None:
    """Refuse tables of a newer version.

    Raises:
        StorageError: They are.
    """
    revision = current(connection)
    if not revision:
        return
    try:
        ScriptDirectory.from_config(_configuration()).get_revision(revision)
    except CommandError as error:
        raise StorageError(
            f"{shown(str_of(connection.engine))} was made by a newer Stripewise (its tables have "
            f"revision {revision}): update Stripewise"
        ) from error


def _configuration() -> Config:
    found = Config()
    found.set_main_option(
        "script_location", str(files("stripewise.centre.database") / "migrations")
    )
    found.set_main_option("path_separator", "os")
    return found
