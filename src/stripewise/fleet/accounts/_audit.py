# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The audit trail: who changed rights, logged in, or looked at what is somebody else's."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from stripewise.fleet.accounts._base import Desk
from stripewise.fleet.tables import Audit


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


def note_look(connection: Connection, login: str, target: str) -> None:
    """Note that staff looked at what is somebody else's, within a transaction of the caller's.

    Args:
        connection: Within a transaction that writes.
        login: Who looked.
        target: At what.
    """
    line = {"at": int(time.time()), "login": login, "action": "looked", "target": target}
    connection.execute(insert(Audit).values(**line))
