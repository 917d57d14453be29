# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of jobs as files: what a viewer sees, whole files, each form alike."""

from __future__ import annotations

import csv
import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from stripewise.centre.database.queries import JobFilter, Role, Viewer
from stripewise.centre.database.upkeep import _export, export
from stripewise.centre.database.upkeep._export import TABLES
from stripewise.core.errors import StorageError, UsageError
from support import portal_jobs as jobs

ADMIN = Viewer("", Role.ADMIN)


@pytest.fixture
def keys(engine: Engine) -> dict[int, int]:
    made = jobs.document(1, [jobs.finding()])
    found = jobs.store(
        engine,
        [jobs.job(1, name="=cmd|x"), jobs.profile(1, made=made), jobs.job(2, user="bob"),
         jobs.profile(2, user="bob")],
    )  # fmt: skip
    jobs.serve(engine)
    return found


def write(engine: Engine, directory: Path, form: str = "csv", who: Any = ADMIN) -> dict[str, int]:
    with engine.connect() as connection:
        viewer = jobs.viewer(connection, who) if isinstance(who, str) else who
        return export(connection, viewer, directory, form)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_csv(engine: Engine, keys: dict[int, int], tmp_path: Path) -> None:
    counts = write(engine, tmp_path / "new" / "place")
    files = sorted((tmp_path / "new" / "place").iterdir())
    assert [path.name for path in files] == sorted(f"{name}.csv" for name in TABLES)
    found = rows(tmp_path / "new" / "place" / "jobs.csv")
    assert counts["jobs"] == len(found) == 2
    assert [one["raw_id"] for one in found] == ["1", "2"]
    assert found[0]["name"] == "'=cmd|x", "no formula for a spreadsheet"
    (finding,) = rows(tmp_path / "new" / "place" / "findings.csv")
    assert (finding["job_id"], finding["cost_seconds"]) == (str(keys[1]), "2.5")
    (served,) = rows(tmp_path / "new" / "place" / "served.csv")
    assert (served["job_id"], served["file_system"]) == (str(keys[1]), "scratch")
    assert (served["kind"], served["moved_bytes"]) == ("read", str(4 << 20))


def test_each_form_says_the_same(engine: Engine, keys: dict[int, int], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for form in ("csv", "jsonl", "parquet"):
        write(engine, tmp_path / form, form)
    for name in TABLES:
        lines = [json.loads(line) for line in (tmp_path / "jsonl" / f"{name}.jsonl").open()]
        assert parquet.read_table(tmp_path / "parquet" / f"{name}.parquet").to_pylist() == lines
        assert len(rows(tmp_path / "csv" / f"{name}.csv")) == len(lines)


def test_a_viewer_gets_what_they_see(engine: Engine, keys: dict[int, int], tmp_path: Path) -> None:
    assert write(engine, tmp_path / "a", who="ada")["jobs"] == 1
    counts = write(engine, tmp_path / "m", who="manager")
    assert (counts["jobs"], counts["files"], counts["findings"]) == (2, 0, 0)
    written = "".join(path.read_text() for path in (tmp_path / "m").iterdir())
    assert jobs.SECRET not in written
    assert write(engine, tmp_path / "n", who="nobody") == dict.fromkeys(TABLES, 0)


@pytest.mark.extended(keep=1)
def test_only_what_is_asked(engine: Engine, keys: dict[int, int], tmp_path: Path) -> None:
    with engine.connect() as connection:
        counts = export(
            connection, ADMIN, tmp_path, job_filter=JobFilter(user="bob"), tables=["jobs"]
        )
    assert counts == {"jobs": 1}
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".csv"] == ["jobs.csv"]


def test_bad_requests(engine: Engine, keys: dict[int, int], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="csv, jsonl, parquet"):
        write(engine, tmp_path, "xml")
    with engine.connect() as connection, pytest.raises(UsageError, match="is not a table"):
        export(connection, ADMIN, tmp_path, tables=["password"])
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        write(engine, tmp_path / "file")


def test_a_file_that_cannot_be_written_is_named(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*words: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_export._Csv, "write", full)
    with pytest.raises(StorageError) as caught:
        write(engine, tmp_path)
    assert str(caught.value).startswith(f"cannot write {tmp_path}/jobs.csv: No space left")
