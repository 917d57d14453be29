# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sessions: how long they last, and what they leave behind."""

from __future__ import annotations

import hashlib
import time

import pytest
from sqlalchemy import Engine, func, select, update

from stripewise.centre.database.accounts import Account, Accounts, Lifetimes, Sessions, Tokens
from stripewise.centre.database.tables import Session, Token
from stripewise.core.errors import LoginError
from support.audit_trail import AuditTrail
from support.clock import Clock

LIMITS = Lifetimes(session_seconds=36000, idle_seconds=1800)


@pytest.fixture
def alice(accounts: Accounts) -> Account:
    return accounts.make("alice", by="root")


@pytest.fixture
def short(engine: Engine, clock: Clock) -> Sessions:
    return Sessions(engine, LIMITS, now=clock)


def rows(engine: Engine) -> list[tuple[str, int]]:
    with engine.begin() as connection:
        return [(row[0], row[1]) for row in
                connection.execute(select(Session.hash, Session.expires_at))]  # fmt: skip


def test_the_database_has_no_secret(engine: Engine, alice: Account, sessions: Sessions) -> None:
    one, two = (sessions.start(alice, backend="local") for _ in range(2))
    assert len({one.secret, two.secret, one.csrf, two.csrf}) == 4
    assert len(one.secret) >= 43
    kept = [key for key, _ in rows(engine)]
    assert sorted(kept) == sorted(
        hashlib.sha256(made.secret.encode()).hexdigest() for made in (one, two)
    )
    for key in kept:
        assert sessions.find(key) is None
    visit = sessions.find(one.secret)
    assert visit is not None
    assert (visit.account.login, visit.csrf) == ("alice", one.csrf)
    for wrong in ("", "x", one.secret[:-1], one.csrf, "\udcff"):
        assert sessions.find(wrong) is None


def test_a_session_ends_when_nobody_uses_it(alice: Account, short: Sessions, clock: Clock) -> None:
    secret = short.start(alice, backend="local").secret
    clock.pass_by(LIMITS.idle_seconds - 1)
    assert short.find(secret) is not None
    clock.pass_by(LIMITS.idle_seconds - 1)
    assert short.find(secret) is not None
    clock.pass_by(LIMITS.idle_seconds)
    assert short.find(secret) is None


def test_a_session_ends_however_busy_it_is(alice: Account, short: Sessions, clock: Clock) -> None:
    made = short.start(alice, backend="local")
    assert made.expires_at == clock.seconds + LIMITS.session_seconds
    pages = 0
    while short.find(made.secret) is not None:
        clock.pass_by(600)
        pages += 1
    assert pages == LIMITS.session_seconds // 600


def test_a_shorter_limit_holds_for_sessions_that_began_before(
    engine: Engine, alice: Account, sessions: Sessions, clock: Clock
) -> None:
    secret = sessions.start(alice, backend="local").secret
    clock.pass_by(61)
    assert Sessions(engine, Lifetimes(session_seconds=60), now=clock).find(secret) is None


def test_pages_in_a_row_write_once_a_minute(
    engine: Engine, alice: Account, short: Sessions, clock: Clock
) -> None:
    secret = short.start(alice, backend="local").secret
    before = rows(engine)
    clock.pass_by(59)
    short.find(secret)
    assert rows(engine) == before
    clock.pass_by(1)
    short.find(secret)
    assert rows(engine)[0][1] == before[0][1] + 60


def test_a_login_gives_a_new_secret_and_ends_the_old_session(
    engine: Engine, alice: Account, sessions: Sessions, clock: Clock
) -> None:
    old = sessions.start(alice, backend="local").secret
    clock.pass_by(5)
    new = sessions.start(alice, backend="local", old=old).secret
    assert new != old
    assert sessions.find(old) is None
    assert sessions.find(new) is not None
    assert len(rows(engine)) == 1


def test_logout_ends_the_session_on_the_server(
    alice: Account, sessions: Sessions, trail: AuditTrail
) -> None:
    secret = sessions.start(alice, backend="oidc").secret
    sessions.end(secret)
    assert sessions.find(secret) is None
    sessions.end(secret)
    sessions.end("")
    said = [(line.login, line.action, line.target) for line in trail.list(most=2)]
    assert said == [("alice", "logged out", ""), ("alice", "logged in", "oidc")]


def test_sessions_that_are_over_do_not_pile_up(
    engine: Engine, alice: Account, short: Sessions, clock: Clock
) -> None:
    for _ in range(5):
        short.start(alice, backend="local")
    clock.pass_by(LIMITS.idle_seconds)
    short.start(alice, backend="local")
    with engine.begin() as connection:
        assert connection.scalar(select(func.count()).select_from(Session)) == 1


def test_an_account_that_changes_during_the_login_gets_no_session(
    accounts: Accounts, alice: Account, sessions: Sessions
) -> None:
    accounts.set_role("alice", "admin", by="root")
    with pytest.raises(LoginError, match="log in again"):
        sessions.start(alice, backend="local")
    accounts.set_role("alice", "user", by="root")
    accounts.disable("alice", by="root")
    with pytest.raises(LoginError, match="log in again"):
        sessions.start(alice, backend="local")


def test_a_login_is_noted(accounts: Accounts, alice: Account, sessions: Sessions) -> None:
    sessions.start(alice, backend="local")
    found = accounts.find("alice")
    assert found is not None
    assert found.last_seen_at == sessions.now()


@pytest.mark.extended(keep=1)
def test_no_page_waits_for_somebody_who_writes(
    engine: Engine, alice: Account, short: Sessions, tokens: Tokens, clock: Clock
) -> None:
    secret = short.start(alice, backend="local").secret
    bearer, _ = tokens.make("alice", "scripts", ["read"], by="alice")
    clock.pass_by(LIMITS.idle_seconds - 10)
    with engine.execution_options(writing=True).begin() as busy:
        busy.execute(update(Session).values(csrf="x"))
        busy.execute(update(Token).values(name="x"))
        begin = time.monotonic()
        assert short.find(secret) is not None
        assert tokens.find(bearer) is not None
        assert time.monotonic() - begin < 25, "who waits for a writer does so for 30 s"
    assert short.find(secret) is not None
    clock.pass_by(LIMITS.idle_seconds - 10)
    assert short.find(secret) is not None
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            (usual,) = connection.exec_driver_sql("PRAGMA busy_timeout").one()
            assert usual == 30_000
        else:
            (usual,) = connection.exec_driver_sql("SHOW lock_timeout").one()
            assert usual == "0"
