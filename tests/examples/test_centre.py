# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The synthetic centre as it stands in a database."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from sqlalchemy import Engine, func, select, text

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database._records import unpack
from stripewise.centre.database.accounts import Accounts
from stripewise.centre.database.queries import view_storage
from stripewise.centre.database.queries._gains import recipe_of_study
from stripewise.centre.database.tables import (
    Base,
    CampaignFigure,
    CampaignRow,
    FileSystem,
    FindingRow,
    Job,
    JobLoad,
    JobServed,
    JobSource,
    Member,
    MonitorState,
    PairedRun,
    Program,
    Rollup,
    Sample,
    Series,
)
from stripewise.core.errors import UsageError
from synthetic_centre import CASES, Centre, _centre, make_centre, open_accounts
from synthetic_centre._plan import Planner
from synthetic_centre._run import run
from synthetic_centre._weather import DAY, FAILOVER_DAY, SCRATCH, SLOW_TARGET, Weather

pytestmark = pytest.mark.extended

UNTIL = 1_790_000_000
JOBS = 240
FIGURES = ("io_seconds", "io_share", "read_bytes", "write_bytes", "meta_operations",
           "file_count", "finding_count", "bytes_per_second")  # fmt: skip


def _empty(path: Path) -> Engine:
    engine = create_engine(str(path))
    initialise(engine)
    return engine


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Centre]]:
    engine = _empty(tmp_path_factory.mktemp("centre") / "demo.sqlite")
    yield engine, make_centre(engine, 1, until=UNTIL, jobs=JOBS, workers=1)
    engine.dispose()


@pytest.fixture
def rows(made: tuple[Engine, Centre]) -> Any:
    """Answers queries."""
    engine, _ = made

    def ask(query: Any) -> Any:
        with engine.connect() as connection:
            return connection.execute(query).all()

    return ask


def test_most_jobs_have_a_profile_and_others_say_why_not(made: Any, rows: Any) -> None:
    centre = made[1]
    assert centre.jobs == JOBS + len(CASES)
    found = rows(select(Job))
    reasons = {"no profile", "did not run"}
    seen = [job for job in found if job.source_count]
    assert len(seen) == centre.profiles
    assert 0.45 < len(seen) / len(found) < 0.7
    for job in found:
        if job.source_count:
            assert job.no_data_reason is None
            assert all(getattr(job, name) is not None for name in FIGURES)
        else:
            assert job.no_data_reason in reasons
            assert all(getattr(job, name) is None for name in FIGURES), "unknown is not zero"
            assert job.avoidable_seconds is None
    assert {job.state for job in found} >= {"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"}
    costs = select(JobSource.job_id, FindingRow.cost_seconds).join(FindingRow)
    unpriced = {job for job, cost in rows(costs) if cost is None}
    unsaid = {job.id for job in seen if job.avoidable_seconds is None}
    assert unsaid
    assert unsaid <= unpriced


def test_figures_of_a_job_are_those_of_its_document(rows: Any) -> None:
    query = select(Job.io_seconds, Job.read_bytes, Job.meta_operations, JobSource.document,
                   Job.start_at, Job.end_at, JobSource.start_at, JobSource.end_at,
                   JobSource.match_rule).join(JobSource)  # fmt: skip
    apart = 0
    for io_seconds, read, operations, document, start, end, first, last, rule in rows(query):
        figures = unpack(document)["figures"]
        assert io_seconds == figures["io_seconds"]
        assert (read, operations) == (figures["read_bytes"], figures["meta_operations"])
        if rule == "job id and time":
            assert start <= first < last <= end
        apart += "clocks apart" in rule
    assert apart


def test_oddities_of_real_accounting_are_there(rows: Any) -> None:
    found = rows(select(Job))
    ids = [(job.cluster_id, job.raw_id) for job in found]
    assert len({raw for _, raw in ids}) < len(set(ids)), "clusters share job ids"
    assert len(set(ids)) < len(ids), "a requeued job keeps its id"
    assert any(job.array_task_id is not None for job in found)
    assert any(job.slurm_read_bytes is None for job in found)
    assert any(job.server_read_bytes is not None for job in found if not job.source_count)


def test_jobs_fill_the_whole_year(rows: Any) -> None:
    started = sorted(at for (at,) in rows(select(Job.start_at)) if at is not None)
    assert UNTIL - 365 * DAY <= started[0] < UNTIL - 355 * DAY
    assert UNTIL - 3 * DAY < started[-1] < UNTIL
    gaps = [after - before for before, after in itertools.pairwise(started)]
    assert max(gaps) < 21 * DAY


def test_the_last_day_is_as_busy_as_others_and_nothing_lies_in_the_future(tmp_path: Path) -> None:
    weather = Weather(1, UNTIL)
    last = [one for one in Planner(1, weather).plans(3000) if one.submit > UNTIL - DAY]
    assert 3 <= len(last) <= 30
    jobs = [ran.job for ran in run(1, UNTIL, last)]
    for job in jobs:
        assert job.submit_at < UNTIL
        assert (job.start_at or 0) < UNTIL
        assert (job.end_at or 0) <= UNTIL
        is_over = job.columns["state"] not in ("PENDING", "RUNNING")
        assert is_over == (job.end_at is not None)
    assert any(ran.source for ran in run(1, UNTIL, last))


def test_a_job_that_still_runs_has_moved_a_part_and_has_no_profile_yet() -> None:
    weather = Weather(1, UNTIL)
    plan = next(one for one in Planner(1, weather).plans(60) if one.is_profiled and one.start)
    (whole,) = run(1, UNTIL, [plan])
    assert whole.source is not None
    assert whole.job.start_at is not None
    assert whole.job.end_at is not None
    middle = (whole.job.start_at + whole.job.end_at) // 2
    (half,) = run(1, middle, [plan])
    assert (half.source, half.job.end_at, half.job.columns["state"]) == (None, None, "RUNNING")
    moved = half.read_bytes + half.write_bytes
    assert moved == pytest.approx((whole.read_bytes + whole.write_bytes) / 2, rel=0.02)
    (waits,) = run(1, whole.job.start_at, [plan])
    assert (waits.job.start_at, waits.job.columns["state"]) == (None, "PENDING")
    assert waits.read_bytes == waits.write_bytes == 0


def test_file_systems_grow_in_the_last_weeks(made: Any) -> None:
    with made[0].connect() as connection:
        states = view_storage(connection, UNTIL)
    for state in states:
        assert state.space.weekly is not None
        assert state.space.weekly > 0
        assert state.space.share is not None
        assert 0.7 < state.space.share < 0.9


def test_survey_runs_have_the_published_figures(rows: Any) -> None:
    query = select(Job, Program.name).join(Program).where(Job.name == "survey")
    found = {row.name_1: row for row in rows(query)}
    for case in CASES:
        job = found[case.program]
        assert (job.file_count, job.meta_operations) == (case.n_files, case.meta_operations)
        assert (job.read_bytes, job.write_bytes) == (case.read_bytes, case.write_bytes)
        expected = case.io_seconds if case.n_ranks > 1 else case.cumulated_seconds
        assert job.io_seconds == pytest.approx(expected)


def test_storage_grows_and_has_bad_days(rows: Any) -> None:
    weather = Weather(1, UNTIL)
    slow = next(one for one in weather.incidents if one.kind == "target slow")
    failed = next(one for one in weather.incidents if one.kind == "failover")
    by_target: dict[str, dict[int, float]] = {}
    query = select(Series.target, Rollup.at, Rollup.total).join(
        Rollup, Rollup.series_id == Series.id
    ).where(Series.metric == "write_bytes", Rollup.resolution_seconds == 3600)  # fmt: skip
    for target, at, total in rows(query):
        by_target.setdefault(target, {})[at] = total

    def share(target: str, first: int, last: int) -> float:
        others = [name for name in by_target if name.startswith("OST")]
        inside = {name: sum(v for at, v in by_target[name].items() if first <= at < last)
                  for name in others}  # fmt: skip
        return inside[target] / sum(inside.values())

    name = f"OST{SLOW_TARGET:04d}"
    assert share(name, slow.at, slow.until) < 0.5 * share(name, slow.at - DAY, slow.at)
    assert failed.at in by_target["OST0000"]
    assert failed.at not in by_target["OST0015"], "nobody counted: a gap, not zero"
    level = select(Rollup.total / Rollup.covered_seconds)
    hourly = level.join(Series, Series.id == Rollup.series_id).where(
        Series.metric == "used_bytes", Rollup.resolution_seconds == 3600
    )
    used = rows(hourly.order_by(Series.id, Rollup.at))
    assert used[0][0] < used[len(used) // 2 - 1][0]


def test_rollups_agree_with_samples(rows: Any) -> None:
    whole = select(Series.id).where(Series.metric == "read_bytes", Series.target == "")
    (series_id,) = rows(whole.order_by(Series.id).limit(1))[0]
    samples = rows(select(Sample.at, Sample.value).where(Sample.series_id == series_id))
    assert len(samples) == 14 * 24 * 60 + UNTIL % 3600 // 60
    assert UNTIL - 60 < samples[-1][0] + 60 <= UNTIL
    for step in (60, 3600):
        sums: dict[int, float] = {}
        for at, value in samples:
            sums[at - at % step] = sums.get(at - at % step, 0.0) + value
        found = dict(map(tuple, rows(select(Rollup.at, Rollup.total).where(
            Rollup.series_id == series_id, Rollup.resolution_seconds == step
        ))))  # fmt: skip
        assert all(found[at] == pytest.approx(total) for at, total in sums.items())


def test_benchmarks_dip_in_the_bad_month(rows: Any) -> None:
    query = select(CampaignRow.made_at, CampaignFigure.median).join(CampaignFigure).where(
        CampaignFigure.number == 0, CampaignRow.is_emulated
    )  # fmt: skip
    found = dict(map(tuple, rows(query)))
    failure = Weather(1, UNTIL).start + FAILOVER_DAY * DAY
    bad = [rate for at, rate in found.items() if abs(at - failure) < 16 * DAY]
    good = [rate for at, rate in found.items() if abs(at - failure) >= 16 * DAY]
    assert len(found) == 12
    assert bad
    assert max(bad) < 0.75 * median(good)


def test_gains_have_intervals_and_programs_have_areas(rows: Any) -> None:
    for pair in rows(select(PairedRun)):
        assert 1 < pair.low < pair.speedup < pair.high
        assert pair.program_id is not None
        assert recipe_of_study(pair.configuration, pair.hints) is not None
    assert not rows(select(Program.name).where(Program.area.is_(None)))
    mounts = dict(map(tuple, rows(select(FileSystem.name, FileSystem.mount))))
    assert mounts == {"demo-scratch": "/scratch", "demo-home": "/home"}


def test_accounts_of_every_role_let_in(made: Any, rows: Any) -> None:
    engine, centre = made
    passwords = open_accounts(engine, centre.logins)
    assert [one.role for one in passwords] == ["user", "user", "support", "admin"]
    accounts = Accounts(engine)
    for one, password in passwords.items():
        account = accounts.check_password(one.login, password)
        assert account is not None
        assert account.role == one.role
    mine = Job.person_id == accounts.find(centre.logins[0].login).person_id  # type: ignore[union-attr]
    assert rows(select(func.count()).select_from(Job).where(mine))[0][0] > 5
    assert len(rows(select(Member).where(Member.is_manager))) == 1


def test_database_with_jobs_is_left_alone(made: Any) -> None:
    with pytest.raises(UsageError, match="a synthetic centre is made only in one of its own"):
        make_centre(made[0], 1, until=UNTIL, jobs=1, workers=1)


def test_same_seed_makes_the_same_centre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_centre, "CASES", ())
    one, two = (_content(tmp_path / f"{workers}.sqlite", workers) for workers in (1, 2))
    assert one == two


def _content(path: Path, workers: int) -> dict[str, list[Any]]:
    """All rows of all tables, but for when they were written."""
    engine = _empty(path)
    make_centre(engine, 3, until=UNTIL, jobs=30, workers=workers)
    found = {}
    with engine.connect() as connection:
        for name, table in Base.metadata.tables.items():
            columns = [one for one in table.c if one.name != "changed_at"]
            if amount := {"sample": "value", "rollup": "total"}.get(name):
                sums = text(f"SELECT count(*), sum(at), sum({amount}) FROM {name}")
                found[name] = list(map(tuple, connection.execute(sums)))
            else:
                found[name] = sorted(map(repr, connection.execute(select(*columns))))
    engine.dispose()
    return found


def test_targets_together_moved_what_the_whole_moved(rows: Any) -> None:
    query = select(Series.target, Rollup.at, Rollup.total).join(
        Rollup, Rollup.series_id == Series.id
    ).join(FileSystem, FileSystem.id == Series.file_system_id).where(
        FileSystem.name == SCRATCH, Series.metric == "read_bytes",
        Rollup.resolution_seconds == 3600, Rollup.at >= UNTIL - 10 * DAY,
        Rollup.at < UNTIL - 3600,
    )  # fmt: skip
    whole, parts = dict[int, float](), dict[int, float]()
    for target, at, total in rows(query):
        kept = parts if target else whole
        kept[at] = kept.get(at, 0.0) + total
    assert whole.keys() == parts.keys()
    for at, total in whole.items():
        assert parts[at] == pytest.approx(total, rel=0.2)


def test_servers_counted_jobs_and_one_target_was_slow(rows: Any) -> None:
    loads = rows(select(JobLoad))
    assert {one.kind for one in loads} == {"read", "write", "metadata"}
    assert all(one.job_id is not None and one.at < UNTIL for one in loads)
    served = rows(select(JobServed))
    assert len({one.job_id for one in served}) > JOBS // 2
    for one in served:
        assert sum(json.loads(one.parts).values()) == one.operations
    query = select(Series.target, Series.metric, Rollup.at, Rollup.total).join(
        Series, Series.id == Rollup.series_id
    )
    found: dict[str, dict[tuple[str, int], float]] = {}
    for target, metric, at, total in rows(
        query.where(Series.metric.startswith("service_"), Rollup.resolution_seconds == 3600)
    ):
        found.setdefault(metric, {})[target, at] = total
    means = {
        place: seconds / found["service_operations"][place]
        for place, seconds in found["service_seconds"].items()
    }
    slow = {target for (target, _), mean in means.items() if mean > 0.03}
    assert slow == {f"OST{SLOW_TARGET:04d}"}
    assert len({agent for (agent,) in rows(select(MonitorState.agent))}) == 3
