# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Declares the tables of accounts, of the audit trail, and of what was ingested."""

from __future__ import annotations

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from stripewise.centre.database.tables._base import Base, Key, Long, Name, Word, Words


class Principal(Base):
    """An account of the portal.

    Attributes:
        login: Unique name.
        role: "user", "support" or "admin"; managers are recorded in `Member.is_manager`.
        person_id: User whose jobs are their own; NULL for nobody.
        password: Hash of the password; NULL if there is no local password.
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
    """A token of the API, of which only the hash is stored.

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
    """A session of a logged-in user, with the hash of the secret in the user's browser.

    Attributes:
        expires_at: Expiry, which moves on with every page up to the longest life of a session.
    """

    __tablename__ = "session"
    hash: Mapped[Word] = mapped_column(primary_key=True)
    principal_id: Mapped[int] = mapped_column(ForeignKey("principal.id"), index=True)
    csrf: Mapped[Word]
    made_at: Mapped[Long]
    expires_at: Mapped[Long]


class LoginAttempt(Base):
    """A login of somebody who was sent to an identity provider and has not come back yet.

    Attributes:
        hash: Hash of the state that the provider returns and the cookie of the browser.
        next_path: Page of the portal that was requested.
    """

    __tablename__ = "login_attempt"
    hash: Mapped[Word] = mapped_column(primary_key=True)
    nonce: Mapped[Name]
    verifier: Mapped[Name]
    next_path: Mapped[Words]
    expires_at: Mapped[Long]


class Audit(Base):
    """An access to data of another user, or a change of rights."""

    __tablename__ = "audit"
    id: Mapped[Key]
    at: Mapped[Long] = mapped_column(index=True)
    login: Mapped[Name]
    action: Mapped[Word]
    target: Mapped[Words]


class Ledger(Base):
    """An input that was stored or refused.

    Attributes:
        digest: SHA-256 of the content.
        outcome: "stored", "refused" or "known".
        reason: Reason why it was refused.
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
    """State of a file when it was last read; an unchanged file is not read again.

    Attributes:
        place: SHA-256 of the absolute path, since paths need not be text.
    """

    __tablename__ = "seen_file"
    place: Mapped[Word] = mapped_column(primary_key=True)
    size_bytes: Mapped[Long]
    changed_ns: Mapped[Long]
    digest: Mapped[Word]
