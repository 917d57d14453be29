# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Manages accounts of people and programs: roles, passwords, sessions, tokens and their audit."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.database.accounts._accounts import Accounts as Accounts
    from stripewise.centre.database.accounts._accounts import Managers as Managers
    from stripewise.centre.database.accounts._desk import ROLES as ROLES
    from stripewise.centre.database.accounts._desk import Account as Account
    from stripewise.centre.database.accounts._desk import Lifetimes as Lifetimes
    from stripewise.centre.database.accounts._desk import record_access as record_access
    from stripewise.centre.database.accounts._sessions import Attempts as Attempts
    from stripewise.centre.database.accounts._sessions import Sessions as Sessions
    from stripewise.centre.database.accounts._sessions import Tokens as Tokens
else:
    __getattr__, __all__ = lazy_exports(__name__)
