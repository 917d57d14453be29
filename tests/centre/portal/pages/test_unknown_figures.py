# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures that are not known, or of which a part is, in lists, sums, CSV, JSON and the API."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from stripewise.centre.database.queries._viewer import is_not_all_known
from stripewise.centre.database.tables import Job
from support.survey_portal import SurveyPortal, portal
from support.survey_world import ran, staff, store, user

DAMAGED = "the log /home/ann/secret.darshan is damaged"
NO_ESTIMATE = "no finding has an estimate"
VIEWERS = {
    "ann": partial(user, name="ann"),
    "manager": lambda connection: user(connection, "eve", "p1"),
    "support": lambda connection: staff(),
}


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SurveyPortal]:
    made = portal(tmp_path, VIEWERS, monkeypatch)
    lost = dict.fromkeys(("read_bytes", "write_bytes"), DAMAGED)
    with made.engine.execution_options(writing=True).begin() as connection:
        store(connection, [
            ran(1, findings=[("small", 20.0)]),
            ran(2, findings=[("fact", None)]),
            ran(3, findings=[("fact", None), ("small", 5.0)]),
            ran(4),
            ran(5, read_bytes=None, write_bytes=70, missing=lost),
            ran(6, is_profiled=False),
            ran(7, user="eve", project="p2"),
        ])  # fmt: skip
    yield made
    made.engine.dispose()


def test_lists_sort_what_is_not_known_last_both_ways(filled: SurveyPortal) -> None:
    def ids(sort: str) -> list[int]:
        rows = filled.data("ann", f"/jobs?sort={sort}")["jobs"]["rows"]
        return [row["raw_id"] for row in rows]

    down, up = ids("-avoidable_seconds"), ids("avoidable_seconds")
    assert down[:2] == [1, 3]
    assert up[-4:-2] == [3, 1]
    assert set(down[-2:]) == set(up[-2:]) == {2, 6}
    assert set(ids("-read_bytes")[-2:]) == set(ids("read_bytes")[-2:]) == {5, 6}


def test_json_csv_and_page_say_unknown_with_the_reason(filled: SurveyPortal) -> None:
    rows = {row["raw_id"]: row for row in filled.data("ann", "/jobs")["jobs"]["rows"]}
    assert rows[2]["avoidable_seconds"] is None
    assert rows[2]["missing"] == {"avoidable_seconds": NO_ESTIMATE}
    assert (rows[3]["avoidable_seconds"], rows[3]["missing"]) == (
        5.0, {"avoidable_seconds": "1 finding has no estimate"},
    )  # fmt: skip
    assert (rows[4]["avoidable_seconds"], rows[4]["missing"]) == (0.0, {})
    assert (rows[5]["read_bytes"], rows[5]["write_bytes"]) == (None, 70)
    text = filled.get("ann", "/jobs?as=csv").text
    cells = {row["raw_id"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (cells["2"]["avoidable_seconds"], cells["2"]["missing"]) == (
        "", f"avoidable_seconds: {NO_ESTIMATE}",
    )  # fmt: skip
    page = filled.get("ann", "/jobs").text
    assert f'<span class="unknown" title="{NO_ESTIMATE}">unknown</span>' in page
    assert "at least 5 s" in page
    assert "at least 70 B" in page


def test_the_page_of_a_job_says_why_to_those_who_may_read_names(filled: SurveyPortal) -> None:
    with filled.engine.connect() as connection:
        key = connection.scalar(select(Job.id).where(Job.raw_id == 5))
    page = filled.get("manager", f"/jobs/{key}").text
    assert "<small>not all of the run is known</small>" in page
    figures = filled.data("manager", f"/jobs/{key}")["figures"]
    assert figures["read_bytes"] is None
    assert figures["missing"]["read_bytes"] == "not all of the run is known"
    for form in ("", "?as=json", "?as=csv", "?as=csv&table=history"):
        assert "secret" not in filled.get("manager", f"/jobs/{key}{form}").text


def test_jobs_are_compared_by_what_is_known(filled: SurveyPortal) -> None:
    with filled.engine.connect() as connection:
        keys = dict(connection.execute(select(Job.raw_id, Job.id)).tuples().all())
    page = filled.get("ann", f"/jobs/compare?a={keys[2]}&b={keys[3]}").text
    assert f'title="{NO_ESTIMATE}">unknown' in page
    assert "at least 5 s" in page


def test_the_api_says_null_and_why(filled: SurveyPortal) -> None:
    items = filled.get("ann", "/api/v1/jobs").json()["items"]
    found = {item["raw_id"]: item for item in items}
    assert found[2]["avoidable_seconds"] is None
    assert found[2]["missing"]["avoidable_seconds"] == NO_ESTIMATE
    assert found[5]["missing"]["read_bytes"] == DAMAGED
    assert "secret" not in filled.get("manager", "/api/v1/jobs").text
    detail = filled.get("manager", f"/api/v1/jobs/{found[5]['id']}")
    assert detail.json()["missing"]["read_bytes"] == "not all of the run is known"
    assert "secret" not in detail.text


def test_sums_are_the_least_where_a_part_is_not_known(filled: SurveyPortal) -> None:
    with filled.engine.connect() as connection:
        number = connection.scalars(
            select(Job.raw_id).where(is_not_all_known(Job.avoidable_seconds))
        )
        assert set(number) == {2, 3}
    assert "at least" in filled.get("support", "/staff").text.lower()
    row = filled.data("support", "/staff/programs")["programs"]["rows"][0]
    assert row["avoidable_node_seconds"] == 50.0
    assert row["missing"]["avoidable_node_seconds"] == "2 jobs with a profile have no estimate"
    assert "At least 50 node-seconds" in filled.data("ann", "/programs")["lead"]
    own = filled.data("ann", "/")["own"]
    assert own["avoidable_seconds"] == 25.0
    assert "no estimate" in own["missing"]["avoidable_seconds"]


def test_a_search_for_the_least_says_what_it_cannot_find(filled: SurveyPortal) -> None:
    page = filled.get("ann", "/jobs?least_avoidable_seconds=1").text
    assert "Jobs of which the avoidable time is not known are not among them." in page
    rows = filled.data("ann", "/jobs?least_avoidable_seconds=0")["jobs"]["rows"]
    assert 2 not in {row["raw_id"] for row in rows}
