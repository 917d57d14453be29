# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Words of searches are values: no SQL, no wildcards, no end of rows, of words or of depth."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from stripewise.centre.portal._settings import ProxySettings
from stripewise.centre.portal.logins._entrance import Entrance
from stripewise.core.errors import LoginError
from support.portal_crawl import VALUES
from support.portal_world import URL, World, ask, client, statements

SQL = ("' OR 1=1 --", "') OR ('1'='1", '" OR ""="', "1; DROP TABLE job", "x' UNION SELECT 1--",
       "\\' OR 1=1 --", "job.id) FROM job --", "sqlite_master", "pg_sleep(9)")  # fmt: skip
LISTS = ("/jobs", "/api/v1/jobs", "/patterns", "/programs", "/storage/events", "/savings",
         "/programs/alicia", "/storage/scratch", "/storage/scratch/top")  # fmt: skip


def _get(made: Any, world: World, path: str, words: Any, who: str = "alice") -> Any:
    return made.get(path, params=words, headers=world.headers(who))


@pytest.mark.extended
@pytest.mark.parametrize("path", LISTS)
def test_sql_in_words_is_never_executed(world: World, path: str) -> None:
    with client(world) as made, statements(world.engine) as done:
        for name in (*VALUES, "sort", "after", "from", "limit", "table"):
            for text in SQL:
                answer = _get(made, world, path, {name: text})
                assert answer.status_code in (200, 400), (name, text)
        for text in SQL:
            answer = _get(made, world, path, {text: "1"})
            assert answer.status_code == 200
    assert done
    for statement in done:
        for text in SQL:
            assert text not in statement.replace("sqlite_master WHERE", "")


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("text", ["%", "_", "%%", "a%", "_lice", "*", "?", "[a-z]lice", "\\"])
def test_there_are_no_wildcards(world: World, text: str) -> None:
    with client(world) as made:
        for name in ("q", "user", "program", "project", "pattern", "finding", "state", "cluster"):
            answer = _get(made, world, "/api/v1/jobs", {name: text}, "admin")
            assert answer.status_code == 200
            assert answer.json()["items"] == [], name
        rows = _get(made, world, "/patterns", {"pattern": text, "as": "json"}, "admin").json()
        assert rows["patterns"]["rows"] == [] or text == "*"  # which stands in patterns


def test_pages_have_an_end(world: World) -> None:
    with client(world) as made:
        for limit in ("0", "-1", "501", "1000000", "1e3", "9" * 30, "nan", ""):
            assert _get(made, world, "/api/v1/jobs", {"limit": limit}).status_code == 400, limit
            path = f"/api/v1/jobs/{world.jobs['alice'][0]}/sources/1/files"
            assert _get(made, world, path, {"limit": limit}).status_code == 400, limit
        page = _get(made, world, "/api/v1/jobs", {"limit": 1}, "admin").json()
        assert len(page["items"]) == 1
        assert page["next"]


@pytest.mark.extended
def test_words_have_an_end(world: World) -> None:
    with client(world) as made, statements(world.engine) as done:
        for name in VALUES:
            for path in LISTS:
                answer = _get(made, world, path, {name: "x" * 20_000})
                assert answer.status_code in (200, 400), (path, name)
                assert len(answer.content) < 400_000
        many = [(f"w{place}", "1") for place in range(5000)]
        for path in LISTS:
            assert _get(made, world, path, many).status_code == 200, path
            same = [("q", "alice")] * 5000
            assert _get(made, world, path, same).status_code == 200, path
    assert max(map(len, done)) < 20_000
    with client(world) as made, statements(world.engine) as done:
        _get(made, world, "/jobs", {"q": "a " * 100})
    assert len(done) < 1000


def test_cursors_are_places_in_the_own_list_alone(world: World) -> None:
    """A cursor that somebody else was given, or made up, begins in the viewer's own rows."""
    own = set(world.jobs["alice"])
    with client(world) as made:
        page = _get(made, world, "/api/v1/jobs", {"limit": 1}, "admin").json()
        while page["next"]:
            shown = _get(made, world, "/api/v1/jobs", {"after": page["next"]}).json()
            assert {one["id"] for one in shown["items"]} <= own
            words = {"limit": 1, "after": page["next"]}
            page = _get(made, world, "/api/v1/jobs", words, "admin").json()
        for made_up in (
            ["-start_at", 10**18, 1], ["-start_at", None, 5], ["-start_at", 1.5, 1],
            ["-start_at", "1", 1], ["-start_at", 10**30, 1], ["-start_at", 1, "1"], ["id", 1, 1],
            ["-start_at", True, 1], [["-start_at"]], {"a": 1}, [], None, "x",
        ):  # fmt: skip
            text = base64.urlsafe_b64encode(json.dumps(made_up).encode()).decode()
            answer = _get(made, world, "/api/v1/jobs", {"after": text})
            assert answer.status_code in (200, 400), made_up
            if answer.status_code == 200:
                assert {one["id"] for one in answer.json()["items"]} <= own
        for text in ("[" * 900, "W" * 999, "é", "=" * 50, "A" * 5000):
            assert _get(made, world, "/api/v1/jobs", {"after": text}).status_code == 400


def test_bodies_have_an_end(world: World) -> None:
    with client(world) as made:
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert made.post("/login", content=b"a=" + b"x" * 20_000, headers=form).status_code == 413
        fields = "&".join(f"f{place}=1" for place in range(500))
        assert made.post("/login", content=fields, headers=form).status_code == 400


@pytest.mark.parametrize("secret", ["", " ", "\n", "\t\t"])
def test_no_empty_secret_is_taken(secret: str) -> None:
    with pytest.raises(ValueError, match="secret"):
        ProxySettings(networks=("127.0.0.1/32",), secret=secret)  # type: ignore[arg-type]


def test_an_unknown_provider_lets_nobody_in(world: World) -> None:
    from stripewise.centre.portal import PortalSettings

    entrance = Entrance(PortalSettings(), world.engine, f"{URL}/login/oidc/callback")
    for name in ("oidc", "local", "proxy", "", "../oidc"):
        with pytest.raises(LoginError):
            entrance.come_back(name, {"state": "x", "code": "y"}, "z")


@pytest.mark.extended
def test_other_peoples_filters_find_nothing(world: World) -> None:
    with client(world) as made:
        for name, values in VALUES.items():
            for value in values:
                answer = ask(made, f"/api/v1/jobs?{name}={value}", world.headers("lonely"))
                assert answer.status_code in (200, 400)
                assert answer.json().get("items", []) == []


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("path", LISTS)
def test_moments_are_of_the_calendar(world: World, path: str) -> None:
    with client(world) as made:
        for name in ("since", "until"):
            for text in ("253402300799", "253402300800", "9" * 18, "0", "-1", "1", "0001-01-01",
                         "9999-12-31", "9" * 18 + "\u2028"):  # fmt: skip
                for who in ("alice", "admin"):
                    answer = _get(made, world, path, {name: text}, who)
                    assert answer.status_code in (200, 400), (name, text)
