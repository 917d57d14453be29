# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages of programs, patterns, savings and for staff: figures, rights, hidden names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from stripewise.centre.database.queries import NOBODY, Role
from stripewise.centre.database.tables import Audit, Ledger, PairedRun, Program
from support.survey_portal import SurveyPortal, portal
from support.survey_world import CONFIGURATION, NOW, proved, ran, staff, store, user

CUBE = "<3D, (BLOCK, *, *)>"
EVIL = "<script>alert(1)</script>"
VIEWERS = {
    "ann": partial(user, name="ann"),
    "bob": partial(user, name="bob"),
    "manager": lambda connection: user(connection, "eve", "p1"),
    "support": lambda connection: staff(),
    "admin": lambda connection: staff(Role.ADMIN),
    "nobody": lambda connection: NOBODY,
}
OPEN = ("/programs", "/programs/summary", "/patterns", "/savings")
STAFF = tuple(
    f"/staff{page}"
    for page in ("", "/programs", "/ignored", "/coverage", "/coverage?by=cluster", "/quality",
                 "/ingest")
)  # fmt: skip
FORMS = ("", "as=json", "as=csv")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SurveyPortal]:
    made = portal(tmp_path, VIEWERS, monkeypatch)
    yield made
    made.engine.dispose()


@pytest.fixture
def filled(empty: SurveyPortal) -> SurveyPortal:
    slow = {"findings": [("small", 20.0)], "patterns": [(CUBE, True, 20.0)]}
    with empty.engine.execution_options(writing=True).begin() as connection:
        store(connection, [
            [proved()],
            ran(11, io_seconds=10.0, seconds=200, settings=[("cb_nodes", "4")], **slow),
            ran(12, io_seconds=30.0, days=9, **slow),
            ran(13, io_seconds=20.0, days=8, **slow),
            ran(21, user="bob", io_seconds=40.0, program="ocean", project="p2", **slow),
            ran(22, user="bob", program="bobs_own", project="p2",
                patterns=[("<9D, (*)>", True, 1.0)], columns={"server_read_bytes": 1,
                                                             "server_write_bytes": 1}),
            ran(31, user="eve", project="p3", program=EVIL, settings=[("cb", EVIL)],
                patterns=[(EVIL, False, None)], columns={"name": EVIL}),
            *(ran(100 + n, user=f"user{n}", project="p9", program="shared", days=60 + n,
                  io_seconds=55.55, patterns=[(CUBE, False, 33.3)]) for n in range(5)),
        ])  # fmt: skip
        connection.execute(update(Program).values(area="Sea & <b>air</b>"))
        connection.execute(insert(Ledger).values(
            digest="d1", kind="darshan", name=f"{EVIL}.darshan", size_bytes=5, outcome="refused",
            reason=EVIL, at=int(NOW) - 60,
        ))  # fmt: skip
        connection.execute(insert(Audit).values(at=1, login="x", action="read", target=EVIL))
    return empty


def _rows(data: Any, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data[table]["rows"]
    return rows


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("address", [*OPEN, *STAFF, "/staff/audit"])
def test_pages_of_an_empty_database(empty: SurveyPortal, address: str) -> None:
    for form in FORMS:
        answer = empty.get("admin", address + ("&" if "?" in address else "?") + form)
        assert answer.status_code == 200


@pytest.mark.extended
@pytest.mark.parametrize("form", FORMS)
def test_who_may_open_which_page(filled: SurveyPortal, form: str) -> None:
    def code(who: str, address: str) -> int:
        found: int = filled.get(who, address + ("&" if "?" in address else "?") + form).status_code
        return found

    for address in OPEN:
        assert [code(who, address) for who in ("ann", "manager", "support", "admin")] == [200] * 4
        assert code("nobody", address) == (401 if form == "as=json" or form == "as=csv" else 303)
    for address in STAFF:
        assert [code(who, address) for who in ("support", "admin")] == [200] * 2
        assert [code(who, address) for who in ("ann", "manager", "nobody")] == [404] * 3
    assert [code(who, "/staff/audit") for who in ("admin", "support", "ann")] == [200, 404, 404]


def test_who_is_not_logged_in_is_shown_the_way_where_nothing_is(filled: SurveyPortal) -> None:
    for address in ("/staff/ignored", "/nowhere"):
        way = f'href="/login?next={address}"'
        assert way in filled.get("nobody", address).text
        assert way not in filled.get("ann", address).text


def test_programs_are_told_by_the_jobs_one_may_see(filled: SurveyPortal) -> None:
    data = filled.data("ann", "/programs")
    [ocean] = _rows(data, "programs")
    assert (ocean["program"], ocean["job_count"], ocean["user_count"]) == ("ocean", 3, 1)
    assert ocean["run_seconds"] == 100.0
    assert ocean["node_seconds"] == 2 * (200.0 + 100.0 + 100.0)
    assert ocean["avoidable_node_seconds"] == 2 * 60.0
    assert ocean["meta_share"] == 1 / 8
    assert _rows(data, "spread")[0]["io_seconds_median"] == 20.0
    [shared] = _rows(data, "everybody")
    assert (shared["program"], shared["user_count"], shared["job_count"]) == ("shared", 5, 5)
    staff_data = filled.data("support", "/programs")
    assert {row["program"] for row in _rows(staff_data, "programs")} == {
        "ocean", "bobs_own", EVIL, "shared"
    }  # fmt: skip
    assert "everybody" not in staff_data


def test_programs_are_sorted_and_come_in_pages(
    filled: SurveyPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stripewise.centre.portal.pages._base.ROWS", 3)
    data = filled.data("support", "/programs?sort=program")
    names = [row["program"] for row in _rows(data, "programs")]
    answer = filled.get("support", data["programs"]["next"])  # in the same form
    then = answer.json()
    assert [*names, *(row["program"] for row in _rows(then, "programs"))] == sorted(
        ["ocean", "bobs_own", EVIL, "shared"]
    )
    assert then["programs"]["next"] is None
    for words in ("sort=password", "from=-1", "from=x", "since=2020-01-01&until=2026-01-01"):
        assert filled.get("ann", f"/programs?{words}").status_code == 400


def test_the_summary_has_the_rows_of_the_survey(filled: SurveyPortal) -> None:
    data = filled.data("ann", "/programs/summary?programs=ocean,shared,bobs_own,nothing")
    rows = _rows(data, "summary")
    assert [row["figure"] for row in rows] == [
        "Research area", "Total I/O size", "Running time", "% I/O time", "I/O speed",
        "# I/O File", "# meta operation", "% meta / IO time", "# Case run simultaneously",
    ]  # fmt: skip
    ocean = [row["program ocean"] for row in rows]
    assert ocean == ["Sea & <b>air</b>", 3000.0, 100.0, 0.035, 857.0, 3.0, 30.0, 1 / 8, 1]
    assert [row["program shared"] for row in rows][1] == 3000.0
    assert "program bobs_own" not in rows[0]
    page = filled.get("ann", "/programs/summary?programs=ocean,shared,bobs_own").text
    assert "no figures that you may see of bobs_own" in page
    table = list(csv.reader(io.StringIO(
        filled.get("ann", "/programs/summary?programs=ocean&as=csv").text
    )))  # fmt: skip
    assert table[0] == ["figure", "program ocean"]
    many = ",".join(f"p{n}" for n in range(21))
    assert filled.get("ann", f"/programs/summary?programs={many}").status_code == 400


def test_one_program(filled: SurveyPortal) -> None:
    data = filled.data("ann", "/programs/ocean")
    case = {row["figure"]: row for row in _rows(data, "case")}
    assert (case["I/O time"]["job"], case["I/O time"]["median"]) == (20.0, 20.0)
    assert case["Total READ_TIME"]["job"] == 2.0
    assert case["read_only"]["job"] == 1
    assert [row["code"] for row in _rows(data, "findings")] == ["small"]
    assert _rows(data, "findings")[0]["cost_seconds"] == 60.0
    assert [(row["form"], row["lost_seconds"]) for row in _rows(data, "patterns")] == [
        (CUBE, 60.0)
    ]  # fmt: skip
    assert data["times"]["io_seconds"] == [10.0, 30.0, 20.0]
    assert [row["speedup"] for row in _rows(data, "pairs")] == [2.5]
    jobs = filled.data("ann", _rows(data, "findings")[0]["url"])
    assert sorted(row["raw_id"] for row in _rows(jobs, "jobs")) == [11, 12, 13]
    wide = filled.data("support", "/programs/ocean")
    assert _rows(wide, "findings")[0]["cost_seconds"] == 80.0


def test_a_program_of_others_is_there_only_over_enough_users(filled: SurveyPortal) -> None:
    assert filled.get("ann", "/programs/bobs_own").status_code == 404
    assert filled.get("ann", "/programs/none").status_code == 404
    assert filled.get("bob", "/programs/bobs_own").status_code == 200
    data = filled.data("ann", "/programs/shared")
    case = {row["figure"]: row for row in _rows(data, "case")}
    assert case["I/O time"] == {"figure": "I/O time", "everybody": 56.0}
    text = filled.get("ann", "/programs/shared").text
    assert "user0" not in text
    assert "/jobs/" not in text


def test_a_look_of_staff_at_a_job_is_audited(filled: SurveyPortal) -> None:
    def lines() -> int:
        with filled.engine.connect() as connection:
            return len(connection.execute(select(Audit.id).where(Audit.login != "x")).all())

    filled.get("ann", "/programs/ocean")
    assert lines() == 0
    filled.get("support", "/programs/ocean")
    assert lines() == 1
    filled.get("support", "/savings/1/settings")
    assert lines() == 2
    filled.get("ann", "/savings/1/settings")
    assert lines() == 2


def test_settings_of_a_proof(filled: SurveyPortal) -> None:
    answer = filled.get("ann", "/savings/1/settings")
    assert answer.text == CONFIGURATION
    assert answer.headers["content-disposition"] == 'attachment; filename="stripewise-1.toml"'
    assert filled.get("ann", "/savings/1/settings?form=lines").text == "export A=1\n"
    assert filled.get("ann", "/savings/1/settings?form=exe").status_code == 400
    for who, code in (("support", 200), ("manager", 404), ("bob", 404), ("nobody", 303)):
        assert filled.get(who, "/savings/1/settings").status_code == code
    assert filled.get("ann", "/savings/2/settings").status_code == 404
    with filled.engine.execution_options(writing=True).begin() as connection:
        connection.execute(update(PairedRun).values(hints=""))
    assert filled.get("ann", "/savings/1/settings?form=lines").status_code == 404


def test_a_manager_sees_a_proof_without_its_settings(filled: SurveyPortal) -> None:
    data = filled.data("manager", "/savings")
    [row] = _rows(data, "pairs")
    assert (row["user"], row["run_count"], row["regained_seconds"]) == ("ann", 1, 30.0)
    assert not row["settings_url"]
    assert _rows(data, "projects") == [
        {"program": "ocean", "project": "p1", "run_count": 1, "saved_seconds": 30.0,
         "saved_node_seconds": 60.0, "missing": {}, "url": "/programs/ocean"},
    ]  # fmt: skip
    assert data["totals"]["saved_node_seconds"] == 60.0
    assert _rows(filled.data("bob", "/savings"), "pairs") == []


@pytest.mark.extended
def test_a_search_of_patterns(filled: SurveyPortal) -> None:
    words = "pattern=%3C3D,(BLOCK,*,*)%3E&direction=write&least_lost_seconds=10"
    data = filled.data("ann", f"/patterns?{words}")
    [row] = _rows(data, "patterns")
    assert (row["form"], row["job_count"], row["lost_seconds"]) == (CUBE, 3, 60.0)
    jobs = filled.data("ann", row["url"])
    assert sorted(one["raw_id"] for one in _rows(jobs, "jobs")) == [11, 12, 13]
    every = filled.data("bob", "/patterns?pattern=BLOCK")
    assert [(one["form"], one["direction"], one["user_count"], one["lost_seconds"])
            for one in _rows(every, "everybody")] == [(CUBE, "read", 5, 170.0)]  # fmt: skip
    assert "url" not in _rows(every, "everybody")[0]
    assert "<9D" not in str(filled.data("ann", "/patterns"))


@pytest.mark.extended
def test_names_of_files_are_on_none_of_these_pages(filled: SurveyPortal) -> None:
    for who in ("ann", "manager", "support"):
        for address in (*OPEN, "/programs/ocean", *STAFF):
            assert "secret" not in filled.get(who, address).text


@pytest.mark.extended
def test_names_are_no_markup(filled: SurveyPortal) -> None:
    addresses = (*OPEN, *STAFF, "/staff/audit", "/programs/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    for address in addresses:
        for word in (
            "",
            "pattern=<script>",
            "login=<script>",
            "programs=<script>alert(1)</script>",
        ):
            text = filled.get("admin", f"{address}?{word}".replace("??", "?")).text
            assert "<script>" not in text
            assert "<b>air" not in text


def test_ignored_advice_leads_to_its_jobs(filled: SurveyPortal) -> None:
    [row] = _rows(filled.data("support", "/staff/ignored"), "ignored")
    assert (row["user"], row["code"], row["job_count"]) == ("ann", "small", 3)
    assert row["lost_node_seconds"] == 120.0
    jobs = filled.data("support", row["jobs_url"])
    assert sorted(one["raw_id"] for one in _rows(jobs, "jobs")) == [11, 12, 13]
    assert (
        _rows(filled.data("support", "/staff/ignored?least_avoidable_seconds=21"), "ignored") == []
    )


@pytest.mark.extended
def test_pages_of_the_staff_have_their_figures(filled: SurveyPortal) -> None:
    overview = filled.data("support", "/staff")["overview"]
    assert (overview["job_count"], overview["profiled_share"]) == (6, 1.0)
    assert overview["avoidable_node_seconds"] == 2 * 80.0
    assert overview["refused_count"] == 1
    [first, *_] = _rows(filled.data("support", "/staff/programs"), "programs")
    assert (first["program"], first["avoidable_node_seconds"]) == ("ocean", 160.0)
    assert first["avoidable_share"] == 160.0 / 1000.0
    quality = filled.data("support", "/staff/quality")
    assert quality["lead"].endswith(
        "No profile began outside the time of the job; every job has a record of the scheduler."
    )
    [odd] = _rows(quality, "outliers")
    assert (odd["raw_id"], odd["ratio"]) == (22, 1500.0)
    assert filled.get("support", "/staff/quality?least_ratio=0").status_code == 400
    [refused] = _rows(filled.data("support", "/staff/ingest"), "refused")
    assert refused["name"] == f"{EVIL}.darshan"
    assert filled.data("admin", "/staff/audit?login=y")["audit"]["rows"] == []


def test_unknown_figures_are_dashes(empty: SurveyPortal) -> None:
    with empty.engine.execution_options(writing=True).begin() as connection:
        unknown = dict.fromkeys(
            ("io_seconds", "io_share", "rate_bytes_per_second", "cumulated_read_seconds",
             "cumulated_write_seconds", "cumulated_meta_seconds", "n_ranks")
        )  # fmt: skip
        store(connection, [ran(1, nodes=None, **unknown)])  # type: ignore[arg-type]
    for who, address in (("ann", "/programs"), ("ann", "/programs/ocean"), *(
        ("admin", page) for page in STAFF
    )):  # fmt: skip
        assert empty.get(who, address).status_code == 200
    [row] = _rows(empty.data("ann", "/programs"), "programs")
    assert row["io_share"] is row["meta_share"] is row["node_seconds"] is None
    assert row["io_bytes"] == 3000.0
    assert 'class="unknown"' in empty.get("ann", "/programs").text
