# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whose inputs are believed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database.tables import Job, JobSource
from support import fleet_inputs as inputs
from support.fleet_inputs import take


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_nobody_plants_a_run_of_somebody_else(base: Engine, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    planted = inputs.write_report(spool, uid=0, user="root")
    os.chown(planted, 12345, 12345)
    ((_, reason),) = take(base, spool).reasons
    assert "it describes a run of uid 0" in reason
    assert "uid 12345" in reason
    own = inputs.write_report(spool, 1, uid=12345, user="root")
    os.chown(own, 12345, 12345)
    assert take(base, spool).stored == {"report": 1}
    with base.connect() as connection:
        row = connection.execute(select(JobSource)).one()
    assert (row.uid, row.user) == (12345, None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_planted_copy_does_not_keep_the_log_itself_out(base: Engine, tmp_path: Path) -> None:
    planted = inputs.write_report(tmp_path / "bad", uid=4321)
    os.chown(planted, 12345, 12345)
    assert take(base, tmp_path / "bad").refused == 1
    true = inputs.copied(planted, tmp_path / "good" / "it.report.json")
    os.chown(true, 4321, 4321)
    assert take(base, tmp_path / "good").stored == {"report": 1}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_containers_of_several_users_are_not_of_one_run(base: Engine, tmp_path: Path) -> None:
    path = inputs.write_trace(tmp_path, 1)
    (path / "node2.sw").write_bytes((path / "node1.sw").read_bytes())
    os.chown(path / "node2.sw", 12345, 12345)
    inputs.old(path)
    ((_, reason),) = take(base, tmp_path).reasons
    assert "different users" in reason


HEADER = "JobID|JobIDRaw|User{}|Submit|Start|End|State"
LINE = "142|142|{}|2023-11-19T00:00:00|2023-11-19T00:00:00|2023-11-20T00:00:00|COMPLETED"
JSON = {
    "jobs": [
        {"job_id": 142, "user": "alice", "state": {"current": ["COMPLETED"]}, "cluster": "alpha",
         "time": {"submission": 1700352000, "start": 1700352000, "end": 1700438400}},
    ],
    "meta": {"slurm": {"cluster": "alpha"}, "plugin": {"data_parser": "data_parser/v0.0.41"}},
}  # fmt: skip
"""Job 142 of alice, in which the report number 42 falls."""


def records(path: Path, *columns: str, user: str = "alice") -> Path:
    """Write the record of job 142 as sacct does, with or without the uid."""
    lines = [HEADER.format("|UID" if columns else ""), LINE.format("|".join((user, *columns)))]
    path.write_text("\n".join(lines) + "\n")
    return inputs.old(path)


def rules(base: Engine) -> list[tuple[str, float, bool]]:
    """Return by which rules profiles were matched, how surely, and whether with a record."""
    query = select(JobSource.match_rule, JobSource.confidence, Job.is_recorded)
    with base.connect() as connection:
        return [tuple(row) for row in connection.execute(query.join(Job))]


def given_by(directory: Path, owner: int) -> Path:
    """Write the report of a run within job 142 by somebody whom this host does not know."""
    path = inputs.write_report(directory, 42, uid=owner)
    os.chown(path, owner, owner)
    return path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_record_without_a_uid_does_not_give_a_job_to_a_stranger(
    base: Engine, tmp_path: Path, form: str
) -> None:
    path = records(tmp_path / "jobs.txt")
    if form == "json":
        path.write_text(json.dumps(JSON))
        inputs.old(path)
    given_by(tmp_path / "spool", 12345)
    told = take(base, path, tmp_path / "spool", cluster="alpha")
    assert told.stored == {"report": 1, "scheduler": 1}
    assert any("does not contain user ids" in text for _, text in told.problems)
    assert rules(base) == [("job id, not shown to be of this user", 0.0, False)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_number_of_a_user_shows_whose_a_run_is_whatever_comes_first(
    base: Engine, tmp_path: Path
) -> None:
    given_by(tmp_path / "spool", 12345)
    take(base, records(tmp_path / "jobs.txt"), tmp_path / "spool", cluster="alpha")
    others = tmp_path / "later.txt"
    others.write_text(
        f"{HEADER.format('|UID')}\n{LINE.replace('142', '150').format('alice|12345')}\n"
    )
    take(base, inputs.old(others), cluster="alpha")  # another job of hers tells her number
    assert rules(base) == [("job id and time", 1.0, True)]
    others.write_text(
        f"{HEADER.format('|UID')}\n{LINE.replace('142', '151').format('bob|12345')}\n"
    )
    take(base, inputs.old(others, 1800), cluster="alpha")  # it has been of two users
    assert rules(base) == [("job id, not shown to be of this user", 0.0, False)]
    take(base, records(tmp_path / "own.txt", "12345"), cluster="alpha")
    assert rules(base) == [("job id and time", 1.0, True)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_log_that_root_collected_is_believed(base: Engine, tmp_path: Path) -> None:
    path = inputs.write_report(tmp_path / "logs", 42, uid=12345)
    assert path.stat().st_uid == 0
    take(base, records(tmp_path / "jobs.txt"), tmp_path / "logs", cluster="alpha")
    assert rules(base) == [("job id and time", 1.0, True)]


def test_nothing_in_a_spool_is_taken_for_a_directory_of_containers(
    base: Engine, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    inputs.write_report(spool)
    trace = inputs.write_trace(tmp_path / "t", 1)
    inputs.copied(trace / "node1.sw", spool / "x.sw")
    spool.chmod(0o1777)
    assert take(base, spool).stored == {"report": 1, "trace": 1}
