# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database.tables import Audit
from stripewise.centre.portal._serve_page import PAGES
from stripewise.centre.portal.pages._jobs import finding_words
from support.portal_jobs import (
    SECRET,
    START,
    data_of,
    document,
    finding,
    job,
    keys,
    page_of,
    pair,
    portal,
    profile,
    samples,
    store,
)

OF_JOB = [one.path for one in PAGES if one.path.startswith("/jobs/{")]


def addresses(engine: Engine, key: int, own: int | None = None) -> list[str]:
    """Return all addresses that have something of a job."""
    made = [
        path.replace("{job:int}", str(key)).replace("{source:int}", str(source))
        for path in OF_JOB
        for source in (range(1, 4) if "{source" in path else (1,))
    ]
    other = key if own is None else own
    return [*made, f"/jobs/compare?a={other}&b={key}", f"/jobs/compare?a={key}&b={other}"]


def everything(engine: Engine, name: str, key: int, **options: Any) -> str:
    """Return all that a viewer can get of a job."""
    client = portal(engine, name, **options)
    found = []
    for place in addresses(engine, key):
        for form in ("", "as=json", "as=csv"):
            more = f"{'&' if '?' in place else '?'}{form}" if form else ""
            answer = client.get(place + more)
            assert answer.status_code in (200, 400, 404), place
            found.append(answer.text if answer.status_code == 200 else "")
    return "\n".join(found)


@pytest.fixture
def shown(engine: Engine) -> int:
    """Return the key of a job that has all that a page can show."""
    records = [
        job(1), profile(1, made=document(1, [finding()])), profile(1, kind="trace"),
        job(2, start=START + 9999), profile(2, start=START + 9999), job(3, user="bea"),
        profile(3, user="bea"), pair(configuration=f'version = 1\n\n[[file]]\nmatch = "{SECRET}"\n'
                                     'mpiio = { cb_nodes = 4 }\n'),
        *(samples(metric, START - 600, [1e6] * 60) for metric in ("read_bytes", "write_bytes")),
    ]  # fmt: skip
    return store(engine, records)[1]


@pytest.mark.extended
def test_the_owner_reads_names_of_files(engine: Engine, shown: int) -> None:
    assert SECRET in everything(engine, "ada", shown)


def test_a_manager_sees_figures_and_no_name_in_any_form(engine: Engine, shown: int) -> None:
    text = everything(engine, "manager", shown)
    assert SECRET not in text
    data = data_of(engine, shown, "manager")
    assert data["figures"]["io_seconds"] == 4.0
    assert [one["form"] for one in data["patterns"]["rows"]] == ["<3D, (BLOCK, *, *)>"]
    client = portal(engine, "manager")
    for place in ("profile/1", "profile/2", "settings.toml", "settings.sh"):
        assert client.get(f"/jobs/{shown}/{place}").status_code == 404
        assert place not in client.get(f"/jobs/{shown}").text
    assert client.get(f"/jobs/{shown}/files?source=1").status_code == 200


@pytest.mark.extended
def test_a_manager_is_told_first_what_is_not_shown(engine: Engine, shown: int) -> None:
    text = page_of(engine, shown, "manager")
    assert 0 < text.find("are described in general words") < text.find("What costs time")
    assert "general words" not in page_of(engine, shown, "ada")


def test_findings_are_told_to_a_manager_in_general_words(engine: Engine) -> None:
    ids = store(engine, [job(1), profile(1, made=document(1, [finding()]))])
    (told,) = data_of(engine, ids[1], "manager")["findings"]
    words = finding_words("shredded-collective")
    assert (told["title"], told["remedy"]) == (words.title, words.remedy)
    assert (told["cost_seconds"], told["least_seconds"], told["most_seconds"]) == (2.5, 2.0, 3.0)
    assert (told["lines"], told["command"], told["text"], told["evidence"]) == ([], "", "", {})


@pytest.mark.extended
def test_a_token_without_the_right_to_names_reads_none(engine: Engine, shown: int) -> None:
    for name in ("ada", "support"):
        assert SECRET not in everything(engine, name, shown, may_read_names=False)


@pytest.mark.extended
def test_support_reads_all_and_every_look_is_noted(engine: Engine, shown: int) -> None:
    client = portal(engine, "support")
    for place in addresses(engine, shown):
        answer = client.get(place)
        with engine.connect() as connection:
            noted = connection.execute(select(Audit.login, Audit.target)).all()
        if answer.status_code == 200:
            assert noted[-1].login == "support"
            assert f"job {shown}" in noted[-1].target, place
    assert SECRET in everything(engine, "support", shown)
    assert SECRET in client.get(f"/jobs/{shown}").text


@pytest.mark.extended
def test_looks_of_owners_and_managers_are_not_noted(engine: Engine, shown: int) -> None:
    everything(engine, "ada", shown)
    everything(engine, "manager", shown)
    with engine.connect() as connection:
        assert connection.execute(select(Audit.id)).all() == []


def test_a_stranger_finds_nothing_at_any_address(engine: Engine, shown: int) -> None:
    own = keys(engine)[3]
    client = portal(engine, "bea")
    nowhere = client.get("/jobs/999999?as=json")
    forms = ("as=json", "as=csv", "source=1&as=json", "source=99&as=json", "after=x&as=json")
    for place in addresses(engine, shown, own):
        for form in forms:
            answer = client.get(f"{place}{'&' if '?' in place else '?'}{form}")
            assert (answer.status_code, answer.text) == (nowhere.status_code, nowhere.text)
    assert "job 1" not in page_of(engine, own, "bea")


def test_who_is_not_logged_in_is_asked_to(engine: Engine, shown: int) -> None:
    for place in addresses(engine, shown):
        answer = portal(engine, "nobody").get(place)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login?")


def test_a_source_is_found_below_its_own_job_alone(engine: Engine, shown: int) -> None:
    ids = keys(engine)
    client = portal(engine, "ada")
    assert client.get(f"/jobs/{ids[2]}/profile/1").status_code == 404
    assert client.get(f"/jobs/{ids[2]}/files?source=1").status_code == 404
    bea = portal(engine, "bea").get(f"/jobs/{ids[3]}/files?source=1")
    assert bea.status_code == 404
