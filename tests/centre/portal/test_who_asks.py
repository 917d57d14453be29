# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of clients behind proxies, what proxies hand on, and the portal's own address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import ValidationError
from sqlalchemy import Engine
from starlette.requests import Request
from starlette.testclient import TestClient

from stripewise.centre.portal import PortalSettings, create_app
from stripewise.centre.portal._app import callback
from stripewise.centre.portal._gate import RateLimit, client_of
from stripewise.centre.portal._settings import ServerSettings
from stripewise.cli import main

SECRET = "0123456789abcdef-a-secret"
PROXY = {"networks": ["127.0.0.1/32"], "secret": SECRET}
NAMED = {"x-remote-user": "alice", "x-stripewise-secret": SECRET}


def portal(engine: Engine, url: str = "http://testserver", **sections: Any) -> Any:
    server = {"url": url, **sections.pop("server", {})}
    return create_app(engine, settings=PortalSettings.model_validate(
        {"server": server, **sections}))  # fmt: skip


def request(peer: str, *told: str) -> Request:
    headers = [(b"x-forwarded-for", one.encode()) for one in told]
    return Request({"type": "http", "client": (peer, 1), "headers": headers})


def asked(peer: str, *told: str, proxies: tuple[str, ...] = ("10.0.0.5", "10.1.0.0/16")) -> str:
    limit = RateLimit(lambda *_: None, ServerSettings(proxies=proxies))  # type: ignore[arg-type]
    return client_of(request(peer, *told), limit._proxies)


def test_a_client_cannot_say_where_it_comes_from() -> None:
    assert asked("192.0.2.1", "198.51.100.7") == "192.0.2.1"
    assert asked("10.0.0.5", "198.51.100.7, 192.0.2.1") == "192.0.2.1"


def test_what_a_proxy_adds_as_a_header_of_its_own_counts() -> None:
    """As HAProxy does: the client's own header stays before it."""
    assert asked("10.0.0.5", "198.51.100.7", "192.0.2.1") == "192.0.2.1"
    assert asked("10.0.0.5", "198.51.100.7", "192.0.2.1, 10.1.2.3") == "192.0.2.1"


@pytest.mark.parametrize("peer", ["10.0.0.5", "::ffff:10.0.0.5", "10.1.255.1"])
def test_proxies_are_known_by_address_and_by_network(peer: str) -> None:
    assert asked(peer, "192.0.2.1") == "192.0.2.1"
    assert asked(peer, "192.0.2.1, ::ffff:10.1.2.3") == "192.0.2.1"
    assert asked(peer) == peer


@pytest.mark.parametrize("proxies", [["proxy.example.org"], ["0.0.0.0/0"], ["10.0.0.1/8"]])
def test_what_is_no_proxy_is_refused_at_the_start(proxies: list[str]) -> None:
    with pytest.raises(ValidationError):
        ServerSettings.model_validate({"proxies": proxies})


@pytest.mark.extended
@pytest.mark.parametrize("scheme", ["Negotiate YIIabc", "Basic YWxpY2U6cHc=", "Digest a=b"])
def test_a_proxy_may_hand_on_how_somebody_logged_in_there(engine: Engine, scheme: str) -> None:
    app = portal(engine, login={"proxy": PROXY})
    made = TestClient(app, client=("127.0.0.1", 1))
    answer = made.get("/api/v1/me", headers={**NAMED, "authorization": scheme})
    assert answer.status_code == 200
    assert answer.json()["login"] == "alice"
    assert made.get("/api/v1/me", headers={"authorization": scheme}).status_code == 401
    forged = {**NAMED, "authorization": "bearer swt_x"}
    assert made.get("/api/v1/me", headers=forged).status_code == 401


@pytest.mark.extended
@pytest.mark.parametrize(
    ("url", "start"),
    [("https://testserver", "__Host-stripewise-attempt="),
     ("http://testserver", "stripewise-attempt=")],
)  # fmt: skip
def test_no_other_host_of_the_domain_can_set_the_cookie_of_a_login(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, url: str, start: str
) -> None:
    from stripewise.centre.portal.logins._base import Departure
    from stripewise.centre.portal.logins._entrance import Entrance

    monkeypatch.setattr(Entrance, "leave", lambda *_: Departure("https://sso.example", "c"))
    made = TestClient(portal(engine, url), base_url=url, follow_redirects=False)
    told = made.get("/login/oidc").headers["set-cookie"]
    assert told.startswith(start)
    assert ("; Secure" in told) == url.startswith("https")
    assert "domain" not in told.lower()
    gone = made.get("/login/oidc/callback?state=x&code=y").headers["set-cookie"]
    assert gone.startswith(f'{start}""')
    assert "Max-Age=0" in gone
    assert ("; Secure" in gone) == url.startswith("https")


def test_a_portal_at_an_address_of_ipv6_answers(engine: Engine) -> None:
    settings = PortalSettings(server=ServerSettings(host="::1", port=8080))
    assert settings.server.origin == "http://[::1]:8080"
    made = TestClient(create_app(engine, settings=settings), base_url=settings.server.origin)
    assert made.get("/login").status_code == 200
    assert made.get("/login", headers={"host": "evil.example"}).status_code == 400


def test_a_portal_at_all_addresses_needs_its_name(tmp_path: Path) -> None:
    config = tmp_path / "portal.toml"
    config.write_text('[server]\nhost = "0.0.0.0"\ncertificate = "/c"\nkey = "/k"\n')
    config.chmod(0o600)
    done = CliRunner().invoke(main, ["centre", "serve", "--config", str(config), "--db",
                                     str(tmp_path / "x.sqlite")])  # fmt: skip
    assert done.exit_code != 0
    assert "give url in [server]" in done.output


def test_the_manual_names_the_address_that_the_provider_sends_browsers_to() -> None:
    manual = Path(__file__).parents[3] / "docs" / "how-to" / "log-in-to-the-portal.md"
    address = callback(PortalSettings(server=ServerSettings(url="https://PORTAL")))
    assert f"`{address}`" in manual.read_text()


@pytest.mark.extended
def test_one_name_in_other_letters_is_one_name(engine: Engine) -> None:
    """Directories behind providers take wide letters for plain ones (seen with slapd)."""
    app = portal(engine, server={"logins_per_minute": 2})
    wide = "\uff41\uff4c\uff49\uff43\uff45"
    codes = []
    for number, user in enumerate(("alice", wide, "\uff21lice")):
        made = TestClient(app, client=(f"192.0.2.{number}", 1))
        codes.append(made.post("/login", data={"user": user, "secret": "wrong"}).status_code)
    assert codes == [401, 401, 429]
