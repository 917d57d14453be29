# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the same program by the same user, before and after a job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from stripewise.fleet.queries._changes import RunFacts
from stripewise.fleet.queries._jobs import COLUMNS, with_names
from stripewise.fleet.queries._load import rates_in_hours
from stripewise.fleet.queries._period import total
from stripewise.fleet.queries._viewer import Viewer, jobs_of, veiled, without_paths
from stripewise.fleet.tables import Job, JobFile, JobIo, JobSource, SettingRow
from stripewise.text import size_text

Row = Mapping[str, Any]
MOST_RUNS = 30
"""Runs that are looked at before a job, and as many after it."""
_MOST_FILES = 100
"""Files of a source whose layout is looked at; they are those with most time."""
_MOST_SETTINGS = 400
_COLUMNS = (*COLUMNS, Job.file_count, Job.end_at)


def list_runs(connection: Connection, viewer: Viewer, job: Row) -> list[Row]:
    """Return the runs around a job, itself among them, the oldest first.

    Args:
        connection: To the database.
        viewer: Who looks; runs that they do not see are left out.
        job: As `find_job` gave it to that viewer.
    """
    whose = _whose(job)
    at, key = job["start_at"], job["id"]
    if whose is None or at is None or job["program_id"] is None:
        return []
    query = with_names(jobs_of(viewer, *_COLUMNS))
    # as an expression, so that the index of the user's jobs serves: of a program that all use
    # the jobs of everybody would be walked through
    query = query.where(Job.program_id + 0 == job["program_id"], whose)
    is_before = query.where(Job.start_at <= at, or_(Job.start_at < at, Job.id <= key))
    is_after = query.where(Job.start_at >= at, or_(Job.start_at > at, Job.id > key))
    before = connection.execute(
        is_before.order_by(Job.start_at.desc(), Job.id.desc()).limit(MOST_RUNS + 1)
    ).all()
    after = connection.execute(
        is_after.order_by(Job.start_at, Job.id).limit(MOST_RUNS)
    ).all()  # fmt: skip
    return [veiled(viewer, dict(one._mapping)) for one in (*reversed(before), *after)]


def facts_of_runs(
    connection: Connection, viewer: Viewer, runs: Sequence[Row]
) -> dict[int, RunFacts]:
    """Return what can differ between runs, by the key of their jobs.

    Args:
        connection: To the database.
        viewer: Who looks.
        runs: Rows of jobs that the viewer sees: with `COLUMNS`, file_count and end_at.
    """
    keys = [run["id"] for run in runs]
    stripes, settings = _stripes(connection, keys), _settings(connection, viewer, keys)
    loads = _loads(connection, runs)
    names = ("io_seconds", "bytes_per_second", "read_bytes", "write_bytes", "meta_operations",
             "file_count", "rank_count", "node_count", "pattern")  # fmt: skip
    return {
        run["id"]: RunFacts(
            **{name: run[name] for name in names},
            stripes=stripes.get(run["id"]),
            settings=settings.get(run["id"], {}),
            load_bytes_per_second=loads.get(run["id"]),
        )
        for run in runs
    }


def _whose(job: Row) -> ColumnElement[bool] | None:
    if job["person_id"] is not None:
        return and_(Job.person_id == job["person_id"])
    if job["uid"] is not None:
        return and_(
            Job.person_id.is_(None), Job.uid == job["uid"], Job.cluster_id == job["cluster_id"]
        )
    return None


def _stripes(connection: Connection, jobs: Sequence[int]) -> dict[int, str]:
    """Return the layout in which most bytes of each job lie, in words."""
    moved = func.sum(total(JobFile.read_bytes, JobFile.write_bytes))
    query = (
        select(JobSource.job_id, JobFile.stripe_count, JobFile.stripe_bytes, moved)
        .join(JobFile, JobFile.source_id == JobSource.id)
        .where(JobSource.job_id.in_(jobs), JobFile.number < _MOST_FILES)
        .where(JobFile.stripe_count.is_not(None), JobFile.stripe_bytes.is_not(None))
        .group_by(JobSource.job_id, JobFile.stripe_count, JobFile.stripe_bytes)
        .order_by(moved)
    )
    found: dict[int, str] = {}
    for job, count, size, _ in connection.execute(query):
        found[job] = f"{count} x {size_text(size or 0)}"
    return found


def _settings(
    connection: Connection, viewer: Viewer, jobs: Sequence[int]
) -> dict[int, dict[str, str]]:
    """Return what acted of each setting in each job; several values are joined."""
    told = (SettingRow.requested, SettingRow.applied, SettingRow.effective)
    query = (
        jobs_of(viewer, Job.id, SettingRow.name)
        .add_columns(*(without_paths(viewer, one).label(one.key) for one in told))
        .join(JobSource, JobSource.job_id == Job.id)
        .join(SettingRow, SettingRow.source_id == JobSource.id)
        .where(JobSource.job_id.in_(jobs), SettingRow.number < _MOST_SETTINGS)
    )
    found: dict[Any, dict[Any, set[Any]]] = defaultdict(lambda: defaultdict(set))
    for job, name, requested, applied, effective in connection.execute(query):
        value = next((one for one in (effective, applied, requested) if one is not None), None)
        if value is not None:
            found[job][name].add(value)
    return {
        job: {name: ", ".join(sorted(values)) for name, values in one.items()}
        for job, one in found.items()
    }


def _loads(connection: Connection, runs: Sequence[Row]) -> dict[int, float]:
    """Return what the storage of each job moved for everybody while it ran."""
    query = (
        select(JobSource.job_id, JobIo.file_system)
        .join(JobIo, JobIo.source_id == JobSource.id)
        .where(JobSource.job_id.in_([run["id"] for run in runs]))
        .order_by(total(JobIo.read_bytes, JobIo.write_bytes))
    )
    main = {job: name for job, name in connection.execute(query)}
    by_storage: dict[str, list[Row]] = defaultdict(list)
    for run in runs:
        if run["id"] in main and run["start_at"] is not None:
            by_storage[main[run["id"]]].append(run)
    found: dict[int, float] = {}
    for name, some in by_storage.items():
        spans = {run["id"]: (run["start_at"], run["end_at"] or run["start_at"]) for run in some}
        found |= rates_in_hours(connection, name, spans)
    return found
