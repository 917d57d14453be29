# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logins that are under way at an identity provider."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, insert

from stripewise.fleet.accounts._base import Desk, hashed, new_secret
from stripewise.fleet.tables import LoginAttempt

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
