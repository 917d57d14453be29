# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Accounts of the portal: who may log in, sessions, tokens, managers, and the audit trail."""

from stripewise.fleet.accounts._attempts import Attempt, Attempts, local_path
from stripewise.fleet.accounts._audit import AuditLine, AuditTrail, note_look
from stripewise.fleet.accounts._base import ROLES, Account, Limits, is_login
from stripewise.fleet.accounts._managers import Managers
from stripewise.fleet.accounts._passwords import FEWEST_SIGNS, MOST_SIGNS
from stripewise.fleet.accounts._principals import Accounts
from stripewise.fleet.accounts._sessions import NewSession, Sessions, Visit
from stripewise.fleet.accounts._tokens import SCOPES, Bearer, TokenLine, Tokens

__all__ = [
    "FEWEST_SIGNS",
    "MOST_SIGNS",
    "ROLES",
    "SCOPES",
    "Account",
    "Accounts",
    "Attempt",
    "Attempts",
    "AuditLine",
    "AuditTrail",
    "Bearer",
    "Limits",
    "Managers",
    "NewSession",
    "Sessions",
    "TokenLine",
    "Tokens",
    "Visit",
    "is_login",
    "local_path",
    "note_look",
]
