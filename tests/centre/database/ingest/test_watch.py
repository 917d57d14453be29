# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from stripewise.centre.database import _engine
from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.ingest import IngestOptions, Tally, ingest, watch
from stripewise.centre.database.ingest import _ingest as _watch
from stripewise.core.errors import StorageError
from stripewise.run.slurm import SlurmError
from support import fleet_inputs as inputs


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_watch, "_FIRST_SECONDS", 0.01)
    monkeypatch.setattr(_watch, "_MOST_SECONDS", 0.03)
    monkeypatch.setattr(_engine, "_WAIT_SECONDS", 0.3)


def made(path: Path) -> Engine:
    engine = create_engine(str(path))
    initialise(engine)
    return engine


def options(root: Path) -> IngestOptions:
    return IngestOptions((root,), jobs=1, settle_seconds=0.0)


def test_what_comes_later_is_taken_in_at_the_next_pass(tmp_path: Path) -> None:
    passes: list[Tally] = []

    def passed(tally: Tally) -> None:
        passes.append(tally)
        inputs.write_report(tmp_path / "spool", len(passes))

    inputs.write_report(tmp_path / "spool", 0)
    watch(made(tmp_path / "f.sqlite"), options(tmp_path / "spool"), 0.01, passed=passed,
          stop=lambda: len(passes) >= 3)  # fmt: skip
    assert [tally.stored["report"] for tally in passes] == [1, 1, 1]
    assert [tally.unchanged for tally in passes] == [0, 1, 2]


def test_a_slurm_that_does_not_answer_holds_no_file_back(tmp_path: Path) -> None:
    passes: list[Tally] = []
    said: list[str] = []

    def ahead() -> None:
        raise SlurmError("slurmdbd is away")

    inputs.write_report(tmp_path / "spool")
    watch(made(tmp_path / "f.sqlite"), options(tmp_path / "spool"), 0.01, ahead=ahead,
          passed=passes.append, troubled=said.append, stop=lambda: len(said) > 1)  # fmt: skip
    assert [tally.stored["report"] for tally in passes] == [1, 0]
    assert said == [f"slurmdbd is away; tried again in {pause} s" for pause in ("0.01", "0.02")]


def test_a_database_that_refuses_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: Iterator[Exception | None] = iter([StorageError("full")] * 4 + [None])
    passes: list[Tally] = []
    said: list[str] = []

    def flaky(engine: Engine, *words: object, **more: object) -> Tally:
        if (error := next(answers)) is not None:
            raise error
        return ingest(engine, options(tmp_path))

    monkeypatch.setattr(_watch, "ingest", flaky)
    watch(made(tmp_path / "f.sqlite"), options(tmp_path), 1.0, passed=passes.append,
          troubled=said.append, stop=lambda: bool(passes))  # fmt: skip
    assert said == [
        f"full; tried again in {pause} s" for pause in ("0.01", "0.02", "0.03", "0.03")
    ]


def test_a_locked_database_is_named_and_loses_nothing(tmp_path: Path) -> None:
    inputs.write_report(tmp_path / "spool")
    engine = made(tmp_path / "f.sqlite")
    other = sqlite3.connect(tmp_path / "f.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="locked: another process writes to it"):
        ingest(engine, options(tmp_path / "spool"))
    other.execute("ROLLBACK")
    assert ingest(engine, options(tmp_path / "spool")).stored == {"report": 1}


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    engine = create_engine("postgresql://me:secret@127.0.0.1:9/none")
    with pytest.raises(StorageError, match="check that PostgreSQL runs") as caught:
        ingest(engine, options(tmp_path))
    assert "secret" not in str(caught.value)
