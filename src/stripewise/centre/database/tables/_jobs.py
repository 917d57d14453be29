# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the tables of users, projects, programs and jobs, and of what is known of their I/O."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from stripewise.centre.database.tables._base import (
    Base,
    Blob,
    Key,
    Long,
    Missing,
    Name,
    Real,
    Word,
    Words,
)

SORTED = (
    *("start_at", "run_seconds", "io_seconds", "io_share", "read_bytes", "write_bytes"),
    *("meta_operations", "avoidable_seconds", "avoidable_node_seconds", "name", "raw_id"),
    "slower_factor",
)
"""Columns by which lists of jobs are sorted and searched."""


_IN_ARRAY = text("array_job_id IS NOT NULL")


class Job(Base):
    """One run of a job; a requeued job has several, each with its own submit time.

    Attributes:
        raw_id / submit_at: Slurm's job number and submit time; submit_at is NULL as long as only
            evidence reports the job.
        sluid: Slurm's own identifier of the run (24.11 and newer).
        is_recorded: Whether there is a record of the scheduler.
        source_count: Number of its rows in `JobSource`.
        no_data_reason: Why figures of I/O are missing; NULL if they are present.
        unix_group: Unix group in which the job ran, as its scheduler reports it.
        read_seconds / write_seconds / meta_seconds: Time of the slowest rank.
        read_only_count / write_only_count: Number of files, out of `file_count`, with only reads
            or only writes.
        cumulated_read_seconds: Sum over ranks; likewise for writes and metadata.
        avoidable_seconds: Predicted saving of the finding that saves most, since findings overlap.
        missing: Columns that are unknown or lower bounds, and why.
        pattern: Pattern of its main program that moves most bytes, without its sizes.
        slurm_read_bytes / slurm_write_bytes: Bytes by Slurm's own accounting.
        server_read_bytes / server_write_bytes: Bytes by the storage's counters of jobs.
        slower_factor: I/O time as a multiple of the usual one, if it is longer than that of
            earlier runs; otherwise NULL.
        usual_io_seconds / earlier_count: Median of `earlier_count` earlier runs, for such a job.
        changed_at: When anything of the row last changed.
    """

    __tablename__ = "job"
    __table_args__ = (
        UniqueConstraint("cluster_id", "raw_id", "submit_at"),
        *(Index(None, owner, "start_at") for owner in ("person_id", "project_id", "program_id")),
        *(Index(None, column, "id") for column in SORTED),
        Index("ix_job_array", "array_job_id", sqlite_where=_IN_ARRAY, postgresql_where=_IN_ARRAY),
        Index(
            "ix_job_unrecorded",
            "cluster_id",
            "uid",
            sqlite_where=text("NOT is_recorded"),
            postgresql_where=text("NOT is_recorded"),
        ),
    )
    id: Mapped[Key]
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    raw_id: Mapped[Long | None]
    submit_at: Mapped[Long | None]
    sluid: Mapped[Word | None]
    array_job_id: Mapped[Long | None]
    array_task_id: Mapped[Long | None]
    het_job_id: Mapped[Long | None]
    het_offset: Mapped[Long | None]
    is_recorded: Mapped[bool] = mapped_column(default=False)
    name: Mapped[Name | None]
    state: Mapped[Word | None]
    exit_code: Mapped[int | None]
    exit_signal: Mapped[int | None]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))
    uid: Mapped[Long | None]
    unix_group: Mapped[Name | None]
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"))
    partition: Mapped[Word | None]
    qos: Mapped[Word | None]
    node_list: Mapped[Words | None]
    node_count: Mapped[int | None]
    cpu_count: Mapped[int | None]
    rank_count: Mapped[int | None]
    restart_count: Mapped[int | None]
    time_limit_seconds: Mapped[Long | None]
    eligible_at: Mapped[Long | None]
    start_at: Mapped[Long | None]
    end_at: Mapped[Long | None]
    run_seconds: Mapped[Real | None]
    program_id: Mapped[int | None] = mapped_column(ForeignKey("program.id"))
    source_count: Mapped[int] = mapped_column(default=0)
    no_data_reason: Mapped[Word | None]
    io_seconds: Mapped[Real | None]
    io_share: Mapped[Real | None]
    read_bytes: Mapped[Long | None]
    write_bytes: Mapped[Long | None]
    read_seconds: Mapped[Real | None]
    write_seconds: Mapped[Real | None]
    meta_seconds: Mapped[Real | None]
    meta_operations: Mapped[Long | None]
    file_count: Mapped[int | None]
    shared_file_count: Mapped[int | None]
    read_only_count: Mapped[int | None]
    write_only_count: Mapped[int | None]
    cumulated_read_seconds: Mapped[Real | None]
    cumulated_write_seconds: Mapped[Real | None]
    cumulated_meta_seconds: Mapped[Real | None]
    bytes_per_second: Mapped[Real | None]
    finding_count: Mapped[int | None]
    top_finding: Mapped[Word | None]
    avoidable_seconds: Mapped[Real | None]
    avoidable_node_seconds: Mapped[Real | None]
    missing: Mapped[Missing | None]
    pattern: Mapped[Name | None]
    slurm_read_bytes: Mapped[Long | None]
    slurm_write_bytes: Mapped[Long | None]
    server_read_bytes: Mapped[Long | None]
    server_write_bytes: Mapped[Long | None]
    slower_factor: Mapped[Real | None]
    usual_io_seconds: Mapped[Real | None]
    earlier_count: Mapped[int | None]
    changed_at: Mapped[Long]


class JobSource(Base):
    """One profile of one run of a program in a job, from a log, a trace or a report of a run.

    Attributes:
        kind: "darshan", "trace", "report", ...
        digest: SHA-256 of the content, hexadecimal.
        name: Name of the file, without directories.
        cluster_id: Cluster on which it ran; NULL if not reported.
        is_vouched: Whether its file belonged to root, or to whoever ran the ingest.
        match_rule / confidence: How the job was found, and how certain that is (0 to 1).
        document: The profile as compressed JSON, without its lists of files.
        rows: Those lists as compressed JSON.
    """

    __tablename__ = "job_source"
    __table_args__ = (Index(None, "job_id", "kind", "id"),)
    id: Mapped[Key]
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"))
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("cluster.id"))
    kind: Mapped[Word]
    digest: Mapped[Word] = mapped_column(unique=True)
    name: Mapped[Name]
    program_id: Mapped[int | None] = mapped_column(ForeignKey("program.id"))
    match_rule: Mapped[Word]
    confidence: Mapped[Real]
    start_at: Mapped[Real | None]
    end_at: Mapped[Real | None]
    uid: Mapped[Long | None]
    user: Mapped[Name | None]
    rank_count: Mapped[int | None]
    is_partial: Mapped[bool] = mapped_column(default=False)
    is_vouched: Mapped[bool] = mapped_column(default=False, server_default=false())
    io_seconds: Mapped[Real | None]
    document: Mapped[Blob]
    rows: Mapped[Blob]


class JobIo(Base):
    """What a source reports about one file system; its seconds are a sum over ranks."""

    __tablename__ = "job_io"
    source_id: Mapped[int] = mapped_column(ForeignKey("job_source.id"), primary_key=True)
    file_system: Mapped[Name] = mapped_column(primary_key=True)
    read_bytes: Mapped[Long | None]
    write_bytes: Mapped[Long | None]
    cumulated_seconds: Mapped[Real | None]
    meta_operations: Mapped[Long]
    file_count: Mapped[int]
    missing: Mapped[Missing | None]


class JobFile(Base):
    """One file of a source."""

    __tablename__ = "job_file"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012
    source_id: Mapped[int] = mapped_column(ForeignKey("job_source.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[Words]
    file_class: Mapped[Words]
    interface: Mapped[Word]
    read_bytes: Mapped[Long | None]
    write_bytes: Mapped[Long | None]
    read_calls: Mapped[Long]
    write_calls: Mapped[Long]
    meta_operations: Mapped[Long]
    elapsed_seconds: Mapped[Real | None]
    rank_count: Mapped[int]
    stripe_count: Mapped[int | None]
    stripe_bytes: Mapped[Long | None]
    missing: Mapped[Missing | None]


class JobPattern(Base):
    """Pattern in which the ranks access the files of one class.

    Attributes:
        form: Pattern without sizes, such as "<3D, (BLOCK, *, *)>".
        notation: Pattern with sizes.
        moved_bytes: Bytes moved in files of the class; `missing` states if that is incomplete.
        lost_seconds: Saving that findings about these files predict.
    """

    __tablename__ = "job_pattern"
    __table_args__ = (
        Index("ix_job_pattern_form", "form", "source_id", "is_write", "lost_seconds"),
    )
    source_id: Mapped[int] = mapped_column(ForeignKey("job_source.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    file_class: Mapped[Words]
    dataset: Mapped[Words]
    is_write: Mapped[bool]
    form: Mapped[Name]
    notation: Mapped[Words]
    element_bytes: Mapped[Long]
    moved_bytes: Mapped[Long | None]
    lost_seconds: Mapped[Real | None]
    missing: Mapped[Missing | None]


class FindingRow(Base):
    """A finding of a source that costs time; its text is in the document."""

    __tablename__ = "finding"
    __table_args__ = (Index(None, "code", "source_id"),)
    source_id: Mapped[int] = mapped_column(ForeignKey("job_source.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[Word]
    severity: Mapped[Word]
    phrase: Mapped[Words]
    cost_seconds: Mapped[Real | None]
    least_seconds: Mapped[Real | None]
    most_seconds: Mapped[Real | None]
    is_measured: Mapped[bool]
    file_count: Mapped[int]


class SettingRow(Base):
    """A setting of one class of files: requested, applied, and what the library reported."""

    __tablename__ = "setting"
    source_id: Mapped[int] = mapped_column(ForeignKey("job_source.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    file_class: Mapped[Words]
    name: Mapped[Word]
    requested: Mapped[Words | None]
    applied: Mapped[Words | None]
    effective: Mapped[Words | None]


class PairedRun(Base):
    """A speed-up that a study proved by fresh pairs of runs.

    Attributes:
        digest: Digest of the study.
        speedup / low / high: Median of the ratios of I/O time, and its 95 % interval.
        pair_count: Number of pairs that were run.
        saved_seconds: I/O time saved in one run; NULL if unknown.
        configuration: The configuration as TOML.
        hints: The same as lines that work without Stripewise; "" if they cannot express it.
        verification: Result of comparing the outputs.
    """

    __tablename__ = "paired_run"
    id: Mapped[Key]
    digest: Mapped[Word] = mapped_column(unique=True)
    program_id: Mapped[int | None] = mapped_column(ForeignKey("program.id"), index=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"), index=True)
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"))
    made_at: Mapped[Long]
    speedup: Mapped[Real]
    low: Mapped[Real | None]
    high: Mapped[Real | None]
    pair_count: Mapped[int]
    elapsed_speedup: Mapped[Real | None]
    saved_seconds: Mapped[Real | None]
    node_count: Mapped[int | None]
    rank_count: Mapped[int | None]
    pattern: Mapped[Name | None]
    verification: Mapped[Word]
    configuration: Mapped[Words]
    hints: Mapped[Words]


# Clusters, and the users and projects whose jobs run on them.


class Cluster(Base):
    """A cluster with job ids of its own."""

    __tablename__ = "cluster"
    id: Mapped[Key]
    name: Mapped[Word] = mapped_column(unique=True)


class Person(Base):
    """A user name of the centre, which is the same on all its clusters."""

    __tablename__ = "person"
    id: Mapped[Key]
    name: Mapped[Name] = mapped_column(unique=True)


class PersonUid(Base):
    """The number that a user has on a cluster, as Slurm reports it.

    Attributes:
        person_id: Key of the user; NULL if the number has belonged to several users.
    """

    __tablename__ = "person_uid"
    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"), primary_key=True)
    uid: Mapped[Long] = mapped_column(primary_key=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id"))


class Project(Base):
    """A Slurm account."""

    __tablename__ = "project"
    id: Mapped[Key]
    name: Mapped[Name] = mapped_column(unique=True)


class Member(Base):
    """A user who has run jobs for a project, or manages it."""

    __tablename__ = "member"
    __table_args__ = (UniqueConstraint("project_id", "person_id"),)
    id: Mapped[Key]
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"), index=True)
    is_manager: Mapped[bool] = mapped_column(default=False)


class Program(Base):
    """An executable by its name, without directories.

    Attributes:
        area: Field of research, as the centre names it; NULL if not reported.
    """

    __tablename__ = "program"
    id: Mapped[Key]
    name: Mapped[Name] = mapped_column(unique=True)
    area: Mapped[Name | None]
