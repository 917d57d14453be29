# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keys of what has a name: made when it first comes, and remembered for a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from stripewise.fleet._fitting import key_text
from stripewise.fleet.tables import Base, Cluster, Member, Person, PersonUid, Program, Project

LONGEST_NAME = 255
"""Of users, projects and programs."""
_INSERTS = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


class Names:
    """Names to keys, through one connection.

    Attributes:
        remapped: (cluster, uid) of which it is now known otherwise whose they are.
        renumbered: (cluster, person) of whom it is now known otherwise which numbers they have.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.remapped: set[tuple[int, int]] = set()
        self.renumbered: set[tuple[int, int]] = set()
        self._known: dict[tuple[str, str], int] = {}
        self._members: set[tuple[int, int]] = set()
        self._uids: dict[tuple[int, int], int | None] = {}

    def cluster(self, name: str) -> int:
        """Return the key of a cluster; "" stands for one that is not told."""
        return self._key(Cluster, name)

    def program(self, name: str) -> int | None:
        """Return the key of a program; None: it has no name."""
        return self._key(Program, name) if name else None

    def project(self, name: str) -> int | None:
        """Return the key of a project; None: it has no name."""
        return self._key(Project, name) if name else None

    def person(self, name: str) -> int | None:
        """Return the key of a user; None: the name is not told."""
        return self._key(Person, name) if name else None

    def owner(self, cluster_id: int, uid: int | None) -> int | None:
        """Return the user whose number it is; None: not known, or it has been of several."""
        if uid is None:
            return None
        query = select(PersonUid.person_id).filter_by(cluster_id=cluster_id, uid=uid)
        return self.connection.scalar(query)

    def note_uid(self, cluster_id: int, uid: int | None, person_id: int | None) -> None:
        """Note whose a number is.

        Numbers of users who have left are given to others: one of several users tells nothing.
        """
        if uid is None or person_id is None:
            return
        place = (cluster_id, uid)
        if place in self._uids and self._uids[place] in (None, person_id):
            return
        key = {"cluster_id": cluster_id, "uid": uid}
        found = self.connection.execute(select(PersonUid.person_id).filter_by(**key)).first()
        kept = person_id if found is None or found[0] == person_id else None
        if found is None or found[0] != kept:
            put(self.connection, PersonUid, key, {"person_id": kept})
            self.remapped.add(place)
            before = None if found is None else found[0]
            self.renumbered |= {
                (cluster_id, one) for one in (before, person_id) if one is not None
            }
        self._uids[place] = kept

    def member(self, project_id: int | None, person_id: int | None) -> None:
        """Note that a user runs jobs for a project."""
        if project_id is None or person_id is None or (project_id, person_id) in self._members:
            return
        put(self.connection, Member, {"project_id": project_id, "person_id": person_id},
            {}, {"is_manager": False})  # fmt: skip
        self._members.add((project_id, person_id))

    def _key(self, table: Any, name: str) -> int:
        place = (table.__tablename__, name)
        if place not in self._known:
            kept = key_text(name, table.name.type.length)
            query = select(table.id).where(table.name == kept)
            found = self.connection.scalar(query)
            if found is None:
                put(self.connection, table, {"name": kept}, {})
                found = self.connection.scalar(query)
            assert found is not None
            self._known[place] = found
        return self._known[place]


def only_uid(cluster_id: Any, person_id: Any) -> ColumnElement[int | None]:
    """Return the number that a user has on a cluster by other records; NULL: none, or several.

    Records in Slurm's JSON name the user alone.
    """
    query = select(func.min(PersonUid.uid)).where(
        PersonUid.cluster_id == cluster_id, PersonUid.person_id == person_id
    )
    return query.having(func.count() == 1).scalar_subquery()


def put(
    connection: Connection,
    table: type[Base],
    key: dict[str, Any],
    values: dict[str, Any],
    first: dict[str, Any] | None = None,
) -> None:
    """Insert a row, or change the one with this key.

    Args:
        connection: Within a transaction.
        table: Of the row.
        key: Columns of a unique constraint.
        values: Columns that are set in any case.
        first: Further columns of a row that is new.
    """
    make = _INSERTS.get(connection.dialect.name, insert)
    line: Any = make(table).values(**key, **values, **(first or {}))
    if values:
        line = line.on_conflict_do_update(index_elements=list(key), set_=values)
    else:
        line = line.on_conflict_do_nothing(index_elements=list(key))
    connection.execute(line)


def put_all(
    connection: Connection, table: type[Base], key: Sequence[str], rows: Sequence[dict[str, Any]]
) -> None:
    """Insert rows, or change those with their keys.

    Args:
        connection: Within a transaction.
        table: Of the rows.
        key: Columns of a unique constraint.
        rows: All with the same columns.
    """
    if not rows:
        return
    line: Any = _INSERTS.get(connection.dialect.name, insert)(table)
    values = {name: line.excluded[name] for name in rows[0] if name not in key}
    line = line.on_conflict_do_update(index_elements=list(key), set_=values)
    connection.execute(line, list(rows))
