# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A request has one connection to the database, whatever it asks for and whoever asks.

A request that waits for a second connection while it holds the first one stalls a portal as soon
as as many requests as there are connections come together.  Here there is one connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, update
from starlette.testclient import TestClient

from stripewise.centre.database._engine import create_engine, sqlite_file
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.accounts import Accounts
from stripewise.centre.database.tables import Session, Token
from stripewise.centre.portal import PortalSettings, create_app
from support.audit_trail import AuditTrail
from support.portal_crawl import seeds
from support.portal_world import PASSWORD, URL, World, ask, client, make_world

SECRET = "0123456789abcdef-a-secret"


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The centre, over a database that has one connection, for which nobody waits."""
    path = tmp_path_factory.mktemp("narrow") / "fleet.sqlite"
    wide = create_engine(str(path))
    initialise(wide)
    world = make_world(wide)
    engine = with_one_connection(path)
    yield replace(world, engine=engine, app=portal(engine))
    engine.dispose()
    wide.dispose()


def with_one_connection(path: Path) -> Engine:
    engine = create_engine(str(path), 1)
    engine.pool._timeout = 0  # type: ignore[attr-defined]
    return engine


def portal(engine: Engine, **sections: Any) -> Any:
    server = {"url": URL, "requests_per_minute": 10**9, "logins_per_minute": 10**9}
    return create_app(
        engine, settings=PortalSettings.model_validate({"server": server, **sections})
    )


def wide_open(world: World) -> Engine:
    """An engine for what a test does by itself, beside the portal."""
    path = sqlite_file(world.engine)
    assert path is not None
    return create_engine(str(path))


@pytest.mark.parametrize("who", ["", "bob", "admin", "expired"])
def test_every_page_and_route(narrow: World, who: str) -> None:
    addresses = [*seeds(narrow), "/no-such-page", "/jobs/999999", "/jobs?as=nothing"]
    broken = {}
    with client(narrow) as made:
        for one in addresses:
            code = ask(made, one, narrow.headers(who)).status_code
            if code >= 500:
                broken[one] = code
    assert broken == {}


def test_sessions_and_tokens_that_are_prolonged(narrow: World) -> None:
    other = wide_open(narrow)
    headers, _ = replace(narrow, engine=other).session("alice")
    with other.execution_options(writing=True).begin() as connection:
        connection.execute(update(Session).values(expires_at=Session.expires_at - 600))
        connection.execute(update(Token).values(used_at=None))
    with client(narrow) as made:
        assert ask(made, "/jobs", headers).status_code == 200
        assert ask(made, "/api/v1/jobs", narrow.headers("admin")).status_code == 200
    with other.connect() as connection:
        used = connection.scalars(Token.__table__.select().with_only_columns(Token.used_at))
        assert any(used)


def test_forms(narrow: World) -> None:
    other = wide_open(narrow)
    headers, csrf = replace(narrow, engine=other).session("alice")
    with client(narrow) as made:

        def sent(path: str, **fields: str) -> int:
            return made.post(path, data=fields, headers=headers).status_code

        assert sent("/account/tokens", csrf=csrf, name="x", days="3") == 200
        assert sent("/account/tokens", csrf=csrf, name="x", days="many") == 400
        assert sent("/account/tokens", csrf="wrong", name="x", days="3") == 403
        assert sent("/account/tokens/999999/revoke", csrf=csrf) == 404
        assert sent("/login", user="alice", secret="wrong") == 401
        assert sent("/login", user="alice", secret=PASSWORD, next="/jobs") == 303
        made.cookies.clear()
        assert sent("/logout", csrf="wrong") == 403


def test_somebody_whom_a_proxy_names_for_the_first_time(narrow: World) -> None:
    proxy = {"networks": ["127.0.0.1/32"], "secret": SECRET}
    named = {"x-remote-user": "newcomer", "x-stripewise-secret": SECRET}
    app = portal(narrow.engine, login={"proxy": proxy})
    made = TestClient(app, client=("127.0.0.1", 1), follow_redirects=False)
    assert made.get("/jobs", headers=named).status_code == 200
    assert Accounts(wide_open(narrow)).find("newcomer") is not None


def test_a_look_of_staff_is_in_the_audit(narrow: World) -> None:
    job = narrow.jobs["bob"][0]
    with client(narrow) as made:
        for path in (f"/jobs/{job}", f"/api/v1/jobs/{job}"):
            assert ask(made, path, narrow.headers("admin")).status_code == 200
            assert AuditTrail(wide_open(narrow)).list(most=1)[0].target == f"job {job}"
