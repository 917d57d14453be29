# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""JSON of `sacct --json` and of /slurmdb/VERSION/jobs, in the shape of each version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from stripewise.centre.database import Parsed
from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._records import JobRecord
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.ingest import parse_sacct
from stripewise.centre.database.ingest._sacct import recognises_sacct
from stripewise.centre.database.ingest._scheduler import parse_rest, recognises_rest
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Job

DATA = Path(__file__).parent / "data"
REAL = (DATA / "sacct-22.05.json").read_text(encoding="utf-8")
VERSIONS = [f"v0.0.{number}" for number in range(38, 47)]
SUBMIT = 1793491200


class Shape:
    """How a version writes things.

    Source: data_parser/VERSION/parsers.c of Slurm; v0.0.38 as its 22.05 wrote.
    """

    def __init__(self, version: str) -> None:
        self.number = int(version.rpartition(".")[2])

    def value(self, number: int | None) -> Any:
        """A number that may be missing."""
        if self.number == 38:
            return number
        return {"set": number is not None, "infinite": False, "number": number or 0}

    def state(self, state: str, *flags: str) -> Any:
        return [state, *flags] if self.number >= 40 else state

    def exit(self, code: int | None, number: int | None) -> dict[str, Any]:
        status = "SIGNALED" if number else "ERROR" if code else "SUCCESS"
        if self.number == 38:
            signal = {"signal": {"signal_id": number, "name": "Killed"}} if number else {}
            return {"status": status, "return_code": code, **signal}
        name = "id" if self.number >= 40 else "signal_id"
        return {
            "status": self.state(status),
            "return_code": self.value(code),
            "signal": {name: self.value(number), "name": "KILL" if number else ""},
        }

    def resource(self, kind: str, count: int, name: str = "") -> dict[str, Any]:
        return {"type": kind, "name": name or (None if self.number == 38 else ""), "count": count,
                "id": 0}  # fmt: skip

    def step(self, read: int | None, written: int | None) -> dict[str, Any]:
        def total(amount: int | None) -> dict[str, Any]:
            told = [self.resource("energy", 0)]
            told += [] if amount is None else [self.resource("fs", amount, "disk")]
            return {"total": told, "max": [], "min": [], "average": []}

        return {
            "step": {"id": "7.batch", "name": "batch"},
            "state": self.state("COMPLETED"),
            "tres": {"requested": total(read), "consumed": total(written), "allocated": []},
        }

    def job(self, **changed: Any) -> dict[str, Any]:
        told: dict[str, Any] = {
            "account": "hp01",
            "allocation_nodes": 2,
            "array": {"job_id": 5, "task": "" if self.number > 38 else None,
                      "task_id": self.value(12)},
            "association": {"account": "hp01", "cluster": "fugaku", "user": "alice", "id": 3},
            "cluster": "fugaku",
            "exit_code": self.exit(1, None),
            "group": "g",
            "het": {"job_id": 0, "job_offset": self.value(None)},
            "job_id": 7,
            "name": "wave|x",
            "nodes": "n[1-2]",
            "partition": "large",
            "qos": "normal",
            "state": {"current": self.state("TIMEOUT"), "reason": "None"},
            "steps": [self.step(100, 7), self.step(None, None), self.step(65535, 2**33)],
            "time": {"submission": SUBMIT, "eligible": SUBMIT + 10, "start": SUBMIT + 60,
                     "end": SUBMIT + 90065, "elapsed": 90005, "limit": self.value(1440)},
            "tres": {"allocated": [self.resource("cpu", 96), self.resource("node", 2)],
                     "requested": [self.resource("cpu", 90), self.resource("node", 2)]},
            "user": "alice",
        }  # fmt: skip
        if self.number >= 42:
            told["restart_cnt"] = 3
        if self.number >= 43:
            told["sluid"] = "s9KZ"
        return {**told, **changed}

    def document(self, *jobs: Any, errors: Any = ()) -> str:
        meta: dict[str, Any] = {"Slurm": {"release": "22.05.8"}}
        meta["plugin"] = {"type": "openapi/dbv0.0.38"}
        if self.number > 38:
            meta = {"plugin": {"type": "openapi/slurmdbd", "data_parser": f"v0.0.{self.number}"}}
        parts = {"jobs": list(jobs), "meta": meta, "errors": list(errors)}
        order = ("meta", "errors", "jobs") if self.number < 40 else ("jobs", "meta", "errors")
        return json.dumps({name: parts[name] for name in order}, indent=1)


@pytest.fixture(params=VERSIONS)
def shape(request: pytest.FixtureRequest) -> Shape:
    return Shape(request.param)


def one(shape: Shape, **changed: Any):
    parsed = parse_rest(shape.document(shape.job(**changed)))
    assert parsed.problems == ()
    (record,) = parsed.records
    return record


def test_every_version_tells_the_same(shape: Shape) -> None:
    record = one(shape)
    assert (record.cluster, record.raw_id, record.submit_at) == ("fugaku", 7, SUBMIT)
    assert (record.user, record.uid, record.account) == ("alice", None, "hp01")
    assert (record.start_at, record.end_at) == (SUBMIT + 60, SUBMIT + 90065)
    assert record.sluid == ("s9KZ" if shape.number >= 43 else "")
    told = dict(record.columns)
    assert told.pop("restart_count", None) == (3 if shape.number >= 42 else None)
    assert told == {
        "name": "wave|x", "state": "TIMEOUT", "exit_code": 1, "exit_signal": 0,
        "partition": "large", "qos": "normal", "unix_group": "g",
        "node_list": "n[1-2]", "node_count": 2,
        "cpu_count": 96, "time_limit_seconds": 86400, "eligible_at": SUBMIT + 10,
        "run_seconds": 90005.0, "array_job_id": 5, "array_task_id": 12, "het_job_id": None,
        "het_offset": None, "slurm_read_bytes": 65635, "slurm_write_bytes": 2**33 + 7,
    }  # fmt: skip
    assert set(record.columns) <= set(Job.__table__.c.keys())


def test_a_job_that_waits(shape: Shape) -> None:
    time = {"submission": SUBMIT, "eligible": 0, "start": 0, "end": 0, "elapsed": 0,
            "limit": shape.value(None)}  # fmt: skip
    record = one(shape, time=time, nodes="None assigned", allocation_nodes=0, steps=[],
                 state={"current": shape.state("PENDING")},
                 tres={"allocated": [], "requested": [shape.resource("cpu", 90)]})  # fmt: skip
    assert (record.start_at, record.end_at) == (None, None)
    for name in ("run_seconds", "node_list", "exit_code", "exit_signal", "eligible_at",
                 "time_limit_seconds", "slurm_read_bytes", "node_count"):  # fmt: skip
        assert record.columns[name] is None, name
    assert record.columns["cpu_count"] == 90


def test_an_unlimited_job(shape: Shape) -> None:
    endless = 2**32 - 1 if shape.number == 38 else {"set": True, "infinite": True, "number": 0}
    time = {**shape.job()["time"], "limit": endless}
    assert one(shape, time=time).columns["time_limit_seconds"] is None


def test_a_killed_job_has_its_signal(shape: Shape) -> None:
    told = one(shape, exit_code=shape.exit(None, 9)).columns
    assert (told["exit_code"], told["exit_signal"]) == (0, 9)


def test_a_component_of_a_heterogeneous_job(shape: Shape) -> None:
    record = one(shape, het={"job_id": 6, "job_offset": shape.value(1)},
                 array={"job_id": 0, "task_id": shape.value(None), "task": ""})  # fmt: skip
    told = record.columns
    assert (told["het_job_id"], told["het_offset"], told["array_job_id"]) == (6, 1, None)


def test_a_requeued_run(shape: Shape) -> None:
    state = shape.state("PENDING", "REQUEUED") if shape.number >= 40 else "REQUEUED"
    assert one(shape, state={"current": state}).columns["state"] == "REQUEUED"


def test_tasks_that_wait_are_left_out_with_the_reason(shape: Shape) -> None:
    array = {"job_id": 5, "task_id": shape.value(None), "task": "1-9%2"}
    parsed = parse_rest(shape.document(shape.job(array=array), shape.job()))
    assert len(parsed.records) == 1
    assert parsed.problems[0].startswith("left out 5_[1-9%2]: array tasks that never started")


def test_a_user_that_slurm_knows_by_number_only(shape: Shape) -> None:
    assert one(shape, user="1000").uid == 1000
    record = one(shape, user=None, association={})
    assert (record.user, record.uid) == ("", None)


def test_a_number_that_a_site_adds_is_read(shape: Shape) -> None:
    assert one(shape, uid=1001).uid == 1001
    assert one(shape, user_id=shape.value(1001)).uid == 1001
    record = one(shape, user="alice(1001)")
    assert (record.user, record.uid) == ("alice", 1001)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [({"job_id": None}, "it has no job id"),
     ({"time": {}}, "it has no submit time"),
     ({"time": None}, "it has no submit time"),
     ({"state": {}}, "'' is not a job state"),
     ({"allocation_nodes": "two"}, "'two' is not a whole number"),
     ({"allocation_nodes": -7}, "its node count -7 is impossible"),
     ({"job_state": ["RUNNING"]}, "it is of the controller, which forgets jobs: ask "
      "/slurmdb/VERSION/jobs instead")],
)  # fmt: skip
def test_a_damaged_job_is_named_and_the_others_are_read(damage, reason: str) -> None:
    shape = Shape("v0.0.43")
    document = shape.document(shape.job(), {**shape.job(job_id=8), **damage}, 7)
    parsed = parse_rest(document)
    assert [record.raw_id for record in parsed.records] == [7]
    assert parsed.problems[0] == f"job 2 of the list is left out: {reason}"
    assert parsed.problems[1].startswith("job 3 of the list is left out: ")


def test_names_that_a_database_refuses_are_mended() -> None:
    shape = Shape("v0.0.43")
    assert one(shape, name="a\0b\ud800").columns["name"] == "a\ufffdb?"


def test_what_slurm_reports_is_passed_on() -> None:
    document = Shape("v0.0.43").document(errors=[{"description": "no rights"}, {"error": "x"}])
    assert parse_rest(document).problems == ("Slurm reports: no rights", "Slurm reports: x")


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"jobs": 3}', REAL[:-5], "[" * 100000])
def test_a_text_that_is_no_such_document(text: str) -> None:
    parsed = parse_rest(text)
    assert parsed.records == ()
    assert len(parsed.problems) == 1


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(Shape("v0.0.46").job())), ANY, max_size=4))
def test_no_document_ends_the_reading(damage: dict[str, Any]) -> None:
    shape = Shape("v0.0.46")
    parsed = parse_rest(shape.document(shape.job(**damage), shape.job(job_id=99)))
    assert isinstance(parsed, Parsed)
    assert parsed.records[-1].raw_id == 99


def test_slurm_22_05_tells_the_same_as_json_and_as_text() -> None:
    text = parse_sacct((DATA / "sacct-22.05.txt").read_text(encoding="utf-8"))
    parsed = parse_rest(REAL)
    assert parsed.problems == (
        "left out 7_[0x3E]: array tasks that never started have no record of their own",
    )
    ours = {(r.raw_id, r.submit_at): r for r in parsed.records}
    assert len(ours) == len(text.records) == 9
    for other in text.records:
        record = ours[other.raw_id, other.submit_at]
        expected = dict(other.columns)
        if other.raw_id == 3:  # 22.05 says SUCCESS of a job that failed with 3
            expected = {name: told for name, told in expected.items() if "exit" not in name}
        assert dict(record.columns) == expected, other.raw_id
        for name in ("cluster", "user", "account", "start_at", "end_at"):
            assert getattr(record, name) == getattr(other, name), (other.raw_id, name)


def test_records_are_stored_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    """What JSON does not tell, as the exit code of job 3, stays as the text told it."""
    engine = create_engine(str(tmp_path / "db.sqlite"))
    initialise(engine)
    text = parse_sacct((DATA / "sacct-22.05.txt").read_text(encoding="utf-8"))

    def store(records: tuple[JobRecord, ...]) -> list[Any]:
        with engine.execution_options(writing=True).begin() as connection:
            Writer(connection).store(records)
            return list(connection.execute(select(Job).order_by(Job.id)).mappings())

    once = store(text.records)
    assert len(once) == 9
    assert store(text.records) == once
    again = store(parse_rest(REAL).records)
    assert [row["exit_code"] for row in again] == [row["exit_code"] for row in once]
    engine.dispose()


def test_files_are_told_apart(shape: Shape) -> None:
    document = shape.document(shape.job()).encode()
    assert recognises_rest(document[:4096])
    assert recognises_rest(shape.document().encode())
    assert not recognises_sacct(document)
    assert recognises_rest(REAL.encode()[:4096])
    for other in (b"", b"{}", b'{"jobs": [{"name": "x"}]}', b'{"traceEvents": []}', b"\x7fELF"):
        assert not recognises_rest(other), other
