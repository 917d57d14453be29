# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables, checks their revision, and brings older ones up to date."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, text

from stripewise.centre.database._engine import (
    check_known,
    check_revision,
    database_errors,
    need_file,
)
from stripewise.centre.database.tables import Base

_MODULES = ("_access", "_jobs", "_storage")
"""Modules of `tables`, which declare their tables in `Base.metadata` when they are imported."""


def initialise(engine: Engine) -> str:
    """Create the tables or bring them up to date, and return the revision that they have then.

    Raises:
        StorageError: The database refuses, or a newer Stripewise has made it.
    """
    with database_errors(engine), engine.execution_options(writing=True).connect() as connection:
        if engine.dialect.name == "sqlite":
            return _initialise_sqlite(connection)
        with connection.begin():
            connection.execute(text("SELECT pg_advisory_xact_lock(7305316)"))
            return _upgrade(connection)


def _initialise_sqlite(connection: Connection) -> str:
    """Bring tables up to date with foreign keys off, since migrations may recreate tables."""
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.execute("PRAGMA foreign_keys = OFF")
    try:
        with connection.begin():
            return _upgrade(connection)
    finally:
        driver.execute("PRAGMA foreign_keys = ON")


def _upgrade(connection: Connection) -> str:
    check_known(connection.engine, current(connection))
    configuration = _configuration()
    configuration.attributes["connection"] = connection
    if current(connection):
        command.upgrade(configuration, "head")
    else:
        for name in _MODULES:
            import_module(f"stripewise.centre.database.tables.{name}")
        Base.metadata.create_all(connection, checkfirst=False)
        command.stamp(configuration, "head")
    return current(connection)


def check(engine: Engine) -> None:
    """Refuse a database whose tables are not of this version.

    Raises:
        StorageError: It has no tables, older or newer ones, or cannot be reached.
    """
    need_file(engine)
    with database_errors(engine), engine.connect() as connection:
        check_revision(engine, current(connection))


def current(connection: Connection) -> str:
    """Return the revision of a database, or "" if it has no tables."""
    return MigrationContext.configure(connection).get_current_revision() or ""


def _configuration() -> Config:
    found = Config()
    found.set_main_option(
        "script_location", str(files("stripewise.centre.database") / "migrations")
    )
    found.set_main_option("path_separator", "os")
    return found
