# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the answers of the API: within a version, fields may be added but not changed."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from stripewise.centre.database.queries import (
    COUNTED,
    MOST_SOURCES,
    CaseHistory,
    FileSystemState,
    ProgramSurvey,
    TargetLoad,
)


class JobItem(BaseModel):
    """A job in a list. Times are seconds since 1970, amounts are bytes; null means unknown."""

    id: int = Field(description="Key of the job in this portal.")
    cluster: str = Field(description='"" if no record contains it.')
    raw_id: int | None = Field(description="Slurm's raw job id.")
    array_job_id: int | None
    array_task_id: int | None
    submit_at: int | None
    name: str | None
    state: str | None
    user: str | None
    project: str | None
    program: str | None = Field(description="The program that did most of the I/O.")
    start_at: int | None
    run_seconds: float | None
    node_count: int | None
    rank_count: int | None
    io_seconds: float | None = Field(description="I/O time of the slowest rank.")
    io_share: float | None = Field(description="Of the run time, 0 to 1.")
    read_bytes: int | None
    write_bytes: int | None
    meta_operations: int | None
    bytes_per_second: float | None
    finding_count: int | None
    top_finding: str | None = Field(description="Code of the finding that gains most.")
    avoidable_seconds: float | None = Field(description="What that finding expects to gain.")
    avoidable_node_seconds: float | None
    slower_factor: float | None = Field(
        description="I/O time as a multiple of the usual one, if it is longer than that of "
        "earlier runs of the program by its user; null if it is not, or if they are too few."
    )
    usual_io_seconds: float | None = Field(description="Median of these runs, for such a job.")
    earlier_count: int | None = Field(description="Number of these runs, for such a job.")
    missing: dict[str, str] = Field(
        description="Figures that are null since they are not known, or the least that they can "
        "be, and why."
    )
    pattern: str | None = Field(description='As in "<3D, (BLOCK, *, *)>".')
    no_data_reason: str | None = Field(description="Why there are no figures of I/O.")
    changed_at: int = Field(description="When anything of this job last changed.")


class JobPage(BaseModel):
    """One page of a list of jobs."""

    items: list[JobItem]
    next: str | None = Field(description="`after` of the next part; null at the end.")
    total: int | None = Field(
        description=f"Jobs of the whole list, up to {COUNTED + 1}; null if they were not counted."
    )


class SourceItem(BaseModel):
    """Data of one source about a job.

    Where the caller may not read names of files, these names and `profile` are null, and `name` is
    empty.
    """

    id: int
    kind: str
    name: str
    program: str | None
    match_rule: str
    confidence: float = Field(description="How sure it is that it belongs to this job, 0 to 1.")
    is_partial: bool
    is_counted: bool = Field(
        description="The job's figures are made of it; else another one describes the same run."
    )
    start_at: float | None
    end_at: float | None
    rank_count: int | None
    figures: dict[str, Any] = Field(description="As in `stripewise profile --json`.")
    io: list[dict[str, Any]] = Field(description="By file system.")
    patterns: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    settings: list[dict[str, Any]]
    profile: str | None = Field(description="Address of the whole profile.")
    files: str = Field(description="Address of the list of files.")


class JobDetail(JobItem):
    """One job with its details."""

    sluid: str | None
    het_job_id: int | None
    het_offset: int | None
    is_recorded: bool = Field(description="A record of the scheduler is there.")
    exit_code: int | None
    exit_signal: int | None
    unix_group: str | None
    partition: str | None
    qos: str | None
    node_list: str | None
    cpu_count: int | None
    restart_count: int | None
    time_limit_seconds: int | None
    eligible_at: int | None
    end_at: int | None
    source_count: int
    read_seconds: float | None
    write_seconds: float | None
    meta_seconds: float | None
    file_count: int | None
    shared_file_count: int | None
    slurm_read_bytes: int | None
    slurm_write_bytes: int | None
    server_read_bytes: int | None
    server_write_bytes: int | None
    sources: list[SourceItem] = Field(
        description=f"The {MOST_SOURCES} with most I/O time, in the order of time."
    )


class FileItem(BaseModel):
    """One file of a source; path and class are null where the caller may not read them."""

    number: int
    path: str | None
    file_class: str | None
    interface: str
    read_bytes: int | None
    write_bytes: int | None
    read_calls: int
    write_calls: int
    meta_operations: int
    elapsed_seconds: float | None
    rank_count: int
    stripe_count: int | None
    stripe_bytes: int | None
    missing: dict[str, str] = Field(description="As of a job.")


class FilePage(BaseModel):
    """One page of a list of files."""

    items: list[FileItem]
    next: str | None


class Me(BaseModel):
    """The identity of the caller."""

    login: str
    role: str
    may_read_names: bool
    manages: int = Field(description="Number of projects that they manage.")


class Problem(BaseModel):
    """The reason why a request was not answered."""

    code: int
    message: str


class Failure(BaseModel):
    """An error."""

    error: Problem


class ProgramList(BaseModel):
    """Programs of a period, in seconds since 1970."""

    since: int
    until: int
    items: list[ProgramSurvey]


class StorageList(BaseModel):
    """All file systems."""

    items: list[FileSystemState]


class LoadCurves(BaseModel):
    """Load of a file system: means over `width_seconds` from each moment; null is a gap."""

    name: str
    since: int
    until: int
    width_seconds: int
    at: list[int]
    read_bytes_per_second: list[float | None]
    write_bytes_per_second: list[float | None]
    metadata_operations_per_second: list[float | None]
    targets: list[TargetLoad]


class EventItem(BaseModel):
    """An event of a storage; `until` is null while it lasts."""

    id: int
    file_system: str | None
    at: int
    until: int | None
    kind: str
    text: str


class EventPage(BaseModel):
    """One page of events, newest first."""

    items: list[EventItem]
    next: str | None


class BenchmarkList(BaseModel):
    """Benchmarks of a file system."""

    name: str
    items: list[CaseHistory]
