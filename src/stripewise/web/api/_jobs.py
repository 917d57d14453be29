# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The API: jobs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from starlette.exceptions import HTTPException

from stripewise.fleet.queries import (
    SORTS,
    JobFilter,
    JobView,
    find_job,
    full_profile,
    list_files,
    list_jobs,
    veiled,
    view_job,
)
from stripewise.text import finite
from stripewise.web.api._base import PREFIX, After, Limit, Routes, Since, Until, only
from stripewise.web.api._models import (
    FileItem,
    FilePage,
    JobDetail,
    JobItem,
    JobPage,
    Me,
    SourceItem,
)


def _text(words: str) -> Any:
    return Query(None, max_length=200, description=words)


def _least(words: str) -> Any:
    return Query(None, ge=0, description=words)


class JobRoutes(Routes):
    """Jobs, their sources and files."""

    def add_all(self) -> None:
        """Add the routes."""
        self.add("/me", self.me, Me, "Who the caller is")
        self.add("/jobs", self.jobs, JobPage, "Jobs that the caller sees")
        self.add("/jobs/{job}", self.job, JobDetail, "One job")
        files = "/jobs/{job}/sources/{source}/files"
        self.add(files, self.files, FilePage, "Files of one source")
        profile = "/jobs/{job}/sources/{source}/profile"
        self.add(profile, self.profile, None, "A whole profile, as `stripewise profile --json`")

    def me(self, request: Request) -> Me:
        """Tell whose token or session this is."""
        with self.asked(request) as (_, viewer):
            return Me(
                login=viewer.login,
                role=viewer.role or "",
                may_read_names=viewer.may_read_names,
                manages=len(viewer.managed),
            )

    def jobs(
        self,
        request: Request,
        q: Annotated[str | None, Query(
            max_length=200,
            description="Words: job id, beginning of a name, part of a program, user or project.",
        )] = None,
        job_id: str | None = _text("Slurm's raw job id."),
        cluster: str | None = _text('Name of the cluster.'),
        user: str | None = _text('Name of the user.'),
        project: str | None = _text('Name of the project (account).'),
        program: str | None = _text('Name of the executable.'),
        state: str | None = _text('As Slurm names it: "COMPLETED".'),
        finding: str | None = _text('Code of a finding: "small-requests".'),
        pattern: str | None = _text('Form of a pattern: "<3D, (BLOCK, *, *)>".'),
        direction: str | None = _text('"read" or "write": of that pattern.'),
        source: str | None = _text('"any", "none", or a kind of source: "darshan", "trace".'),
        since: Since = None,
        until: Until = None,
        least_io_seconds: float | None = _least("Least I/O time."),
        least_lost_seconds: float | None = _least("Least time lost by files of that pattern."),
        least_avoidable_seconds: float | None = _least("Least gain that a finding expects."),
        sort: Annotated[str, Query(
            description=f"One of {', '.join(SORTS)}; a minus before it: the largest first.",
        )] = "-start_at",
        after: After = "",
        limit: Limit = 50,
    ) -> JobPage:  # fmt: skip
        """List jobs; parameters that are given all hold.  Sorted, in parts by key."""
        asked = JobFilter.parse(dict(request.query_params))
        with self.asked(request) as (connection, viewer):
            found = list_jobs(connection, viewer, asked, sort=sort, after=after, limit=limit)
            if viewer.is_staff:
                self.desk.audit(connection, viewer, f"jobs: {asked.words()}")
            items = [
                JobItem(**only(veiled(viewer, dict(row._mapping)), JobItem)) for row in found.rows
            ]
            return JobPage(items=items, next=found.next or None, total=found.total)

    def job(self, request: Request, job: int) -> JobDetail:
        """Return one job with what its sources tell."""
        with self.asked(request) as (connection, viewer):
            found = view_job(connection, viewer, job)
            if found is None:
                raise HTTPException(404)
            self.note_look(connection, viewer, found.sight, job)
            return _detail(found, job)

    def files(
        self, request: Request, job: int, source: int, after: After = "", limit: Limit = 50
    ) -> FilePage:
        """List the files of one source, in the order of its profile."""
        with self.asked(request) as (connection, viewer):
            found = list_files(connection, viewer, job, source, after=after, limit=limit)
            row = find_job(connection, viewer, job)
            if found is None or row is None:
                raise HTTPException(404)
            self.note_look(connection, viewer, viewer.sight(row), job)
            items = [FileItem(**only(row, FileItem)) for row in found.rows]
            return FilePage(items=items, next=found.next or None)

    def profile(self, request: Request, job: int, source: int) -> Any:
        """Return the profile of one source, if the caller may read names of files."""
        with self.asked(request) as (connection, viewer):
            found = full_profile(connection, viewer, job, source)
            row = find_job(connection, viewer, job)
            if found is None or row is None:
                raise HTTPException(404)
            self.note_look(connection, viewer, viewer.sight(row), job)
            return finite(found)


def _detail(found: JobView, job: int) -> JobDetail:
    base = f"{PREFIX}/jobs/{job}/sources"
    sources = [
        SourceItem(
            **only(one.about, SourceItem),
            figures=dict(one.figures),
            io=[dict(row) for row in one.io],
            patterns=[dict(row) for row in one.patterns],
            findings=[dict(row) for row in one.findings],
            settings=[dict(row) for row in one.settings],
            profile=f"{base}/{one.about['id']}/profile" if found.shows_names else None,
            files=f"{base}/{one.about['id']}/files",
        )
        for one in found.sources
    ]
    return JobDetail(**only(found.row, JobDetail), sources=sources)
