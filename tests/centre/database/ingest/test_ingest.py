# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select, text
from sqlalchemy.exc import StatementError

from stripewise.centre.database._engine import create_engine, url_text
from stripewise.centre.database._records import Record
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.ingest import IngestOptions, ingest
from stripewise.centre.database.ingest import _ingest as module
from stripewise.centre.database.ingest import _ledger as _book
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import (
    CampaignFigure,
    CampaignRow,
    Cluster,
    Job,
    JobSource,
    Ledger,
    PairedRun,
    Person,
)
from stripewise.core.errors import StorageError, UsageError
from support import fleet_inputs as inputs
from support.fleet_inputs import take
from support.small_disk import fill, small_file_system


@pytest.mark.extended
def test_a_tree_of_all_kinds_is_taken_in_once(engine: Engine, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    count = inputs.tree(root, traces=3, reports=2)
    first = take(engine, root)
    assert first.found == count
    assert first.refused == 1
    assert first.known == 1
    logs = len(inputs.darshan_logs())
    assert first.stored == {"darshan": logs, "trace": 3, "report": 2, "study": 2}
    before = inputs.dump(engine, whole=True)
    second = take(engine, root)
    assert (second.found, second.unchanged) == (count, count)
    assert not second.stored
    assert inputs.dump(engine, whole=True) == before


def test_inputs_that_moved_are_known_by_their_content(base: Engine, tmp_path: Path) -> None:
    inputs.write_report(tmp_path / "a")
    inputs.write_trace(tmp_path / "a", 1)
    take(base, tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    before = inputs.dump(base)
    tally = take(base, tmp_path / "b")
    assert (tally.known, sum(tally.stored.values())) == (2, 0)
    after = inputs.dump(base)
    assert {k: v for k, v in after.items() if k != "seen_file"} == {
        k: v for k, v in before.items() if k != "seen_file"
    }


def test_equal_contents_under_two_names_are_one_source(base: Engine, tmp_path: Path) -> None:
    log = inputs.darshan_logs()[0]
    for name in ("a", "b", "c"):
        inputs.copied(log, tmp_path / "logs" / f"{name}.darshan")
    tally = take(base, tmp_path / "logs")
    assert (sum(tally.stored.values()), tally.known) == (1, 2)
    assert take(base, tmp_path / "logs").unchanged == 3


def test_a_file_that_grows_is_left_until_it_has_settled(base: Engine, tmp_path: Path) -> None:
    path = inputs.write_report(tmp_path / "spool")
    os.utime(path)
    tally = take(base, tmp_path / "spool", settle_seconds=30.0)
    assert tally.passed.names["changed in the last 30 s"] == [str(path)]
    assert not tally.stored
    inputs.old(path)
    assert take(base, tmp_path / "spool", settle_seconds=30.0).stored == {"report": 1}


def test_a_clock_that_is_ahead_does_not_hold_a_file_back(base: Engine, tmp_path: Path) -> None:
    path = inputs.write_report(tmp_path / "spool")
    then = time.time() + 86400
    os.utime(path, (then, then))
    assert take(base, tmp_path / "spool", settle_seconds=60.0).stored == {"report": 1}


def test_a_file_that_changed_takes_the_place_of_what_it_was(base: Engine, tmp_path: Path) -> None:
    inputs.write_report(tmp_path / "spool", exit_code=1)
    take(base, tmp_path / "spool")
    inputs.write_report(tmp_path / "spool", exit_code=0)
    assert take(base, tmp_path / "spool").stored == {"report": 1}
    with base.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(JobSource)) == 1
        assert connection.scalar(select(func.count()).select_from(Job)) == 1
        assert connection.scalar(select(func.count()).select_from(Ledger)) == 1


def test_a_study_that_went_on_is_told_anew(base: Engine, tmp_path: Path) -> None:
    path = inputs.write_study(tmp_path)
    take(base, tmp_path)
    result = path / "result.json"
    result.write_text(result.read_text().replace('"n_pairs": 3', '"n_pairs": 5'))
    take(base, tmp_path)
    with base.connect() as connection:
        (row,) = connection.execute(select(PairedRun)).all()
        name = connection.scalar(select(Person.name).where(Person.id == row.person_id))
    assert row.pair_count == 5
    assert (row.speedup, row.low, row.high, row.saved_seconds) == (2.5, 2.2, 2.8, 6.0)
    assert row.verification == "identical"
    assert "mpiio = { cb_nodes = 4 }" in row.configuration
    assert "cb_nodes=4" in row.hints
    assert row.made_at == 1782900000
    assert name == (None if os.geteuid() == 0 else inputs.report()["user"] or name)
    result.write_text(result.read_text().replace('"improved"', '"no improvement"'))
    take(base, tmp_path)
    with base.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(PairedRun)) == 0


def test_output_of_a_benchmark_that_grew_is_one_campaign(base: Engine, tmp_path: Path) -> None:
    path = tmp_path / "benchio.txt"
    whole = (Path(__file__).parents[3] / "bench/data/benchio-runner.txt").read_text()
    path.write_text(whole)
    take(base, tmp_path)
    path.write_text(whole + "\n")
    assert take(base, tmp_path).stored == {"campaign": 1}
    with base.connect() as connection:
        (digest,) = connection.scalars(select(CampaignRow.digest))
        assert digest == connection.scalar(select(Ledger.digest))
        assert connection.scalar(select(func.count(CampaignFigure.campaign_id.distinct()))) == 1


def test_a_study_without_a_gain_is_no_pair(base: Engine, tmp_path: Path) -> None:
    inputs.write_study(tmp_path, improved=False)
    assert take(base, tmp_path).stored == {"study": 1}
    with base.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(PairedRun)) == 0


def test_what_cannot_be_read_is_refused_until_it_changes(base: Engine, tmp_path: Path) -> None:
    good = inputs.darshan_logs()[0]
    path = tmp_path / "logs" / "a.darshan"
    inputs.copied(good, path)
    path.write_bytes(good.read_bytes()[:300])
    tally = take(base, tmp_path / "logs")
    ((name, reason),) = tally.reasons
    assert name == str(path)
    assert "Darshan" in reason
    again = take(base, tmp_path / "logs")
    assert (again.refused, again.unchanged) == (0, 1)
    inputs.copied(good, path)
    assert take(base, tmp_path / "logs").stored == {"darshan": 1}
    with base.connect() as connection:
        assert connection.scalars(select(Ledger.outcome)).all() == ["stored"]


def test_what_is_no_input_is_passed_over_by_name(base: Engine, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    inputs.write_report(root)
    outside = inputs.write_report(tmp_path / "outside", 1)
    (root / "link.report.json").symlink_to(outside)
    (root / "down").symlink_to(tmp_path / "outside")
    (root / "a.darshan_partial").write_text("x")
    (root / ".b.darshan").write_text("x")
    (root / "README").write_text("x")
    os.mkfifo(root / "pipe")
    tally = take(base, root)
    assert tally.stored == {"report": 1}
    assert tally.passed.counts == {
        "link, not followed": 2,
        "log of a run that did not end (.darshan_partial)": 1,
        "temporary or hidden": 1,
        "of an unknown kind": 1,
        "no regular file": 1,
    }


def test_what_is_of_no_kind_is_looked_at_again_by_a_newer_version(
    base: Engine, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "README").write_text("x")
    assert take(base, root).passed.counts == {"of an unknown kind": 1}
    assert take(base, root).unchanged == 1
    with base.begin() as connection:
        connection.execute(text("UPDATE seen_file SET digest = 'of no kind for 0.0.1'"))
    assert take(base, root).passed.counts == {"of an unknown kind": 1}


@pytest.mark.extended
def test_two_at_a_time_double_nothing(engine: Engine, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    inputs.tree(root, traces=4, reports=8)
    other = create_engine(url_text(engine))
    with ThreadPoolExecutor(2) as pool:
        tallies = list(pool.map(lambda one: take(one, root, jobs=1), (engine, other)))
    other.dispose()
    clean = create_engine(str(tmp_path / "clean.sqlite"))
    initialise(clean)
    once = take(clean, root)
    assert sum((tally.stored for tally in tallies), Counter()) == once.stored
    assert inputs.dump(engine) == inputs.dump(clean)


def test_a_named_file_of_no_kind_is_refused(base: Engine, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("x")
    tally = take(base, path)
    assert tally.reasons[0][1].startswith("of an unknown kind; what can be read is")


def test_a_root_that_is_not_there_is_said(base: Engine, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or directory"):
        take(base, tmp_path / "nowhere")


def test_equal_job_ids_of_two_clusters_are_two_jobs(base: Engine, tmp_path: Path) -> None:
    for number, cluster in enumerate(("alpha", "beta")):
        inputs.write_report(tmp_path / cluster, number, cluster=cluster, job_id="7", start=1e9,
                            end=1e9 + 60)  # fmt: skip
    take(base, tmp_path / "alpha", tmp_path / "beta")
    with base.connect() as connection:
        rows = connection.execute(
            select(Cluster.name, Job.raw_id).join(Cluster, Cluster.id == Job.cluster_id)
        ).all()
    assert sorted(map(tuple, rows)) == [("alpha", 7), ("beta", 7)]


def test_the_cluster_that_is_given_counts(base: Engine, tmp_path: Path) -> None:
    inputs.write_report(tmp_path / "spool", cluster="alpha")
    take(base, tmp_path / "spool", cluster="gamma")
    with base.connect() as connection:
        query = select(Cluster.name).join(Job, Job.cluster_id == Cluster.id)
        assert connection.scalars(query).all() == ["gamma"]


def test_parts_share_inputs_out(base: Engine, tmp_path: Path) -> None:
    for number in range(9):
        inputs.write_report(tmp_path / "spool", number)
    stored = [
        take(base, tmp_path / "spool", part=(number, 3)).stored["report"] for number in (1, 2, 3)
    ]
    assert sum(stored) == 9
    assert max(stored) < 9
    assert take(base, tmp_path / "spool").unchanged == 9


def test_a_dry_run_writes_nothing(base: Engine, tmp_path: Path) -> None:
    inputs.write_report(tmp_path / "spool")
    before = inputs.dump(base, whole=True)
    assert take(base, tmp_path / "spool", dry_run=True).stored == {"report": 1}
    assert inputs.dump(base, whole=True) == before


def test_no_more_inputs_a_second_than_asked(base: Engine, tmp_path: Path) -> None:
    for number in range(12):
        inputs.write_report(tmp_path / "spool", number)
    took = take(base, tmp_path / "spool", rate=8.0).seconds
    assert took > 0.4  # a burst of one second's worth, then one by one


@pytest.mark.parametrize("kind", [OverflowError, StatementError, TypeError])
def test_what_the_tables_cannot_hold_is_refused_alone(
    base: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    class Picky(Writer):
        def store(self, records: Iterable[Record]) -> None:
            found = list(records)
            super().store(found)
            if any(getattr(record, "name", "").startswith("2.") for record in found):
                raise kind("too large", "", (), ValueError()) if kind is StatementError else kind()

    monkeypatch.setattr(_book, "Writer", Picky)
    for number in range(4):
        inputs.write_report(tmp_path / "spool", number)
    tally = take(base, tmp_path / "spool")
    assert tally.stored == {"report": 3}
    ((name, reason),) = tally.reasons
    assert name.endswith("/2.report.json")
    assert reason.startswith(f"the tables cannot hold it: {kind.__name__}")
    assert take(base, tmp_path / "spool").unchanged == 4


def test_stopping_keeps_what_was_read(base: Engine, tmp_path: Path) -> None:
    for number in range(6):
        inputs.write_report(tmp_path / "spool", number)
    asked = iter([False] * 3)
    options = IngestOptions((tmp_path / "spool",), jobs=1, settle_seconds=0.0)
    tally = ingest(base, options, stop=lambda: next(asked, True))
    assert tally.stopped
    assert sum(tally.stored.values()) < 6
    take(base, tmp_path / "spool")
    clean = create_engine(str(tmp_path / "clean.sqlite"))
    initialise(clean)
    take(clean, tmp_path / "spool")
    assert inputs.dump(base) == inputs.dump(clean)


def test_tables_of_a_newer_version_are_left_alone(base: Engine, tmp_path: Path) -> None:
    with base.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    inputs.write_report(tmp_path / "spool")
    with pytest.raises(StorageError, match="made by a newer Stripewise"):
        take(base, tmp_path / "spool")


def test_a_database_without_tables_is_told_how_to_get_them(tmp_path: Path) -> None:
    inputs.write_report(tmp_path / "spool")
    with pytest.raises(StorageError, match="run `stripewise centre init --db"):
        take(create_engine(str(tmp_path / "new.sqlite")), tmp_path / "spool")


def test_a_server_that_ends_a_connection_loses_nothing(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine.dialect.name != "postgresql":
        pytest.skip("there is no server")
    left = iter([False, True])

    class Ended(Writer):
        def finish(self) -> None:
            if next(left, False):
                self.connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
            super().finish()

    monkeypatch.setattr(_book, "Writer", Ended)
    monkeypatch.setattr(module, "_BATCH", 2)
    for number in range(8):
        inputs.write_report(tmp_path / "spool", number)
    with pytest.raises(StorageError, match="check that PostgreSQL runs"):
        take(engine, tmp_path / "spool", jobs=1)
    stored = sum(take(engine, tmp_path / "spool").stored.values())
    assert 0 < stored < 8
    clean = create_engine(str(tmp_path / "clean.sqlite"))
    initialise(clean)
    take(clean, tmp_path / "spool")
    assert inputs.dump(engine) == inputs.dump(clean)


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    for number in range(8):
        inputs.write_report(tmp_path / "spool", number)
    clean = create_engine(str(tmp_path / "clean.sqlite"))
    initialise(clean)
    take(clean, tmp_path / "spool")
    with small_file_system(tmp_path / "disk", "2m") as disk:
        engine = create_engine(str(disk / "fleet.sqlite"))
        initialise(engine)
        filling = fill(disk)
        with pytest.raises(StorageError, match=r"(full|No space|disk I/O)"):
            take(engine, tmp_path / "spool")
        filling.unlink()
        assert take(engine, tmp_path / "spool").stored["report"] > 0
        with engine.connect() as connection:
            assert connection.scalar(text("PRAGMA integrity_check")) == "ok"
        assert inputs.dump(engine) == inputs.dump(clean)
        engine.dispose()
