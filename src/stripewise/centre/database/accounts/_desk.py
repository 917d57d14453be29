# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gives account operations a clock, transactions and an audit trail, and finds accounts."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import DBAPIError

from stripewise.centre.database._engine import database_errors, transaction
from stripewise.centre.database.tables._access import Audit, Principal
from stripewise.centre.database.tables._jobs import Person
from stripewise.core.errors import UsageError

ROLES = ("user", "support", "admin")
_LOGIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,254}")
_HOUR = 3600
_PATIENCE = 100
"""Time to wait for the database, in milliseconds."""


@dataclass(frozen=True)
class Lifetimes:
    """Lifetimes of sessions, logins under way and tokens.

    Attributes:
        session_seconds: Longest lifetime of a session after the login, however busy it is.
        idle_seconds: Time without a page after which a session ends.
        attempt_seconds: Longest time from leaving for an identity provider until coming back.
        token_days: Longest lifetime of a token.
    """

    session_seconds: int = 12 * _HOUR
    idle_seconds: int = 2 * _HOUR
    attempt_seconds: int = 600
    token_days: int = 366


@dataclass(frozen=True)
class Account:
    """An account of the portal.

    Attributes:
        role: One of `ROLES`.
        person_id / person: User whose jobs are the account's own; None and "" for nobody.
        has_password: Whether it logs in by a local password, and by nothing else.
        last_seen_at: When a session last began; None if never.
    """

    id: int
    login: str
    role: str
    person_id: int | None
    person: str
    is_disabled: bool
    has_password: bool
    last_seen_at: int | None


class Desk:
    """Base of account operations, which work on the database in transactions of their own.

    Methods that are called with an open connection take it as `on`: a request to the portal has
    one connection, and a request that waits for a second one while it holds the first may wait for
    ever.
    """

    def __init__(
        self, engine: Engine, limits: Lifetimes | None = None, now: Callable[[], float] = time.time
    ) -> None:
        """Store the engine, the lifetimes and the clock.

        Args:
            engine: Engine of the database.
            limits: Lifetimes; None for the default ones.
            now: Clock that returns seconds since 1970.
        """
        self.engine = engine
        self.limits = limits or Lifetimes()
        self._clock = now

    def now(self) -> int:
        """Return the current time, in seconds since 1970."""
        return int(self._clock())

    @contextmanager
    def reading(self, on: Connection | None = None) -> Iterator[Connection]:
        """Begin a transaction that reads."""
        with database_errors(self.engine), transaction(on or self.engine) as connection:
            yield connection

    @contextmanager
    def writing(self, on: Connection | None = None) -> Iterator[Connection]:
        """Begin a transaction that writes."""
        place = on or self.engine
        with database_errors(self.engine), transaction(place, writing=True) as connection:
            yield connection

    def note(self, statement: Any, on: Connection | None = None) -> None:
        """Execute a statement only if the database is free for it at once.

        It is meant for what is merely useful to know: no page waits for it while jobs are stored.
        """
        if on is None:
            with self.engine.connect() as opened:
                return self.note(statement, opened)
        on.rollback()
        try:
            with _short_lock_wait(on), transaction(on, writing=True) as connection:
                if connection.dialect.name == "postgresql":
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_PATIENCE}")
                connection.execute(statement)
        except DBAPIError:
            return None

    def audit(self, connection: Connection, by: str, action: str, target: str) -> None:
        """Write a line of the audit trail, within the transaction of the change it describes."""
        _audit(connection, self.now(), by, action, target)


@contextmanager
def _short_lock_wait(connection: Connection) -> Iterator[None]:
    """Let a connection to SQLite wait only briefly for a lock, before its transaction begins."""
    if connection.dialect.name != "sqlite":
        yield
        return
    raw: Any = connection.connection.driver_connection
    ((usual,),) = raw.execute("PRAGMA busy_timeout")
    raw.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
    try:
        yield
    finally:
        raw.execute(f"PRAGMA busy_timeout = {usual}")


def is_login(text: str) -> bool:
    """Return whether a text can be the name of an account."""
    return _LOGIN.fullmatch(text) is not None


def account_query() -> Any:
    """Return the query that selects accounts."""
    columns = (Principal.id, Principal.login, Principal.role, Principal.person_id,
               Principal.password, Principal.is_disabled, Principal.last_seen_at)  # fmt: skip
    query = select(*columns, Person.name.label("person"))
    return query.outerjoin(Person, Person.id == Principal.person_id)


def account_of(row: Any) -> Account:
    """Return the account in a row of `account_query`."""
    return Account(
        row.id, row.login, row.role, row.person_id, row.person or "", row.is_disabled,
        row.password is not None, row.last_seen_at,
    )  # fmt: skip


def find_account(connection: Connection, login: str) -> Account | None:
    """Return an account by its name, or None if there is none."""
    if not is_login(login):
        return None
    row = connection.execute(account_query().where(Principal.login == login)).one_or_none()
    return None if row is None else account_of(row)


def need_account(connection: Connection, login: str) -> Account:
    """Return an account by its name, which must exist.

    Raises:
        UsageError: There is no such account.
    """
    found = find_account(connection, login)
    if found is None:
        raise UsageError(
            f"no account is called {login!r}: `stripewise centre user list` names all, "
            "`stripewise centre user add` makes one"
        )
    return found


def new_secret() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """Return the hash of a random secret, which is what the database stores.

    A secret of 256 random bits needs no slow hash: nobody can try them all.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


# The audit trail: who changed rights, logged in, or looked at what belongs to others.


def record_access(connection: Connection, login: str, target: str) -> None:
    """Record that staff looked at what belongs to others, within a transaction of the caller.

    Args:
        connection: Connection within a transaction that writes.
        login: Who looked.
        target: What was looked at.
    """
    _audit(connection, int(time.time()), login, "looked", target)


def _audit(connection: Connection, at: int, login: str, action: str, target: str) -> None:
    line = {"at": at, "login": login[:255], "action": action, "target": target}
    connection.execute(insert(Audit).values(**line))
