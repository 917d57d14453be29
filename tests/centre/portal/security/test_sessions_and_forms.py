# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Forms of others, fixed and stolen sessions, misused tokens, forged headers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, func, select

from stripewise.centre.database.accounts import Accounts, Tokens
from stripewise.centre.database.tables import Session, Token
from stripewise.centre.portal import PortalSettings, create_app
from stripewise.centre.portal._settings import ServerSettings
from support.portal_crawl import routes
from support.portal_world import PASSWORD, URL, World, ask, client

LOGIN = {"user": "alice", "secret": PASSWORD, "next": "/jobs"}
FOREIGN = (
    {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://testserver.evil"},
    {"origin": "https://testserver"}, {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"}, {"origin": URL, "sec-fetch-site": "cross-site"},
)  # fmt: skip


@pytest.fixture
def made(own_world: World) -> Iterator[httpx.Client]:
    with client(own_world) as found:
        yield found


def _posts(world: World) -> list[str]:
    paths = [path for method, path in routes(world.app.routes) if method not in ("GET", "HEAD")]
    return [path.replace("{token:int}", "1") for path in paths]


def _state(engine: Engine) -> tuple[Any, ...]:
    with engine.connect() as connection:
        count = select(func.count())
        return (
            connection.scalar(count.select_from(Session)),
            connection.scalar(count.select_from(Token)),
        )


def _post(made: httpx.Client, path: str, form: dict[str, str], **headers: str) -> httpx.Response:
    made.cookies.clear()
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = made.post(path, data=form, headers=sent)
    made.cookies.clear()
    return answer


def _is_in(made: httpx.Client, secret: str) -> bool:
    return ask(made, "/api/v1/me", {"cookie": f"stripewise={secret}"}).status_code == 200


def test_every_form_needs_the_secret_of_its_session(own_world: World, made: httpx.Client) -> None:
    headers, csrf = own_world.session("alice")
    _, of_another = own_world.session("lonely")
    before = _state(own_world.engine)
    for path in _posts(own_world):
        if path == "/login":
            continue
        for wrong in ("", "x", csrf[:-1], csrf + "x", of_another, "é"):
            form = {"csrf": wrong, "name": "n", "days": "3"} if wrong else {"name": "n"}
            assert _post(made, path, form, **headers).status_code == 403, path
        assert _post(made, path, {"csrf": csrf, "name": "n", "days": "3"}).status_code == 403
    assert _state(own_world.engine) == before


def test_forms_of_other_sites_are_refused(own_world: World, made: httpx.Client) -> None:
    headers, csrf = own_world.session("alice")
    before = _state(own_world.engine)
    for path in _posts(own_world):
        for foreign in FOREIGN:
            form = {**LOGIN, "csrf": csrf, "name": "n", "days": "3"}
            sent = {**headers, **foreign}
            made.cookies.clear()
            answer = made.post(path, data=form, headers=sent)
            assert answer.status_code == 403, (path, foreign)
            assert "set-cookie" not in answer.headers
    assert _state(own_world.engine) == before


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/json", "multipart/form-data; boundary=x", ""]
)
def test_forms_are_forms(own_world: World, made: httpx.Client, kind: str) -> None:
    """What a foreign page can send without asking first, but no form."""
    headers, csrf = own_world.session("alice")
    for path in _posts(own_world):
        sent = {**headers, "content-type": kind}
        answer = made.post(path, content=f"csrf={csrf}&name=n&days=3", headers=sent)
        assert answer.status_code == 415, path


def test_no_route_changes_anything_when_it_is_read(own_world: World, made: httpx.Client) -> None:
    headers, csrf = own_world.session("alice")
    before = _state(own_world.engine)
    for path in _posts(own_world):
        for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
            answer = made.request(method, f"{path}?csrf={csrf}&name=n&days=3", headers=headers)
            usual = path == "/login" and method in ("GET", "HEAD")
            assert answer.status_code in ((200,) if usual else (404, 405)), (method, path)
            sent = {**headers, "x-http-method-override": "POST", "x-method-override": "POST"}
            made.request(method, f"{path}?_method=POST&csrf={csrf}", headers=sent)
    assert _state(own_world.engine) == before


def test_a_session_is_new_at_each_login(own_world: World, made: httpx.Client) -> None:
    fixed = "attackers-choice"
    first = _post(made, "/login", LOGIN, cookie=f"stripewise={fixed}")
    secret = first.cookies["stripewise"]
    assert (first.status_code, first.headers["location"]) == (303, "/jobs")
    assert secret != fixed
    assert _is_in(made, secret)
    assert not _is_in(made, fixed)
    second = _post(made, "/login", LOGIN, cookie=f"stripewise={secret}").cookies["stripewise"]
    assert second != secret
    assert _is_in(made, second)
    assert not _is_in(made, secret)


def test_a_cookie_is_for_the_portal_alone(own_world: World, made: httpx.Client) -> None:
    told = _post(made, "/login", LOGIN).headers["set-cookie"].lower()
    assert "httponly" in told
    assert "samesite=lax" in told
    assert "path=/" in told
    assert "domain" not in told
    secure = PortalSettings(server=ServerSettings(url="https://testserver"))
    from starlette.testclient import TestClient

    app = create_app(own_world.engine, settings=secure)
    with TestClient(app, base_url="https://testserver", follow_redirects=False) as other:
        answer = other.post("/login", data=LOGIN)
    told = answer.headers["set-cookie"].lower()
    assert told.startswith("__host-stripewise=")
    assert "; secure" in told
    assert "domain" not in told
    assert answer.headers["strict-transport-security"]


def test_logging_out_ends_the_session(own_world: World, made: httpx.Client) -> None:
    headers, csrf = own_world.session("alice")
    secret = headers["cookie"].partition("=")[2]
    assert _is_in(made, secret)
    assert _post(made, "/logout", {"csrf": csrf}, **headers).status_code == 303
    assert not _is_in(made, secret)


@pytest.mark.extended
@pytest.mark.parametrize("change", ["role", "disable", "password", "person"])
def test_a_change_of_the_account_ends_its_sessions(
    own_world: World, made: httpx.Client, change: str
) -> None:
    headers, _ = own_world.session("alice")
    secret = headers["cookie"].partition("=")[2]
    assert _is_in(made, secret)
    accounts = Accounts(own_world.engine)
    {
        "role": lambda: accounts.set_role("alice", "support", by="t"),
        "disable": lambda: accounts.disable("alice", by="t"),
        "password": lambda: accounts.set_password("alice", PASSWORD + "!", by="t"),
        "person": lambda: accounts.link("alice", "", by="t"),
    }[change]()
    assert not _is_in(made, secret)


def test_a_token_makes_no_tokens_and_shows_none(own_world: World, made: httpx.Client) -> None:
    before = _state(own_world.engine)
    for who in ("alice", "admin"):
        headers = own_world.headers(who)
        _, csrf = own_world.session("alice")
        form = {"name": "n", "days": "3", "csrf": csrf}
        assert _post(made, "/account/tokens", form, **headers).status_code == 403
        assert _post(made, "/account/tokens", {**form, "csrf": ""}, **headers).status_code == 403
        assert _post(made, "/account/tokens/1/revoke", form, **headers).status_code == 403
        assert ask(made, "/account", headers).status_code == 303
    assert _state(own_world.engine)[1] == before[1]


def test_a_token_of_another_account_cannot_be_revoked(
    own_world: World, made: httpx.Client
) -> None:
    headers, csrf = own_world.session("lonely")
    with own_world.engine.connect() as connection:
        keys = [*connection.scalars(select(Token.id)), 10**17]
    own = {line.id for line in Tokens(own_world.engine).list("lonely")}
    answers = [
        _post(made, f"/account/tokens/{key}/revoke", {"csrf": csrf}, **headers)
        for key in keys
        if key not in own
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert ask(made, "/jobs", own_world.headers("bob")).status_code == 200


def test_a_token_counts_in_its_header_alone(own_world: World, made: httpx.Client) -> None:
    token = own_world.tokens["bob"]
    for path in (f"/api/v1/me?token={token}", f"/api/v1/me?access_token={token}"):
        assert made.get(path).status_code == 401
    for headers in (
        {"cookie": f"stripewise={token}"}, {"x-api-key": token}, {"authorization": token},
        {"authorization": f"Basic {token}"}, {"authorization": f"Bearer {token}x"},
        {"authorization": f"Bearer {token} {token}"}, {"authorization": "Bearer"},
        {"authorization": "Bearer "}, {"authorization": "Bearer swt_"},
    ):  # fmt: skip
        assert ask(made, "/api/v1/me", headers).status_code == 401, headers
    session, _ = own_world.session("alice")
    with_bad = {**session, "authorization": "Bearer wrong"}
    assert ask(made, "/api/v1/me", with_bad).status_code == 401
    assert ask(made, "/api/v1/me", own_world.headers("bob")).json()["login"] == "bob"


def test_tokens_end_with_their_account(own_world: World, made: httpx.Client) -> None:
    headers = own_world.headers("alice")
    assert ask(made, "/api/v1/jobs", headers).status_code == 200
    accounts = Accounts(own_world.engine)
    accounts.disable("alice", by="t")
    assert ask(made, "/api/v1/jobs", headers).status_code == 401
    accounts.enable("alice", by="t")
    assert ask(made, "/api/v1/jobs", headers).status_code == 401


def test_headers_of_a_proxy_are_not_believed(own_world: World, made: httpx.Client) -> None:
    for name in ("x-remote-user", "remote-user", "x-forwarded-user", "x-webauth-user",
                 "x-forwarded-email", "x-grafana-user", "x-auth-request-user"):  # fmt: skip
        headers = {name: "admin", "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1"}
        assert ask(made, "/api/v1/me", headers).status_code == 401
        assert ask(made, "/staff", headers).status_code == 404


@pytest.mark.extended
@pytest.mark.parametrize(
    "target",
    [
        "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example",
        "javascript:alert(1)", "///evil.example", "/\t/evil.example", "/\n//evil.example",
        " //evil.example", "http:evil.example", "/%0d%0aset-cookie:a=b\r\nx: y", "//@evil.example",
    ],
)  # fmt: skip
def test_logins_lead_nowhere_else(own_world: World, made: httpx.Client, target: str) -> None:
    answer = _post(made, "/login", {**LOGIN, "next": target})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    shown = made.get("/login", params={"next": target})
    assert "evil.example" not in shown.text
    assert "javascript" not in shown.text


def test_requests_for_another_host_are_refused(own_world: World, made: httpx.Client) -> None:
    for host in ("evil.example", "testserver.evil.example", "evil.example:80", "", "localhost",
                 "testserver@evil.example", "testserver\tevil"):  # fmt: skip
        for path in ("/", "/jobs", "/storage/"):
            answer = made.get(path, headers={"host": host})
            assert answer.status_code == 400, host
            assert "evil" not in answer.text + str(answer.headers)
    forged = {"x-forwarded-host": "evil.example", "forwarded": "host=evil.example",
              "x-original-url": "/staff", "x-rewrite-url": "/staff"}  # fmt: skip
    for path in ("/jobs", "/storage/", "/login", "/api/v1/jobs/"):
        answer = made.get(path, headers=forged)
        assert "evil" not in answer.text + str(answer.headers)
