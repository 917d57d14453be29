# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records of the scheduler and samples of the storage, from files and from Slurm."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select, update

from stripewise.centre.database import Parsed
from stripewise.centre.database._records import MOST_PROBLEMS, JobRecord
from stripewise.centre.database.ingest import IngestOptions, ingest, next_window, take_jobs
from stripewise.centre.database.ingest import _samples as samples
from stripewise.centre.database.ingest import _scheduler as scheduler
from stripewise.centre.database.ingest._base import Feed
from stripewise.centre.database.ingest._profile_record import Origin
from stripewise.centre.database.ingest._sacct import Window
from stripewise.centre.database.tables import Event, Job, Ledger, Rollup, Sample
from stripewise.core.errors import StorageError, TraceError

SACCT = """\
jobid|jobidraw|cluster|user|uid|account|submit|start|end|elapsed|state|nnodes|jobname
17|17|alpha|ada|1000|physics|2026-03-01T10:00:00|2026-03-01T10:01:00|2026-03-01T10:02:00|00:01:00|COMPLETED|2|run|1
broken
18|18|alpha|ada|1000|physics|2026-03-01T10:00:00|Unknown|Unknown|00:00:00|PENDING|2|later
"""
SAMPLES = """\
{"file_system": "scratch", "server": "oss1", "target": "OST0", "metric": "read_bytes", "unit": "bytes", "counter": true, "at": 1789000020, "seconds": 60, "value": 600}
{"file_system": "scratch", "metric": "read_bytes", "unit": "bytes", "counter": true, "at": "soon", "seconds": 60, "value": 600}
{"event": "failover", "file_system": "scratch", "at": 1789000000, "until": 1789001800, "text": "oss2 took over"}
"""  # noqa: E501


def take(engine: Engine, *paths: Path) -> tuple[int, int, list[str]]:
    tally = ingest(engine, IngestOptions(roots=paths, settle_seconds=0, jobs=1))
    return sum(tally.stored.values()), tally.refused, [text for _, text in tally.problems]


def test_output_of_sacct(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text(SACCT)
    stored, refused, problems = take(engine, path)
    assert (stored, refused) == (1, 0)
    assert any("line 3" in text for text in problems)
    with engine.connect() as connection:
        rows = connection.execute(select(Job.raw_id, Job.name, Job.run_seconds)).all()
    assert sorted(rows) == [(17, "run|1", 60.0), (18, "later", None)]
    path.write_text(SACCT.replace("PENDING", "CANCELLED by 1000"))
    take(engine, path)
    with engine.connect() as connection:
        assert connection.scalar(select(Job.state).where(Job.raw_id == 18)) == "CANCELLED"


def test_samples_and_events(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(SAMPLES)
    stored, refused, problems = take(engine, path)
    assert (stored, refused, len(problems)) == (1, 0, 1)
    with engine.connect() as connection:
        assert connection.scalar(select(Sample.value)) == 600
        assert connection.scalar(select(func.count()).select_from(Rollup)) == 3
        assert connection.scalar(select(Event.kind)) == "failover"


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("jobs.txt", "\n".join(SACCT.splitlines()[::2][:2]), "no job"),
        ("samples.jsonl", SAMPLES.splitlines()[1], "no line"),
    ],
)
def test_an_input_of_which_nothing_can_be_used_is_refused(
    engine: Engine, tmp_path: Path, name: str, text: str, word: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    tally = ingest(engine, IngestOptions(roots=(path,), settle_seconds=0, jobs=1))
    assert tally.refused == 1
    assert word in tally.reasons[0][1]


@pytest.mark.parametrize(
    ("feed", "name", "text"),
    [
        (scheduler.SchedulerFeed(), "JOBS", SACCT),
        (scheduler.SchedulerFeed(), "JOBS", '{"jobs": [], "meta": {"slurm": {}}}'),
        (samples.SamplesFeed(), "SAMPLES", SAMPLES),
    ],
)
def test_a_file_beyond_its_budget_is_refused_in_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, feed: Feed, name: str, text: str
) -> None:
    path = tmp_path / "input"
    path.write_text(text)
    module = samples if name == "SAMPLES" else scheduler
    budget = getattr(module, name)
    feed.read(path, Origin("x", "d", "n"))
    monkeypatch.setattr(module, name, replace(budget, file_bytes=len(text) - 1))
    with pytest.raises(TraceError, match=r"0 MiB, the budget of .*: write fewer .* into one file"):
        feed.read(path, Origin("x", "d", "n"))


def test_more_jobs_than_memory_is_for_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text(SACCT)
    monkeypatch.setattr(scheduler, "JOBS", replace(scheduler.JOBS, entries=0))
    with pytest.raises(TraceError, match=r"line 4: more than 0 jobs, the budget of records"):
        scheduler.SchedulerFeed().read(path, Origin("x", "d", "n"))


def test_times_that_were_still_to_come_are_of_another_zone(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text(SACCT)
    end = 1772359320  # of the job that has ended
    feed = scheduler.SchedulerFeed()
    os.utime(path, (end, end))
    assert len(feed.read(path, Origin("x", "d", "n")).records) == 2
    os.utime(path, (end - 9 * 3600, end - 9 * 3600))
    with pytest.raises(TraceError, match=r"up to 9\.0 h after it was written: run .* TZ=UTC"):
        feed.read(path, Origin("x", "d", "n"))


def test_jobs_of_no_cluster_are_taken_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text(SACCT.replace("|cluster|", "|").replace("|alpha|", "|"))
    feed = scheduler.SchedulerFeed()
    problems = feed.read(path, Origin("x", "d", "n")).problems
    assert ["on which cluster" in text for text in problems] == [True, False]
    (other,) = feed.read(path, Origin("x", "d", "n", "alpha")).problems
    assert "line 3" in other


def test_of_many_broken_lines_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text(SACCT + "x\n" * 5000)
    problems = scheduler.SchedulerFeed().read(path, Origin("x", "d", "n")).problems
    assert len(problems) == MOST_PROBLEMS + 1
    assert problems[-1] == f"{5001 - MOST_PROBLEMS} more could not be used"


def test_slurm_is_asked_from_where_it_was_last(engine: Engine) -> None:
    now = int(time.time())
    first = next_window(engine, "sacct")
    assert now - first.start == pytest.approx(30 * 86400, abs=60)
    record = JobRecord("alpha", 1, now - 100, user="ada")
    asked = take_jobs(engine, "sacct", first, [Parsed((record,), ("line 1: odd",)), Parsed()])
    assert (asked.jobs, asked.problems) == (1, ("line 1: odd",))
    again = next_window(engine, "sacct")
    assert now - again.start in (pytest.approx(3600, abs=60), pytest.approx(2 * 86400, abs=60))
    other = next_window(engine, "sacct beta")
    assert now - other.start == pytest.approx(30 * 86400, abs=60)
    assert next_window(engine, "sacct", since=1000).start == 1000


def test_nothing_is_asked_for_a_database_without_tables(empty_engine: Engine) -> None:
    for since in (None, 1000):
        with pytest.raises(StorageError, match="run `stripewise centre init --db"):
            next_window(empty_engine, "sacct", since=since)


def test_a_gap_before_a_later_day_is_asked_for_the_next_time(engine: Engine) -> None:
    now = int(time.time())
    take_jobs(engine, "sacct", Window(now - 90 * 86400, now), [])
    with engine.begin() as connection:  # that was ten days ago
        connection.execute(update(Ledger).values(at=now - 10 * 86400))
    take_jobs(engine, "sacct", next_window(engine, "sacct", since=now - 86400), [])
    again = next_window(engine, "sacct")
    assert again.start == now - 12 * 86400
    take_jobs(engine, "sacct", again, [])
    assert now - next_window(engine, "sacct").start <= 2 * 86400 + 60


def test_what_was_not_read_whole_is_asked_for_again(engine: Engine) -> None:
    def parts() -> object:
        yield Parsed((JobRecord("alpha", 1, 100, user="ada"),))
        raise StorageError("slurmdbd went away: try again")

    with pytest.raises(StorageError):
        take_jobs(engine, "sacct", Window(0, 1000), parts())  # type: ignore[arg-type]
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(Job)) == 1
        assert connection.scalar(select(func.count()).select_from(Ledger)) == 0
