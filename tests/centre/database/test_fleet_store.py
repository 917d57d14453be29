# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, select

from stripewise.centre.database._records import CampaignRecord, PairRecord, Record
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import (
    CampaignFigure,
    CampaignRow,
    Job,
    JobSource,
    PairedRun,
)
from stripewise.core.errors import UsageError
from support.fleet_records import DAY, contents, figures, job, jobs_of, source


def store(connection: Connection, *records: Record) -> list[dict[str, Any]]:
    """Store each record in a transaction of its own, as far as the writer can tell."""
    for record in records:
        Writer(connection).store([record])
    return jobs_of(connection)


def rules(jobs: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (row["cluster"], row["raw_id"], row["submit_at"],
         [(one["digest"], one["match_rule"], one["confidence"]) for one in row["sources"]])
        for row in jobs
    ]  # fmt: skip


def test_a_job_has_the_figures_of_its_profile(connection: Connection) -> None:
    (row,) = store(connection, job(), source())
    assert row["source_count"] == 1
    assert row["no_data_reason"] is None
    told = figures()
    for column, name in (
        ("io_seconds", "io_seconds"), ("read_bytes", "read_bytes"), ("file_count", "n_files"),
        ("write_seconds", "elapsed_write_seconds"), ("io_share", "io_share"),
        ("bytes_per_second", "rate_bytes_per_second"), ("rank_count", "n_ranks"),
    ):  # fmt: skip
        assert row[column] == told[name]
    assert (row["person"], row["project"], row["program"]) == ("x", "p", "solver")
    assert rules([row]) == [("a", 7, 1000, [("d", "job id and time", 1.0)])]


def test_why_there_are_no_figures_is_told(connection: Connection) -> None:
    cancelled = job(8, start_at=None, columns={"state": "CANCELLED"})
    ran, did_not = store(connection, job(7), cancelled)
    assert (ran["no_data_reason"], ran["io_seconds"]) == ("no profile", None)
    assert (did_not["no_data_reason"], did_not["io_seconds"]) == ("did not run", None)


def test_a_job_that_waits_or_has_just_begun_is_not_said_not_to_have_run(
    connection: Connection,
) -> None:
    waits = job(7, start_at=None, end_at=None, columns={"state": "PENDING"})
    begun = job(8, end_at=None, columns={"state": "RUNNING", "run_seconds": 0.0})
    rows = store(connection, waits, begun)
    assert [row["no_data_reason"] for row in rows] == ["waits in the queue", "no profile"]
    over = job(7, start_at=None, columns={"state": "CANCELLED"})
    assert [row["no_data_reason"] for row in store(connection, over)] == [
        "did not run", "no profile",
    ]  # fmt: skip


def test_a_job_stays_where_it_is_when_its_record_comes(connection: Connection) -> None:
    (alone,) = store(connection, source())
    key = connection.scalar(select(Job.id))
    assert (alone["is_recorded"], alone["person"], alone["run_seconds"]) == (False, "x", 100.0)
    assert (alone["start_at"], alone["end_at"], alone["node_count"]) == (1020, 1100, 2)
    (row,) = store(connection, job())
    assert connection.scalar(select(Job.id)) == key
    assert (row["is_recorded"], row["state"], row["start_at"]) == (True, "COMPLETED", 1010)
    assert row["io_seconds"] == 3.5


def test_profiles_of_two_runs_of_a_requeued_job_part_when_their_records_come(
    connection: Connection,
) -> None:
    first, second = source("d1"), source("d2", start_at=5020.0, end_at=5090.0)
    assert rules(store(connection, first, second)) == [
        ("", 7, None, [("d1", "job id, no record", 0.7), ("d2", "job id, no record", 0.7)])
    ]
    assert rules(store(connection, job(submit_at=5000), job())) == [
        ("a", 7, 1000, [("d1", "job id and time", 1.0)]),
        ("a", 7, 5000, [("d2", "job id and time", 1.0)]),
    ]


def test_a_record_of_another_cluster_makes_a_profile_ambiguous(connection: Connection) -> None:
    assert rules(store(connection, job(), source(user="")))[0][0] == "a"
    found = rules(store(connection, job(cluster="b")))
    assert found == [
        ("", 7, None, [("d", "job id on several clusters", 0.0)]),
        ("a", 7, 1000, []),
        ("b", 7, 1000, []),
    ]


def test_a_profile_that_tells_its_cluster_goes_there(connection: Connection) -> None:
    found = rules(store(connection, source(cluster="b"), job(), job(cluster="b")))
    assert found == [("a", 7, 1000, []), ("b", 7, 1000, [("d", "job id and time", 1.0)])]


def test_the_user_tells_which_cluster_it_was(connection: Connection) -> None:
    found = rules(store(connection, job(), job(cluster="b", user="y", uid=2), source()))
    assert found == [("a", 7, 1000, [("d", "job id and time", 1.0)]), ("b", 7, 1000, [])]


def test_nobody_gets_a_profile_of_another_user(connection: Connection) -> None:
    jobs = store(connection, job(), source(user="", uid=99))
    assert rules(jobs) == [
        ("", 7, None, [("d", "job id of another user", 0.0)]), ("a", 7, 1000, []),
    ]  # fmt: skip
    assert [row["person"] for row in jobs] == [None, "x"]


def test_a_job_without_a_user_takes_its_profiles(connection: Connection) -> None:
    (row,) = store(connection, job(user="", uid=None, account=""), source())
    assert (row["person"], row["source_count"]) == (None, 1)


def test_a_number_tells_the_owner_of_a_profile_without_record(connection: Connection) -> None:
    lone = source("d", 99, user="", uid=1, cluster="a")
    (row,) = store(connection, lone)
    assert (row["person"], row["uid"]) == (None, 1)
    found = store(connection, job())
    assert {row["raw_id"]: row["person"] for row in found} == {7: "x", 99: "x"}


def test_a_number_that_was_of_two_users_tells_nothing(connection: Connection) -> None:
    lone = source("d", 99, user="", uid=1, cluster="a")
    found = store(connection, job(), lone, job(8, user="y", uid=1))
    assert {row["raw_id"]: row["person"] for row in found} == {7: "x", 8: "y", 99: None}
    assert contents(connection)["uids"] == [("a", 1, None)]


def test_a_number_tells_nothing_about_a_job_whose_record_has_no_user(
    connection: Connection,
) -> None:
    found = store(connection, job(), job(8, user="", uid=1))
    assert [row["person"] for row in found] == ["x", None]


def test_a_running_job_is_completed_and_not_undone(connection: Connection) -> None:
    running = job(end_at=None, columns={"state": "RUNNING", "node_count": 2, "qos": "normal"})
    (row,) = store(connection, running)
    assert (row["state"], row["end_at"]) == ("RUNNING", None)
    (row,) = store(connection, job(), running)
    assert (row["state"], row["end_at"], row["run_seconds"]) == ("COMPLETED", 1110, 100.0)
    assert row["qos"] == "normal"


def test_what_a_record_does_not_tell_stays(connection: Connection) -> None:
    (row,) = store(connection, job(), job(user="", uid=None, account="", columns={}))
    assert (row["person"], row["uid"], row["project"], row["state"]) == ("x", 1, "p", "COMPLETED")


def test_tasks_of_an_array_are_jobs_of_their_own(connection: Connection) -> None:
    tasks = [
        job(100 + task, columns={"array_job_id": 100, "array_task_id": task}) for task in range(3)
    ]
    found = rules(store(connection, *tasks, source("d", 101)))
    assert [(row[1], len(row[3])) for row in found] == [(100, 0), (101, 1), (102, 0)]


def test_programs_of_a_job_that_follow_each_other_add_up(connection: Connection) -> None:
    second = source("d2", start_at=1050.0, end_at=1090.0)
    (row,) = store(connection, job(), source("d1", end_at=1050.4), second)
    assert (row["io_seconds"], row["read_bytes"], row["source_count"]) == (7.0, 2000, 2)
    assert row["avoidable_node_seconds"] == 0.0


def test_clocks_that_are_apart_lower_the_confidence(connection: Connection) -> None:
    hour = source(start_at=1020.0 + 9 * 3600, end_at=1100.0 + 9 * 3600)
    assert rules(store(connection, job(), hour))[0][3] == [("d", "job id, clocks apart", 0.5)]


def test_an_id_that_was_used_again_years_later_is_another_job(connection: Connection) -> None:
    old = source(start_at=1020.0 + 900 * DAY, end_at=1100.0 + 900 * DAY)
    found = rules(store(connection, job(), old))
    assert found[0] == ("", 7, None, [("d", "job id of another time", 0.0)])


def test_profiles_without_job_id_are_jobs_of_their_own(connection: Connection) -> None:
    found = store(connection, source("d1", None), source("d2", None))
    assert [(row["raw_id"], row["source_count"]) for row in found] == [(None, 1), (None, 1)]
    assert found[0]["sources"][0]["match_rule"] == "no job id"


def test_storing_again_writes_nothing(engine: Engine) -> None:
    records = [job(), source(), job(8), source("d8", 8), source("lone", 9)]
    with engine.execution_options(writing=True).begin() as connection:
        Writer(connection).store(records)
    written: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: written.append(args[2]))
    with engine.execution_options(writing=True).begin() as connection:
        Writer(connection).store(records)
    changes = [line for line in written if line.startswith(("UPDATE", "DELETE"))]
    inserts = [line for line in written if line.startswith("INSERT") and "CONFLICT" not in line]
    assert (changes, inserts) == ([], [])


def test_an_impossible_job_is_refused(connection: Connection) -> None:
    for record in (job(-1), job(1 << 63), job(submit_at=1 << 64)):
        with pytest.raises(UsageError, match="correct the record, or leave it out"):
            Writer(connection).store([record])


WILD: dict[str, Any] = {
    "name": "a|b\x00\ud800\udcff\N{RIGHT-TO-LEFT OVERRIDE}" + "x" * 1000,
    "state": "s" * 100,
    "node_count": 1 << 40,
    "cpu_count": -(1 << 70),
    "exit_code": 3.0,
    "time_limit_seconds": 1 << 100,
    "run_seconds": float("nan"),
    "slurm_read_bytes": float("inf"),
    "node_list": "n\x00[1-3]",
}


def test_values_that_no_database_takes_are_cleaned(connection: Connection) -> None:
    wild = job(user="u\x00" + "z" * 400, account="\ud800", cluster="c" * 100, columns=WILD,
               uid=1 << 80)  # fmt: skip
    told = figures(meta_operations=1 << 70, n_files=1 << 40, io_seconds=float("inf"))
    tables = {
        "files": ({
            "path": "/s/\x00" + "p" * 5000, "file_class": "\udc80", "interface": "i" * 99,
            "read_bytes": 1 << 64, "write_bytes": -5, "read_calls": 0, "write_calls": 0,
            "meta_operations": 0, "elapsed_seconds": float("nan"), "rank_count": 1 << 33,
            "stripe_count": 1 << 33, "stripe_bytes": None,
        },),
        "io": ({"file_system": "/s\x00", "read_bytes": 1 << 90, "write_bytes": 0,
                "cumulated_seconds": float("nan"), "meta_operations": 0, "file_count": 1},),
    }  # fmt: skip
    odd = source(user="u\x00" + "z" * 400, told=told, name="\x00", program="\ud800", **tables)
    (row,) = store(connection, wild, odd)
    assert row["name"].startswith("a|b\\x00\\ud800\\xff\N{RIGHT-TO-LEFT OVERRIDE}xxx")
    assert len(row["name"]) == 255
    assert (row["node_count"], row["cpu_count"], row["exit_code"]) == (None, None, 3)
    assert (row["run_seconds"], row["time_limit_seconds"], row["uid"]) == (None, None, None)
    assert (row["meta_operations"], row["file_count"], row["io_seconds"]) == (None, None, None)
    assert row["node_list"] == "n\\x00[1-3]"
    (file,) = row["sources"][0]["parts"]["job_file"]
    assert (file["read_bytes"], file["stripe_count"]) == (None, None)
    assert file["path"] == "/s/\\x00" + "p" * 5000
    assert row["sources"][0]["parts"]["job_io"][0]["file_system"] == "/s\\x00"


def test_users_whose_names_are_too_long_stay_two(connection: Connection) -> None:
    found = store(connection, job(7, user="z" * 300 + "1"), job(8, user="z" * 300 + "2"))
    assert len({row["person"] for row in found}) == 2


def test_a_pair_and_a_campaign_are_stored_once(connection: Connection) -> None:
    columns: dict[str, Any] = {
        "made_at": 1, "speedup": 2.5, "low": 2.0, "high": 3.0, "pair_count": 5,
        "elapsed_speedup": None, "saved_seconds": 9.5, "node_count": 1, "rank_count": 4,
        "pattern": None, "verification": "same", "configuration": "[mpiio]\ncb_nodes = 4\n",
        "hints": "cb_nodes 4\n",
    }  # fmt: skip
    pair = PairRecord("p", "solver", "x", columns)
    figure = {"case": "c", "operation": "write", "nodes": 1, "ranks": 4, "run_count": 5,
              "median": 1.5, "low": 1.0, "high": 2.0, "unit": "MiB/s"}  # fmt: skip
    campaign = CampaignRecord(
        "c",
        {"name": "n", "suite": "s", "storage": "st", "made_at": 3, "is_emulated": True,
         "document": b"z"},
        (figure, figure),
    )  # fmt: skip
    store(connection, pair, campaign, pair, campaign)
    (row,) = connection.execute(select(PairedRun.__table__)).mappings()
    assert row["configuration"] == columns["configuration"]
    assert len(connection.execute(select(CampaignRow.id)).all()) == 1
    assert len(connection.execute(select(CampaignFigure.number)).all()) == 2


@pytest.mark.extended(keep=1)
def test_many_records_are_stored_in_one_go(connection: Connection) -> None:
    Writer(connection).store(job(number, columns={"node_count": 1}) for number in range(1, 1201))
    assert len(connection.execute(select(Job.id)).all()) == 1200
    Writer(connection).store(source(f"d{number}", number) for number in range(1, 4))
    counted = connection.scalars(select(Job.source_count).where(Job.raw_id < 5)).all()
    assert sorted(counted) == [0, 1, 1, 1]
    assert set(connection.scalars(select(JobSource.match_rule))) == {"job id and time"}
