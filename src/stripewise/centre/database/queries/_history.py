# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists runs of the same program by the same user, and how one of them differs."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from stripewise.centre.database.queries._filters import total
from stripewise.centre.database.queries._jobs import COLUMNS, join_names
from stripewise.centre.database.queries._load import rates_in_hours
from stripewise.centre.database.queries._viewer import Viewer, jobs_of, veiled, without_paths
from stripewise.centre.database.tables._jobs import Job, JobFile, JobIo, JobSource, SettingRow
from stripewise.present import size_text

Row = Mapping[str, Any]
MOST_RUNS = 30
"""Maximum number of runs before a job, and of runs after it."""
_MOST_FILES = 100
"""Maximum number of files of a source whose layout is read, those with most time first."""
_MOST_SETTINGS = 400
_COLUMNS = (*COLUMNS, Job.file_count, Job.end_at)


def list_runs(connection: Connection, viewer: Viewer, job: Row) -> list[Row]:
    """Return the runs around a job, including the job itself, oldest first.

    Args:
        connection: Connection to the database.
        viewer: The viewer who asks; runs that they may not see are left out.
        job: Row that `find_job` returned for that viewer.
    """
    whose = _same_user(job)
    at, key = job["start_at"], job["id"]
    if whose is None or at is None or job["program_id"] is None:
        return []
    query = join_names(jobs_of(viewer, *_COLUMNS))
    # as an expression, so that the index of the user's jobs is used: for a program that everybody
    # uses, the jobs of all users would be searched
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
        connection: Connection to the database.
        viewer: The viewer who asks.
        runs: Rows of jobs that the viewer sees, with `COLUMNS`, file_count and end_at.
    """
    keys = [run["id"] for run in runs]
    stripes, settings = _stripes(connection, keys), _settings(connection, viewer, keys)
    main = _main_file_systems(connection, keys)
    loads = _loads(connection, runs, main)
    names = ("io_seconds", "bytes_per_second", "read_bytes", "write_bytes", "meta_operations",
             "file_count", "rank_count", "node_count", "pattern")  # fmt: skip
    return {
        run["id"]: RunFacts(
            **{name: run[name] for name in names},
            stripes=stripes.get(run["id"]),
            settings=settings.get(run["id"], {}),
            file_system=main.get(run["id"]),
            load_bytes_per_second=loads.get(run["id"]),
        )
        for run in runs
    }


def _same_user(job: Row) -> ColumnElement[bool] | None:
    if job["person_id"] is not None:
        return and_(Job.person_id == job["person_id"])
    if job["uid"] is not None:
        return and_(
            Job.person_id.is_(None), Job.uid == job["uid"], Job.cluster_id == job["cluster_id"]
        )
    return None


def _stripes(connection: Connection, jobs: Sequence[int]) -> dict[int, str]:
    """Return in words the layout that contains most bytes of each job."""
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
    """Return the effective value of each setting in each job; several values are joined."""
    fields = (SettingRow.requested, SettingRow.applied, SettingRow.effective)
    query = (
        jobs_of(viewer, Job.id, SettingRow.name)
        .add_columns(*(without_paths(viewer, one).label(one.key) for one in fields))
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


def _main_file_systems(connection: Connection, jobs: Sequence[int]) -> dict[int, str]:
    """Return the file system that most bytes of each job are on."""
    query = (
        select(JobSource.job_id, JobIo.file_system)
        .join(JobIo, JobIo.source_id == JobSource.id)
        .where(JobSource.job_id.in_(jobs))
        .order_by(total(JobIo.read_bytes, JobIo.write_bytes))
    )
    return {job: name for job, name in connection.execute(query)}


def _loads(
    connection: Connection, runs: Sequence[Row], main: Mapping[int, str]
) -> dict[int, float]:
    """Return the bytes moved for everybody on the storage of each job while it ran."""
    by_storage: dict[str, list[Row]] = defaultdict(list)
    for run in runs:
        if run["id"] in main and run["start_at"] is not None:
            by_storage[main[run["id"]]].append(run)
    found: dict[int, float] = {}
    for name, some in by_storage.items():
        spans = {run["id"]: (run["start_at"], run["end_at"] or run["start_at"]) for run in some}
        found |= rates_in_hours(connection, name, spans)
    return found


# Differences between a run and earlier runs of the same program.

SAME_FACTOR = 1.2
"""Amounts and times within this factor count as the same (chosen: I/O times of equal runs vary
by so much on a busy storage)."""
LOAD_FACTOR = 1.5
"""Loads of the storage within this factor count as the same (chosen)."""
NOT_SET = "not set"


@dataclass(frozen=True)
class RunFacts:
    """Facts that can differ between two runs; None if unknown.

    Attributes:
        io_seconds: I/O time.
        bytes_per_second: I/O rate.
        read_bytes / write_bytes / meta_operations / file_count: Bytes moved, operations and files.
        rank_count / node_count: Ranks and nodes of the run.
        pattern: Pattern of the file class that took most time.
        stripes: Layout of most of its data, in words.
        file_system: File system of most of its data.
        settings: Effective value of each setting by its name; {} if unknown.
        load_bytes_per_second: What its storage moved for everybody while it ran.
    """

    io_seconds: float | None = None
    bytes_per_second: float | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    meta_operations: int | None = None
    file_count: int | None = None
    rank_count: int | None = None
    node_count: int | None = None
    pattern: str | None = None
    stripes: str | None = None
    file_system: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    load_bytes_per_second: float | None = None


@dataclass(frozen=True)
class Change:
    """One fact that differs.

    Attributes:
        name: Name of the field in `RunFacts`, or "setting NAME".
        before: Median, or most common value, of the earlier runs.
        now: Value of this run.
    """

    name: str
    before: Any
    now: Any


_AMOUNTS = ("read_bytes", "write_bytes", "meta_operations", "file_count")
_EXACT = ("rank_count", "node_count")
_WORDS = ("stripes", "file_system", "pattern")


def changes(now: RunFacts, before: Sequence[RunFacts]) -> list[Change]:
    """Return what differs between a run and those before it; times and rates are results.

    A value that is unknown on one side is not a difference.
    """
    found = []
    for name in (*_WORDS, *_EXACT, *_AMOUNTS, "load_bytes_per_second"):
        value, usual = getattr(now, name), typical(name, before)
        if value is None or usual is None:
            continue
        if name in _EXACT or name in _WORDS:
            differs = value != usual
        else:
            factor = SAME_FACTOR if name in _AMOUNTS else LOAD_FACTOR
            differs = not are_close(value, usual, factor)
        if differs:
            found.append(Change(name, usual, value))
    return found + _settings_changes(now.settings, [one.settings for one in before])


def typical(name: str, runs: Iterable[RunFacts]) -> Any:
    """Return the median of a figure over runs, or the most common word; None if unknown.

    For counts of ranks and nodes it is the lower median, so that it is a count that was used.
    """
    known = [value for run in runs if (value := getattr(run, name)) is not None]
    if not known:
        return None
    if name in _WORDS:
        return Counter(known).most_common(1)[0][0]
    return statistics.median_low(known) if name in _EXACT else statistics.median(known)


def are_close(one: float, other: float, factor: float = SAME_FACTOR) -> bool:
    """Return whether two amounts are within a factor of each other; 0 is only close to 0."""
    low, high = sorted((one, other))
    return high <= factor * low


def _settings_changes(now: Mapping[str, str], before: Sequence[Mapping[str, str]]) -> list[Change]:
    known = [one for one in before if one]
    if not now or not known:
        return []
    found = []
    for name in sorted(set(now).union(*known)):
        usual = Counter(one.get(name, NOT_SET) for one in known).most_common(1)[0][0]
        value = now.get(name, NOT_SET)
        if value != usual:
            found.append(Change(f"setting {name}", usual, value))
    return found
