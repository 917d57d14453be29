# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps sessions of browsers, and logins that are under way at an identity provider."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from stripewise.centre.database.accounts._desk import (
    Account,
    Desk,
    account_of,
    account_query,
    hashed,
    new_secret,
)
from stripewise.centre.database.tables._access import LoginAttempt, Principal, Session
from stripewise.core.errors import LoginError

_STEP_SECONDS = 60
"""The idle time is prolonged in such steps, so that not every page writes."""


@dataclass(frozen=True)
class NewSession:
    """A session that began.

    Attributes:
        secret: For the cookie; it cannot be found out again.
        csrf: For forms.
        expires_at: Of the cookie: the session ends then at the latest.
    """

    secret: str
    csrf: str
    expires_at: int


@dataclass(frozen=True)
class Visit:
    """Somebody who is logged in."""

    account: Account
    csrf: str
    made_at: int


class Sessions(Desk):
    """The sessions of a database.

    A session ends some time after the login, some time after the last page, at logout, and when
    the account's password, role or person changes or it is disabled. The column `expires_at` is
    the earlier of the first two.
    """

    def start(self, account: Account, *, backend: str, old: str = "") -> NewSession:
        """Begin a session; its secret is always a new one.

        Args:
            account: Who logged in.
            backend: By what, for the audit trail.
            old: Secret of a session that the browser had before, which ends.

        Raises:
            LoginError: The account was disabled or changed meanwhile.
        """
        secret, csrf, now = new_secret(), new_secret(), self.now()
        end = now + self.limits.session_seconds
        with self.writing() as connection:
            connection.execute(delete(Session).where(Session.expires_at <= now))
            connection.execute(delete(Session).where(Session.hash == hashed(old)))
            changed = connection.execute(
                update(Principal)
                .where(
                    Principal.id == account.id,
                    Principal.is_disabled.is_(False),
                    Principal.role == account.role,
                )
                .values(last_seen_at=now)
            )
            if changed.rowcount != 1:
                raise LoginError(f"the account {account.login} was changed: log in again")
            idle_end = min(end, now + self.limits.idle_seconds)
            row = {"hash": hashed(secret), "principal_id": account.id, "csrf": csrf,
                   "made_at": now, "expires_at": idle_end}  # fmt: skip
            connection.execute(insert(Session).values(**row))
            self.audit(connection, account.login, "logged in", backend)
        return NewSession(secret, csrf, end)

    def find(self, secret: str, on: Connection | None = None) -> Visit | None:
        """Return who has a session, and prolong it; None: nobody, or it has ended.

        Args:
            secret: Of the session.
            on: The caller's connection; None: one is opened.
        """
        if not secret:
            return None
        key, now = hashed(secret), self.now()
        query = (
            account_query()
            .add_columns(Session.csrf, Session.made_at, Session.expires_at)
            .join(Session, Session.principal_id == Principal.id)
            .where(Session.hash == key, Principal.is_disabled.is_(False))
        )
        with self.reading(on) as connection:
            row = connection.execute(query).one_or_none()
        if row is None or min(row.expires_at, row.made_at + self.limits.session_seconds) <= now:
            return None
        end = min(row.made_at + self.limits.session_seconds, now + self.limits.idle_seconds)
        if end - row.expires_at >= _STEP_SECONDS:
            line = update(Session).where(Session.hash == key, Session.expires_at < end)
            self.note(line.values(expires_at=end), on)
        return Visit(account_of(row), row.csrf, row.made_at)

    def end(self, secret: str) -> None:
        """End a session: somebody logs out."""
        with self.writing() as connection:
            query = select(Principal.login).join(Session, Session.principal_id == Principal.id)
            login = connection.scalar(query.where(Session.hash == hashed(secret)))
            if login is not None:
                connection.execute(delete(Session).where(Session.hash == hashed(secret)))
                self.audit(connection, login, "logged out", "")


# Logins that are under way at an identity provider.

_LONGEST_PATH = 2000


@dataclass(frozen=True)
class Attempt:
    """A login that is under way.

    Attributes:
        state: Goes to the provider and comes back.
        cookie: Stays in the browser, so that nobody can finish a login that another began.
        nonce: Stands in the identity token that belongs to it.
        verifier: Of PKCE: who has only the code cannot use it.
        next_path: Page of the portal that was asked for.
    """

    state: str
    cookie: str
    nonce: str
    verifier: str
    next_path: str


class Attempts(Desk):
    """The logins under way; each can be finished once, by the browser that began it."""

    def start(self, next_path: str) -> Attempt:
        """Begin a login.

        Args:
            next_path: Page that was asked for; one outside of the portal is not kept.
        """
        made = Attempt(
            new_secret(), new_secret(), new_secret(), new_secret(), local_path(next_path)
        )
        now = self.now()
        row = {"hash": _key(made.state, made.cookie), "nonce": made.nonce,
               "verifier": made.verifier, "next_path": made.next_path,
               "expires_at": now + self.limits.attempt_seconds}  # fmt: skip
        with self.writing() as connection:
            connection.execute(delete(LoginAttempt).where(LoginAttempt.expires_at <= now))
            connection.execute(insert(LoginAttempt).values(**row))
        return made

    def take(self, state: str, cookie: str) -> Attempt | None:
        """Return a login that comes back, once; None: it is unknown, too old, or another's.

        Args:
            state: What the provider handed back.
            cookie: What the browser has.
        """
        if not state or not cookie:
            return None
        gone = (
            delete(LoginAttempt)
            .where(LoginAttempt.hash == _key(state, cookie))
            .returning(LoginAttempt.nonce, LoginAttempt.verifier, LoginAttempt.next_path,
                       LoginAttempt.expires_at)
        )  # fmt: skip
        with self.writing() as connection:
            row = connection.execute(gone).one_or_none()
        if row is None or row.expires_at <= self.now():
            return None
        return Attempt(state, cookie, row.nonce, row.verifier, row.next_path)


def local_path(path: str) -> str:
    """Return a path of the portal; "/" for what would lead elsewhere."""
    is_local = path.startswith("/") and not path.startswith(("//", "/\\"))
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if is_local and plain and len(path) <= _LONGEST_PATH else "/"


def _key(state: str, cookie: str) -> str:
    return hashed(f"{state}.{cookie}")
