# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the tables of storage samples, benchmarks, events, and server counters of jobs."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from stripewise.centre.database.tables._base import Base, Blob, Key, Long, Name, Real, Word, Words


class FileSystem(Base):
    """A file system of the centre.

    Attributes:
        mount: Mount points, separated by newlines.
    """

    __tablename__ = "file_system"
    id: Mapped[Key]
    name: Mapped[Name] = mapped_column(unique=True)
    mount: Mapped[Words] = mapped_column(default="")


class Series(Base):
    """A sampled series: one metric of one part of a file system.

    Attributes:
        server / target: Names of server and target; "" for the whole file system.
        metric: Name such as "read_bytes": growth of a counter in each interval, or mean of a
            level.
        unit: "bytes", "operations", "share" or "seconds".
    """

    __tablename__ = "series"
    __table_args__ = (
        Index("uq_series", "file_system_id", "server", "target", "metric", unique=True),
    )
    id: Mapped[Key]
    file_system_id: Mapped[int] = mapped_column(ForeignKey("file_system.id"))
    server: Mapped[Name]
    target: Mapped[Name]
    metric: Mapped[Word]
    unit: Mapped[Word]
    is_counter: Mapped[bool]


class Sample(Base):
    """Growth of a counter, or mean of a level, in one interval that begins at `at`.

    PostgreSQL keeps one partition per month.
    """

    __tablename__ = "sample"
    __table_args__ = {  # noqa: RUF012
        "sqlite_with_rowid": False,
        "postgresql_partition_by": "RANGE (at)",
    }
    series_id: Mapped[Long] = mapped_column(primary_key=True)
    at: Mapped[Long] = mapped_column(primary_key=True)
    seconds: Mapped[Real]
    value: Mapped[Real]


class Rollup(Base):
    """Samples of a minute, an hour or a day combined.

    Attributes:
        resolution_seconds: 60, 3600 or 86400.
        covered_seconds: Time of the interval that samples cover; the rest is a gap, not zero.
        total: Growth of a counter, or the sum of value times seconds of a level.
        low / high: Smallest and largest rate, or level, of a sample.
    """

    __tablename__ = "rollup"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"), primary_key=True)
    resolution_seconds: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[Long] = mapped_column(primary_key=True)
    covered_seconds: Mapped[Real]
    total: Mapped[Real]
    low: Mapped[Real]
    high: Mapped[Real]


class Event(Base):
    """Something that happened to a storage system, or advice of the site."""

    __tablename__ = "event"
    id: Mapped[Key]
    file_system_id: Mapped[int | None] = mapped_column(ForeignKey("file_system.id"))
    at: Mapped[Long] = mapped_column(index=True)
    until: Mapped[Long | None]
    kind: Mapped[Word]
    text: Mapped[Words]


class CampaignRow(Base):
    """A campaign of benchmarks."""

    __tablename__ = "campaign"
    id: Mapped[Key]
    digest: Mapped[Word] = mapped_column(unique=True)
    name: Mapped[Name]
    suite: Mapped[Name]
    storage: Mapped[Name]
    made_at: Mapped[Long] = mapped_column(index=True)
    is_emulated: Mapped[bool]
    document: Mapped[Blob]


class CampaignFigure(Base):
    """Median of one case of a campaign, with its spread."""

    __tablename__ = "campaign_figure"
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[Words]
    operation: Mapped[Word]
    nodes: Mapped[int]
    ranks: Mapped[int]
    run_count: Mapped[int]
    median: Mapped[Real]
    low: Mapped[Real]
    high: Mapped[Real]
    unit: Mapped[Word]


# What the servers of a storage system counted for jobs.


class JobTag(Base):
    """A job as servers name it.

    Attributes:
        cluster_id: Cluster of the clients that use such names.
        text: Name as Lustre reports it: "4711", "lmp.1000"; "" for jobs that no agent
            distinguished.
        raw_id / user / uid / program / host: Facts in the name; NULL if it does not contain them.
    """

    __tablename__ = "job_tag"
    __table_args__ = (Index("uq_job_tag", "cluster_id", "text", unique=True),)
    id: Mapped[Key]
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    text: Mapped[Name]
    raw_id: Mapped[Long | None] = mapped_column(index=True)
    user: Mapped[Name | None]
    uid: Mapped[Long | None]
    program: Mapped[Name | None]
    host: Mapped[Name | None]


class JobLoad(Base):
    """What one job did to a file system in an interval, as one server counted it.

    Attributes:
        at / seconds: The interval; it contains no pause of the job of a minute or more.
        kind: "read", "write" or "metadata".
        operations: Number of operations, which for reads and writes are requests at the servers;
            NULL if not reported.
        moved_bytes: Bytes moved; NULL for metadata.
        busy_seconds: Time that the servers spent on them; NULL if not reported.
        parts: JSON with the count by size of requests in bytes, or by name of metadata operation;
            NULL if not reported.
        job_id: Job whose run it was; NULL if not known (yet).
    """

    __tablename__ = "job_load"
    __table_args__ = (
        Index("ix_job_load_job", "job_id", "at"),
        Index("ix_job_load_tag", "tag_id", "at"),
        {"sqlite_with_rowid": False},
    )
    file_system_id: Mapped[int] = mapped_column(ForeignKey("file_system.id"), primary_key=True)
    at: Mapped[Long] = mapped_column(primary_key=True)
    tag_id: Mapped[int] = mapped_column(ForeignKey("job_tag.id"), primary_key=True)
    kind: Mapped[Word] = mapped_column(primary_key=True)
    server: Mapped[Name] = mapped_column(primary_key=True)
    seconds: Mapped[Real]
    operations: Mapped[Long | None]
    moved_bytes: Mapped[Long | None]
    busy_seconds: Mapped[Real | None]
    parts: Mapped[Words | None]
    job_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"))


class JobServed(Base):
    """Sums of `JobLoad` over the run of a job and all servers, kept when those rows are deleted.

    Attributes:
        busy_seconds / parts: Sums of what was reported.
    """

    __tablename__ = "job_served"
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True)
    file_system_id: Mapped[int] = mapped_column(ForeignKey("file_system.id"), primary_key=True)
    kind: Mapped[Word] = mapped_column(primary_key=True)
    first_at: Mapped[Real]
    last_at: Mapped[Real]
    operations: Mapped[Long]
    moved_bytes: Mapped[Long | None]
    busy_seconds: Mapped[Real | None]
    parts: Mapped[Words | None]


class MonitorState(Base):
    """State of a monitoring agent at its last delivery, stored in the same transaction.

    Attributes:
        agent: Name of the server on which it runs.
        part: Part of its state: "agent", "series", "jobs/7".
        at: Time of the delivery, by its own clock.
        state: The part as compressed JSON.
    """

    __tablename__ = "monitor_state"
    agent: Mapped[Name] = mapped_column(primary_key=True)
    part: Mapped[Name] = mapped_column(primary_key=True)
    at: Mapped[Real]
    state: Mapped[Blob]
