# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever becomes of the agent and the database, everything counts once, to the digit."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, func, select, text

from stripewise.centre.database import url_text
from stripewise.centre.database.store import _deliver
from stripewise.centre.database.tables import Base, JobLoad, JobTag, Rollup, Sample, Series
from stripewise.centre.monitor.sinks._base import SinkError
from stripewise.centre.monitor.sinks._store import StoreSettings, StoreSink
from stripewise.core.errors import StorageError
from support.monitor_targets import T0, Reader, Target

KINDS = ("read", "write", "metadata")


class World:
    """A server with its agent; time goes on as steps say."""

    def __init__(self, engine: Engine, **given: Any) -> None:
        self.engine = engine
        self.targets = [Target("OST0000"), Target("OST0001"), Target("MDT0000")]
        self.given = {"database": url_text(engine), "top_jobs": 1, "queue_rounds": 3, **given}
        self.now = T0
        self.born = 0
        self.restart()

    def restart(self) -> None:
        if hasattr(self, "sink") and self.sink._engine is not None:
            self.sink._engine.dispose()
        self.sink = StoreSink(StoreSettings(**self.given), "oss1")
        self.sink.start()
        self.reader = Reader()
        self.deliver()

    def round(self, seconds: float = 30.0, shift: float = 0.0) -> None:
        self.now += seconds
        self.sink.take(self.reader.round(self.targets, self.now, shift=shift))

    def deliver(self) -> bool:
        try:
            self.sink.deliver()
        except SinkError:
            return False
        return True

    def settle_down(self, shift: float) -> None:
        """Let the agent run long enough to tell everything."""
        for _ in range(45):
            self.round(61.0, shift)
            assert self.deliver()

    def totals(self) -> dict[tuple[str, str], int]:
        return {
            (one.name, kind): one.totals[kind]
            for one in self.targets for kind in KINDS
            if kind != "metadata" or one.name == "MDT0000"
        }  # fmt: skip

    def works(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = defaultdict(int)
        for one in self.targets:
            for tag, job in one.jobs.items():
                for kind in KINDS:
                    if job[kind]:
                        found[tag, kind] += job[kind]
        return dict(found)


def told_totals(engine: Engine) -> dict[tuple[str, str], float]:
    query = (
        select(Series.target, Series.metric, func.sum(Sample.value))
        .join(Sample, Sample.series_id == Series.id)
        .where(Series.is_counter)
        .group_by(Series.target, Series.metric)
    )
    with engine.connect() as connection:
        return {(row[0], row[1].split("_")[0]): row[2] for row in connection.execute(query)}


def told_works(engine: Engine) -> dict[tuple[str, str], int]:
    amount = func.coalesce(JobLoad.moved_bytes, JobLoad.operations)
    query = (
        select(JobTag.text, JobLoad.kind, func.sum(amount))
        .join(JobTag, JobTag.id == JobLoad.tag_id)
        .group_by(JobTag.text, JobLoad.kind)
    )
    with engine.connect() as connection:
        return {(row[0], row[1]): int(row[2]) for row in connection.execute(query)}


def check_samples(engine: Engine) -> None:
    """No two samples of a series overlap, and roll-ups are their sums."""
    with engine.connect() as connection:
        last: dict[int, float] = {}
        query = select(Sample.series_id, Sample.at, Sample.seconds).order_by(Sample.at)
        for series_id, at, seconds in connection.execute(query):
            assert at >= last.get(series_id, 0)
            last[series_id] = at + seconds
        for resolution in (60, 3600, 86400):
            total = select(func.sum(Rollup.total)).where(Rollup.resolution_seconds == resolution)
            join = total.join(Series, Series.id == Rollup.series_id).where(Series.is_counter)
            counted = select(func.sum(Sample.value)).join(Series, Series.id == Sample.series_id)
            assert connection.scalar(join) == connection.scalar(counted.where(Series.is_counter))


def empty(engine: Engine) -> None:
    with engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):
            if table.name != "alembic_version":
                connection.execute(delete(table))


def refuse(*_: Any) -> None:
    raise StorageError("the database cannot be reached: start it")


def crash_before_commit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(_deliver, "write_parts", refuse)
        world.deliver()
    world.restart()


def crash_after_commit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.deliver()
    world.restart()


def commit_in_doubt(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database has stored it, but the connection broke before it could say so."""
    from stripewise.centre.database import store

    whole = store.deliver

    def broken(*words: Any) -> bool:
        whole(*words)
        raise StorageError("the connection broke: try again")

    with monkeypatch.context() as patch:
        patch.setattr(store, "deliver", broken)
        world.deliver()


def database_down(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(_deliver, "write_alone", refuse)
        for _ in range(8):
            world.round()
            assert not world.deliver() or not world.sink._tried


SHIFTS = (-800 * 86400.0, -400 * 86400.0, -30_000.0, -5000.0, -20.0, 20.0, 5000.0, 30_000.0)
"""By so much the clock of the host is wrong from then on; a day ahead would be a pause of one."""
FAULTS = (crash_before_commit, crash_after_commit, commit_in_doubt, database_down)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("work"), st.integers(0, 2), st.sampled_from(("7", "8", "lmp.5")),
                  st.sampled_from(KINDS), st.integers(1, 1 << 40)),
        st.tuples(st.just("round"), st.sampled_from((1.0, 15.0, 61.0, 400.0, 7200.0))),
        st.tuples(st.just("clock"), st.sampled_from(SHIFTS)),
        st.tuples(st.just("deliver")),
        st.tuples(st.just("restart")),
        st.tuples(st.just("fault"), st.sampled_from(FAULTS)),
    ),
    max_size=30,
)  # fmt: skip


@pytest.mark.extended
@settings(
    max_examples=25, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(plan=steps)
def test_everything_counts_once(
    engine: Engine, plan: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    carry_out(engine, plan, monkeypatch)


WORK = [("work", index, tag, kind, 1 << 40) for index, tag, kind in (
    (0, "7", "read"), (1, "8", "write"), (2, "lmp.5", "metadata"),
)]  # fmt: skip


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("shift", [0.0, -100.0, 5000.0, -400 * 86400.0])
@pytest.mark.parametrize("fault", [*FAULTS, World.restart], ids=lambda one: one.__name__)
def test_each_fault_with_work_that_is_due(
    engine: Engine, fault: Any, shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = [*WORK, ("round", 61.0)]
    step = ("restart",) if fault is World.restart else ("fault", fault)
    plan = [*due, step, ("clock", shift), *due, step, *due, ("deliver",), *due, step, *due, step]
    carry_out(engine, plan, monkeypatch)


@pytest.mark.extended
@pytest.mark.parametrize(("plan", "shift"), [
    ([("round", 7200.0), ("deliver",)], -400 * 86400.0),
    ([("round", 7200.0), ("deliver",), ("round", 7200.0)], -400 * 86400.0),
    ([("round", 7200.0), ("deliver",), ("clock", -800 * 86400.0), ("round", 61.0),
      ("round", 7200.0), ("deliver",), ("clock", -400 * 86400.0)], -400 * 86400.0),
], ids=["told", "not told", "half"])  # fmt: skip
def test_a_clock_is_set_right_while_no_agent_runs(
    engine: Engine, plan: list[Any], shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = [("clock", shift), ("round", 61.0), *WORK, *plan]
    carry_out(engine, [*back, ("restart",), *WORK], monkeypatch)


@pytest.mark.extended
def test_a_clock_is_set_forward_by_over_a_day(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = [*WORK, ("clock", 90_000.0), ("round", 15.0), ("round", 400.0), *WORK]
    carry_out(engine, [*plan, ("round", 400.0)], monkeypatch, end_shift=90_000.0)


def carry_out(
    engine: Engine, plan: list[Any], monkeypatch: pytest.MonkeyPatch, end_shift: float = 0.0
) -> None:
    """Carry a plan out, and see that what was counted is what was done."""
    empty(engine)
    world = World(engine)
    world.targets[0].work("7", "read", 1 << 50, at=T0 - 100)
    before = world.totals(), world.works()
    world.round()
    world.round(61.0)
    assert world.deliver()
    shift = 0.0
    for step in plan:
        if step[0] == "work":
            target = world.targets[step[1]]
            kind = step[3]
            if kind != "metadata" or target.name == "MDT0000":
                target.work(step[2], kind, step[4], at=world.now)
        elif step[0] == "round":
            world.round(step[1], shift)
        elif step[0] == "clock":
            shift = step[1]
        elif step[0] == "deliver":
            world.deliver()
        elif step[0] == "restart":
            world.restart()
        else:
            step[1](world, monkeypatch)
    world.settle_down(end_shift)
    grown = {key: value - before[0].get(key, 0) for key, value in world.totals().items()}
    assert told_totals(engine) == grown
    works = {key: value - before[1].get(key, 0) for key, value in world.works().items()}
    assert told_works(engine) == {key: value for key, value in works.items() if value}
    check_samples(engine)
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            assert connection.scalar(text("PRAGMA integrity_check")) == "ok"
