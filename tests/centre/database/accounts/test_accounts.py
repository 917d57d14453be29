# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Accounts: made, disabled, changed, opened by a password, let in by another back end."""

from __future__ import annotations

from typing import Any

import argon2
import pytest
from sqlalchemy import Engine, insert, select, update

from stripewise.centre.database.accounts import Accounts, Sessions, Tokens
from stripewise.centre.database.accounts._desk import is_login
from stripewise.centre.database.tables import Person, Principal
from stripewise.core.errors import LoginError, UsageError
from support.audit_trail import AuditTrail

PASSWORD = "correct horse battery"


def stored_password(engine: Engine, login: str) -> str | None:
    with engine.begin() as connection:
        found: str | None = connection.scalar(
            select(Principal.password).where(Principal.login == login)
        )
        return found


def actions(trail: AuditTrail) -> list[tuple[str, str, str]]:
    return [(line.login, line.action, line.target) for line in reversed(trail.list())]


@pytest.mark.extended(keep=1)
def test_a_new_account_is_the_user_of_its_name(engine: Engine, accounts: Accounts) -> None:
    with engine.execution_options(writing=True).begin() as connection:
        connection.execute(insert(Person).values(name="alice"))
        known = connection.scalar(select(Person.id).where(Person.name == "alice"))
    made = accounts.make("alice", by="root", password=PASSWORD)
    assert (made.person_id, made.person, made.role) == (known, "alice", "user")
    assert made.has_password
    assert not made.is_disabled
    assert made.last_seen_at is None
    assert accounts.find("alice") == made


def test_whose_jobs_are_an_accounts_own_can_be_said(accounts: Accounts) -> None:
    assert accounts.make("staff", by="root", person="").person_id is None
    assert accounts.make("a.liddell", by="root", person="alice").person == "alice"
    accounts.link("staff", "alice", by="root")
    found = [(one.login, one.person) for one in accounts.list()]
    assert found == [("a.liddell", "alice"), ("staff", "alice")]


@pytest.mark.extended(keep=5)
@pytest.mark.parametrize(
    "login", ["", "a b", "a/b", "../x", "-x", "a\0", "<b>", "é", "a\n", "x" * 256, "a'b", "a%"]
)
def test_a_name_that_is_none_is_refused_and_never_found(accounts: Accounts, login: str) -> None:
    assert not is_login(login)
    with pytest.raises(UsageError, match="cannot be the name of an account"):
        accounts.make(login, by="root")
    assert accounts.find(login) is None
    assert accounts.check_password(login, PASSWORD) is None


def test_what_cannot_be_is_refused(accounts: Accounts) -> None:
    accounts.make("alice", by="root")
    with pytest.raises(UsageError, match="exists"):
        accounts.make("alice", by="root")
    with pytest.raises(UsageError, match="no role is called 'root': choose user, support, admin"):
        accounts.make("bob", by="root", role="root")
    for password in ("x", "x" * 1025):
        with pytest.raises(UsageError, match="choose 12 to 1024"):
            accounts.make("bob", by="root", password=password)
    with pytest.raises(UsageError, match="no account is called 'bob'"):
        accounts.set_role("bob", "admin", by="root")
    assert [one.login for one in accounts.list()] == ["alice"]


@pytest.mark.extended
def test_a_password_opens_its_account_alone(engine: Engine, accounts: Accounts) -> None:
    accounts.make("alice", by="root", password=PASSWORD)
    accounts.make("bob", by="root")
    found = accounts.check_password("alice", PASSWORD)
    assert found is not None
    assert found.login == "alice"
    assert str(stored_password(engine, "alice")).startswith("$argon2id$")
    for login, password in [
        ("alice", ""), ("alice", PASSWORD + "x"), ("alice", PASSWORD.upper()), ("Alice", PASSWORD),
        ("bob", PASSWORD), ("bob", ""), ("nobody", PASSWORD), ("alice", "\udcff"),
        ("alice", "x" * 5000),
    ]:  # fmt: skip
        assert accounts.check_password(login, password) is None, (login, password)
    accounts.disable("alice", by="root")
    assert accounts.check_password("alice", PASSWORD) is None


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("login", ["alice", "without", "disabled", "nobody", "a b", ""])
def test_the_same_work_is_done_whoever_asks(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch, login: str
) -> None:
    accounts.make("alice", by="root", password=PASSWORD)
    accounts.make("without", by="root")
    accounts.make("disabled", by="root", password=PASSWORD)
    accounts.disable("disabled", by="root")
    accounts.check_password("alice", PASSWORD)
    verified: list[Any] = []
    verify = argon2.PasswordHasher.verify

    def counted(self: argon2.PasswordHasher, stored: str, password: str) -> bool:
        verified.append(argon2.extract_parameters(stored))
        return verify(self, stored, password)

    monkeypatch.setattr(argon2.PasswordHasher, "verify", counted)
    assert accounts.check_password(login, "a wrong password") is None
    assert verified == [argon2.extract_parameters(argon2.PasswordHasher().hash("x"))]


@pytest.mark.extended(keep=1)
def test_a_dated_hash_is_renewed_at_login(engine: Engine, accounts: Accounts) -> None:
    accounts.make("alice", by="root", password=PASSWORD)
    weak = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    with engine.execution_options(writing=True).begin() as connection:
        connection.execute(update(Principal).values(password=weak))
    assert accounts.check_password("alice", "a wrong password") is None
    assert stored_password(engine, "alice") == weak
    assert accounts.check_password("alice", PASSWORD) is not None
    assert stored_password(engine, "alice") != weak
    assert accounts.check_password("alice", PASSWORD) is not None


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("change", ["disable", "password", "no password", "role", "person"])
def test_a_change_ends_the_sessions_of_its_account_alone(
    accounts: Accounts, sessions: Sessions, change: str
) -> None:
    alice = accounts.make("alice", by="root", password=PASSWORD)
    bob = accounts.make("bob", by="root", password=PASSWORD)
    first, second = (sessions.start(alice, backend="local").secret for _ in range(2))
    other = sessions.start(bob, backend="local").secret
    assert sessions.find(first) is not None
    assert sessions.find(second) is not None
    if change == "disable":
        accounts.disable("alice", by="root")
    elif change == "role":
        accounts.set_role("alice", "support", by="root")
    elif change == "person":
        accounts.link("alice", "carol", by="root")
    else:
        accounts.set_password("alice", PASSWORD if change == "password" else "", by="root")
    assert sessions.find(first) is None
    assert sessions.find(second) is None
    assert sessions.find(other) is not None


def test_a_disabled_account_comes_back_without_its_tokens(
    accounts: Accounts, tokens: Tokens
) -> None:
    accounts.make("alice", by="root")
    secret, _ = tokens.make("alice", "scripts", ["read"], by="alice")
    accounts.disable("alice", by="root")
    assert tokens.find(secret) is None
    with pytest.raises(LoginError, match="is disabled"):
        accounts.admit("alice", backend="oidc", create=True)
    accounts.enable("alice", by="root")
    assert accounts.admit("alice", backend="oidc", create=False).login == "alice"
    assert tokens.find(secret) is None


def test_a_user_whom_a_back_end_names_gets_an_account_if_the_site_wants_it(
    accounts: Accounts,
) -> None:
    with pytest.raises(LoginError, match="you are known as alice, but have no account"):
        accounts.admit("alice", backend="oidc", create=False)
    assert accounts.list() == []
    made = accounts.admit("alice", backend="oidc", create=True)
    assert (made.role, made.person) == ("user", "alice")
    assert accounts.admit("alice", backend="oidc", create=False) == made
    for login in ("", "a b", "x" * 300, "<script>"):
        with pytest.raises(LoginError, match="cannot be the name of an account"):
            accounts.admit(login, backend="oidc", create=True)


def test_a_back_end_that_knows_roles_decides_about_them(
    accounts: Accounts, sessions: Sessions
) -> None:
    made = accounts.admit("alice", backend="oidc", create=True, role="support")
    assert made.role == "support"
    secret = sessions.start(made, backend="oidc").secret
    assert accounts.admit("alice", backend="oidc", create=True).role == "support"
    assert sessions.find(secret) is not None
    assert accounts.admit("alice", backend="oidc", create=True, role="user").role == "user"
    assert sessions.find(secret) is None


def test_no_directory_opens_an_account_with_a_password_of_its_own(accounts: Accounts) -> None:
    accounts.make("admin", by="root", role="admin", password=PASSWORD)
    with pytest.raises(LoginError, match="has a password of its own"):
        accounts.admit("admin", backend="oidc", create=True, role="user")
    admin = accounts.find("admin")
    assert admin is not None
    assert admin.role == "admin"


@pytest.mark.extended(keep=1)
def test_every_change_is_in_the_audit_trail(accounts: Accounts, trail: AuditTrail) -> None:
    accounts.make("alice", by="cli:root", role="support", password=PASSWORD)
    accounts.set_role("alice", "admin", by="cli:root")
    accounts.set_password("alice", "another password", by="alice")
    accounts.set_password("alice", "", by="alice")
    accounts.link("alice", "", by="cli:root")
    accounts.disable("alice", by="bob")
    accounts.enable("alice", by="bob")
    accounts.admit("carol", backend="oidc", create=True)
    assert actions(trail) == [
        ("cli:root", "account made", "alice as support"),
        ("cli:root", "role set to admin", "alice"),
        ("alice", "password set", "alice"),
        ("alice", "password removed", "alice"),
        ("cli:root", "person set", "alice"),
        ("bob", "account disabled", "alice"),
        ("bob", "account enabled", "alice"),
        ("oidc", "account made", "carol as user"),
    ]


def test_the_trail_is_read_in_parts(trail: AuditTrail) -> None:
    for number in range(5):
        trail.add("alice", "looked", f"job {number}")
    newest = trail.list(most=2)
    assert [line.target for line in newest] == ["job 4", "job 3"]
    older = trail.list(before=newest[-1].id, most=2)
    assert [line.target for line in older] == ["job 2", "job 1"]
