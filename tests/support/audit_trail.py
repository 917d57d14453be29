# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes and reads the audit trail of a database."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from stripewise.centre.database.accounts._desk import Desk
from stripewise.centre.database.tables import Audit


@dataclass(frozen=True)
class AuditLine:
    """One line of the trail.

    Attributes:
        at: Seconds since 1970.
        login: Who did it.
    """

    id: int
    at: int
    login: str
    action: str
    target: str


class AuditTrail(Desk):
    """The audit trail of a database."""

    def add(self, login: str, action: str, target: str) -> None:
        """Write a line.

        Args:
            login: Who did it.
            action: What, in a word or two.
            target: To what.
        """
        with self.writing() as connection:
            self.audit(connection, login, action, target)

    def list(self, *, before: int | None = None, most: int = 100) -> list[AuditLine]:
        """Return lines, the newest first.

        Args:
            before: Only lines with a smaller number; None: from the newest on.
            most: Lines.
        """
        columns = (Audit.id, Audit.at, Audit.login, Audit.action, Audit.target)
        query = select(*columns).order_by(Audit.id.desc()).limit(most)
        if before is not None:
            query = query.where(Audit.id < before)
        with self.reading() as connection:
            return [AuditLine(*row) for row in connection.execute(query)]
