# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps sessions of browsers, logins under way at an identity provider, and tokens of the API."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from stripewise.centre.database.accounts._desk import (
    Account,
    Desk,
    account_of,
    account_query,
    hashed,
    need_account,
    new_secret,
)
from stripewise.centre.database.tables._access import LoginAttempt, Principal, Session, Token
from stripewise.core.errors import LoginError, UsageError

_STEP_SECONDS = 60
"""Resolution of the recorded times of last use, so that not every page or request writes."""


@dataclass(frozen=True)
class NewSession:
    """A session that has begun.

    Attributes:
        secret: Secret for the cookie; it is not stored and cannot be found out again.
        csrf: Token for forms.
        expires_at: Expiry of the cookie, when the session ends at the latest.
    """

    secret: str
    csrf: str
    expires_at: int


@dataclass(frozen=True)
class Visit:
    """A person who is logged in, and their session."""

    account: Account
    csrf: str
    made_at: int


class Sessions(Desk):
    """The sessions of a database.

    A session ends some time after the login, some time after the last page, at logout, and when
    the account is disabled or its password, role or person changes. The column `expires_at` is the
    earlier of the first two.
    """

    def start(self, account: Account, *, backend: str, old: str = "") -> NewSession:
        """Begin a session, always with a new secret.

        Args:
            account: Account that logged in.
            backend: Back end that identified it, for the audit trail.
            old: Secret of a session that the browser had before and that ends now.

        Raises:
            LoginError: The account was disabled or changed in the meantime.
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
        """Return who has a session and prolong it, or None if it is unknown or has ended.

        Args:
            secret: Secret of the session.
            on: The caller's connection; None opens one.
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
        """End a session, because its user logs out."""
        with self.writing() as connection:
            query = select(Principal.login).join(Session, Session.principal_id == Principal.id)
            login = connection.scalar(query.where(Session.hash == hashed(secret)))
            if login is not None:
                connection.execute(delete(Session).where(Session.hash == hashed(secret)))
                self.audit(connection, login, "logged out", "")


# Logins under way at an identity provider.

_LONGEST_PATH = 2000


@dataclass(frozen=True)
class Attempt:
    """A login under way.

    Attributes:
        state: Value that is sent to the provider and comes back.
        cookie: Value that stays in the browser, so that nobody can finish another person's login.
        nonce: Value that the identity token of this login must contain.
        verifier: PKCE verifier, without which the code is of no use.
        next_path: Page of the portal that was requested.
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
            next_path: Page that was requested; one outside the portal is not kept.
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
        """Return a returning login, once, or None if it is unknown, too old, or another browser's.

        Args:
            state: Value that the provider returned.
            cookie: Value that the browser has.
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
    """Return a path of the portal, or "/" if the path would lead elsewhere."""
    is_local = path.startswith("/") and not path.startswith(("//", "/\\"))
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if is_local and plain and len(path) <= _LONGEST_PATH else "/"


def _key(state: str, cookie: str) -> str:
    return hashed(f"{state}.{cookie}")


# Tokens of the API: shown once, stored as a hash, limited in scope and lifetime.

SCOPES = ("read", "read:files")
"""Scopes of a token: to read, and to read names of files too, which includes the first."""
DAYS = 90
_PREFIX = "swt_"
_DAY = 86400


@dataclass(frozen=True)
class TokenLine:
    """Stored data of a token.

    Attributes:
        login: Name of the account that it authenticates.
        used_at: Time of its last use; None if never used.
    """

    id: int
    login: str
    name: str
    scopes: tuple[str, ...]
    made_at: int
    expires_at: int
    used_at: int | None


@dataclass(frozen=True)
class Bearer:
    """Account and scopes of a request that presents a token.

    Attributes:
        scopes: What the token permits.
    """

    account: Account
    scopes: frozenset[str]


class Tokens(Desk):
    """The tokens of a database."""

    def make(
        self, login: str, name: str, scopes: Collection[str], *, by: str, days: int = DAYS
    ) -> tuple[str, TokenLine]:
        """Create a token and return its secret, which is not stored, and its stored data.

        Args:
            login: Name of the account that it authenticates.
            name: Purpose of the token.
            scopes: Some of `SCOPES`.
            by: Login of whoever creates it.
            days: Lifetime in days.

        Raises:
            UsageError: A scope is unknown, the lifetime is beyond the limit, or there is no such
                account.
        """
        self._check(name, scopes, days)
        secret, now = _PREFIX + new_secret(), self.now()
        with self.writing() as connection:
            account = need_account(connection, login)
            if account.is_disabled:
                raise UsageError(f"the account {login} is disabled: enable it first")
            held = SCOPES if "read:files" in scopes else ("read",)
            row = {"principal_id": account.id, "name": name, "hash": hashed(secret),
                   "scopes": " ".join(held),
                   "made_at": now, "expires_at": now + days * _DAY}  # fmt: skip
            connection.execute(insert(Token).values(**row))
            words = f"{name} of {login}: {row['scopes']}, {days} days"
            self.audit(connection, by, "token made", words)
            made = connection.execute(_query().where(Token.hash == row["hash"])).one()
        return secret, _line(made)

    def list(self, login: str = "") -> list[TokenLine]:
        """Return the tokens of one account, or of all, newest first.

        Args:
            login: Name of the account; "" for all.
        """
        query = _query().order_by(Token.id.desc())
        if login:
            query = query.where(Principal.login == login)
        with self.reading() as connection:
            if login:
                need_account(connection, login)
            return [_line(row) for row in connection.execute(query)]

    def revoke(self, token_id: int, *, by: str, login: str = "") -> None:
        """Revoke a token.

        Args:
            token_id: Its number.
            by: Login of whoever revokes it.
            login: Account that the token must belong to; "" for any.

        Raises:
            UsageError: There is no such token.
        """
        with self.writing() as connection:
            row = connection.execute(_query().where(Token.id == token_id)).one_or_none()
            if row is None or (login and row.login != login):
                raise UsageError(
                    f"there is no token {token_id}: `stripewise centre token list` shows all"
                )
            connection.execute(delete(Token).where(Token.id == token_id))
            self.audit(connection, by, "token revoked", f"{row.name} of {row.login}")

    def find(self, secret: str, on: Connection | None = None) -> Bearer | None:
        """Return the account and scopes of a token, or None if it is unknown, revoked or expired.

        Args:
            secret: Secret of the token.
            on: The caller's connection; None opens one.
        """
        if not secret.startswith(_PREFIX):
            return None
        key, now = hashed(secret), self.now()
        query = (
            account_query()
            .add_columns(Token.scopes, Token.expires_at, Token.used_at)
            .join(Token, Token.principal_id == Principal.id)
            .where(Token.hash == key, Principal.is_disabled.is_(False))
        )
        with self.reading(on) as connection:
            row = connection.execute(query).one_or_none()
        if row is None or row.expires_at <= now:
            return None
        if row.used_at is None or now - row.used_at >= _STEP_SECONDS:
            self.note(update(Token).where(Token.hash == key).values(used_at=now), on)
        return Bearer(account_of(row), frozenset(row.scopes.split()))

    def _check(self, name: str, scopes: Collection[str], days: int) -> None:
        if not name or len(name) > 255 or not name.isprintable():
            raise UsageError(
                f"{name[:40]!r} is not a valid name for a token: give a word that says what it is "
                "for"
            )
        for scope in scopes:
            if scope not in SCOPES:
                raise UsageError(f"no scope is called {scope!r}: choose {', '.join(SCOPES)}")
        if not scopes:
            raise UsageError(f"a token needs a scope: choose of {', '.join(SCOPES)}")
        if not 1 <= days <= self.limits.token_days:
            raise UsageError(
                f"a token cannot be good for {days} days: choose 1 to {self.limits.token_days}"
            )


def _query() -> Any:
    columns = (Token.id, Principal.login, Token.name, Token.scopes, Token.made_at,
               Token.expires_at, Token.used_at)  # fmt: skip
    return select(*columns).join(Principal, Principal.id == Token.principal_id)


def _line(row: Any) -> TokenLine:
    return TokenLine(row.id, row.login, row.name, tuple(row.scopes.split()), row.made_at,
                     row.expires_at, row.used_at)  # fmt: skip
