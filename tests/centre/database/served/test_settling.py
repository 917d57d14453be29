# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of jobs find the runs that they are of, whatever comes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, func, select

from stripewise.centre.database._records import JobRecord
from stripewise.centre.database.store import Load, Template, settle, store_job_loads
from stripewise.centre.database.store._samples import DAY
from stripewise.centre.database.store._settle import resum
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Cluster, Job, JobLoad, JobServed, JobTag
from stripewise.centre.database.upkeep import KEPT_LOAD_DAYS
from stripewise.centre.database.upkeep._backup import prune_loads
from support.fleet_records import ON_A_DATABASE, job, source

FORMS = (Template("%e.%u"),)
T0 = 1_700_000_000


def run(raw_id: int, start: int, end: int | None, **given: Any) -> JobRecord:
    submit = given.pop("submit_at", start - 10)
    return job(raw_id, submit, start_at=start, end_at=end, **given)


def load(tag: str, at: int, moved: int = 1 << 20, **given: Any) -> Load:
    values: dict[str, Any] = {
        "file_system": "scratch", "kind": "write", "seconds": 60.0, "operations": 4,
        "busy_seconds": 0.5, "parts": {"262144": 4},
    }  # fmt: skip
    return Load(tag=tag, at=at, moved_bytes=moved, **{**values, **given})


def store(
    connection: Connection, loads: Sequence[Load], cluster: str = "a", server: str = "oss1"
) -> None:
    found = store_job_loads(connection, cluster, server, loads, FORMS)
    settle(connection, found, min(one.at for one in loads))


def owners(connection: Connection) -> list[tuple[str, int, int | None, str | None]]:
    """Name, begin, and of which run: its submit time and cluster."""
    query = (
        select(JobTag.text, JobLoad.at, Job.submit_at, Cluster.name)
        .select_from(JobLoad)
        .join(JobTag, JobTag.id == JobLoad.tag_id)
        .outerjoin(Job, Job.id == JobLoad.job_id)
        .outerjoin(Cluster, Cluster.id == Job.cluster_id)
        .order_by(JobTag.text, JobLoad.at)
    )
    return [tuple(row) for row in connection.execute(query)]


def sums(connection: Connection) -> dict[Any, Any]:
    columns = (JobServed.operations, JobServed.moved_bytes, JobServed.first_at, JobServed.last_at,
               JobServed.parts)  # fmt: skip
    query = select(Job.raw_id, Job.submit_at, JobServed.kind, *columns).join(
        Job, Job.id == JobServed.job_id
    )
    return {tuple(row[:3]): tuple(row[3:]) for row in connection.execute(query)}


def amounts(connection: Connection) -> dict[Any, Any]:
    query = select(Job.raw_id, Job.submit_at, Job.server_read_bytes, Job.server_write_bytes)
    return {tuple(row[:2]): tuple(row[2:]) for row in connection.execute(query)}


@pytest.mark.parametrize("first", ["records", "counters"])
def test_whatever_comes_first(connection: Connection, first: str) -> None:
    steps = [
        lambda: Writer(connection).store([run(7, T0, T0 + 600)]),
        lambda: store(connection, [load("7", T0 + 60), load("7", T0 + 120, kind="read")]),
    ]
    for step in steps if first == "records" else steps[::-1]:
        step()
    assert amounts(connection) == {(7, T0 - 10): (1 << 20, 1 << 20)}
    found = sums(connection)
    assert found[7, T0 - 10, "write"] == (4, 1 << 20, T0 + 60, T0 + 120, '{"262144":4}')


@pytest.mark.extended(keep=1)
def test_all_servers_add_up_to_the_digit(connection: Connection) -> None:
    Writer(connection).store([run(7, T0, T0 + 600)])
    odd = (1 << 53) + 1
    for server in ("oss1", "oss2", "oss3"):
        store(connection, [load("7", T0 + 60, odd)], server=server)
        store(connection, [load("7", T0 + 60, 1)], server=server)
    assert amounts(connection)[7, T0 - 10] == (0, 3 * (odd + 1))
    assert connection.scalar(select(func.count()).select_from(JobLoad)) == 3
    assert sums(connection)[7, T0 - 10, "write"][4] == '{"262144":24}'


def test_metadata_alone_says_nothing_of_bytes(connection: Connection) -> None:
    Writer(connection).store([run(7, T0, T0 + 600)])
    store(connection, [Load("scratch", "7", "metadata", T0, 60.0, 9, parts={"open": 9})])
    assert amounts(connection)[7, T0 - 10] == (None, None)
    assert sums(connection)[7, T0 - 10, "metadata"][:2] == (9, None)


def test_runs_of_a_requeued_job_get_their_own(connection: Connection) -> None:
    Writer(connection).store([
        run(7, T0, T0 + 600, submit_at=T0 - 5), run(7, T0 + 700, T0 + 900, submit_at=T0 + 650),
    ])  # fmt: skip
    rows = [load("7", T0 + 500), load("7", T0 + 540, seconds=300.0), load("7", T0 + 880)]
    store(connection, rows)
    assert [one[2] for one in owners(connection)] == [T0 - 5, T0 + 650, T0 + 650]


def test_tasks_and_components_have_ids_of_their_own(connection: Connection) -> None:
    columns = {"array_job_id": 70, "array_task_id": 1}
    Writer(connection).store([
        run(70, T0, T0 + 600, columns={**columns, "array_task_id": 2}),
        run(71, T0, T0 + 600, columns=columns),
        run(80, T0, T0 + 600, columns={"het_job_id": 80, "het_offset": 0}),
        run(81, T0, T0 + 600, columns={"het_job_id": 80, "het_offset": 1}),
    ])  # fmt: skip
    store(connection, [load(str(raw_id), T0, raw_id) for raw_id in (70, 71, 80, 81)])
    assert {key[0]: value[1] for key, value in amounts(connection).items()} == {
        70: 70, 71: 71, 80: 80, 81: 81,
    }  # fmt: skip


def test_ids_that_wrapped_and_other_clusters(connection: Connection) -> None:
    Writer(connection).store([
        run(7, T0, T0 + 600), run(7, T0 + 400 * DAY, None), run(7, T0, T0 + 600, cluster="b"),
    ])  # fmt: skip
    store(connection, [load("7", T0 + 60), load("7", T0 + 400 * DAY), load("7", T0 + 9 * DAY)])
    store(connection, [load("7", T0 + 60)], cluster="b")
    store(connection, [load("7", T0 + 60), load("7", T0 + 401 * DAY)], cluster="")
    found = sorted(owners(connection), key=str)
    assert found == sorted([
        ("7", T0 + 60, T0 - 10, "a"), ("7", T0 + 60, T0 - 10, "b"), ("7", T0 + 60, None, None),
        ("7", T0 + 9 * DAY, None, None), ("7", T0 + 400 * DAY, T0 + 400 * DAY - 10, "a"),
        ("7", T0 + 401 * DAY, T0 + 400 * DAY - 10, "a"),
    ], key=str)  # fmt: skip


@pytest.mark.parametrize(("at", "is_its"), [
    (T0 - 180, True), (T0 - 181, False), (T0 + 720, True), (T0 + 721, False),
])  # fmt: skip
def test_clocks_differ_a_little(connection: Connection, at: int, is_its: bool) -> None:
    Writer(connection).store([run(7, T0, T0 + 600)])
    store(connection, [load("7", at)])
    assert (owners(connection)[0][2] is not None) == is_its


def test_a_record_that_changes_takes_and_gives_rows(connection: Connection) -> None:
    Writer(connection).store([run(7, T0, None)])
    store(connection, [load("7", T0 + 60, 1), load("7", T0 + 5000, 2)])
    assert amounts(connection)[7, T0 - 10] == (0, 3)
    Writer(connection).store([run(7, T0, T0 + 600)])
    assert amounts(connection)[7, T0 - 10] == (0, 1)
    Writer(connection).store([run(7, T0 + 4000, T0 + 6000, submit_at=T0 + 3000)])
    assert amounts(connection) == {(7, T0 - 10): (0, 1), (7, T0 + 3000): (0, 2)}


def test_names_without_a_job_id_stay_nobodys(connection: Connection) -> None:
    Writer(connection).store([run(7, T0, T0 + 600, uid=1000)])
    store_job_loads(connection, "a", "oss1", [load("lmp.1000", T0), load("", T0)], FORMS)
    assert {one[2] for one in owners(connection)} == {None}
    query = select(JobTag.uid, JobTag.program).where(JobTag.text == "lmp.1000")
    assert tuple(connection.execute(query).one()) == (1000, "lmp")


def test_a_job_of_which_a_profile_told_first(connection: Connection) -> None:
    """The page of a job stays where it is when its record comes; so do its counters."""
    Writer(connection).store([source("d", 7, start_at=T0 + 10.0, end_at=T0 + 50.0, cluster="a")])
    store(connection, [load("7", T0)])
    Writer(connection).store([run(7, T0, T0 + 600)])
    assert amounts(connection) == {(7, T0 - 10): (0, 1 << 20)}
    Writer(connection).store([source("e", 7, start_at=T0 + 60.0, end_at=T0 + 90.0, cluster="a")])
    assert amounts(connection) == {(7, T0 - 10): (0, 1 << 20)}


times = st.integers(0, 2000).map(lambda offset: T0 + offset)
runs = st.lists(
    st.tuples(st.sampled_from((7, 8)), times, st.integers(1, 800), st.sampled_from("ab")),
    max_size=5, unique_by=lambda one: (one[0], one[1], one[3]),
)  # fmt: skip
rows = st.lists(
    st.tuples(
        st.sampled_from(("7", "8", "x.5", "")), times, st.sampled_from("ab"),
        st.sampled_from(("oss1", "oss2")), st.sampled_from(("read", "write", "metadata")),
        st.integers(0, 1 << 60),
    ),
    max_size=8,
)  # fmt: skip


@pytest.mark.extended
@ON_A_DATABASE
@given(jobs=runs, loads=rows, data=st.data())
def test_any_order_gives_the_same(
    engine: Engine, jobs: list[Any], loads: list[Any], data: st.DataObject
) -> None:
    steps: list[Any] = [("job", one) for one in jobs] + [("load", one) for one in loads]
    mixed = data.draw(st.permutations(steps))
    with engine.execution_options(writing=True).connect() as connection:
        seen = []
        for order in (steps, mixed):
            for kind, one in order:
                if kind == "job":
                    record = run(one[0], one[1], one[1] + one[2], cluster=one[3])
                    Writer(connection).store([record])
                else:
                    tag, at, cluster, server, what, moved = one
                    store(connection, [load(tag, at, moved, kind=what)], cluster, server)
            kept = sums(connection), amounts(connection), owners(connection)
            resum(connection, connection.scalars(select(Job.id)).all())
            assert kept == (sums(connection), amounts(connection), owners(connection))
            seen.append((kept[0], kept[1], sorted(kept[2], key=str)))
            connection.rollback()
    assert seen[0] == seen[1]


def test_old_rows_go_and_sums_stay(connection: Connection) -> None:
    old = T0 - (KEPT_LOAD_DAYS + 5) * DAY
    Writer(connection).store([
        run(7, old, old + 600), run(8, old, None), run(9, T0 - DAY, T0 - DAY + 600),
    ])  # fmt: skip
    store(connection, [load("7", old), load("8", old), load("9", T0 - DAY), load("x.1", old)])
    before = sums(connection), amounts(connection)
    assert prune_loads(connection, T0) == 2
    assert (sums(connection), amounts(connection)) == before
    assert [one[0] for one in owners(connection)] == ["8", "9"]
    assert sorted(connection.scalars(select(JobTag.text))) == ["8", "9"]
    Writer(connection).store([run(7, old, old + 601)])
    assert (sums(connection), amounts(connection)) == before
