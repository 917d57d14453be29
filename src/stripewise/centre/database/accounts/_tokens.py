# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tokens of the API: shown once, kept as a hash, bounded in what they open and how long."""

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
from stripewise.centre.database.tables._access import Principal, Token
from stripewise.core.errors import UsageError

SCOPES = ("read", "read:files")
"""What a token may do: read; read names of files too, which includes the first."""
DAYS = 90
_PREFIX = "swt_"
_DAY = 86400
_STEP_SECONDS = 60
"""The time of use is noted in such steps, so that not every request writes."""


@dataclass(frozen=True)
class TokenLine:
    """What is kept of a token.

    Attributes:
        login: Of the account it stands for.
        used_at: None: never.
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
    """Who comes with a token.

    Attributes:
        scopes: What it may do.
    """

    account: Account
    scopes: frozenset[str]


class Tokens(Desk):
    """The tokens of a database."""

    def make(
        self, login: str, name: str, scopes: Collection[str], *, by: str, days: int = DAYS
    ) -> tuple[str, TokenLine]:
        """Make a token; return its secret, which cannot be found out again, and what is kept.

        Args:
            login: The account it stands for.
            name: What it is for.
            scopes: Some of `SCOPES`.
            by: Who makes it.
            days: Lifetime.

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
        """Return the tokens of an account, or of all, the newest first.

        Args:
            login: Of the account; "": of all.
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
            by: Who revokes it.
            login: Only if it is of this account; "": of any.

        Raises:
            UsageError: There is no such token.
        """
        with self.writing() as connection:
            row = connection.execute(_query().where(Token.id == token_id)).one_or_none()
            if row is None or (login and row.login != login):
                raise UsageError(
                    f"there is no token {token_id}: `stripewise db token list` shows all"
                )
            connection.execute(delete(Token).where(Token.id == token_id))
            self.audit(connection, by, "token revoked", f"{row.name} of {row.login}")

    def find(self, secret: str, on: Connection | None = None) -> Bearer | None:
        """Return who comes with a token; None: it is unknown, revoked or expired.

        Args:
            secret: Of the token.
            on: The caller's connection; None: one is opened.
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
            raise UsageError(f"{name[:40]!r} is no name for a token: say in a word what it is for")
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
