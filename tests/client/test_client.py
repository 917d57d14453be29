# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The client against a portal with real accounts and tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine

from stripewise.client import Portal, PortalError
from stripewise.errors import UsageError
from stripewise.fleet.accounts import Accounts, Tokens
from stripewise.web import PortalSettings, ServerSettings, create_app
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


def test_what_did_not_change_is_not_sent_again(portal: Portal) -> None:
    first = portal.job(1)
    assert portal.job(1) == first


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
