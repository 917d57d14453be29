# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The login by OpenID Connect, against a real provider."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import Engine

from stripewise.centre.database.accounts import Accounts, Attempts
from stripewise.centre.portal import PortalSettings
from stripewise.centre.portal.logins._base import Identity
from stripewise.centre.portal.logins._entrance import Entrance
from stripewise.centre.portal.logins._oidc import Oidc
from stripewise.core.errors import LoginError
from support.clock import Clock
from support.fake_oidc import CLIENT
from support.oidc_settings import CALLBACK, SECRET, query_of, settings

# ---- a real provider -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    mock = pytest.importorskip("oidc_provider_mock", reason="oidc-provider-mock is not installed")
    users = [
        mock.User(sub="4711", claims={"uid": "alice", "groups": ["hpc", "operators"]}),
        mock.User(sub="4712", claims={"uid": "bob", "groups": ["hpc"]}),
        mock.User(sub="nameless", claims={}),
    ]
    with mock.run_server_in_thread(user_claims=users, require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


def logged_in_at(url: str, **form: str) -> dict[str, str]:
    """Log in at the provider as a browser does; return what it sends the browser back with."""
    with httpx.Client() as browser:
        assert browser.get(url).status_code == 200
        answer = browser.post(url, data=form)
    assert answer.status_code == 302, answer.text
    place = answer.headers["Location"]
    assert place.startswith(CALLBACK + "?")
    return query_of(place)


def test_a_user_of_a_real_provider_logs_in(issuer: str, attempts: Attempts) -> None:
    login = Oidc(settings(issuer), attempts, CALLBACK)
    departure = login.start("/jobs?sort=io_seconds")
    query = logged_in_at(departure.url, sub="4711")
    arrival = login.finish(query, departure.cookie)
    assert arrival.identity == Identity("alice", "oidc")
    assert arrival.next_path == "/jobs?sort=io_seconds"


def test_groups_of_a_real_provider_are_roles(
    issuer: str, engine: Engine, accounts: Accounts, clock: Clock
) -> None:
    oidc = {"issuer": issuer, "client_id": CLIENT, "client_secret": SECRET, "allow_plain": True,
            "username_claim": "uid", "groups_claim": "groups",
            "roles": {"support": ["operators", "helpers"], "admin": ["wheel"]}}  # fmt: skip
    found = PortalSettings.model_validate({"login": {"oidc": oidc}})
    way = Entrance(found, engine, CALLBACK, clock)
    assert way.providers == {"oidc": "the centre's login"}
    for sub, login, role in (("4711", "alice", "support"), ("4712", "bob", "user")):
        departure = way.leave("oidc", "//evil.org")
        query = logged_in_at(departure.url, sub=sub)
        account, path = way.come_back("oidc", query, departure.cookie)
        assert (account.login, account.role, path) == (login, role, "/")
    accounts.set_role("bob", "admin", by="root")
    departure = way.leave("oidc", "/")
    account, _ = way.come_back("oidc", logged_in_at(departure.url, sub="4712"), departure.cookie)
    assert account.role == "user"


def test_a_login_of_a_real_provider_counts_once(issuer: str, attempts: Attempts) -> None:
    login = Oidc(settings(issuer), attempts, CALLBACK)
    departure = login.start("/")
    query = logged_in_at(departure.url, sub="4711")
    login.finish(query, departure.cookie)
    with pytest.raises(LoginError, match="was used already"):
        login.finish(query, departure.cookie)
    again = login.start("/")
    with pytest.raises(LoginError, match="does not confirm the login"):
        login.finish({**query, "state": query_of(again.url)["state"]}, again.cookie)


def test_who_refuses_at_a_real_provider_is_not_logged_in(issuer: str, attempts: Attempts) -> None:
    login = Oidc(settings(issuer), attempts, CALLBACK)
    departure = login.start("/")
    query = logged_in_at(departure.url, action="deny")
    query.setdefault("state", query_of(departure.url)["state"])
    with pytest.raises(LoginError, match="the login service refused: "):
        login.finish(query, departure.cookie)


def test_a_user_without_a_name_is_told_so(issuer: str, attempts: Attempts) -> None:
    login = Oidc(settings(issuer), attempts, CALLBACK)
    departure = login.start("/")
    with pytest.raises(LoginError, match=r"does not say your user name \(claim uid\)"):
        login.finish(logged_in_at(departure.url, sub="nameless"), departure.cookie)


# ---- one that lies ---------------------------------------------------------------------------
