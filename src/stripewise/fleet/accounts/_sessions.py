# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sessions of browsers: a random secret in a cookie, its hash here."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from stripewise.errors import LoginError
from stripewise.fleet.accounts._base import (
    Account,
    Desk,
    account_of,
    account_query,
    hashed,
    new_secret,
)
from stripewise.fleet.tables import Principal, Session

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
