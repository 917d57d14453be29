# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hashes of local passwords: Argon2id with the parameters of RFC 9106 that argon2-cffi chose."""

from __future__ import annotations

from functools import cache
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from stripewise.errors import UsageError
from stripewise.extras import require

if TYPE_CHECKING:
    from argon2 import PasswordHasher

FEWEST_SIGNS = 12
MOST_SIGNS = 1024
_TURNS = BoundedSemaphore(4)
"""Each takes 64 MiB: a flood of logins waits, and does not fill the memory."""


def hash_password(password: str) -> str:
    """Return the hash of a new password.

    Raises:
        UsageError: It is too short, too long, or no text.
    """
    if not FEWEST_SIGNS <= len(password) <= MOST_SIGNS:
        raise UsageError(
            f"a password of {len(password)} characters cannot be used: "
            f"choose {FEWEST_SIGNS} to {MOST_SIGNS}"
        )
    if not _is_text(password):
        raise UsageError("the password is not UTF-8 text: choose another one")
    with _TURNS:
        return _hasher().hash(password)


def verify(stored: str | None, password: str) -> bool:
    """Whether a password is the one of a hash; without a hash the same work is done, for nothing.

    So that the time of an answer does not tell which accounts exist.

    Args:
        stored: The hash; None: there is no account, or it has no password.
        password: What somebody typed.
    """
    from argon2.exceptions import InvalidHashError, VerificationError

    usable = 0 < len(password) <= MOST_SIGNS and _is_text(password)
    try:
        with _TURNS:
            right = _hasher().verify(stored or _nobodys(), password if usable else "-")
    except (VerificationError, InvalidHashError):
        return False
    return right and usable and stored is not None


def renewed(stored: str, password: str) -> str | None:
    """Return a hash with the parameters of new ones; None: the stored one has them.

    Args:
        stored: The hash.
        password: Which it is of.
    """
    if not _hasher().check_needs_rehash(stored):
        return None
    with _TURNS:
        return _hasher().hash(password)


def _is_text(password: str) -> bool:
    try:
        password.encode()
    except UnicodeEncodeError:
        return False
    return True


@cache
def _hasher() -> PasswordHasher:
    require("web", "a local password")
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _nobodys() -> str:
    """Return a hash of a password that nobody knows."""
    import secrets

    return _hasher().hash(secrets.token_urlsafe(32))
