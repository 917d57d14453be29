# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Declares the tables of accounts, of looks at what is another's, and of what was taken in."""

from __future__ import annotations

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from stripewise.centre.database.tables._base import Base, Key, Long, Name, Word, Words


class Principal(Base):
    """An account of the portal.

    Attributes:
        login: Unique.
        role: "user", "support" or "admin"; managers are told by `Member.is_manager`.
        person_id: Whose jobs are their own; NULL: nobody's.
        password: Hash; NULL: no local password.
    """

    __tablename__ = "principal"
    id: Mapped[Key]
    login: Mapped[Name] = mapped_column(unique=True)
    role: Mapped[Word]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    password: Mapped[Name | None]
    is_disabled: Mapped[bool] = mapped_column(default=False)
    last_seen_at: Mapped[Long | None]


class Token(Base):
    """A token of the API: only its hash is kept.

    Attributes:
        scopes: Words, separated by spaces.
    """

    __tablename__ = "token"
    id: Mapped[Key]
    principal_id: Mapped[int] = mapped_column(ForeignKey("principal.id"), index=True)
    name: Mapped[Name]
    hash: Mapped[Word] = mapped_column(unique=True)
    scopes: Mapped[Words]
    made_at: Mapped[Long]
    expires_at: Mapped[Long]
    used_at: Mapped[Long | None]


class Session(Base):
    """Somebody who is logged in; the hash of the secret that their browser has.

    Attributes:
        expires_at: Moves on with every page, up to the longest life of a session.
    """

    __tablename__ = "session"
    hash: Mapped[Word] = mapped_column(primary_key=True)
    principal_id: Mapped[int] = mapped_column(ForeignKey("principal.id"), index=True)
    csrf: Mapped[Word]
    made_at: Mapped[Long]
    expires_at: Mapped[Long]


class LoginAttempt(Base):
    """Somebody who was sent to an identity provider and has not come back yet.

    Attributes:
        hash: Of the state that the provider hands back, and the cookie of the browser.
        next_path: Page of the portal that was asked for.
    """

    __tablename__ = "login_attempt"
    hash: Mapped[Word] = mapped_column(primary_key=True)
    nonce: Mapped[Name]
    verifier: Mapped[Name]
    next_path: Mapped[Words]
    expires_at: Mapped[Long]


class Audit(Base):
    """A look at something of somebody else, or a change of rights."""

    __tablename__ = "audit"
    id: Mapped[Key]
    at: Mapped[Long] = mapped_column(index=True)
    login: Mapped[Name]
    action: Mapped[Word]
    target: Mapped[Words]


class Ledger(Base):
    """An input that was taken in, or why it was not.

    Attributes:
        digest: SHA-256 of the content.
        outcome: "stored", "refused" or "known".
        reason: Why it was refused.
    """

    __tablename__ = "ledger"
    digest: Mapped[Word] = mapped_column(primary_key=True)
    kind: Mapped[Word]
    name: Mapped[Words]
    size_bytes: Mapped[Long]
    outcome: Mapped[Word] = mapped_column(index=True)
    reason: Mapped[Words]
    at: Mapped[Long] = mapped_column(index=True)


class SeenFile(Base):
    """A file as it was when it was last read: one that did not change is not read again.

    Attributes:
        place: SHA-256 of the absolute path: paths need not be text.
    """

    __tablename__ = "seen_file"
    place: Mapped[Word] = mapped_column(primary_key=True)
    size_bytes: Mapped[Long]
    changed_ns: Mapped[Long]
    digest: Mapped[Word]
