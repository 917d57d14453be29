# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines viewers, and contains the one filter that decides which jobs they see.

Every query about jobs begins with `jobs_of`; nothing else in the package selects from the table
of jobs for a viewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    String,
    and_,
    case,
    cast,
    false,
    literal,
    or_,
    select,
    true,
)

from stripewise.centre.database.tables._access import Principal
from stripewise.centre.database.tables._base import Reasons
from stripewise.centre.database.tables._jobs import Job, Member

FEWEST_USERS = 5
"""Minimum number of users for figures that are shown to everybody: with fewer, one of them could
be identified (the usual threshold of statistical offices)."""

NOT_ALL_KNOWN = "not all of the run is known"
"""Replaces the reason why a figure is unknown, if it may contain the name of a file."""
HIDDEN = "(a path)"
"""Replaces the value of a setting that may be the name of a file, where those are hidden."""


class Role(StrEnum):
    """What an account may do; managers of a project are recorded in `tables.Member`."""

    USER = "user"
    SUPPORT = "support"
    ADMIN = "admin"


class AccessReason(StrEnum):
    """Reason why a viewer may see a job."""

    OWNER = "owner"
    MANAGER = "manager"
    STAFF = "staff"


@dataclass(frozen=True)
class Viewer:
    """A user of the database, with their rights.

    Attributes:
        login: Name of the account; "" if nobody is logged in.
        role: Role of the account; None if nobody is logged in.
        person_id: User whose jobs are their own; None for nobody.
        managed: Keys of the projects that they manage.
        may_read_names: Whether names of files may be shown to them where they are the owner or
            staff.
    """

    login: str = ""
    role: Role | None = None
    person_id: int | None = None
    managed: frozenset[int] = frozenset()
    may_read_names: bool = True

    @property
    def is_staff(self) -> bool:
        """Return whether all jobs are visible to this viewer; such accesses are audited."""
        return self.role in (Role.SUPPORT, Role.ADMIN)

    @property
    def is_admin(self) -> bool:
        """Return whether this viewer may change accounts and rights."""
        return self.role is Role.ADMIN

    def access_reason(self, job: Mapping[str, Any]) -> AccessReason | None:
        """Return why this viewer may see a job, or None if they may not.

        Args:
            job: Row of the job with its columns person_id and project_id.
        """
        if self.role is None:
            return None
        if self.person_id is not None and job["person_id"] == self.person_id:
            return AccessReason.OWNER
        if job["project_id"] is not None and job["project_id"] in self.managed:
            return AccessReason.MANAGER
        return AccessReason.STAFF if self.is_staff else None

    def reads_names(self, job: Mapping[str, Any]) -> bool:
        """Return whether names of files of a job may be shown to this viewer."""
        if not self.may_read_names:
            return False
        return self.is_staff or self.access_reason(job) is AccessReason.OWNER


NOBODY = Viewer()


def viewer_of(connection: Connection, login: str, *, may_read_names: bool = True) -> Viewer:
    """Return the viewer of an account, or `NOBODY` if there is none or it is disabled."""
    row = connection.execute(
        select(Principal.login, Principal.role, Principal.person_id).where(
            Principal.login == login, Principal.is_disabled.is_(False)
        )
    ).one_or_none()
    if row is None:
        return NOBODY
    managed = connection.scalars(
        select(Member.project_id).where(
            Member.person_id == row.person_id, Member.is_manager.is_(True)
        )
    )
    return Viewer(row.login, Role(row.role), row.person_id, frozenset(managed), may_read_names)


def visible(viewer: Viewer, *, by_index: bool = True) -> ColumnElement[bool]:
    """Return the condition on the table of jobs that a viewer sees a row.

    Args:
        viewer: The viewer who asks.
        by_index: Whether indexes of owners may be used; otherwise SQLite follows that of the
            sorting.
    """
    if viewer.role is None:
        return false()
    if viewer.is_staff:
        return true()
    own: list[ColumnElement[bool]] = []
    person: Any = Job.person_id if by_index else Job.person_id + 0
    project: Any = Job.project_id if by_index else Job.project_id + 0
    if viewer.person_id is not None:
        own.append(person == viewer.person_id)
    if viewer.managed:
        own.append(project.in_(sorted(viewer.managed)))
    return or_(*own) if own else false()


def readable(viewer: Viewer) -> ColumnElement[bool]:
    """Return the condition that the names of a job's files may be shown: `Viewer.reads_names`."""
    if not viewer.may_read_names or viewer.role is None:
        return false()
    if viewer.is_staff:
        return true()
    return false() if viewer.person_id is None else Job.person_id == viewer.person_id


def without_paths(viewer: Viewer, column: Any) -> ColumnElement[Any]:
    """Return a column of setting values, with paths only where names of files may be shown."""
    return case((readable(viewer), column), (column.contains("/"), HIDDEN), else_=column)


def is_not_all_known(column: Any) -> ColumnElement[bool]:
    """Return the condition that a figure of a profiled job is unknown or a lower bound."""
    named = cast(Job.missing, String).contains(f'"{column.key}"')
    return and_(Job.source_count > 0, or_(column.is_(None), named))


def veiled(viewer: Viewer, job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a job, with reasons only where names of files may be shown."""
    if viewer.reads_names(job):
        return dict(job)
    return {**job, "missing": veiled_reasons(job["missing"])}


def veiled_reasons(missing: Mapping[str, str]) -> dict[str, str]:
    """Return which figures are unknown, without the reasons, which may contain names of files."""
    return dict.fromkeys(missing, NOT_ALL_KNOWN)


def without_reasons(viewer: Viewer) -> ColumnElement[Any]:
    """Return the column of reasons; where names are hidden, only whether there are some."""
    some = literal({"job": NOT_ALL_KNOWN}, Reasons)
    known = (readable(viewer), Job.missing)
    return case(known, (Job.missing.is_not(None), some)).label("missing")


def jobs_of(viewer: Viewer, *columns: Any, by_index: bool = True) -> Select[Any]:
    """Return a query for the jobs that a viewer sees; for `by_index` see `visible`."""
    return select(*columns).select_from(Job).where(visible(viewer, by_index=by_index))
