# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds one job: its row, sources, profiles and files, and what servers counted for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, select

from stripewise.centre.database._records import join, unpack
from stripewise.centre.database.queries._jobs import join_names
from stripewise.centre.database.queries._paging import MOST_ROWS, Listing, Order, page
from stripewise.centre.database.queries._viewer import (
    HIDDEN,
    AccessReason,
    Viewer,
    jobs_of,
    veiled,
    veiled_reasons,
)
from stripewise.centre.database.store._figures import SourceFigures, distinct
from stripewise.centre.database.store._settle import parts_of
from stripewise.centre.database.tables._jobs import (
    Cluster,
    FindingRow,
    Job,
    JobFile,
    JobIo,
    JobPattern,
    JobSource,
    Person,
    Program,
    Project,
    SettingRow,
)
from stripewise.centre.database.tables._storage import FileSystem, JobLoad, JobServed
from stripewise.evidence.trace import SIZE_EDGES

Row = Mapping[str, Any]
MOST_SOURCES = 10
"""Maximum number of sources of a job that are shown, those with most I/O time first."""
_NAMES = (
    *(Cluster.name.label("cluster"), Person.name.label("user")),
    *(Project.name.label("project"), Program.name.label("program")),
)
_ABOUT_SOURCE = (
    *(JobSource.id, JobSource.kind, JobSource.name, JobSource.match_rule, JobSource.confidence),
    *(JobSource.start_at, JobSource.end_at, JobSource.rank_count, JobSource.is_partial),
    *(JobSource.io_seconds, JobSource.program_id, Program.name.label("program")),
)


@dataclass(frozen=True)
class Source:
    """Data of one source about a job.

    Attributes:
        about: Kind, name, match_rule, confidence, times, program; and `is_counted`: whether the
            job's figures are made from it. If not, another source reports more of the same run.
        figures: Figures of the profile, as `stripewise profile --json` prints them.
        document: The profile without its lists of files; None if names of files are hidden from
            this viewer, and with them all text that may contain one.
        io / patterns / findings / settings: Rows of the tables, without names of files if those
            are hidden.
    """

    about: dict[str, Any]
    figures: Row
    document: Row | None
    io: Sequence[Row]
    patterns: Sequence[Row]
    findings: Sequence[Row]
    settings: Sequence[Row]


@dataclass(frozen=True)
class JobView:
    """One job as a viewer sees it.

    Attributes:
        row: All columns of `tables.Job`, and the names of cluster, user, project and program.
        access_reason: Reason why the viewer may see it.
        shows_names: Whether names of files are shown.
        sources: The `MOST_SOURCES` sources with most I/O time, sorted by time.
    """

    row: Row
    access_reason: AccessReason
    shows_names: bool
    sources: Sequence[Source]

    @property
    def counted(self) -> list[Source]:
        """The sources from which the job's figures are made, one for each run."""
        return [one for one in self.sources if one.about["is_counted"]]


def find_job(connection: Connection, viewer: Viewer, job_id: int) -> Row | None:
    """Return the row of a job with its names, or None if the viewer sees no such job."""
    if not 0 < job_id < 1 << 62:
        return None
    query = join_names(jobs_of(viewer, *Job.__table__.c, *_NAMES)).where(Job.id == job_id)
    found = connection.execute(query).one_or_none()
    return None if found is None else veiled(viewer, dict(found._mapping))


def view_job(connection: Connection, viewer: Viewer, job_id: int) -> JobView | None:
    """Return a job with the data of its sources, or None if the viewer sees no such job."""
    row = find_job(connection, viewer, job_id)
    if row is None:
        return None
    access_reason = viewer.access_reason(row)
    assert access_reason is not None
    shows = viewer.reads_names(row)
    query = (
        select(*_ABOUT_SOURCE, JobSource.document)
        .outerjoin(Program, Program.id == JobSource.program_id)
        .where(JobSource.job_id == job_id)
        .order_by(JobSource.io_seconds.desc().nulls_last(), JobSource.id)
        .limit(MOST_SOURCES)
    )
    sources = [
        _source(connection, dict(found._mapping), shows) for found in connection.execute(query)
    ]
    _mark_counted(sources)
    sources.sort(key=lambda one: (one.about["start_at"] or 0.0, one.about["id"]))
    return JobView(row, access_reason, shows, sources)


def _mark_counted(sources: Sequence[Source]) -> None:
    """Set for each source whether the job's figures are made from it."""
    figures = [
        SourceFigures(one.about["kind"], one.about["program_id"], one.about["start_at"],
             one.about["end_at"], one.figures)
        for one in sources
    ]  # fmt: skip
    counted = {id(one) for one in distinct(figures)}
    for source, one in zip(sources, figures, strict=True):
        source.about["is_counted"] = id(one) in counted


def _source(connection: Connection, about: dict[str, Any], shows: bool) -> Source:
    document = unpack(about.pop("document"))
    figures = document["figures"]
    if not shows:
        about["name"] = ""
        figures = {**figures, "missing": veiled_reasons(figures.get("missing", {}))}
    key = about["id"]
    return Source(
        about,
        figures,
        document if shows else None,
        [_shown(row, shows) for row in _rows(connection, JobIo, key, ())],
        [
            _shown(row, shows)
            for row in _rows(
                connection, JobPattern, key, () if shows else ("file_class", "dataset")
            )
        ],
        _rows(connection, FindingRow, key, () if shows else ("phrase",)),
        _setting_rows(connection, key, shows),
    )


def _shown(row: Row, shows: bool) -> Row:
    return row if shows else {**row, "missing": veiled_reasons(row["missing"])}


def _setting_rows(connection: Connection, key: int, shows: bool) -> Sequence[Row]:
    rows = _rows(connection, SettingRow, key, () if shows else ("file_class",))
    if shows:
        return rows
    return [
        {name: HIDDEN if "/" in str(value) else value for name, value in row.items()}
        for row in rows
    ]


def _rows(connection: Connection, table: Any, key: int, hidden: Sequence[str]) -> Sequence[Row]:
    columns = [column for column in table.__table__.c if column.name != "source_id"]
    query = select(*columns).where(table.source_id == key).order_by(*columns[:1])
    rows = [dict(row._mapping) for row in connection.execute(query)]
    for row in rows:
        row.update(dict.fromkeys(hidden))
    return rows


def full_profile(
    connection: Connection, viewer: Viewer, job_id: int, source_id: int
) -> dict[str, Any] | None:
    """Return a whole profile, as `stripewise profile --json` prints it.

    It is None if there is none, or if the viewer may not read the names of its files.
    """
    row = find_job(connection, viewer, job_id)
    if row is None or not viewer.reads_names(row) or not 0 < source_id < 1 << 62:
        return None
    found = connection.execute(
        select(JobSource.document, JobSource.rows).where(
            JobSource.id == source_id, JobSource.job_id == job_id
        )
    ).one_or_none()
    return None if found is None else join(found.document, found.rows)


def list_sources(connection: Connection, viewer: Viewer, job_id: int) -> list[Row]:
    """Return the sources of a job, at most 500, without their profiles; [] if none is visible."""
    row = find_job(connection, viewer, job_id)
    if row is None:
        return []
    query = (
        select(*_ABOUT_SOURCE)
        .outerjoin(Program, Program.id == JobSource.program_id)
        .where(JobSource.job_id == job_id)
        .order_by(JobSource.start_at, JobSource.id)
        .limit(MOST_ROWS)
    )
    hidden = () if viewer.reads_names(row) else ("name",)
    found = connection.execute(query)
    return [{**one._mapping, **dict.fromkeys(hidden, "")} for one in found]


def list_files(
    connection: Connection,
    viewer: Viewer,
    job_id: int,
    source_id: int,
    *,
    after: str = "",
    limit: int = 50,
) -> Listing | None:
    """Return one page of the files of a source, in the order of the profile.

    Where names are hidden, path and class are None. Return None if no such source is visible.

    Raises:
        UsageError: The cursor cannot be used.
    """
    row = find_job(connection, viewer, job_id)
    if row is None or not 0 < source_id < 1 << 62:
        return None
    is_of_job = select(JobSource.id).where(JobSource.id == source_id, JobSource.job_id == job_id)
    if connection.scalar(is_of_job) is None:
        return None
    shows = viewer.reads_names(row)
    hidden = () if shows else ("path", "file_class")
    query = select(*JobFile.__table__.c).where(JobFile.source_id == source_id)
    listing = page(connection, query, Order(JobFile.number, JobFile.number, False), after, limit)
    rows = [_shown({**one._mapping, **dict.fromkeys(hidden)}, shows) for one in listing.rows]
    return Listing(rows, listing.next)


# What the servers counted for a job, and the sizes that its programs requested.
#
# Whoever sees the job sees this, since it contains no names of files.

LARGEST_LISTS_BYTES = 1 << 20
"""Maximum size of compressed file lists that are read for a page (chosen: some 10^4 files)."""


@dataclass(frozen=True)
class Served:
    """What the servers of a file system did for a job, for one kind of operation.

    Attributes:
        file_system: Name of the file system.
        kind: "read", "write" or "metadata".
        first_at / last_at: Start of the first and end of the last interval with such operations.
        operations: Number of operations, which for reads and writes are client requests; None if
            not reported.
        moved_bytes: Bytes moved; None for metadata, or if not reported.
        operation_seconds: Mean time of an operation at the servers, over those with a reported
            time; None if there are none.
        parts: Count by request size in bytes or by name of operation; {} if not reported.
    """

    file_system: str
    kind: str
    first_at: float
    last_at: float
    operations: int | None
    moved_bytes: int | None
    operation_seconds: float | None
    parts: Mapping[str, int]

    @property
    def request_bytes(self) -> float | None:
        """Mean size of a request in bytes."""
        if self.moved_bytes is None or not self.operations:
            return None
        return self.moved_bytes / self.operations

    @property
    def sizes(self) -> dict[int, int]:
        """Number of requests by upper bound of their size in bytes, ascending."""
        known = {int(name): number for name, number in self.parts.items() if _is_size(name)}
        return dict(sorted(known.items()))


def _is_size(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 20


@dataclass(frozen=True)
class CallSizes:
    """Calls of a job's programs in one direction, by size.

    Attributes:
        direction: "read" or "write".
        calls: Number of calls.
        moved_bytes: Bytes moved by all of them.
        edges: Lower bounds of the sizes, in bytes.
        counts: Calls from each bound on; () if not reported, or if there are too many files to
            read.
    """

    direction: str
    calls: int
    moved_bytes: int
    edges: Sequence[int] = ()
    counts: Sequence[int] = ()

    @property
    def call_bytes(self) -> float | None:
        """Mean size of a call in bytes."""
        return self.moved_bytes / self.calls if self.calls else None


def served_of(connection: Connection, view: JobView) -> list[Served]:
    """Return what servers did for a job, by file system, for reads, writes and metadata."""
    key = view.row["id"]
    times = _times(connection, key)
    query = (
        select(FileSystem.name, *JobServed.__table__.c)
        .join(FileSystem, FileSystem.id == JobServed.file_system_id)
        .where(JobServed.job_id == key)
    )
    found = [_served(row, times) for row in connection.execute(query)]
    order = {"read": 0, "write": 1, "metadata": 2}
    return sorted(found, key=lambda one: (one.file_system, order.get(one.kind, 3), one.kind))


def _served(row: Any, times: Mapping[tuple[int, str], tuple[float, int]]) -> Served:
    has_operations = row.operations > 0 or not row.moved_bytes
    seconds, timed = times.get((row.file_system_id, row.kind), (None, None))
    if timed is None:  # the rows are not kept any more
        seconds, timed = row.busy_seconds, row.operations
    return Served(
        row.name, row.kind, row.first_at, row.last_at,
        row.operations if has_operations else None, row.moved_bytes,
        seconds / timed if seconds is not None and timed else None,
        parts_of(row.parts),
    )  # fmt: skip


def _times(connection: Connection, key: int) -> dict[tuple[int, str], tuple[float, int]]:
    """Return times and the operations that took them, of the servers that report times."""
    timed = case((JobLoad.busy_seconds.is_not(None), JobLoad.operations))
    query = (
        select(
            *(JobLoad.file_system_id, JobLoad.kind),
            *(func.sum(JobLoad.busy_seconds), func.sum(timed), func.count()),
        )
        .where(JobLoad.job_id == key)
        .group_by(JobLoad.file_system_id, JobLoad.kind)
    )
    return {
        (row[0], row[1]): (row[2], int(row[3] or 0)) for row in connection.execute(query) if row[4]
    }


def calls_by_direction(connection: Connection, view: JobView) -> dict[str, CallSizes]:
    """Return the calls of a job's programs by direction, if profiles report all of them.

    Sizes are summed over all files, as the programs requested them at the highest interface that
    is known.
    """
    keys = [one.about["id"] for one in view.counted]
    if not keys:
        return {}
    size = func.length(JobSource.rows)
    query = select(JobSource.id, case((size <= LARGEST_LISTS_BYTES, JobSource.rows)), size)
    rows = connection.execute(query.where(JobSource.id.in_(keys))).all()
    if any(row[1] is None for row in rows):
        return {}
    files = [one for row in rows for one in unpack(row[1]).get("files", ())]
    return {
        direction: _requested_sizes(direction, files)
        for direction in ("read", "write")
        if any(one.get(f"{direction}_calls") for one in files)
        and not any(f"{direction}_bytes" in one.get("missing", {}) for one in files)
    }


def _requested_sizes(direction: str, files: Sequence[Mapping[str, Any]]) -> CallSizes:
    lists = [one.get(f"{direction}_sizes") or () for one in files]
    width = max((len(one) for one in lists), default=0)
    counts = [sum(one[place] for one in lists if len(one) > place) for place in range(width)]
    fits = width == len(SIZE_EDGES) and any(counts)
    return CallSizes(
        direction,
        sum(one.get(f"{direction}_calls") or 0 for one in files),
        sum(one.get(f"{direction}_bytes") or 0 for one in files),
        SIZE_EDGES if fits else (),
        tuple(counts) if fits else (),
    )
