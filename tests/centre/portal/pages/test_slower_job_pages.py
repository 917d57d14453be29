# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job whose I/O took longer than in earlier runs says so where it is looked for."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from stripewise.centre.database._records import Record, SourceRecord, pack
from stripewise.centre.database.tables import Job
from support.portal_jobs import document
from support.survey_portal import SurveyPortal, portal
from support.survey_world import ran, staff, store, user

VIEWERS = {"ann": partial(user, name="ann"), "support": lambda connection: staff()}


def run(number: int, io_seconds: float, stripes: int = 16, **given: object) -> list[Record]:
    """Return a job that wrote one striped file, the later the larger its number."""
    record, profile = ran(number, days=40.0 - number, io_seconds=io_seconds, **given)
    assert isinstance(profile, SourceRecord)
    file = {
        "path": "/scratch/ann/out.h5", "file_class": "*.h5", "interface": "HDF5",
        "read_bytes": 0, "write_bytes": 70, "read_calls": 0, "write_calls": 7,
        "meta_operations": 2, "elapsed_seconds": io_seconds, "rank_count": 4,
        "stripe_count": stripes, "stripe_bytes": 1 << 20,
    }  # fmt: skip
    made = document(number, [], io_seconds=io_seconds, run_seconds=100.0, read_bytes=1000,
                    write_bytes=2000)  # fmt: skip
    made |= {"headline": "The headline of the profile."}
    return [record, replace(profile, files=(file,), document=pack(made))]


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SurveyPortal]:
    made = portal(tmp_path, VIEWERS, monkeypatch)
    usual = [run(number, 4.0 + 0.1 * (number % 3)) for number in range(1, 9)]
    with made.engine.execution_options(writing=True).begin() as connection:
        store(connection, [run(20, 38.0, stripes=1), *usual, run(21, 4.1)])
    yield made
    made.engine.dispose()


def _key(filled: SurveyPortal, raw_id: int) -> int:
    with filled.engine.connect() as connection:
        return int(connection.scalar(select(Job.id).where(Job.raw_id == raw_id)) or 0)


def test_its_page_says_it_first_with_what_differs(filled: SurveyPortal) -> None:
    page = filled.get("ann", f"/jobs/{_key(filled, 20)}").text
    lead = page[page.index("<main") :].split("</p>")[0]
    assert "I/O took 9.3x its usual time: 38 s instead of 4.1 s, the median of 8 earlier" in lead
    assert lead.endswith("The headline of the profile.")
    assert "What differs: striping of most data 1 x 1 MiB instead of 16 x 1 MiB" in lead
    assert page.index("What changed") < page.index("Sources of these figures")
    assert "its usual time" not in filled.get("ann", f"/jobs/{_key(filled, 21)}").text


def test_lists_mark_it_and_can_be_searched_for_it(filled: SurveyPortal) -> None:
    rows = filled.data("ann", "/jobs")["jobs"]["rows"]
    marked = {row["raw_id"]: row["slower_factor"] for row in rows if row["slower_factor"]}
    assert marked == {20: pytest.approx(38 / 4.1, rel=0.02)}
    assert "Slower than usual" in filled.get("ann", "/jobs").text
    for who in VIEWERS:
        found = filled.data(who, "/jobs?slower=yes")["jobs"]["rows"]
        assert [row["raw_id"] for row in found] == [20]
    for sort in ("slower_factor", "-slower_factor"):
        assert filled.data("ann", f"/jobs?sort={sort}")["jobs"]["rows"][0]["raw_id"] == 20
    assert filled.get("ann", "/jobs?slower=maybe").status_code == 400
    table = list(csv.DictReader(io.StringIO(filled.get("ann", "/jobs?as=csv").text)))
    assert sorted(row["slower_factor"] for row in table)[:-1] == [""] * 9


def test_the_first_page_says_it(filled: SurveyPortal) -> None:
    text = filled.get("ann", "/").text
    assert "The I/O of one, run, took 9.3x its usual time." in text
    assert "Jobs slower than usual" in text


def test_runs_that_arrive_late_change_the_mark(filled: SurveyPortal) -> None:
    before = [run(number, 37.0 + number % 2) for number in range(9, 19)]
    with filled.engine.execution_options(writing=True).begin() as connection:
        store(connection, before)
    rows = filled.data("ann", "/jobs?slower=yes")["jobs"]["rows"]
    assert 20 not in [row["raw_id"] for row in rows]
    assert 9 in [row["raw_id"] for row in rows]
