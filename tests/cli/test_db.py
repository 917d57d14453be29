# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise centre`: what it says, its exit codes, and one clear line for each bad input."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from stripewise.cli import main
from support import fleet_inputs as inputs

pytest.importorskip("sqlalchemy")


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    code = left.value.code
    assert isinstance(code, int)
    return code


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "fleet.sqlite"
    monkeypatch.setenv("STRIPEWISE_DB", str(path))
    return path


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    for number in range(2):
        inputs.write_report(tmp_path / "spool", number)
    assert run("centre", "init") == 0
    return tmp_path / "spool"


def test_from_nothing_to_a_status(spool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (spool / "x.tmp").write_text("")
    capsys.readouterr()
    assert run("centre", "ingest", spool, "--settle", 0, "--jobs", 1) == 0
    out = capsys.readouterr().out
    assert "2 inputs found" in out
    assert "2 stored (2 report), 0 unchanged, 0 known, 0 refused" in out
    assert f"skipped, temporary or hidden: {spool}/x.tmp" in out
    assert run("centre", "status") == 0
    lines = dict(
        line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line[0] != " "
    )
    assert (lines["jobs"], lines["profiles"], lines["refused"]) == ("2", "2 report", "0")


def test_the_file_is_for_its_owner_alone(spool: Path, database: Path, tmp_path: Path) -> None:
    assert run("centre", "ingest", spool, "--jobs", 1) == 0
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert run("centre", "backup", tmp_path / "copy") == 0
    assert run("centre", "restore", "--db", tmp_path / "new.sqlite", tmp_path / "copy") == 0
    for path in (tmp_path / "copy", tmp_path / "new.sqlite"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_as_json(spool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run("centre", "ingest", spool, "--settle", 0, "--jobs", 1, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["found"], document["stored"], document["stopped"]) == (
        2,
        {"report": 2},
        False,
    )
    assert run("centre", "status", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["counts"]["sources"] == 2
    assert run("centre", "prune", "--json") == 0
    gone = {"samples": 0, "loads": 0, "files": 0, "logins": 0}
    assert json.loads(capsys.readouterr().out) == gone


def test_the_default_is_a_file_of_the_users_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("STRIPEWISE_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert run("centre", "init") == 0
    assert (tmp_path / "data" / "stripewise" / "fleet.sqlite").is_file()
    assert "are ready" in capsys.readouterr().out


def test_refused_inputs_are_said_with_their_reason(
    spool: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = spool / "bad.report.json"
    bad.write_text('{"format": "stripewise-report"}')
    inputs.old(bad)
    assert run("centre", "ingest", spool, "--jobs", 1) == 0
    said = capsys.readouterr().err
    assert f"refused: {bad}: no report of version 1: the document: " in said
    assert run("centre", "status") == 0
    assert f"  {bad}: no report of version 1" in capsys.readouterr().out


def test_names_of_files_cannot_act_on_the_terminal(
    spool: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = spool / "\x1b[31mred.report.json"
    bad.write_text('{"format": "stripewise-report"}')
    inputs.old(bad)
    run("centre", "ingest", spool, "--jobs", 1)
    run("centre", "status")
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err


def test_a_day_to_begin_with_is_asked_for_once(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stripewise.cli._centre_ingest import Scheduler

    asked: list[int | None] = []

    def twice(*_words: object, ahead: Callable[[], None], **_more: object) -> None:
        ahead()
        ahead()

    monkeypatch.setattr("stripewise.centre.database.ingest.watch", twice)
    words = ("centre", "ingest", "--slurm", "--slurm-since", "2026-01-01", "--watch", "300")
    monkeypatch.setattr(Scheduler, "ask", lambda self, *_, **__: asked.append(self.since))
    assert run(*words) == 0
    assert asked == [1767225600, None]
    assert run(*words, "--dry-run") == 0
    assert len(asked) == 2


def test_backup_and_restore(
    spool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("centre", "ingest", spool, "--jobs", 1)
    assert run("centre", "backup", tmp_path / "copy") == 0
    assert run("centre", "backup", tmp_path / "copy") == 2
    assert "is there already: give the name of a new file" in capsys.readouterr().err
    assert run("centre", "restore", tmp_path / "copy") == 8
    assert "give --replace" in capsys.readouterr().err
    assert run("centre", "restore", "--replace", tmp_path / "copy") == 0
    assert run("centre", "restore", "--db", tmp_path / "new.sqlite", tmp_path / "copy") == 0


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (["ingest"], 2, "nothing to read: name files or directories"),
        (["ingest", "/nowhere"], 2, "there is no such file or directory"),
        (["ingest", "/tmp", "--part", "3/2"], 2, "--part '3/2' is not a share: give I/N"),
        (["ingest", "/tmp", "--part", "x"], 2, "is not a share"),
        (["ingest", "/tmp", "--jobs", "0"], 2, "--jobs"),
        (["ingest", "/tmp", "--watch", "0"], 2, "--watch"),
        (
            ["status", "--db", "mysql://host/name"],
            2,
            "mysql is not a database that Stripewise uses",
        ),
        (["status"], 8, "holds no statistics: run `stripewise centre init --db"),
        (["prune"], 8, "holds no statistics: run `stripewise centre init --db"),
        (["prune", "--files-older-than", "-1"], 2, "--files-older-than"),
        (["init", "--db", "/nowhere/at/all.sqlite"], 8, "check that its directory exists"),
        (["restore", "/nowhere"], 2, "give a backup"),
        (["backup", "/nowhere/at/all"], 8, "there is nothing to back up"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], code: int, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("centre", *words) == code
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert what in said[0]


def test_no_database_at_all(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database.write_text("no database, but long enough to be looked at as one " * 100)
    assert run("centre", "status") == 8
    assert "not a database: check its path, or restore a backup" in capsys.readouterr().err


def test_tables_of_a_newer_version(
    spool: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    assert run("centre", "ingest", spool) == 8
    assert "made by a newer Stripewise" in capsys.readouterr().err


def test_a_run_reports_itself(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    reports = tmp_path / "reports"
    reports.mkdir()
    reports.chmod(0o1777)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRIPEWISE_REPORTS", str(reports))
    command = ["run", "--", "dd", "if=/dev/zero", "of=out.dat", "bs=4096", "count=8"]
    assert run(*command) == 0
    assert run("centre", "init") == 0
    capsys.readouterr()
    assert run("centre", "ingest", reports, "--settle", 0, "--jobs", 1, "--json") == 0
    assert json.loads(capsys.readouterr().out)["stored"] == {"report": 1}
    monkeypatch.setenv("STRIPEWISE_REPORTS", str(tmp_path / "nowhere"))
    assert run(*command) == 0
    assert "the run is not reported" in capsys.readouterr().err
    monkeypatch.setenv("STRIPEWISE_REPORTS", "")
    assert run(*command) == 0
    assert len(os.listdir(reports)) == 1
    assert "not reported" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("status",), ("prune",), ("backup", "b.sqlite"), ("user", "list"), ("export", "out")]
)
def test_a_look_at_a_database_that_is_not_there_makes_none(
    database: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("centre", *words) == 8
    assert "holds no statistics: " in capsys.readouterr().err
    assert not database.exists()
    assert run("centre", "init") == 0
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


def test_the_state_of_newer_tables_is_not_that_of_older_ones(
    spool: Path, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    capsys.readouterr()
    assert run("centre", "status") == 8
    assert "was made by a newer Stripewise" in capsys.readouterr().err
