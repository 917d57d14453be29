# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the tables hold follows from the set of records: not from their order, nor from how often
they come, nor from how they are spread over transactions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, select

from stripewise.centre.database._records import JobRecord, Record, SourceRecord
from stripewise.centre.database.store import _figures
from stripewise.centre.database.store import _jobs as _job_rows
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Job
from support.fleet_records import DAY, ON_A_DATABASE, contents, figures, job, source

SUBMITTED = (1000, 2000, 2050, 40 * DAY, 65 * DAY)
STARTED = (None, 900.0, 1005.0, 1060.0, 2030.0, 2100.5, 20 * DAY, 40 * DAY + 30.0, 66 * DAY)


@st.composite
def job_records(draw: st.DrawFn) -> list[JobRecord]:
    """Records of jobs, some of them twice: while it runs, and when it has ended."""
    found: list[JobRecord] = []
    keys = st.tuples(st.sampled_from("ab"), st.sampled_from((7, 8)), st.sampled_from(SUBMITTED))
    for cluster, raw_id, submit_at in draw(st.lists(keys, max_size=5, unique=True)):
        owner: dict[str, Any] = {
            "user": draw(st.sampled_from(("", "x", "y"))),
            "uid": draw(st.sampled_from((None, 1, 2))),
            "account": draw(st.sampled_from(("", "p", "q"))),
        }
        lasts = draw(st.lists(st.sampled_from((None, 40, 900)), min_size=1, unique=True))
        for lasted in lasts:
            told = {key: value for key, value in owner.items() if draw(st.booleans())}
            told = {"user": "", "uid": None, "account": "", **told}
            found.append(
                job(
                    raw_id, submit_at, cluster=cluster, **told,
                    end_at=None if lasted is None else submit_at + 10 + lasted,
                    columns={
                        "state": f"after {lasted}", "node_count": 2,
                        **({"name": "run"} if draw(st.booleans()) else {}),
                    },
                )
            )  # fmt: skip
    return found


@st.composite
def source_records(draw: st.DrawFn) -> list[SourceRecord]:
    """Profiles of programs, some of which tell neither time nor user nor cluster."""
    found = []
    for number in range(draw(st.integers(0, 6))):
        start = draw(st.sampled_from(STARTED))
        lasted = draw(st.sampled_from((None, 0.25, 40.0)))
        told = figures(
            io_seconds=draw(st.sampled_from((None, 0.1, 3.7))),
            write_bytes=draw(st.integers(0, 1 << 40)),
        )
        found.append(
            source(
                f"d{number}", draw(st.sampled_from((None, 7, 7, 8))), told=told,
                kind=draw(st.sampled_from(("darshan", "trace", "odd", "strange"))),
                cluster=draw(st.sampled_from(("", "a", "b"))),
                user=draw(st.sampled_from(("", "x", "y"))),
                uid=draw(st.sampled_from((None, 1, 2))),
                program=draw(st.sampled_from(("solver", ""))),
                start_at=start,
                end_at=None if start is None or lasted is None else start + lasted,
                findings=({"code": "small-writes", "severity": "warning", "phrase": "",
                           "cost_seconds": draw(st.sampled_from((None, 0.1, 0.7))),
                           "least_seconds": None, "most_seconds": None, "is_measured": False,
                           "file_count": 1},) * draw(st.integers(0, 1)),
            )
        )  # fmt: skip
    return found


@st.composite
def shuffled(draw: st.DrawFn) -> tuple[list[Record], list[list[Record]]]:
    """A list of records, and the same ones in another order, spread over transactions."""
    records: list[Record] = [*draw(job_records()), *draw(source_records())]
    other = draw(st.permutations(records))
    cuts = sorted(draw(st.sets(st.integers(0, len(records)))))
    edges = [0, *cuts, len(records)]
    return records, [list(other[a:b]) for a, b in pairwise(edges)]


def stored(engine: Engine, portions: Sequence[Sequence[Record]]) -> dict[str, Any]:
    with engine.execution_options(writing=True).connect() as connection:
        for portion in portions:
            Writer(connection).store(portion)
        found = contents(connection)
        connection.rollback()
    return found


@pytest.mark.extended
@ON_A_DATABASE
@given(both=shuffled())
def test_order_and_transactions_do_not_matter(
    engine: Engine, both: tuple[list[Record], list[list[Record]]]
) -> None:
    records, portions = both
    assert stored(engine, portions) == stored(engine, [records])


@pytest.mark.extended(keep=1)
@ON_A_DATABASE
@given(both=shuffled())
def test_storing_again_changes_nothing(
    engine: Engine, both: tuple[list[Record], list[list[Record]]]
) -> None:
    records, portions = both
    with engine.execution_options(writing=True).connect() as connection:
        Writer(connection).store(records)
        before = contents(connection), changed(connection)
        with pytest.MonkeyPatch.context() as patch:
            for module in (_figures, _job_rows):
                patch.setattr(module.time, "time", lambda: 4_000_000_000)
            for portion in portions:
                Writer(connection).store(portion)
        assert (contents(connection), changed(connection)) == before
        connection.rollback()


@pytest.mark.extended
@ON_A_DATABASE
@given(both=shuffled())
def test_every_profile_has_one_job_and_none_is_lost(
    engine: Engine, both: tuple[list[Record], list[list[Record]]]
) -> None:
    records, portions = both
    jobs = stored(engine, portions)["jobs"]
    digests = sorted(one.digest for one in records if isinstance(one, SourceRecord))
    assert sorted(one["digest"] for row in jobs for one in row["sources"]) == digests
    for row in jobs:
        assert row["source_count"] == len(row["sources"])
        assert row["is_recorded"] or row["sources"]
        assert (row["no_data_reason"] is None) == bool(row["sources"])
        users = {one["user"] for one in row["sources"]} - {None}
        if row["person"] and row["is_recorded"]:
            assert users <= {row["person"]}
        assert len(users) <= 1 or not row["person"]


def changed(connection: Connection) -> list[tuple[int, ...]]:
    return [tuple(row) for row in connection.execute(select(Job.id, Job.changed_at))]
