# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, insert, select, text

from stripewise.centre.database._engine import create_engine, newest
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.ingest import IngestOptions, ingest
from stripewise.centre.database.store._samples import DAY
from stripewise.centre.database.tables import (
    Job,
    JobFile,
    JobSource,
    LoginAttempt,
    Principal,
    Session,
    Token,
)
from stripewise.centre.database.upkeep import backup, prune, restore, status
from stripewise.core.errors import StorageError, UsageError
from support import fleet_inputs as inputs

NOW = 1_700_005_000 + 100 * DAY
"""100 days after a moment between the two reports."""


@pytest.fixture
def filled(engine: Engine, tmp_path: Path) -> Engine:
    """A database with the profiles of two reports and of one broken file."""
    for number in range(2):
        inputs.write_report(tmp_path / "spool", number)
    broken = tmp_path / "spool" / "x.report.json"
    broken.write_text('{"format": "stripewise-report"')
    inputs.old(broken)
    ingest(engine, IngestOptions((tmp_path / "spool",), jobs=1, settle_seconds=0.0))
    return engine


@pytest.fixture
def second(filled: Engine, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An empty database of the same kind."""
    if filled.dialect.name == "sqlite":
        yield create_engine(str(tmp_path / "second.sqlite"))
        return
    server = request.getfixturevalue("postgres")
    with server.database() as name:
        made = create_engine(server.url(name))
        yield made
        made.dispose()


def count(engine: Engine, table: type) -> int:
    with engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def test_status_tells_what_is_there_and_what_was_refused(filled: Engine, tmp_path: Path) -> None:
    found = status(filled)
    assert found.revision == found.newest_revision == newest()
    assert (found.counts["jobs"], found.counts["sources"]) == (2, 2)
    assert found.sources == {"report": 2}
    assert found.coverage is None
    assert found.outcomes == {"stored": 2, "refused": 1}
    (refused,) = found.refused
    assert refused["name"] == str(tmp_path / "spool" / "x.report.json")
    assert "no report of a run" in refused["reason"]
    assert found.size_bytes > 0
    assert found.last_ingest_at is not None


@pytest.mark.extended(keep=1)
def test_coverage_is_of_jobs_that_ran(filled: Engine) -> None:
    with filled.begin() as connection:
        connection.execute(text("UPDATE job SET is_recorded = true"))
        row = dict(connection.execute(select(Job.__table__)).mappings().first() or {})
        row |= {"id": 99, "raw_id": 999, "source_count": 0}
        connection.execute(insert(Job).values(**row))
        row |= {"id": 98, "raw_id": 998, "start_at": None}
        connection.execute(insert(Job).values(**row))
    assert status(filled).coverage == pytest.approx(2 / 3)


def test_an_older_database_says_what_to_do(
    filled: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stripewise.centre.database.upkeep._status.newest", lambda: "9999")
    found = status(filled)
    assert (found.revision, found.newest_revision, found.counts) == (newest(), "9999", {})


@pytest.mark.extended(keep=1)
def test_prune_drops_what_is_old_and_keeps_the_jobs(filled: Engine) -> None:
    with filled.begin() as connection:
        key = connection.execute(insert(Principal).values(login="a", role="user"))
        owner = key.inserted_primary_key[0]  # type: ignore[index]
        for name, expires in (("old", NOW - 1), ("new", NOW + 1)):
            shared = {"hash": name, "expires_at": expires}
            own = {"principal_id": owner, "made_at": 1}
            connection.execute(insert(Session).values(**shared, **own, csrf="c"))
            connection.execute(insert(Token).values(**shared, **own, name="t", scopes=""))
            attempt = {"nonce": "", "verifier": "", "next_path": ""}
            connection.execute(insert(LoginAttempt).values(**shared, **attempt))
    files = count(filled, JobFile)
    gone = prune(filled, NOW)
    assert (gone.files, gone.logins) == (0, 3)
    gone = prune(filled, NOW, files_older_days=100)
    assert 0 < gone.files < files
    assert count(filled, JobFile) == files - gone.files
    assert (count(filled, Job), count(filled, JobSource)) == (2, 2)
    assert count(filled, Session) == count(filled, Token) == count(filled, LoginAttempt) == 1


@pytest.mark.extended(keep=1)
def test_a_backup_brings_everything_back(filled: Engine, second: Engine, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    backup(filled, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("*backup*")] == ["backup"]
    assert restore(second, file) == newest()
    assert inputs.dump(second, whole=True) == inputs.dump(filled, whole=True)
    inputs.write_report(tmp_path / "more", 7)
    options = IngestOptions((tmp_path / "more",), jobs=1, settle_seconds=0.0)
    assert ingest(second, options).stored == {"report": 1}


@pytest.mark.extended(keep=1)
def test_a_backup_is_made_while_somebody_writes(filled: Engine, tmp_path: Path) -> None:
    with filled.execution_options(writing=True).begin() as connection:
        connection.execute(text("UPDATE job SET name = 'half done'"))
        backup(filled, tmp_path / "backup")
    assert (tmp_path / "backup").stat().st_size > 0


def test_what_is_there_is_not_written_over(filled: Engine, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_text("precious")
    with pytest.raises(UsageError, match="is there already"):
        backup(filled, file)
    assert file.read_text() == "precious"
    file.unlink()
    backup(filled, file)
    with pytest.raises(StorageError, match="is not empty: give --replace"):
        restore(filled, file)


@pytest.mark.extended(keep=1)
def test_replace_takes_back_what_came_since(filled: Engine, tmp_path: Path) -> None:
    backup(filled, tmp_path / "backup")
    before = inputs.dump(filled, whole=True)
    inputs.write_report(tmp_path / "more", 7)
    ingest(filled, IngestOptions((tmp_path / "more",), jobs=1, settle_seconds=0.0))
    restore(filled, tmp_path / "backup", replace=True)
    assert inputs.dump(filled, whole=True) == before


@pytest.mark.extended(keep=1)
def test_a_database_of_another_revision_is_not_replaced(filled: Engine, tmp_path: Path) -> None:
    backup(filled, tmp_path / "backup")
    with filled.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(StorageError, match="tables of revision 0001, the backup those of"):
        restore(filled, tmp_path / "backup", replace=True)


@pytest.mark.extended(keep=1)
def test_a_foreign_database_is_not_replaced(
    filled: Engine, second: Engine, tmp_path: Path
) -> None:
    backup(filled, tmp_path / "backup")
    with second.begin() as connection:
        connection.execute(text("CREATE TABLE precious (a INTEGER)"))
    with pytest.raises(StorageError, match="holds other tables"):
        restore(second, tmp_path / "backup", replace=True)


def test_an_empty_database_has_nothing_to_back_up(empty_engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is nothing to back up"):
        backup(empty_engine, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"PGDMP", b"hello" * 1000])
def test_what_is_no_backup_is_refused(
    empty_engine: Engine, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "backup"
    file.write_bytes(content)
    with pytest.raises((UsageError, StorageError)) as caught:
        restore(empty_engine, file)
    assert len(str(caught.value).splitlines()) == 1


def test_another_database_of_sqlite_is_no_backup(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE a (b INTEGER)")
    with pytest.raises(UsageError, match="holds no statistics"):
        restore(create_engine(str(tmp_path / "new.sqlite")), foreign)


def test_the_password_is_no_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stripewise.centre.database.upkeep import _backup

    script = tmp_path / "pg_dump"
    script.write_text(f'#!/bin/sh\necho "$@ / $PGPASSWORD" > {tmp_path}/said\n')
    script.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(script))
    monkeypatch.setattr(_backup, "_revision", lambda _: newest())
    url = "postgresql://me:s3cret@db.example.org:5433/jobs?sslmode=require"
    backup(create_engine(url), tmp_path / "out")
    arguments, _, password = (tmp_path / "said").read_text().strip().partition(" / ")
    assert password == "s3cret"
    assert "s3cret" not in arguments
    for word in ("host=db.example.org", "port=5433", "user=me", "dbname=jobs", "sslmode=require"):
        assert word in arguments
    backup(create_engine("postgresql://db/jobs?user=me&password=s3cret"), tmp_path / "again")
    arguments, _, password = (tmp_path / "said").read_text().strip().partition(" / ")
    assert password == "s3cret"
    assert "s3cret" not in arguments


@pytest.mark.extended(keep=1)
def test_a_backup_is_not_written_to(filled: Engine, second: Engine, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    file = tmp_path / "kept" / "backup"
    backup(filled, file)
    before = file.read_bytes()
    restore(second, file)
    assert file.read_bytes() == before
    assert [one.name for one in file.parent.iterdir()] == ["backup"]


def test_a_restore_leaves_those_alone_who_use_the_database(filled: Engine, tmp_path: Path) -> None:
    """A page that is being read goes on with what was; the next one sees the backup."""
    if filled.dialect.name != "sqlite":
        pytest.skip("pg_restore waits for readers")
    backup(filled, tmp_path / "backup")
    with filled.begin() as connection:
        connection.execute(text("UPDATE job SET name = 'later'"))
    names = select(Job.name).distinct()
    other = create_engine(str(filled.url.database))
    with other.connect() as reader:
        assert reader.scalars(names).all() == ["later"]
        restore(filled, tmp_path / "backup", replace=True)
        assert reader.scalars(names).all() == ["later"]
    with other.connect() as reader:
        assert reader.scalars(names).all() != ["later"]
        assert reader.scalar(text("PRAGMA integrity_check")) == "ok"
    other.dispose()


def test_revisions_are_those_of_initialise(engine: Engine) -> None:
    assert initialise(engine) == status(engine).revision
