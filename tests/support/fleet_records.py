# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records for the statistics database, and what its tables hold, without their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from sqlalchemy import Connection, select

from stripewise.centre.database._records import JobRecord, SourceRecord, pack
from stripewise.centre.database.tables import (
    Base,
    Cluster,
    FindingRow,
    Job,
    JobFile,
    JobIo,
    JobPattern,
    JobSource,
    Member,
    Person,
    PersonUid,
    Program,
    Project,
    SettingRow,
)

DAY = 86400
ON_A_DATABASE = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
"""Each example takes its changes back by itself."""
_KEYS = {"id", "cluster_id", "person_id", "project_id", "program_id", "job_id", "source_id"}
_PARTS = (JobIo, JobFile, JobPattern, FindingRow, SettingRow)


def figures(**given: Any) -> dict[str, Any]:
    """Return the figures of a profile."""
    found: dict[str, Any] = {
        "run_seconds": 100.0, "n_ranks": 4, "n_hosts": 2, "n_files": 3, "n_shared": 1,
        "read_bytes": 1000, "write_bytes": 2000, "meta_operations": 30,
        "n_read_only": 1, "n_write_only": 2, "cumulated_read_seconds": 2.0,
        "cumulated_write_seconds": 5.0, "cumulated_meta_seconds": 1.0,
        "elapsed_read_seconds": 1.0, "elapsed_write_seconds": 2.0, "elapsed_meta_seconds": 0.5,
        "io_seconds": 3.5, "io_share": 0.035, "rate_bytes_per_second": 857.0,
    }  # fmt: skip
    return {**found, **given}


def job(raw_id: int = 7, submit_at: int = 1000, **given: Any) -> JobRecord:
    """Return the record of a job that ran for 100 s from 10 s after its submission on."""
    found: dict[str, Any] = {
        "cluster": "a", "user": "x", "uid": 1, "account": "p", "start_at": submit_at + 10,
        "end_at": submit_at + 110,
        "columns": {"name": "run", "state": "COMPLETED", "run_seconds": 100.0, "node_count": 2},
    }  # fmt: skip
    return JobRecord(raw_id=raw_id, submit_at=submit_at, **{**found, **given})


def source(digest: str = "d", raw_id: int | None = 7, **given: Any) -> SourceRecord:
    """Return a profile of a run within the job that `job` makes."""
    told = given.pop("told", None) or figures()
    found: dict[str, Any] = {
        "kind": "darshan", "name": "log.darshan", "program": "solver", "user": "x",
        "start_at": 1020.0, "end_at": 1100.0,
    }  # fmt: skip
    return SourceRecord(
        digest=digest, raw_id=raw_id, figures=told, document=pack({"figures": told}),
        rows=pack({}), **{**found, **given},
    )  # fmt: skip


def contents(connection: Connection) -> dict[str, Any]:
    """Return jobs with their profiles, and names, as plain data that do not depend on keys."""
    names = {
        table: dict(map(tuple, connection.execute(select(table.id, table.name))))
        for table in (Cluster, Person, Project, Program)
    }
    sources = _sources(connection, names)
    jobs = []
    for row in connection.execute(select(Job.__table__)).mappings():
        of_job = sorted(sources.pop(row["id"], []), key=lambda one: str(one["digest"]))
        jobs.append({**_plain(row, names), "sources": of_job})
    assert not sources
    uids = [
        (names[Cluster][row.cluster_id], row.uid, names[Person].get(row.person_id))
        for row in connection.execute(select(PersonUid.__table__))
    ]
    members = [
        (names[Project][row.project_id], names[Person][row.person_id], row.is_manager)
        for row in connection.execute(select(Member.__table__))
    ]
    return {
        "jobs": sorted(jobs, key=_sorting),
        "uids": sorted(uids, key=repr),
        "members": sorted(members, key=repr),
    }


def jobs_of(connection: Connection) -> list[dict[str, Any]]:
    """Return the jobs alone."""
    found: list[dict[str, Any]] = contents(connection)["jobs"]
    return found


def _sources(connection: Connection, names: Mapping[Any, Any]) -> dict[int, list[dict[str, Any]]]:
    parts: dict[int, dict[str, list[Any]]] = {}
    for table in _PARTS:
        for row in connection.execute(select(table.__table__).order_by(*_key(table))).mappings():
            lists = parts.setdefault(row["source_id"], {})
            lists.setdefault(table.__tablename__, []).append(_plain(row, names))
    found: dict[int, list[dict[str, Any]]] = {}
    for row in connection.execute(select(JobSource.__table__)).mappings():
        one = {**_plain(row, names), "parts": parts.get(row["id"], {})}
        found.setdefault(row["job_id"], []).append(one)
    return found


def _key(table: type[Base]) -> Sequence[Any]:
    return tuple(table.__table__.primary_key)


def _plain(row: Mapping[Any, Any], names: Mapping[Any, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in row.items() if name not in _KEYS | {"changed_at"}}
    for table, column in ((Cluster, "cluster"), (Person, "person"), (Project, "project"),
                          (Program, "program")):  # fmt: skip
        if f"{column}_id" in row:
            plain[column] = names[table].get(row[f"{column}_id"])
    return plain


def _sorting(row: Mapping[str, Any]) -> str:
    first = (row["cluster"], row["raw_id"], row["submit_at"], row["start_at"])
    return repr((*first, [one["digest"] for one in row["sources"]]))
