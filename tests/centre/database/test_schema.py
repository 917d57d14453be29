# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from stripewise.centre.database._engine import create_engine, newest, shown, sqlite_file, url_text
from stripewise.centre.database._schema import check, current, initialise
from stripewise.centre.database.tables import Base
from stripewise.core.errors import StorageError, UsageError


def test_an_empty_database_is_told_what_to_run(empty_engine: Engine) -> None:
    with pytest.raises(
        StorageError, match="holds no statistics: run `stripewise centre init --db"
    ):
        check(empty_engine)


def test_initialise_makes_all_tables_once(empty_engine: Engine) -> None:
    assert initialise(empty_engine) == newest()
    check(empty_engine)
    assert set(Base.metadata.tables) < set(inspect(empty_engine).get_table_names())
    assert initialise(empty_engine) == newest()


def test_a_new_database_has_the_tables_of_the_models(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        differences = compare_metadata(context, Base.metadata)
    assert differences == []


def test_tables_that_cannot_be_made_leave_nothing(
    empty_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stripewise.centre.database._schema.command.stamp", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        initialise(empty_engine)
    assert inspect(empty_engine).get_table_names() == []


def test_tables_of_a_development_version_are_told_how_to_go_on(engine: Engine) -> None:
    _set_revision(engine, "0009")
    for use in (check, initialise):
        with pytest.raises(StorageError, match=r"before the first release .*0009.*centre ingest"):
            use(engine)


def test_tables_of_a_newer_version_are_refused(engine: Engine) -> None:
    _set_revision(engine, "9999")
    for use in (check, initialise):
        with pytest.raises(StorageError, match=r"newer Stripewise .*9999.*update Stripewise"):
            use(engine)
    with engine.connect() as connection:
        assert current(connection) == "9999"


def test_tables_of_an_older_version_are_told_how_to_go_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stripewise.centre.database._engine.newest", lambda: "9999")
    with pytest.raises(
        StorageError, match=r"older version.*9999.*centre backup.*centre init --db"
    ):
        check(engine)


def test_tables_of_the_first_revision_are_brought_up_to_date(engine: Engine) -> None:
    with engine.execution_options(writing=True).begin() as connection:
        connection.execute(text("DROP INDEX ix_job_slower_factor_id"))
        for name in ("slower_factor", "usual_io_seconds", "earlier_count"):
            connection.execute(text(f"ALTER TABLE job DROP COLUMN {name}"))
    _set_revision(engine, "0010")
    assert initialise(engine) == newest()
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Base.metadata) == []


def test_a_refusal_hides_the_password() -> None:
    engine = create_engine("postgresql://me:secret@127.0.0.1:9/nothing")
    with pytest.raises(StorageError, match="check that PostgreSQL runs") as told:
        check(engine)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("text", ["postgresql://me:secret@host:port/x", "://me:secret@host"])
def test_a_url_that_is_none_is_said_without_its_password(text: str) -> None:
    with pytest.raises(UsageError, match=r"the URL of the database is none: give .*%40") as told:
        create_engine(text)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("name", ["a?b", "a%20b", "a#b", "a b", "ä+b"])
def test_a_file_of_any_name_is_the_one_that_was_given(tmp_path: Path, name: str) -> None:
    engine = create_engine(str(tmp_path / name))
    assert sqlite_file(engine) == tmp_path / name
    assert sqlite_file(create_engine(url_text(engine))) == tmp_path / name
    initialise(engine)
    assert (tmp_path / name).is_file()


def test_what_is_no_database_is_said(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database at all, but text of some length\n" * 100)
    engine = create_engine(str(path))
    with pytest.raises(StorageError, match="restore a backup"):
        check(engine)


def _set_revision(engine: Engine, revision: str) -> None:
    with engine.execution_options(writing=True).begin() as connection:
        connection.execute(
            text("UPDATE alembic_version SET version_num = :name"), {"name": revision}
        )


def test_a_file_that_a_wrong_command_made_is_private_too(tmp_path: Path) -> None:
    """`centre status` or `serve` before `centre init`: SQLite makes the file then."""
    before = os.umask(0o022)
    try:
        made = create_engine(str(tmp_path / "fleet.sqlite"))
        with pytest.raises(StorageError, match="run `stripewise centre init --db"):
            check(made)
        initialise(made)
        with made.connect():
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        made.dispose()
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}, modes


@pytest.mark.parametrize(
    "url",
    ["postgresql://me:s3cret@h:port/db", "postgresql://me:s3@cret:h@h/db", "postgresql://[::/s3cret",
     "postgresql://h/db?user=me&password=s3cret", "postgresql://me:s3cret@h/db"],
)  # fmt: skip
def test_no_message_has_a_password(url: str) -> None:
    try:
        told = shown(url_text(create_engine(url)))
    except UsageError as error:
        told = str(error)
    assert "cret" not in told


def test_errors_of_the_database_do_not_tell_values(engine: Engine) -> None:
    with engine.connect() as connection, pytest.raises(DBAPIError) as caught:
        connection.execute(text("SELECT :secret FROM nowhere"), {"secret": "of a session"})
    assert "of a session" not in str(caught.value)


def test_the_command_that_is_proposed_is_of_this_database(tmp_path: Path) -> None:
    path = tmp_path / "a name; with more.sqlite"
    with pytest.raises(StorageError) as told:
        check(create_engine(f"sqlite:///{path}"))
    (command,) = re.findall(r"`(.*?)`", str(told.value))
    assert shlex.split(command) == ["stripewise", "centre", "init", "--db", str(path)]
