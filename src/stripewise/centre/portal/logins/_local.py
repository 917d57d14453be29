# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Passwords that the portal itself keeps, as hashes."""

from __future__ import annotations

from stripewise.centre.database.accounts import Accounts
from stripewise.centre.portal.logins._base import Identity, Login


class Local(Login):
    """Local accounts; who calls it counts failures (`throttle_keys`)."""

    name = "local"
    takes_password = True

    def __init__(self, accounts: Accounts) -> None:
        """Take the accounts."""
        self._accounts = accounts

    def password(self, user: str, secret: str) -> Identity | None:
        """Return who has a name and a password; as much work for a name that is unknown."""
        account = self._accounts.check_password(user, secret)
        return None if account is None else Identity(account.login, self.name)
