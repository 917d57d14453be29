# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Accounts of the demo's portal: one of each role, with passwords that nobody else knows."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine

from stripewise.centre.database.accounts import Accounts, Managers

MADE_BY = "examples/centre"
_PASSWORD_BYTES = 12


@dataclass(frozen=True)
class Login:
    """An account that the demo's portal is looked at with.

    Attributes:
        login: Its name.
        role: One of `stripewise.centre.database.accounts.ROLES`.
        person: Whose jobs are its own; "": nobody's.
        project: That it manages; "": none.
    """

    login: str
    role: str
    person: str = ""
    project: str = ""

    @property
    def title(self) -> str:
        """What it is, for people."""
        return f"manager of {self.project}" if self.project else self.role


def open_accounts(engine: Engine, logins: Sequence[Login]) -> dict[Login, str]:
    """Make accounts with local passwords; return the passwords, which are kept nowhere else.

    Args:
        engine: Of the database.
        logins: As `make_centre` returns them.

    Raises:
        UsageError: An account of that name exists.
    """
    accounts, managers, found = Accounts(engine), Managers(engine), dict[Login, str]()
    for one in logins:
        found[one] = secrets.token_urlsafe(_PASSWORD_BYTES)
        accounts.make(one.login, by=MADE_BY, role=one.role, person=one.person, password=found[one])
        if one.project:
            managers.grant(one.login, one.project, by=MADE_BY)
    return found
