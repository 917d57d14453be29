# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs as the scheduler tells of them: merged with what is known, many at a time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, tuple_, update

from stripewise.errors import UsageError
from stripewise.fleet._fitting import fitted
from stripewise.fleet._names import Names
from stripewise.fleet._records import JobRecord
from stripewise.fleet.tables import Job

NO_EVIDENCE = "no profile"
DID_NOT_RUN = "did not run"
WAITS = "waits in the queue"
JobKey = tuple[int, int, int]
"""Cluster, raw id, submit time."""
_AT_ONCE = 400


class JobRows:
    """Rows of jobs, through one connection.

    Attributes:
        made: Jobs that are new in this transaction.
        to_assign: Raw ids whose profiles are to be assigned anew.
        to_total: Keys of jobs whose figures are to be made anew.
        to_settle: Raw ids of jobs that are new, or ran at another time than was known.
    """

    def __init__(self, connection: Connection, names: Names) -> None:
        self.connection = connection
        self.names = names
        self.made: set[JobKey] = set()
        self.to_assign: set[int] = set()
        self.to_total: set[int] = set()
        self.to_settle: set[int] = set()

    def store(self, records: Sequence[JobRecord]) -> None:
        """Store what records tell.

        Raises:
            UsageError: A record has an id or a time that no job has.
        """
        if not records:
            return
        every = [self._told(record) for record in records]
        known = self._known({key[1] for key, _ in every})
        fresh: dict[JobKey, dict[str, Any]] = {}
        for key, told in every:
            if key in known:
                known[key] = self._change(known[key], told)
            else:
                fresh[key] = merged(fresh[key], told) if key in fresh else told
        self._insert(fresh)

    def add(self, columns: Mapping[str, Any]) -> int:
        """Insert a job that only profiles tell of; return its key."""
        line = insert(Job).values(**fitted(Job, columns), changed_at=int(time.time()))
        key = self.connection.execute(line).inserted_primary_key
        assert key is not None
        return int(key[0])

    def _known(self, raw_ids: set[int]) -> dict[JobKey, dict[str, Any]]:
        """Return recorded jobs; note the ids of which there are profiles."""
        found: dict[JobKey, dict[str, Any]] = {}
        for ids in _portions(sorted(raw_ids)):
            query = select(Job.__table__).where(Job.raw_id.in_(ids))
            for row in self.connection.execute(query).mappings():
                if row["source_count"]:
                    self.to_assign.add(row["raw_id"])
                if row["is_recorded"]:
                    key = (row["cluster_id"], row["raw_id"], row["submit_at"])
                    found[key] = dict(row)
        return found

    def _told(self, record: JobRecord) -> tuple[JobKey, dict[str, Any]]:
        if not (0 <= record.raw_id < 1 << 63 and 0 <= record.submit_at < 1 << 63):
            raise UsageError(
                f"job {record.raw_id}, submitted at {record.submit_at}, cannot be: correct the "
                "record, or leave it out"
            )
        cluster_id = self.names.cluster(record.cluster)
        person_id = self.names.person(record.user)
        project_id = self.names.project(record.account)
        self.names.member(project_id, person_id)
        told = {
            **record.columns,
            "person_id": person_id,
            "uid": record.uid,
            "project_id": project_id,
            "start_at": record.start_at,
            "end_at": record.end_at,
            "sluid": record.sluid or None,
        }
        told = fitted(Job, told)
        self.names.note_uid(cluster_id, told["uid"], person_id)
        return (cluster_id, record.raw_id, record.submit_at), told

    def _change(self, row: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
        """Change a job by a record; return its row."""
        after = merged(row, told)
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
        names = {name for told in fresh.values() for name in told}
        rows = [
            {
                **dict.fromkeys(names),
                **told,
                **dict(zip(("cluster_id", "raw_id", "submit_at"), key, strict=True)),
                "is_recorded": True,
                "source_count": 0,
                "no_data_reason": reason(told),
                "changed_at": now,
            }
            for key, told in fresh.items()
        ]
        self.connection.execute(insert(Job), rows)
        self.made |= set(fresh)
        self.to_settle |= {key[1] for key in fresh}


def merged(row: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two records of a job tell together.

    The one that ends, or else begins, later is the newer one; of equals the second.  What one of
    them does not tell, the other does.
    """
    newer, older = (told, row) if _progress(told) >= _progress(row) else (row, told)
    known = {name: value for name, value in newer.items() if value is not None}
    return {**dict.fromkeys(newer), **older, **known}


def reason(row: Mapping[str, Any]) -> str:
    """Return why there are no figures of a job without profiles."""
    if row.get("state") == "PENDING":
        return WAITS
    is_over = row.get("end_at") is not None
    did_not_run = row.get("start_at") is None or (is_over and row.get("run_seconds") == 0)
    return DID_NOT_RUN if did_not_run else NO_EVIDENCE


def unrecorded_of_uids(connection: Connection, uids: Iterable[tuple[int, int]]) -> set[int]:
    """Return the jobs without a record of which a number tells the owner.

    Args:
        connection: Within a transaction.
        uids: Clusters and the numbers there.
    """
    found: set[int] = set()
    for places in _portions(sorted(uids)):
        query = select(Job.id).where(
            Job.is_recorded.is_(False), tuple_(Job.cluster_id, Job.uid).in_(places)
        )
        found |= set(connection.scalars(query))
    return found


def unnumbered_of(connection: Connection, people: Iterable[tuple[int, int]]) -> set[int]:
    """Return the raw ids of recorded jobs of which only the user's name is told.

    Args:
        connection: Within a transaction.
        people: Clusters and users there.
    """
    found: set[int] = set()
    for places in _portions(sorted(people)):
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


def _portions(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
