# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The text of sacct, as Slurm 22.05 wrote it and with what other versions and sites write."""

from __future__ import annotations

import pwd
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database import Parsed
from stripewise.centre.database.ingest import parse_sacct
from stripewise.centre.database.ingest._sacct import FIELDS, recognises_sacct
from stripewise.centre.database.ingest._scheduler import recognises_rest
from stripewise.centre.database.tables import Job

REAL = (Path(__file__).parent / "data" / "sacct-22.05.txt").read_text(encoding="utf-8")
VALUES = {
    "jobid": "7", "jobidraw": "7", "cluster": "fugaku", "partition": "large", "qos": "normal",
    "account": "hp01", "group": "g", "gid": "100", "user": "alice", "uid": "1000",
    "submit": "2026-11-01T00:00:00", "eligible": "2026-11-01T00:00:10",
    "start": "2026-11-01T00:01:00", "end": "2026-11-02T01:01:05", "elapsed": "1-01:00:05",
    "exitcode": "0:0", "state": "COMPLETED", "nnodes": "2", "ncpus": "96", "reqcpus": "90",
    "reqmem": "4000M", "reqtres": "cpu=90", "alloctres": "cpu=96,node=2",
    "timelimit": "2-00:00:00", "nodelist": "n[1-2]", "jobname": "wave",
    "restarts": "3", "sluid": "s9KZ", "tresusageintot": "", "tresusageouttot": "",
}  # fmt: skip
SUBMIT = 1793491200


def line(names=FIELDS, **values: str) -> str:
    return "|".join({**VALUES, **values}[name] for name in names)


def one(**values: str):
    parsed = parse_sacct(line(**values))
    assert parsed.problems == ()
    (record,) = parsed.records
    return record


def names(text: str) -> list[str | None]:
    return [record.columns["name"] for record in parse_sacct(text).records]


# ---- a line ------------------------------------------------------------------------------


def test_a_line_becomes_a_record_in_base_units_and_utc() -> None:
    record = one()
    assert (record.cluster, record.raw_id, record.submit_at) == ("fugaku", 7, SUBMIT)
    assert (record.user, record.uid, record.account) == ("alice", 1000, "hp01")
    assert (record.start_at, record.end_at) == (SUBMIT + 60, SUBMIT + 90065)
    assert dict(record.columns) == {
        "name": "wave", "state": "COMPLETED", "exit_code": 0, "exit_signal": 0,
        "partition": "large", "qos": "normal", "unix_group": "g",
        "node_list": "n[1-2]", "node_count": 2,
        "cpu_count": 96, "time_limit_seconds": 172800, "eligible_at": SUBMIT + 10,
        "run_seconds": 90005.0, "array_job_id": None, "array_task_id": None, "het_job_id": None,
        "het_offset": None,
    }  # fmt: skip


def test_what_is_told_are_columns_of_the_table() -> None:
    header = (*FIELDS, "restarts", "sluid", "tresusageintot", "tresusageouttot")
    (record,) = parse_sacct(f"{'|'.join(header)}\n{line(header)}\n").records
    assert set(record.columns) <= set(Job.__table__.c.keys())
    assert record.columns["restart_count"] == 3
    assert record.sluid == "s9KZ"


@pytest.mark.parametrize(
    ("state", "expected"),
    [("CANCELLED by 1000", "CANCELLED"), ("OUT_OF_MEMORY", "OUT_OF_MEMORY"),
     ("NODE_FAIL", "NODE_FAIL"), ("REQUEUED", "REQUEUED"), ("CANCELLED", "CANCELLED")],
)  # fmt: skip
def test_a_state_is_without_who_caused_it(state: str, expected: str) -> None:
    assert one(state=state).columns["state"] == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("UNLIMITED", None), ("Partition_limit", None), ("", None), ("00:02:00", 120),
     ("1-00:00:00", 86400), ("02:30", 150), ("10-01:02:03", 867723)],
)  # fmt: skip
def test_time_limits(text: str, seconds: int | None) -> None:
    assert one(timelimit=text).columns["time_limit_seconds"] == seconds


@pytest.mark.parametrize(
    ("text", "code", "number"),
    [("3:0", 3, 0), ("0:9", 0, 9), ("", None, None), ("1", 1, 0)],
)
def test_exit_codes(text: str, code: int | None, number: int | None) -> None:
    told = one(exitcode=text).columns
    assert (told["exit_code"], told["exit_signal"]) == (code, number)


def test_a_job_that_waits_has_not_run() -> None:
    record = one(start="Unknown", end="Unknown", elapsed="00:00:00", nodelist="None assigned",
                 state="PENDING", ncpus="0")  # fmt: skip
    assert (record.start_at, record.end_at) == (None, None)
    for name in ("run_seconds", "node_list", "exit_code", "exit_signal"):
        assert record.columns[name] is None, name
    assert record.columns["cpu_count"] == 90  # as requested


@pytest.mark.parametrize("start", ["None", "2026-11-02T01:01:05"])
def test_a_job_cancelled_in_the_queue_has_not_run(start: str) -> None:
    record = one(start=start, elapsed="00:00:00", nodelist="None assigned",
                 state="CANCELLED by 0", alloctres="")  # fmt: skip
    assert (record.start_at, record.columns["run_seconds"]) == (None, None)
    assert record.end_at == SUBMIT + 90065


def test_a_job_that_runs_has_no_end_and_no_exit_code() -> None:
    record = one(end="Unknown", state="RUNNING", elapsed="00:00:09")
    assert (record.end_at, record.columns["exit_code"]) == (None, None)
    assert record.columns["run_seconds"] == 9.0


def test_a_task_and_a_component_keep_the_number_of_their_job() -> None:
    task = one(jobid="5_12", jobidraw="9")
    assert (task.raw_id, task.columns["array_job_id"], task.columns["array_task_id"]) == (9, 5, 12)
    part = one(jobid="5+1", jobidraw="6")
    assert (part.raw_id, part.columns["het_job_id"], part.columns["het_offset"]) == (6, 5, 1)


@pytest.mark.parametrize("rest", ["5_[1-9%2]", "5_[1,3,7,...]", "5_[1-3"])
def test_tasks_that_wait_are_left_out_with_the_reason(rest: str) -> None:
    parsed = parse_sacct(line(jobid=rest, state="PENDING"))
    assert parsed.records == ()
    assert parsed.problems == (
        f"left out {rest}: array tasks that never started have no record of their own",
    )


def test_the_user_may_be_missing_or_only_a_number() -> None:
    assert (one(user="").user, one(user="").uid) == ("", 1000)
    assert (one(user="1000", uid="").user, one(user="1000", uid="").uid) == ("", 1000)
    assert one(account="").account == ""


@pytest.mark.parametrize(
    ("user", "uid", "expected"),
    [
        ("alice(1001)", "", ("alice", 1001)),
        ("alice(1001)", "1001", ("alice", 1001)),
        ("1001(1001)", "", ("", 1001)),
        ("1001", "1001", ("", 1001)),
        ("1001", "70001", ("1001", 70001)),
        ("Alice", "", ("Alice", None)),
        ("alice()", "", ("alice()", None)),
    ],
)
def test_whose_a_job_is(user: str, uid: str, expected: tuple[str, int | None]) -> None:
    record = one(user=user, uid=uid)
    assert (record.user, record.uid) == expected


def test_a_name_that_looks_like_a_number_is_a_name_where_somebody_is_called_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pwd, "getpwnam", lambda name: name)
    record = one(user="4711", uid="")
    assert (record.user, record.uid) == ("4711", None)


def test_a_user_with_two_numbers_is_nobody() -> None:
    parsed = parse_sacct(line(user="alice(1001)", uid="1002"))
    assert parsed.records == ()
    assert "given as uid 1001 and as uid 1002" in parsed.problems[0]


def test_rounded_numbers_of_a_call_without_noconvert_are_read() -> None:
    assert one(nnodes="1K", ncpus="48K").columns["cpu_count"] == 48 * 1024


def test_times_with_a_zone_or_as_seconds() -> None:
    assert one(submit="2026-11-01T09:00:00+09:00").submit_at == SUBMIT
    assert one(submit=str(SUBMIT)).submit_at == SUBMIT


def test_long_names_fit_the_columns() -> None:
    record = one(jobname="x" * 999, partition=",".join("p" * 9 for _ in range(20)))
    assert len(record.columns["name"]) == 255
    assert len(record.columns["partition"]) == 64


# ---- a text ------------------------------------------------------------------------------


def test_a_requeued_job_is_several_runs() -> None:
    text = "\n".join([line(state="REQUEUED"), line(submit="2026-11-02T02:00:00")])
    assert [r.submit_at for r in parse_sacct(text).records] == [SUBMIT, SUBMIT + 93600]


def test_an_id_that_wraps_and_another_cluster_are_other_jobs() -> None:
    text = "\n".join([line(), line(submit="2027-11-01T00:00:00"), line(cluster="other")])
    assert len(parse_sacct(text).records) == 3


def test_a_job_listed_twice_counts_once_as_told_last() -> None:
    text = "\n".join([line(state="RUNNING", end="Unknown"), line(jobid="8", jobidraw="8"), line()])
    records = parse_sacct(text).records
    assert [(r.raw_id, r.columns["state"]) for r in records] == [
        (8, "COMPLETED"), (7, "COMPLETED"),
    ]  # fmt: skip


def test_the_header_says_where_columns_are() -> None:
    header = ("jobname", "end", "start", "state", "user", "submit", "jobidraw", "jobid")
    head = "|".join(header)
    parsed = parse_sacct(f"{head}\n{line(header, jobname='a|b')}", cluster="here")
    assert parsed.problems == ()
    assert parsed.records[0].cluster == "here"
    assert parsed.records[0].columns["name"] == "a|b"
    assert "partition" not in parsed.records[0].columns


def test_a_separator_of_its_own_keeps_names_from_passing_for_jobs() -> None:
    mark = "|4711|"
    text = "\n".join(["|".join(FIELDS), line(jobname="x"), line(jobid="8", jobidraw="8")])
    real = [mark.join(FIELDS), line(jobname="a").replace("|", mark)]
    parsed = parse_sacct("\n".join([*real, text, *real]))
    assert [(one.raw_id, one.columns["name"]) for one in parsed.records] == [(7, "a")]
    assert len(parsed.problems) == 3
    assert recognises_sacct(real[0].encode())
    assert parse_sacct("\n".join(one + mark for one in real)).problems == ()


def test_separators_at_the_end_of_lines_are_no_column_of_theirs() -> None:
    text = "\r\n".join(["|".join(FIELDS) + "|", line(jobname="a|b") + "|", ""])
    assert names(text) == ["a|b"]


def test_a_header_that_lacks_what_is_needed_says_so_once() -> None:
    parsed = parse_sacct("JobID|State\n7|COMPLETED\n8|FAILED\n")
    assert parsed.records == ()
    (problem,) = parsed.problems
    assert problem.startswith("line 1 is left out: the header lacks jobidraw, user, submit,")


def test_steps_give_what_the_job_read_and_wrote() -> None:
    header = (*FIELDS[:-1], "tresusageintot", "tresusageouttot", "jobname")

    def step(name: str, read: str, written: str) -> str:
        return line(header, jobid=f"7.{name}", jobidraw=f"7.{name}", user="",
                    tresusageintot=read, tresusageouttot=written)  # fmt: skip

    text = "\n".join([
        "|".join(header), line(header),
        step("batch", "cpu=00:00:01,fs/disk=100,mem=1", "energy=0"),
        step("extern", "energy=0", ""), step("0", "fs/disk=20", "energy=0,fs/disk=3"),
        line(header, jobid="8", jobidraw="8"),
    ])  # fmt: skip
    first, second = parse_sacct(text).records
    told = first.columns
    assert (told["slurm_read_bytes"], told["slurm_write_bytes"]) == (120, 3)
    assert second.columns["slurm_read_bytes"] is None  # not zero: no step tells


def test_a_step_without_its_job_is_named() -> None:
    parsed = parse_sacct("\n".join([line(), line(jobid="9.0", jobidraw="9.0")]))
    assert len(parsed.records) == 1
    assert parsed.problems == ("line 2 is left out: the step 9.0 does not follow its job",)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [({"submit": "Unknown"}, "it has no submit time"),
     ({"submit": "yesterday"}, "'yesterday' is not a time"),
     ({"state": "lost"}, "'lost' is not a job state"),
     ({"jobid": "seven"}, "'seven' is not a job id"),
     ({"jobidraw": "99999999999"}, "its job id 99999999999 is impossible"),
     ({"ncpus": "many"}, "'many' is not a number"),
     ({"jobname": "a\0b"}, "it contains a zero byte")],
)  # fmt: skip
def test_a_damaged_line_is_named_and_the_others_are_read(damage, reason: str) -> None:
    parsed = parse_sacct("\n".join([line(), line(**damage), line(jobid="8", jobidraw="8")]))
    assert [record.raw_id for record in parsed.records] == [7, 8]
    assert parsed.problems == (f"line 2 is left out: {reason}",)


def test_a_line_that_ends_early_is_named() -> None:
    parsed = parse_sacct(line()[:60] + "\n" + line())
    assert len(parsed.records) == 1
    assert parsed.problems[0].startswith("line 1 is left out: it has ")


def test_what_slurm_22_05_wrote() -> None:
    parsed = parse_sacct(REAL)
    assert parsed.problems == (
        "left out 7_[1-5%1]: array tasks that never started have no record of their own",
    )
    told = {(r.raw_id, r.columns["state"]): r for r in parsed.records}
    assert set(told) == {
        (1, "COMPLETED"), (3, "FAILED"), (4, "FAILED"), (5, "CANCELLED"), (6, "REQUEUED"),
        (6, "COMPLETED"), (9, "COMPLETED"), (11, "COMPLETED"), (17, "CANCELLED"),
    }  # fmt: skip
    first = told[1, "COMPLETED"].columns
    assert first["name"] == "no|r\tmäl,a"
    assert (first["slurm_read_bytes"], first["slurm_write_bytes"]) == (22530860, 20974365)
    assert told[3, "FAILED"].columns["exit_code"] == 3
    assert told[4, "FAILED"].columns["exit_signal"] == 9
    assert told[9, "COMPLETED"].columns["array_task_id"] == 2
    assert told[11, "COMPLETED"].columns["het_offset"] == 1
    assert told[17, "CANCELLED"].start_at is None


# ---- any text ----------------------------------------------------------------------------

NAMES = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\n\r\0"), min_size=1,
    max_size=255,
)  # fmt: skip


@given(NAMES)
def test_every_name_of_a_job_is_kept(name: str) -> None:
    header = ("jobname", *FIELDS[:-1])
    assert names(line(jobname=name)) == [name]
    assert names("|".join(header) + "\n" + line(header, jobname=name)) == [name]


@given(st.text())
def test_no_text_ends_the_reading(text: str) -> None:
    assert isinstance(parse_sacct(text), Parsed)
    recognises_sacct(text.encode("utf-8", "surrogatepass"))


@given(st.lists(st.sampled_from([*VALUES.values(), "", "Unknown", "-1", "9" * 5000, "5_[", "7.0",
                                 "9999-99-99T00:00:00", "٣", "1e400", "0001-01-01T00:00:00"]),
                min_size=len(FIELDS), max_size=len(FIELDS) + 2))  # fmt: skip
def test_no_line_ends_the_reading(values: list[str]) -> None:
    parsed = parse_sacct("|".join(values) + "\n" + line(jobid="8", jobidraw="8"))
    assert parsed.records[-1].raw_id == 8


def test_files_are_told_apart() -> None:
    assert recognises_sacct(REAL.encode()[:200])
    assert recognises_sacct(line().encode())
    assert recognises_sacct(b"JobID|JobIDRaw|State|\r\n")
    for other in (b"", b"jobid", b"a|b|c\n1|2|3\n", b"\x7fELF", b"# darshan log version: 3.41\n",
                  b'{"jobs": []}', b"|" * 40):  # fmt: skip
        assert not recognises_sacct(other), other
    assert not recognises_rest(REAL.encode())
