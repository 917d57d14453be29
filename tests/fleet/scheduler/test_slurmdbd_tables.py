# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of slurmdbd; with a real MariaDB in tests/slurm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import BigInteger, Column, Connection, MetaData, Table, Text, create_engine

from stripewise.errors import StorageError, UsageError
from stripewise.fleet.scheduler import Parsed, Window, read_slurmdbd
from stripewise.fleet.scheduler._slurmdbd import _OF_JOBS, _OF_STEPS, _Tables

NO_VAL = 2**32 - 2
SUBMIT = 1793491200
ALWAYS = Window(0, 2**40)
WORDS = {"account", "array_task_str", "job_name", "nodelist", "partition", "tres_alloc",
         "tres_req", "tres_usage_in_tot", "tres_usage_out_tot", "user", "name"}  # fmt: skip
JOB = {
    "job_db_inx": 1, "deleted": 0, "account": "hp01", "array_task_str": None, "cpus_req": 90,
    "exit_code": 0, "job_name": "wave", "id_assoc": 3, "id_array_job": 0,
    "id_array_task": NO_VAL, "id_job": 7, "id_group": 0, "id_qos": 1,
    "id_user": 1000, "het_job_id": 0,
    "het_job_offset": NO_VAL, "nodelist": "n[1-2]", "nodes_alloc": 2, "partition": "large",
    "state": 3, "timelimit": 1440, "time_submit": SUBMIT, "time_eligible": SUBMIT + 10,
    "time_start": SUBMIT + 60, "time_end": SUBMIT + 160, "time_suspended": 40,
    "tres_alloc": "1=96,3=18446744073709551614,4=2", "tres_req": "1=90,4=2",
}  # fmt: skip


class Tables:
    """Such tables, in a database of SQLite."""

    def __init__(self, connection: Connection, further: tuple[str, ...] = ()) -> None:
        self.connection = connection
        known = MetaData()
        columns = {"fugaku_job_table": (*_OF_JOBS, *further), "fugaku_step_table": _OF_STEPS,
                   "fugaku_assoc_table": ("id_assoc", "user"),
                   "qos_table": ("id", "name")}  # fmt: skip
        self.tables = {
            name: Table(
                name, known, *(Column(c, Text if c in WORDS else BigInteger) for c in names)
            )
            for name, names in columns.items()
        }
        known.create_all(connection)
        self.add("assoc_table", id_assoc=3, user="alice")
        connection.execute(self.tables["qos_table"].insert().values(id=1, name="normal"))

    def add(self, table: str, **values: Any) -> None:
        self.connection.execute(self.tables[f"fugaku_{table}"].insert().values(**values))

    def job(self, **changed: Any) -> None:
        self.add("job_table", **{**JOB, **changed})

    def read(self, window: Window = ALWAYS) -> Parsed:
        parts = list(_Tables(self.connection, "fugaku").read(window))
        return Parsed(tuple(r for p in parts for r in p.records),
                      tuple(s for p in parts for s in p.problems))  # fmt: skip


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def tables(connection: Connection) -> Tables:
    return Tables(connection)


def test_a_row_becomes_a_record(tables: Tables) -> None:
    tables.job()
    for read, written in (("1=0,6=100", "3=0"), ("3=0", ""), ("6=20", "6=3"),
                          ("6=18446744073709551614", "")):  # fmt: skip
        tables.add("step_table", job_db_inx=1, tres_usage_in_tot=read,
                   tres_usage_out_tot=written)  # fmt: skip
    (record,) = tables.read().records
    assert (record.cluster, record.raw_id, record.submit_at) == ("fugaku", 7, SUBMIT)
    assert (record.user, record.uid, record.account) == ("alice", 1000, "hp01")
    assert (record.start_at, record.end_at) == (SUBMIT + 60, SUBMIT + 160)
    assert dict(record.columns) == {
        "name": "wave", "state": "COMPLETED", "exit_code": 0, "exit_signal": 0,
        "partition": "large", "qos": "normal", "unix_group": "root",
        "node_list": "n[1-2]", "node_count": 2,
        "cpu_count": 96, "time_limit_seconds": 86400, "eligible_at": SUBMIT + 10,
        "run_seconds": 60.0, "array_job_id": None, "array_task_id": None, "het_job_id": None,
        "het_offset": None, "slurm_read_bytes": 120, "slurm_write_bytes": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "code", "number"), [(3 << 8, 3, 0), (9, 0, 9), (137 << 8, 137, 0)]
)
def test_exit_codes(tables: Tables, status: int, code: int, number: int) -> None:
    tables.job(exit_code=status)
    told = tables.read().records[0].columns
    assert (told["exit_code"], told["exit_signal"]) == (code, number)


def test_a_job_that_waits(tables: Tables) -> None:
    tables.job(state=0, time_start=0, time_end=0, nodelist="None assigned", nodes_alloc=0,
               tres_alloc="", timelimit=NO_VAL, id_assoc=99, account=None)  # fmt: skip
    (record,) = tables.read().records
    assert (record.user, record.uid, record.account, record.start_at) == ("", 1000, "", None)
    told = record.columns
    assert (told["state"], told["node_count"], told["cpu_count"]) == ("PENDING", 2, 90)
    assert told["time_limit_seconds"] is told["run_seconds"] is told["node_list"] is None


def test_states_with_flags_and_unknown_ones(tables: Tables) -> None:
    for number, state in enumerate((0x400, 0x2000 | 1, 11, 77), 1):
        tables.job(job_db_inx=number, id_job=number, state=state)
    parsed = tables.read()
    states = [record.columns["state"] for record in parsed.records]
    assert states == ["REQUEUED", "RESIZING", "OUT_OF_MEMORY"]
    assert parsed.problems == ("the job 4 of fugaku is left out: '' is no state of a job",)


def test_tasks_components_and_tasks_that_wait(tables: Tables) -> None:
    tables.job(id_array_job=5, id_array_task=2)
    tables.job(job_db_inx=2, id_job=8, het_job_id=7, het_job_offset=1)
    tables.job(job_db_inx=3, id_job=9, id_array_job=9, array_task_str="0x3E", state=0)
    parsed = tables.read()
    task, part = (record.columns for record in parsed.records)
    assert (task["array_job_id"], task["array_task_id"]) == (5, 2)
    assert (part["het_job_id"], part["het_offset"]) == (7, 1)
    assert parsed.problems[0].startswith("left out 9_[0x3E]")


def test_only_jobs_of_the_time_are_read(tables: Tables) -> None:
    tables.job(job_db_inx=1, id_job=1, time_end=SUBMIT + 99)
    tables.job(job_db_inx=2, id_job=2, time_eligible=SUBMIT + 200, time_end=SUBMIT + 300)
    tables.job(job_db_inx=3, id_job=3)
    tables.job(job_db_inx=4, id_job=4, time_end=0, time_start=0)
    tables.job(job_db_inx=5, id_job=5, deleted=1)
    found = tables.read(Window(SUBMIT + 100, SUBMIT + 200)).records
    assert [record.raw_id for record in found] == [3, 4]


def test_columns_of_newer_versions_are_told(connection: Connection) -> None:
    tables = Tables(connection, ("restart_cnt",))
    tables.job(restart_cnt=2)
    assert tables.read().records[0].columns["restart_count"] == 2


def test_tables_of_another_version_are_refused_in_one_line(connection: Connection) -> None:
    with pytest.raises(StorageError, match=r"fugaku_job_table is missing.*those of sacct"):
        _Tables(connection, "fugaku")
    known = MetaData()
    Table("fugaku_job_table", known, Column("id_job", BigInteger))
    known.create_all(connection)
    with pytest.raises(StorageError, match="fugaku_job_table lacks job_db_inx, deleted, "):
        _Tables(connection, "fugaku")


@pytest.mark.parametrize("url", ["sqlite:///x", "nothing", "postgresql://u:secret@h/d"])
def test_other_databases_are_refused_without_their_password(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        next(read_slurmdbd(url, ALWAYS))
    assert "mysql://" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_database_that_does_not_answer_is_said_without_its_password() -> None:
    with pytest.raises(StorageError) as caught:
        next(read_slurmdbd("mysql://slurm:secret@127.0.0.1:1/slurm_acct_db", ALWAYS))
    assert "slurmdbd's database mysql://slurm:***@127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_group_that_this_host_does_not_know_is_told_by_its_number(tables: Tables) -> None:
    tables.job(id_group=4_294_967_000)
    (record,) = tables.read().records
    assert record.columns["unix_group"] == "4294967000"
