# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The client against a portal with real accounts and tokens."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Engine

from stripewise.centre.database.accounts import Accounts, Tokens
from stripewise.centre.portal import (
    Portal,
    PortalError,
    PortalSettings,
    ServerSettings,
    create_app,
)
from stripewise.core.errors import UsageError
from support import portal_jobs as jobs

URL = "http://testserver"


@pytest.fixture
def made(engine: Engine) -> tuple[Any, dict[str, str], dict[int, int]]:
    from starlette.testclient import TestClient

    keys = jobs.store(engine, [jobs.job(1), jobs.profile(1), jobs.job(2, user="bob")])
    jobs.store(engine, [jobs.job(number) for number in range(100, 1110)])
    Accounts(engine).make("ada", by="test")
    tokens = Tokens(engine)
    secrets = {
        name: tokens.make("ada", name, scopes, by="test")[0]
        for name, scopes in (("all", ["read", "read:files"]), ("few", ["read"]))
    }
    app = create_app(engine, settings=PortalSettings(server=ServerSettings(url=URL)))
    return TestClient(app, base_url=URL), secrets, keys


@pytest.fixture
def portal(made: tuple[Any, dict[str, str], dict[int, int]]) -> Iterator[Portal]:
    client, secrets, _ = made
    with Portal(URL, secrets["all"], client=client) as opened:
        yield opened


def test_all_jobs_come_in_parts(portal: Portal) -> None:
    assert portal.me()["login"] == "ada"
    found = [job["raw_id"] for job in portal.jobs(sort="raw_id")]
    assert found == [1, *range(100, 1110)]


def test_one_job_with_its_profile_and_files(
    portal: Portal, made: tuple[Any, dict[str, str], dict[int, int]]
) -> None:
    (job,) = portal.jobs(program="flash_io")
    whole = portal.job(job["id"])
    source = whole["sources"][0]["id"]
    profile = portal.profile(job["id"], source)
    assert profile["figures"] == jobs.document(1)["figures"]
    assert [one["path"] for one in portal.files(job["id"], source)] == [
        one["path"] for one in profile["files"]
    ]
    client, secrets, _ = made
    few = Portal(URL, secrets["few"], client=client)
    assert next(few.files(job["id"], source))["path"] is None
    with pytest.raises(PortalError, match="404"):
        few.profile(job["id"], source)


def test_what_did_not_change_is_not_sent_again_and_is_the_callers_own(portal: Portal) -> None:
    first = portal.job(1)
    kept = copy.deepcopy(first)
    first["sources"].clear()
    for job in portal.jobs():
        job.clear()
    assert portal.job(1) == kept
    assert all(job["raw_id"] for job in portal.jobs())


def test_refusals(
    made: tuple[Any, dict[str, str], dict[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, secrets, keys = made
    with pytest.raises(PortalError) as error:
        Portal(URL, "swt_" + "x" * 43, client=client).me()
    assert error.value.code == 401
    with pytest.raises(PortalError) as error:
        Portal(URL, secrets["all"], client=client).job(keys[2])
    assert error.value.code == 404
    with pytest.raises(PortalError, match="does not answer"):
        Portal("http://127.0.0.1:1", "swt_x").me()
    with pytest.raises(UsageError, match="STRIPEWISE_PORTAL"):
        Portal("", "swt_x")
    monkeypatch.delenv("STRIPEWISE_TOKEN", raising=False)
    with pytest.raises(UsageError, match="STRIPEWISE_TOKEN"):
        Portal(URL)


def answering(*answers: Callable[[Any], Any]) -> Portal:
    """Return the client of a server that gives these answers, the last one again and again."""
    import httpx

    left = list(answers)

    def handle(request: Any) -> Any:
        return (left.pop(0) if len(left) > 1 else left[0])(request)

    return Portal(URL, "swt_x", client=httpx.Client(transport=httpx.MockTransport(handle)))


def given(code: int, **told: Any) -> Callable[[Any], Any]:
    import httpx

    return lambda request: httpx.Response(code, **told)


@pytest.mark.parametrize(
    ("told", "waited"),
    [("7", 7.0), ("3600", 60.0), ("", 1.0), ("-5", 1.0), ("nan", 1.0),
     ("Wed, 21 Oct 2026 07:28:00 GMT", 1.0)],
)  # fmt: skip
def test_it_waits_as_the_portal_says(
    told: str, waited: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("stripewise.centre.portal._client.time.sleep", waits.append)
    busy = given(429, headers={"Retry-After": told} if told else {})
    assert answering(busy, given(200, json={"login": "ada"})).me() == {"login": "ada"}
    assert waits == [waited]
    with pytest.raises(PortalError) as error:
        answering(busy).me()
    assert error.value.code == 429
    assert len(waits) == 4


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (given(200, text="<html>Log in</html>"), "not JSON"),
        (given(502, text="<html>Bad gateway</html>"), "502: no reason"),
        (given(304), "304"),
        (given(308, headers={"Location": "https://io.example.org/api/v1/me"}), "https://io.exam"),
    ],
)
def test_answers_of_something_else_are_named(answer: Callable[[Any], Any], word: str) -> None:
    with pytest.raises(PortalError, match=word):
        answering(answer).me()


def test_addresses_and_tokens_as_people_paste_them() -> None:
    seen: list[str] = []

    def answer(request: Any) -> Any:
        seen.append(request.headers["Authorization"])
        return given(200, json={})(request)

    client = answering(answer)._client
    Portal(f" {URL}/\n", "swt_abc\n", client=client).me()
    assert seen == ["Bearer swt_abc"]
    with pytest.raises(UsageError, match="copy") as error:
        Portal(URL, "swt_\N{EN DASH}")
    assert "swt_" not in str(error.value)
    with pytest.raises(PortalError, match="does not answer"):
        Portal("http://[::1", "swt_x").me()


def test_large_answers_are_not_kept() -> None:
    import httpx

    asked: list[Any] = []

    def answer(request: Any) -> Any:
        asked.append(request.headers.get("If-None-Match"))
        text = "x" * (1 << 21 if request.url.path.endswith("profile") else 9)
        return httpx.Response(200, json={"text": text}, headers={"ETag": '"1"'})

    portal = answering(answer)
    for _ in range(2):
        portal.profile(1, 1)
        portal.me()
    assert asked == [None, None, None, '"1"']
