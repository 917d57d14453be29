# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A copy that names nobody: every column has a rule, no name is left, figures stay."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, inspect, select

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database._records import CampaignRecord, EventRecord, JobRecord, unpack
from stripewise.centre.database.tables import (
    Base,
    FindingRow,
    Job,
    JobFile,
    JobLoad,
    JobServed,
    JobSource,
    JobTag,
    PairedRun,
    Person,
)
from stripewise.centre.database.upkeep import anonymise
from stripewise.centre.database.upkeep._export import SKIPPED, Veil
from stripewise.core.errors import StorageError
from support import portal_jobs as jobs

NAMES = (
    "ada",
    "physics",
    "alpha",
    "node17",
    "flash_io",
    "scratch",
    "oss-secret",
    "secret-tool",
    jobs.SECRET,
)


@pytest.fixture
def source(engine: Engine) -> Engine:
    records: list[Any] = [
        jobs.job(1, node_list="node17", partition="oss-secret", name=jobs.SECRET),
        jobs.profile(1, made=jobs.document(1, [jobs.finding()])),
        jobs.pair(),
        jobs.samples("read_bytes", jobs.START, [1.0]),
        EventRecord("scratch", jobs.START, None, "outage", f"{jobs.SECRET} fell over"),
        CampaignRecord("c", {
            "name": jobs.SECRET, "suite": "limits", "storage": "scratch", "made_at": 1,
            "is_emulated": True, "document": jobs.profile(9).document,
        }, ()),
        *(JobRecord("alpha", 100 + number, 1, user=f"user{number}", start_at=1, end_at=2)
          for number in range(5)),
    ]  # fmt: skip
    jobs.store(engine, records)
    jobs.serve(engine)
    return engine


@pytest.fixture
def copy(source: Engine, tmp_path: Path) -> Engine:
    made = create_engine(str(tmp_path / "copy.sqlite"))
    initialise(made)
    with source.connect() as connection:
        anonymise(connection, made)
    return made


def everything(engine: Engine) -> str:
    """All that is in a database, as text."""
    found = []
    with engine.connect() as connection:
        for table in Base.metadata.sorted_tables:
            for row in connection.execute(select(table)):
                found += [
                    repr(unpack(value)) if isinstance(value, bytes) else repr(value)
                    for value in row
                ]
    return "\n".join(found)


@pytest.mark.extended(keep=1)
def test_no_name_is_left(source: Engine, copy: Engine) -> None:
    before, after = everything(source), everything(copy)
    for name in NAMES:
        # not within a pseudonym, or a word such as metadata
        word = re.compile(rf"(?<![0-9a-z]){name}(?![0-9a-z])")
        assert word.search(before)
        assert not word.search(after), name


@pytest.mark.extended(keep=1)
def test_counters_of_servers_stay_with_their_jobs(source: Engine, copy: Engine) -> None:
    """Of the same job, by the pseudonym of its id; agents' states are not copied."""
    query = (
        select(JobLoad.kind, JobLoad.at, JobLoad.operations, JobLoad.moved_bytes, JobLoad.parts)
        .outerjoin(Job, Job.id == JobLoad.job_id)
        .order_by(JobLoad.kind)
    )
    sums = select(JobServed.kind, JobServed.operations, JobServed.moved_bytes, JobServed.parts)
    for one in (query, sums, select(Job.server_read_bytes).order_by(Job.id)):
        with source.connect() as before, copy.connect() as after:
            assert after.execute(one).all() == before.execute(one).all()
    with copy.connect() as connection:
        ids = select(JobTag.raw_id, Job.raw_id).join(JobLoad, JobLoad.tag_id == JobTag.id)
        (row,) = connection.execute(ids.join(Job, Job.id == JobLoad.job_id)).all()
        assert row[0] == row[1]


@pytest.mark.extended(keep=1)
def test_figures_stay(source: Engine, copy: Engine) -> None:
    for query in (
        select(Job.io_seconds, Job.avoidable_seconds, Job.start_at, Job.pattern).order_by(Job.id),
        select(JobFile.read_bytes, JobFile.stripe_count).order_by(JobFile.number),
        select(FindingRow.code, FindingRow.cost_seconds),
        select(PairedRun.speedup, PairedRun.low),
    ):
        with source.connect() as one, copy.connect() as other:
            assert one.execute(query).all() == other.execute(query).all()
    with source.connect() as one, copy.connect() as other:
        was = unpack(one.scalars(select(JobSource.document)).one())
        now = unpack(other.scalars(select(JobSource.document)).one())
    assert now["figures"] == was["figures"]
    assert now["heat"][0]["busy_seconds"] == was["heat"][0]["busy_seconds"]
    assert set(now) == set(was)


def test_the_same_name_is_the_same_pseudonym_in_one_copy_only() -> None:
    one, other = Veil(), Veil()
    assert one.name("user", "ada") == one.name("user", "ada") != one.name("user", "bob")
    assert one.name("user", "ada") != other.name("user", "ada")
    assert one.name("user", "ada") != one.name("project", "ada")
    assert one.name("user", "") == ""
    assert one.number("job", None) is None


def test_a_program_of_many_users_keeps_its_name(source: Engine, tmp_path: Path) -> None:
    jobs.store(source, [jobs.job(200 + n, user=f"u{n}") for n in range(5)])
    jobs.store(source, [jobs.profile(200 + n, user=f"u{n}") for n in range(5)])
    made = create_engine(str(tmp_path / "other.sqlite"))
    initialise(made)
    with source.connect() as connection:
        anonymise(connection, made)
    assert "flash_io" in everything(made)
    with made.connect() as connection:
        names = connection.scalars(select(Person.name)).all()
    assert all(name.startswith("user-") for name in names)


def test_every_table_is_copied_or_skipped_on_purpose(copy: Engine) -> None:
    names = set(inspect(copy).get_table_names()) - {"alembic_version"}
    assert set(SKIPPED) < names
    with copy.connect() as connection:
        for table in Base.metadata.sorted_tables:
            if table.name in SKIPPED:
                assert connection.execute(select(table)).first() is None


def test_a_database_with_jobs_is_not_written_to(source: Engine, copy: Engine) -> None:
    with source.connect() as connection, pytest.raises(StorageError, match="give a new one"):
        anonymise(connection, copy)
