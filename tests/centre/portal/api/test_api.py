# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The API: lists in parts, one job, rights, ETags, errors of one form."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from stripewise.centre.database.queries import SORTS
from support import portal_jobs as jobs

API = "/api/v1"


@pytest.fixture
def keys(engine: Engine) -> dict[int, int]:
    records: list[Any] = []
    for number in range(1, 8):
        user = "ada" if number % 2 else "bob"
        columns = {"name": None if number == 3 else f"job {number}"}
        records.append(jobs.job(number, user=user, start=jobs.START + number // 2, **columns))
        if number < 5:
            found = [jobs.finding(cost_seconds=float(number))] if number == 1 else []
            records.append(jobs.profile(number, user=user, made=jobs.document(number, found)))
    return jobs.store(engine, records)


def numbers(answer: Any) -> list[int]:
    assert answer.status_code == 200, answer.text
    return [item["raw_id"] for item in answer.json()["items"]]


def test_a_list_shows_what_the_caller_sees(engine: Engine, keys: dict[int, int]) -> None:
    assert numbers(jobs.portal(engine, "ada").get(f"{API}/jobs")) == [7, 5, 3, 1]
    assert len(numbers(jobs.portal(engine, "manager").get(f"{API}/jobs"))) == 7
    assert numbers(jobs.portal(engine, "carol").get(f"{API}/jobs")) == []


@pytest.mark.extended(keep=6)
@pytest.mark.parametrize("sort", [*SORTS, *(f"-{name}" for name in SORTS)])
def test_parts_make_the_whole_list(engine: Engine, keys: dict[int, int], sort: str) -> None:
    portal = jobs.portal(engine, "admin")
    whole = numbers(portal.get(f"{API}/jobs?sort={sort}"))
    assert sorted(whole) == list(range(1, 8))
    found: list[int] = []
    after = ""
    while True:
        part = portal.get(f"{API}/jobs", params={"sort": sort, "limit": 2, "after": after})
        found += numbers(part)
        after = part.json()["next"]
        if after is None:
            break
    assert found == whole


def test_the_description_is_of_the_real_answers(engine: Engine, keys: dict[int, int]) -> None:
    portal = jobs.portal(engine, "ada")
    told = portal.get(f"{API}/openapi.json").json()
    failure = {"$ref": "#/components/schemas/Failure"}
    for path, methods in told["paths"].items():
        answers = methods["get"]["responses"]
        assert "422" not in answers, path
        for code in ("400", "401", "404", "429", "default"):
            assert answers[code]["content"]["application/json"]["schema"] == failure
        assert "304" in answers
        assert methods["get"]["security"] == [{"HTTPBearer": []}]
    assert told["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"


def test_lists_that_are_gathered_tell_their_length(engine: Engine, keys: dict[int, int]) -> None:
    assert jobs.portal(engine, "ada").get(f"{API}/jobs?limit=2").json()["total"] == 4
    assert jobs.portal(engine, "admin").get(f"{API}/jobs?limit=2").json()["total"] is None


def test_conditions(engine: Engine, keys: dict[int, int]) -> None:
    portal = jobs.portal(engine, "admin")

    def found(**words: object) -> list[int]:
        return sorted(numbers(portal.get(f"{API}/jobs", params=words)))

    assert found(job_id=4) == [4]
    assert found(user="bob") == [2, 4, 6]
    assert found(user="nobody at all") == []
    assert found(program="flash_io") == [1, 2, 3, 4]
    assert found(finding="shredded-collective") == [1]
    assert found(source="none") == [5, 6, 7]
    assert found(least_avoidable_seconds=0.5) == [1]
    assert found(pattern="<3D, (BLOCK, *, *)>", direction="write") == [1, 2, 3, 4]
    assert found(pattern="<3D, (BLOCK, *, *)>", direction="read") == []
    assert found(q="job", since=jobs.START + 2) == [4, 5, 6, 7]
    assert found(q="100%_") == []


def test_one_job(engine: Engine, keys: dict[int, int]) -> None:
    portal = jobs.portal(engine, "ada")
    found = portal.get(f"{API}/jobs/{keys[1]}").json()
    (source,) = found["sources"]
    assert (found["raw_id"], found["user"], found["program"]) == (1, "ada", "flash_io")
    assert found["avoidable_seconds"] == 1.0
    assert source["findings"][0]["phrase"] == jobs.finding()["phrase"]
    assert source["is_counted"] is True
    whole = portal.get(source["profile"]).json()
    assert whole == {**jobs.document(1, [jobs.finding(cost_seconds=1.0)]), "job_id": "1"}
    files = portal.get(source["files"]).json()["items"]
    assert [one["path"] for one in files] == [one["path"] for one in whole["files"]]
    assert files[0]["write_bytes"] == whole["files"][0]["write_bytes"]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("name", "may"), [("manager", True), ("ada", False)])
def test_names_of_files_are_hidden(
    engine: Engine, keys: dict[int, int], name: str, may: bool
) -> None:
    portal = jobs.portal(engine, name, may_read_names=may)
    answer = portal.get(f"{API}/jobs/{keys[1]}")
    (source,) = answer.json()["sources"]
    assert source["profile"] is None
    assert source["findings"][0]["code"] == "shredded-collective"
    files = portal.get(source["files"])
    assert files.json()["items"][0]["path"] is None
    assert jobs.SECRET not in answer.text + files.text
    path = f"{API}/jobs/{keys[1]}/sources/{source['id']}/profile"
    assert portal.get(path).status_code == 404


def test_what_is_anothers_is_not_there(engine: Engine, keys: dict[int, int]) -> None:
    ada, bob = jobs.portal(engine, "ada"), jobs.portal(engine, "bob")
    source = bob.get(f"{API}/jobs/{keys[2]}").json()["sources"][0]["id"]
    for there, absent in (
        (f"/jobs/{keys[2]}", "/jobs/99999"),
        (f"/jobs/{keys[2]}/sources/{source}/files", "/jobs/99999/sources/1/files"),
        (f"/jobs/{keys[2]}/sources/{source}/profile", "/jobs/99999/sources/1/profile"),
        (f"/jobs/{keys[1]}/sources/{source}/files", "/jobs/99999/sources/1/files"),
    ):
        one, other = ada.get(API + there), ada.get(API + absent)
        assert (one.status_code, one.content) == (404, other.content)


def test_staff_is_audited(engine: Engine, keys: dict[int, int]) -> None:
    jobs.portal(engine, "support").get(f"{API}/jobs/{keys[2]}")
    jobs.portal(engine, "bob").get(f"{API}/jobs/{keys[2]}")
    trail = jobs.portal(engine, "admin").get("/staff/audit?as=json").text
    assert trail.count(f"job {keys[2]}") == 1


def test_an_answer_that_is_known_is_not_sent_again(engine: Engine, keys: dict[int, int]) -> None:
    portal = jobs.portal(engine, "ada")
    first = portal.get(f"{API}/jobs")
    again = portal.get(f"{API}/jobs", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "no-store" not in first.headers["cache-control"]
    jobs.store(engine, [jobs.job(8)])
    changed = portal.get(f"{API}/jobs", headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200


@pytest.mark.extended(keep=5)
@pytest.mark.parametrize(
    ("path", "code", "word"),
    [
        ("/jobs?limit=0", 400, "limit"),
        ("/jobs?limit=501", 400, "limit"),
        ("/jobs?sort=password", 400, "sort"),
        ("/jobs?after=AAAA", 400, "after"),
        ("/jobs?since=yesterday", 400, "since"),
        ("/jobs?least_io_seconds=-1", 400, "least_io_seconds"),
        ("/jobs?direction=up", 400, "direction"),
        ("/jobs?job_id=x", 400, "job_id"),
        (f"/jobs?q={'x' * 300}", 400, "q"),
        ("/jobs/none", 400, "job"),
        ("/jobs/0", 404, "No such page"),
        (f"/jobs/{10**30}", 404, "No such page"),
        ("/storage/none/load", 404, "No such page"),
        ("/storage/none/load?period=age", 404, "No such page"),
        ("/none", 404, "No such page"),
    ],
)
def test_errors_have_one_form(engine: Engine, path: str, code: int, word: str) -> None:
    jobs.store(engine, [jobs.job(1)])
    answer = jobs.portal(engine, "ada").get(API + path)
    assert answer.status_code == code
    assert answer.json()["error"]["code"] == code
    assert word in answer.json()["error"]["message"]


def test_nobody_gets_nothing(engine: Engine, keys: dict[int, int]) -> None:
    portal = jobs.portal(engine, "nobody")
    for path in ("/me", "/jobs", f"/jobs/{keys[1]}", "/programs", "/storage", "/events"):
        answer = portal.get(API + path)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"


def test_storage_and_programs(engine: Engine, keys: dict[int, int]) -> None:
    at = jobs.START - jobs.START % 3600
    jobs.store(engine, [jobs.samples("read_bytes", at, [1e6] * 60)])
    portal = jobs.portal(engine, "ada")
    (storage,) = portal.get(f"{API}/storage").json()["items"]
    assert (storage["name"], storage["write"]["now"]) == ("scratch", None)
    path = f"{API}/storage/scratch/load"
    load = portal.get(path, params={"period": "hour", "until": at + 3600}).json()
    known = [rate for rate in load["read_bytes_per_second"] if rate is not None]
    assert known
    assert set(known) == {1e6}
    assert set(load["write_bytes_per_second"]) == {None}
    assert portal.get(path, params={"until": "1970-01-01"}).json()["at"] == []
    benchmarks = f"{API}/storage/{{}}/benchmarks"
    assert portal.get(benchmarks.format("scratch")).json() == {"name": "scratch", "items": []}
    assert portal.get(benchmarks.format("elsewhere")).status_code == 404
    day = jobs.START - 86400
    (program,) = portal.get(f"{API}/programs", params={"since": day}).json()["items"]
    assert (program["program"], program["profiled_count"], program["user_count"]) == (
        "flash_io", 2, 1,
    )  # fmt: skip
    assert program["figures"]["io_seconds"]["median"] == 4.0
