# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tokens: shown once, bounded in scope and time, revoked."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from sqlalchemy import Engine, select

from stripewise.centre.database.accounts import Account, Accounts, Lifetimes, Tokens
from stripewise.centre.database.accounts._sessions import SCOPES
from stripewise.centre.database.tables import Token
from stripewise.core.errors import UsageError
from support.audit_trail import AuditTrail
from support.clock import Clock

DAY = 86400


@pytest.fixture(autouse=True)
def alice(accounts: Accounts) -> Account:
    return accounts.make("alice", by="root")


def used_at(engine: Engine) -> int | None:
    with engine.begin() as connection:
        found: int | None = connection.scalar(select(Token.used_at))
        return found


def test_the_database_has_no_secret(engine: Engine, tokens: Tokens) -> None:
    secret, line = tokens.make("alice", "scripts", ["read"], by="alice")
    assert secret.startswith("swt_")
    assert len(secret) >= 4 + 43
    with engine.begin() as connection:
        row = connection.execute(select(Token)).one()
    assert row.hash == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in repr(row)
    assert tokens.list() == [line]
    assert (line.login, line.name, line.scopes, line.used_at) == (
        "alice", "scripts", ("read",), None,
    )  # fmt: skip
    bearer = tokens.find(secret)
    assert bearer is not None
    assert (bearer.account.login, bearer.scopes) == ("alice", {"read"})
    wrong: Any
    for wrong in ("", "swt_", secret[4:], secret + "x", row.hash, "swt_" + row.hash, "swt_\udcff"):
        assert tokens.find(wrong) is None


def test_a_token_expires(tokens: Tokens, clock: Clock) -> None:
    secret, line = tokens.make("alice", "scripts", ["read"], by="alice")
    assert line.expires_at == clock.seconds + 90 * DAY
    clock.pass_by(90 * DAY - 1)
    assert tokens.find(secret) is not None
    clock.pass_by(1)
    assert tokens.find(secret) is None


@pytest.mark.parametrize("days", [0, -1, 31])
def test_no_token_lasts_longer_than_the_site_allows(
    engine: Engine, clock: Clock, days: int
) -> None:
    tokens = Tokens(engine, Lifetimes(token_days=30), now=clock)
    with pytest.raises(UsageError, match=f"good for {days} days: choose 1 to 30"):
        tokens.make("alice", "scripts", ["read"], by="alice", days=days)
    tokens.make("alice", "scripts", ["read"], by="alice", days=30)


@pytest.mark.parametrize(
    ("scopes", "why"), [([], "a token needs a scope"), (["write"], "no scope is called 'write'")]
)
def test_a_token_has_scopes_that_there_are(tokens: Tokens, scopes: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        tokens.make("alice", "scripts", scopes, by="alice")


def test_who_may_read_names_of_files_may_read(tokens: Tokens) -> None:
    secret, line = tokens.make("alice", "scripts", ["read:files"], by="alice")
    assert line.scopes == SCOPES
    bearer = tokens.find(secret)
    assert bearer is not None
    assert bearer.scopes == set(SCOPES)


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "x" * 256])
def test_a_token_has_a_name(tokens: Tokens, name: str) -> None:
    with pytest.raises(UsageError, match="is not a valid name for a token"):
        tokens.make("alice", name, ["read"], by="alice")


def test_use_is_noted_once_a_minute(engine: Engine, tokens: Tokens, clock: Clock) -> None:
    secret, _ = tokens.make("alice", "scripts", ["read"], by="alice")
    assert used_at(engine) is None
    tokens.find(secret)
    first = used_at(engine)
    assert first == clock.seconds
    clock.pass_by(59)
    tokens.find(secret)
    assert used_at(engine) == first
    clock.pass_by(1)
    tokens.find(secret)
    assert used_at(engine) == clock.seconds


def test_a_revoked_token_opens_nothing(
    accounts: Accounts, tokens: Tokens, trail: AuditTrail
) -> None:
    accounts.make("bob", by="root")
    secret, line = tokens.make("alice", "scripts", ["read"], by="alice")
    with pytest.raises(UsageError, match=f"there is no token {line.id}"):
        tokens.revoke(line.id, by="bob", login="bob")
    assert tokens.find(secret) is not None
    tokens.revoke(line.id, by="alice", login="alice")
    assert tokens.find(secret) is None
    with pytest.raises(UsageError, match="there is no token"):
        tokens.revoke(line.id, by="root")
    said = [(one.login, one.action, one.target) for one in reversed(trail.list(most=2))]
    assert said == [
        ("alice", "token made", "scripts of alice: read, 90 days"),
        ("alice", "token revoked", "scripts of alice"),
    ]


def test_the_list_is_of_one_account_or_of_all(accounts: Accounts, tokens: Tokens) -> None:
    accounts.make("bob", by="root")
    for login in ("alice", "bob"):
        tokens.make(login, f"of {login}", ["read", "read:files"], by=login)
    assert [line.name for line in tokens.list()] == ["of bob", "of alice"]
    assert [line.name for line in tokens.list("alice")] == ["of alice"]
    with pytest.raises(UsageError, match="no account is called 'carol'"):
        tokens.list("carol")


def test_a_disabled_account_gets_no_token(accounts: Accounts, tokens: Tokens) -> None:
    accounts.disable("alice", by="root")
    with pytest.raises(UsageError, match="is disabled"):
        tokens.make("alice", "scripts", ["read"], by="root")
