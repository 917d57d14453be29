# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores jobs as the scheduler reports them, merged with what is already known of them."""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Float,
    Integer,
    LargeBinary,
    String,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from stripewise.centre.database._records import JobRecord
from stripewise.centre.database.tables._base import Base, Reasons
from stripewise.centre.database.tables._jobs import (
    Cluster,
    Job,
    Member,
    Person,
    PersonUid,
    Program,
    Project,
)
from stripewise.core.errors import UsageError
from stripewise.present import printable

NO_EVIDENCE = "no profile"
DID_NOT_RUN = "did not run"
WAITS = "waits in the queue"
JobKey = tuple[int, int, int]
"""Cluster, raw id, submit time."""
_AT_ONCE = 400


class JobRows:
    """Stores rows of jobs through one connection.

    Attributes:
        made: Jobs that are new in this transaction.
        to_assign: Raw ids whose profiles must be assigned again.
        to_total: Keys of jobs whose figures must be computed again.
        to_settle: Raw ids of jobs that are new, or whose known times have changed.
    """

    def __init__(self, connection: Connection, names: NameKeys) -> None:
        self.connection = connection
        self.names = names
        self.made: set[JobKey] = set()
        self.to_assign: set[int] = set()
        self.to_total: set[int] = set()
        self.to_settle: set[int] = set()

    def store(self, records: Sequence[JobRecord]) -> None:
        """Store the content of records.

        Raises:
            UsageError: A record has an id or a time that no job can have.
        """
        if not records:
            return
        every = [self._key_and_columns(record) for record in records]
        known = self._known({key[1] for key, _ in every})
        fresh: dict[JobKey, dict[str, Any]] = {}
        for key, reported in every:
            if key in known:
                known[key] = self._change(known[key], reported)
            else:
                fresh[key] = merged(fresh[key], reported) if key in fresh else reported
        self._insert(fresh)

    def add(self, columns: Mapping[str, Any]) -> int:
        """Insert a job that only profiles report, and return its key."""
        line = insert(Job).values(**fitted(Job, columns), changed_at=int(time.time()))
        key = self.connection.execute(line).inserted_primary_key
        assert key is not None
        return int(key[0])

    def _known(self, raw_ids: set[int]) -> dict[JobKey, dict[str, Any]]:
        """Return recorded jobs, and note the ids for which there are profiles."""
        found: dict[JobKey, dict[str, Any]] = {}
        for ids in portions(sorted(raw_ids)):
            query = select(Job.__table__).where(Job.raw_id.in_(ids))
            for row in self.connection.execute(query).mappings():
                if row["source_count"]:
                    self.to_assign.add(row["raw_id"])
                if row["is_recorded"]:
                    key = (row["cluster_id"], row["raw_id"], row["submit_at"])
                    found[key] = dict(row)
        return found

    def _key_and_columns(self, record: JobRecord) -> tuple[JobKey, dict[str, Any]]:
        if not (0 <= record.raw_id < 1 << 63 and 0 <= record.submit_at < 1 << 63):
            raise UsageError(
                f"job {record.raw_id}, submitted at {record.submit_at}, cannot be: correct the "
                "record, or leave it out"
            )
        cluster_id = self.names.cluster(record.cluster)
        person_id = self.names.person(record.user)
        project_id = self.names.project(record.account)
        self.names.member(project_id, person_id)
        reported = {
            **record.columns,
            "person_id": person_id,
            "uid": record.uid,
            "project_id": project_id,
            "start_at": record.start_at,
            "end_at": record.end_at,
            "sluid": record.sluid or None,
        }
        reported = fitted(Job, reported)
        self.names.note_uid(cluster_id, reported["uid"], person_id)
        return (cluster_id, record.raw_id, record.submit_at), reported

    def _change(self, row: dict[str, Any], reported: dict[str, Any]) -> dict[str, Any]:
        """Update a job from a record, and return its row."""
        after = merged(row, reported)
        if not row["source_count"]:
            after["no_data_reason"] = reason(after)
        changes = {name: value for name, value in after.items() if row[name] != value}
        if changes:
            line = update(Job).where(Job.id == row["id"])
            self.connection.execute(line.values(**changes, changed_at=int(time.time())))
            if row["source_count"]:
                self.to_total.add(row["id"])
        if {"start_at", "end_at"} & changes.keys():
            self.to_settle.add(row["raw_id"])
        return after

    def _insert(self, fresh: Mapping[JobKey, dict[str, Any]]) -> None:
        if not fresh:
            return
        now = int(time.time())
        names = {name for reported in fresh.values() for name in reported}
        rows = [
            {
                **dict.fromkeys(names),
                **reported,
                **dict(zip(("cluster_id", "raw_id", "submit_at"), key, strict=True)),
                "is_recorded": True,
                "source_count": 0,
                "no_data_reason": reason(reported),
                "changed_at": now,
            }
            for key, reported in fresh.items()
        ]
        self.connection.execute(insert(Job), rows)
        self.made |= set(fresh)
        self.to_settle |= {key[1] for key in fresh}


def merged(row: Mapping[str, Any], reported: Mapping[str, Any]) -> dict[str, Any]:
    """Return the combined content of two records of a job.

    The record with the later end, or else the later start, is the newer one; of equals, the
    second. What one of them does not report is taken from the other.
    """
    newer, older = (reported, row) if _progress(reported) >= _progress(row) else (row, reported)
    known = {name: value for name, value in newer.items() if value is not None}
    return {**dict.fromkeys(newer), **older, **known}


def reason(row: Mapping[str, Any]) -> str:
    """Return why a job without profiles has no figures."""
    if row.get("state") == "PENDING":
        return WAITS
    is_over = row.get("end_at") is not None
    did_not_run = row.get("start_at") is None or (is_over and row.get("run_seconds") == 0)
    return DID_NOT_RUN if did_not_run else NO_EVIDENCE


def unrecorded_of_uids(connection: Connection, uids: Iterable[tuple[int, int]]) -> set[int]:
    """Return the jobs without a scheduler record whose owner is known by a user number.

    Args:
        connection: Connection within a transaction.
        uids: Clusters and user numbers there.
    """
    found: set[int] = set()
    for places in portions(sorted(uids)):
        query = select(Job.id).where(
            Job.is_recorded.is_(False), tuple_(Job.cluster_id, Job.uid).in_(places)
        )
        found |= set(connection.scalars(query))
    return found


def unnumbered_of(connection: Connection, people: Iterable[tuple[int, int]]) -> set[int]:
    """Return the raw ids of recorded jobs of which only the name of the user is reported.

    Args:
        connection: Connection within a transaction.
        people: Clusters and users there.
    """
    found: set[int] = set()
    for places in portions(sorted(people)):
        query = select(Job.raw_id).where(
            Job.is_recorded.is_(True),
            Job.uid.is_(None),
            tuple_(Job.cluster_id, Job.person_id).in_(places),
        )
        found |= {raw_id for raw_id in connection.scalars(query) if raw_id is not None}
    return found


def _progress(row: Mapping[str, Any]) -> tuple[float, float]:
    end, start = row.get("end_at"), row.get("start_at")
    return -1 if end is None else end, -1 if start is None else start


def portions(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Divide keys into portions that fit into one query."""
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))


# Keys of named things: created on first use, and cached for a transaction.

LONGEST_NAME = 255
"""Maximum length of names of users, projects and programs."""
INSERTS = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


class NameKeys:
    """Resolves names to keys through one connection.

    Attributes:
        remapped: (cluster, uid) whose known user has changed.
        renumbered: (cluster, person) whose known numbers have changed.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.remapped: set[tuple[int, int]] = set()
        self.renumbered: set[tuple[int, int]] = set()
        self._known: dict[tuple[str, str], int] = {}
        self._members: set[tuple[int, int]] = set()
        self._uids: dict[tuple[int, int], int | None] = {}

    def cluster(self, name: str) -> int:
        """Return the key of a cluster; "" stands for an unreported one."""
        return self._key(Cluster, name)

    def program(self, name: str) -> int | None:
        """Return the key of a program, or None if it has no name."""
        return self._key(Program, name) if name else None

    def project(self, name: str) -> int | None:
        """Return the key of a project, or None if it has no name."""
        return self._key(Project, name) if name else None

    def person(self, name: str) -> int | None:
        """Return the key of a user, or None if the name is not reported."""
        return self._key(Person, name) if name else None

    def owner(self, cluster_id: int, uid: int | None) -> int | None:
        """Return the user with a number, or None if unknown or if it belonged to several users."""
        if uid is None:
            return None
        query = select(PersonUid.person_id).filter_by(cluster_id=cluster_id, uid=uid)
        return self.connection.scalar(query)

    def note_uid(self, cluster_id: int, uid: int | None, person_id: int | None) -> None:
        """Record which user a number belongs to.

        Numbers of users who have left are reused: one that belonged to several identifies nobody.
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
        """Record that a user runs jobs for a project."""
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
    """Return the number that a user has on a cluster in other records; NULL if none or several.

    Records in Slurm's JSON contain only the name of the user.
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
    """Insert a row, or update the one with this key.

    Args:
        connection: Connection within a transaction.
        table: Table of the row.
        key: Columns of a unique constraint.
        values: Columns that are set in any case.
        first: Further columns that are only set in a new row.
    """
    make = INSERTS.get(connection.dialect.name, insert)
    line: Any = make(table).values(**key, **values, **(first or {}))
    if values:
        line = line.on_conflict_do_update(index_elements=list(key), set_=values)
    else:
        line = line.on_conflict_do_nothing(index_elements=list(key))
    connection.execute(line)


def put_all(
    connection: Connection, table: type[Base], key: Sequence[str], rows: Sequence[dict[str, Any]]
) -> None:
    """Insert rows, or update those with their keys.

    Args:
        connection: Connection within a transaction.
        table: Table of the rows.
        key: Columns of a unique constraint.
        rows: Rows, all with the same columns.
    """
    if not rows:
        return
    line: Any = INSERTS.get(connection.dialect.name, insert)(table)
    values = {name: line.excluded[name] for name in rows[0] if name not in key}
    line = line.on_conflict_do_update(index_elements=list(key), set_=values)
    connection.execute(line, list(rows))


# The one place where foreign values are made acceptable to both SQLite and PostgreSQL.
#
# An impossible number becomes unknown (NULL), or the nearest possible one if the column must have
# a value.

_REFUSED = re.compile("[\x00\ud800-\udfff]+")
_Fit = Callable[[Any], Any]


def fitted(table: type[Base], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table with values that every database accepts."""
    fits = _fits(table)
    return {name: None if value is None else fits[name](value) for name, value in row.items()}


def key_text(name: str, longest: int) -> str:
    """Return a name as it is stored: on one line; two different names stay different.

    Args:
        name: Name from an input.
        longest: Maximum number of characters in its column.
    """
    shown = printable(name)
    if shown == name and len(shown) <= longest:
        return shown
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{shown[: longest - 13]}~{digest}"


def storable(text: str, longest: int | None = None) -> str:
    """Return text without characters that PostgreSQL refuses, cut to a length."""
    return _REFUSED.sub(lambda found: printable(found[0]), text)[:longest]


@cache
def _fits(table: type[Base]) -> dict[str, _Fit]:
    return {
        column.name: _fit_of(column.type, bool(column.nullable))
        for column in table.__table__.columns
    }


def _fit_of(kind: Any, is_nullable: bool) -> _Fit:
    if isinstance(kind, LargeBinary):
        return bytes
    if isinstance(kind, Reasons):
        return lambda value: {str(key): storable(str(text)) for key, text in value.items()}
    if isinstance(kind, Boolean):
        return bool
    if isinstance(kind, String):
        return lambda value: storable(str(value), kind.length)
    if isinstance(kind, Integer):
        bits = 63 if isinstance(kind, BigInteger) else 31
        return lambda value: _integer(value, (1 << bits) - 1, is_nullable)
    assert isinstance(kind, Float)
    return lambda value: _real(value, is_nullable)


def _integer(value: Any, most: int, is_nullable: bool) -> int | None:
    if isinstance(value, float) and not math.isfinite(value):
        value = 0 if value != value else most if value > 0 else -most
        return None if is_nullable else value
    number = int(value)
    if -most <= number <= most:
        return number
    return None if is_nullable else max(-most, min(number, most))


def _real(value: Any, is_nullable: bool) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isfinite(number):
        return number
    if is_nullable:
        return None
    return 0.0 if number != number else math.copysign(1.7e308, number)
