# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who manages which project."""

from __future__ import annotations

from sqlalchemy import Connection, select

from stripewise.errors import UsageError
from stripewise.fleet._names import put
from stripewise.fleet.accounts._base import Desk, find_account
from stripewise.fleet.tables import Member, Person, Project
from stripewise.tunables import suggest


class Managers(Desk):
    """The managers of projects; they see all jobs of theirs."""

    def grant(self, user: str, project: str, *, by: str) -> None:
        """Make a user a manager of a project.

        Args:
            user: An account, or a user of the centre who has none yet.
            project: As Slurm names it.
            by: Who does it.

        Raises:
            UsageError: There is no such user or project.
        """
        self._set(user, project, True, by)

    def revoke(self, user: str, project: str, *, by: str) -> None:
        """Make a user a plain member of a project again.

        Args:
            user: An account, or a user of the centre who has none.
            project: As Slurm names it.
            by: Who does it.

        Raises:
            UsageError: There is no such user or project, or they do not manage it.
        """
        self._set(user, project, False, by)

    def list(self) -> list[tuple[str, str]]:
        """Return each project and a user who manages it, by name."""
        query = (
            select(Project.name, Person.name)
            .join(Member, Member.project_id == Project.id)
            .join(Person, Person.id == Member.person_id)
            .where(Member.is_manager.is_(True))
            .order_by(Project.name, Person.name)
        )
        with self.reading() as connection:
            return [(row[0], row[1]) for row in connection.execute(query)]

    def _set(self, user: str, project: str, is_manager: bool, by: str) -> None:
        with self.writing() as connection:
            key = {"project_id": _project(connection, project),
                   "person_id": _person(connection, user)}  # fmt: skip
            now = connection.scalar(select(Member.is_manager).filter_by(**key))
            if not is_manager and not now:
                raise UsageError(f"{user} does not manage {project}: nothing is to be revoked")
            put(connection, Member, key, {"is_manager": is_manager})
            action = "manager granted" if is_manager else "manager revoked"
            self.audit(connection, by, action, f"{user} of {project}")


def _project(connection: Connection, name: str) -> int:
    found = connection.scalar(select(Project.id).where(Project.name == name))
    if found is None:
        names = list(connection.scalars(select(Project.name).limit(10_000)))
        raise UsageError(
            f"no job of a project called {name!r} is in the database: take in its "
            f"jobs first{suggest(name, names)}"
        )
    return found


def _person(connection: Connection, user: str) -> int:
    account = find_account(connection, user)
    if account is not None:
        if account.person_id is None:
            raise UsageError(
                f"the account {user} is nobody's at the centre: link it first "
                "(`stripewise db user person`)"
            )
        return account.person_id
    found = connection.scalar(select(Person.id).where(Person.name == user))
    if found is None:
        raise UsageError(f"{user!r} has neither an account nor a job: check the name")
    return found
