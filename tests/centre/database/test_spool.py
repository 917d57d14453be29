# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports that runs leave: whole or not at all, for their owner alone, never in the way."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from stripewise.centre.database.ingest import _report as _spool
from stripewise.centre.database.ingest import leave_report, report_of
from stripewise.centre.database.ingest._report import check_report
from stripewise.core import Configuration, FileRule
from stripewise.evidence.trace import Op
from support import fleet_inputs as inputs
from support.containers import FakeFile, FakeProcess
from support.small_disk import fill, small_file_system
from support.trace_samples import evidence, one_thread, rank
from support.traces import FakeCall


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    path = tmp_path / "spool"
    path.mkdir()
    path.chmod(0o1777)
    return path


def test_a_report_is_of_its_schema(monkeypatch: pytest.MonkeyPatch, spool: Path) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("SLURM_CLUSTER_NAME", "alpha")
    found = evidence(rank(0, 1, one_thread(FakeCall("/a", bytes=10))))
    settings = Configuration((FileRule("*", mpiio={"cb_nodes": 4}),))
    made = report_of(found, 12.5, -9, settings)
    assert leave_report(made, spool) == ""
    (path,) = spool.iterdir()
    data = json.loads(path.read_text())
    check_report(data, "name")
    assert (data["job_id"], data["cluster"], data["exit_code"]) == ("4711", "alpha", -9)
    assert data["end"] - data["start"] == pytest.approx(12.5)
    assert "cb_nodes = 4" in data["settings"]["toml"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.name.endswith(_spool.SUFFIX)


def test_a_run_on_very_many_files_is_told_in_a_few_megabytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_spool, "_MOST_BYTES", 60_000)
    files = [FakeFile(f"/d/{number}", ops={Op.WRITE: (1, 10, 10)}) for number in range(300)]
    made = report_of(evidence(FakeProcess({}, files)), 1.0, 0, Configuration())
    assert 0 < len(made["profile"]["files"]) < made["profile"]["files_total"]
    assert len(json.dumps(made["profile"])) <= 70_000


def test_a_spool_in_which_all_could_remove_reports_is_not_used(spool: Path) -> None:
    spool.chmod(0o777)
    assert "its mode must be 1777" in leave_report(inputs.report(), spool)
    assert not list(spool.iterdir())


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_a_spool_that_is_not_there_is_one_note(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    why = leave_report(inputs.report(), tmp_path / place)
    assert why.startswith(f"the run is not reported: {tmp_path / place}: ")
    assert len(why.splitlines()) == 1


def test_a_full_spool_is_one_note_and_leaves_nothing(tmp_path: Path) -> None:
    with small_file_system(tmp_path / "disk", "64k") as disk:
        disk.chmod(0o1777)
        full = fill(disk)
        assert "No space left" in leave_report(inputs.report(), disk)
        assert list(disk.iterdir()) == [full]


def test_a_storage_that_does_not_answer_is_not_waited_for(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_spool, "_WAIT_SECONDS", 0.05)
    answers, ended = threading.Event(), threading.Event()
    monkeypatch.setattr(_spool, "_write", lambda *_: answers.wait(60) or ended.set())
    assert "does not answer within 0.05 s" in leave_report(inputs.report(), spool)
    assert not ended.is_set()
    answers.set()


def test_nobody_leads_a_report_elsewhere(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_spool.uuid, "uuid4", lambda: type("Uuid", (), {"hex": "x"}))
    victim = spool.parent / "victim"
    victim.write_text("mine")
    data = inputs.report()
    (spool / f".{int(data['end'])}-x").symlink_to(victim)
    assert "exists" in leave_report(data, spool)
    assert victim.read_text() == "mine"
    assert os.listdir(spool) == [f".{int(data['end'])}-x"]
