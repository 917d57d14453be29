# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All back ends together: whom they let in, and what is said to the others."""

from __future__ import annotations

from collections.abc import Callable

import argon2
import pytest
from sqlalchemy import Engine

from stripewise.centre.database.accounts import Account, Accounts
from stripewise.centre.portal import PortalSettings
from stripewise.centre.portal.logins._base import Login, throttle_keys
from stripewise.centre.portal.logins._entrance import Entrance
from stripewise.core.errors import LoginError
from support.clock import Clock

PASSWORD = "correct horse battery"
SECRET = "0123456789abcdef-a-secret"
CALLBACK = "https://portal.centre/login/oidc"


def entrance(engine: Engine, clock: Clock, *, create: bool = True, **logins: object) -> Entrance:
    data = {"accounts": {"create": create}, "login": logins}
    return Entrance(PortalSettings.model_validate(data), engine, CALLBACK, clock)


def by_proxy(
    engine: Engine, clock: Clock, *, create: bool = True
) -> Callable[..., Account | None]:
    """What comes of a name that a trusted proxy sends."""
    settings = {"networks": ["10.0.0.0/8"], "secret": SECRET}
    way = entrance(engine, clock, create=create, proxy=settings)

    def named(user: str, peer: str = "10.0.0.1") -> Account | None:
        headers = [("X-Remote-User", user), ("X-Stripewise-Secret", SECRET)]
        return way.by_headers(peer, headers)

    return named


def test_the_contract_lets_nobody_in() -> None:
    null = Login()
    assert null.password("alice", PASSWORD) is None
    assert null.from_headers("127.0.0.1", [("X-Remote-User", "alice")]) is None
    assert (null.takes_password, null.redirects, null.reads_headers) == (False, False, False)


@pytest.mark.extended
def test_local_accounts_come_in_by_their_password(
    engine: Engine, clock: Clock, accounts: Accounts
) -> None:
    accounts.make("alice", by="root", password=PASSWORD)
    way = entrance(engine, clock)
    assert way.has_form
    found = way.by_password("alice", PASSWORD)
    assert found is not None
    assert found.login == "alice"
    assert way.by_password("alice", "wrong") is None
    assert way.by_password("nobody", PASSWORD) is None
    assert way.providers == {}


def test_without_local_accounts_there_is_no_form(engine: Engine, clock: Clock) -> None:
    way = entrance(engine, clock, local={"enabled": False})
    assert not way.has_form
    assert way.by_password("alice", PASSWORD) is None
    with pytest.raises(LoginError, match="no such way to log in"):
        way.leave("oidc", "/")
    with pytest.raises(LoginError, match="no such way to log in"):
        way.come_back("oidc", {}, "")


@pytest.mark.extended
def test_an_unknown_user_and_a_wrong_password_take_the_same_work(
    engine: Engine, clock: Clock, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts.make("alice", by="root", password=PASSWORD)
    way = entrance(engine, clock)
    way.by_password("alice", "wrong")
    calls: list[str] = []
    verify = argon2.PasswordHasher.verify

    def counted(self: argon2.PasswordHasher, stored: str, password: str) -> bool:
        calls.append(password)
        return verify(self, stored, password)

    monkeypatch.setattr(argon2.PasswordHasher, "verify", counted)
    for user in ("alice", "nobody", "<script>"):
        calls.clear()
        assert way.by_password(user, "wrong") is None
        assert calls == ["wrong"]


def test_whom_the_proxy_names_gets_an_account(
    engine: Engine, clock: Clock, accounts: Accounts
) -> None:
    named = by_proxy(engine, clock)
    found = named("alice")
    assert found is not None
    assert (found.login, found.role, found.person) == ("alice", "user", "alice")
    assert [one.login for one in accounts.list()] == ["alice"]
    assert named("bob", "11.0.0.1") is None
    with pytest.raises(LoginError, match="cannot be the name"):
        named("<b>")


def test_a_user_without_account_is_told_so(engine: Engine, clock: Clock) -> None:
    with pytest.raises(LoginError, match="known as alice, but have no account in this portal"):
        by_proxy(engine, clock, create=False)("alice")


@pytest.mark.extended
def test_whom_the_proxy_names_does_not_get_a_local_account(
    engine: Engine, clock: Clock, accounts: Accounts
) -> None:
    accounts.make("alice", by="root", role="admin", password=PASSWORD)
    with pytest.raises(LoginError, match="has a password of its own"):
        by_proxy(engine, clock)("alice")
    found = entrance(engine, clock).by_password("alice", PASSWORD)
    assert found is not None
    assert found.role == "admin"


def test_a_disabled_account_is_told_so(engine: Engine, clock: Clock, accounts: Accounts) -> None:
    named = by_proxy(engine, clock)
    named("alice")
    accounts.disable("alice", by="root")
    with pytest.raises(LoginError, match="alice is disabled"):
        named("alice")


def test_failures_are_counted_by_name_and_by_network() -> None:
    assert throttle_keys("Alice ", "10.0.0.1") == throttle_keys("alice", "::ffff:10.0.0.1")
    assert throttle_keys("alice", "10.0.0.1") != throttle_keys("alice", "10.0.0.2")
    user, peer = throttle_keys("alice", "2001:db8::1")
    assert (user, peer) == throttle_keys("alice", "2001:db8::ffff:2")
    assert peer == "peer:2001:db8::/64"
    assert throttle_keys("alice", "2001:db8:0:1::1")[1] != peer
    assert throttle_keys("\udcff" * 10**5, "testclient")[1] == "peer:unknown"
    assert len(throttle_keys("x" * 10**5, "")[0]) < 100
