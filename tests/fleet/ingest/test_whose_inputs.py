# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whose inputs are believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from stripewise.fleet.tables import JobSource
from support import fleet_inputs as inputs
from support.fleet_inputs import take


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_nobody_plants_a_run_of_somebody_else(base: Engine, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    planted = inputs.write_report(spool, uid=0, user="root")
    os.chown(planted, 12345, 12345)
    ((_, reason),) = take(base, spool).reasons
    assert "it tells of a run of uid 0" in reason
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


def test_nothing_in_a_spool_is_taken_for_a_directory_of_containers(
    base: Engine, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    inputs.write_report(spool)
    trace = inputs.write_trace(tmp_path / "t", 1)
    inputs.copied(trace / "node1.sw", spool / "x.sw")
    spool.chmod(0o1777)
    assert take(base, spool).stored == {"report": 1, "trace": 1}
