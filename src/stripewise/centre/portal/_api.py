# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Answers version 1 of the API for programs, with the same queries and rights as the pages."""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from sqlalchemy import Connection
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stripewise.centre.database.queries import (
    MOST_ROWS,
    PERIODS,
    SORTS,
    AccessReason,
    Curve,
    EventFilter,
    JobFilter,
    JobView,
    LoadPeriod,
    Period,
    Viewer,
    benchmark_history,
    find_file_system,
    find_job,
    full_profile,
    list_events,
    list_files,
    list_jobs,
    survey,
    veiled,
    view_job,
    view_load,
    view_storage,
)
from stripewise.centre.portal._api_models import (
    BenchmarkList,
    EventItem,
    EventPage,
    Failure,
    FileItem,
    FilePage,
    JobDetail,
    JobItem,
    JobPage,
    LoadCurves,
    Me,
    ProgramList,
    SourceItem,
    StorageList,
)
from stripewise.centre.portal._serve_page import Desk
from stripewise.present import finite

PREFIX = "/api/v1"
_OTHERS: dict[int | str, dict[str, Any]] = {
    304: {"description": "Not changed since the answer with the ETag in `If-None-Match`."},
    400: {"model": Failure, "description": "A value cannot be used."},
    401: {"model": Failure, "description": "No valid token, nobody is logged in."},
    404: {"model": Failure, "description": "Not there, or not visible to the caller."},
    429: {
        "model": Failure,
        "description": "Too many requests; `Retry-After` says when to try again.",
    },
    "default": {"model": Failure, "description": "The portal or its database fails."},
}
_TOKEN = HTTPBearer(auto_error=False, description="A token of the portal, with the scope `read`.")
"""Described here, checked by the gate: sessions and trusted proxies may be used as well."""
_DAY = "Day, or seconds since 1970."
After = Annotated[str, Query(description="`next` of the part before.", max_length=1000)]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of one part.")]
Since = Annotated[str | None, Query(description=f"From: {_DAY}", max_length=200)]
Until = Annotated[str | None, Query(description=f"Before: {_DAY}", max_length=200)]


class Routes(ABC):
    """Some routes of the API over one desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.router = APIRouter(prefix=PREFIX, responses=_OTHERS, dependencies=[Depends(_TOKEN)])
        self.add_all()

    @abstractmethod
    def add_all(self) -> None:
        """Add the routes."""

    def add(self, path: str, call: Callable[..., Any], model: Any, summary: str) -> None:
        """Add a route that only reads."""
        self.router.add_api_route(
            path, call, response_model=model, summary=summary, description=call.__doc__,
            operation_id=call.__name__,
        )  # fmt: skip

    @contextmanager
    def answering(self, request: Request) -> Iterator[tuple[Connection, Viewer]]:
        """Yield the connection and the viewer of a request.

        Raises:
            HTTPException: The request proves no identity.
        """
        with self.desk.connected(request) as connection:
            viewer = self.desk.gate.guest(connection, request).viewer
            if viewer.role is None:
                raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})
            yield connection, viewer

    def record_access(
        self, connection: Connection, viewer: Viewer, access_reason: AccessReason | None, job: int
    ) -> None:
        """Record in the audit trail that staff looked at another user's job."""
        if access_reason is AccessReason.STAFF:
            self.desk.audit(connection, viewer, f"job {job}")


def only(row: Any, model: type[BaseModel]) -> dict[str, Any]:
    """Return the fields of a row that a model has."""
    return {name: row[name] for name in model.model_fields if name in row}


# ETags: a client that has an answer already gets a short reply instead of the answer.


class ETags:
    """Adds an ETag of the content to answers below a path; answers 304 to clients that have it."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self.prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_api = scope["type"] == "http" and scope["path"].startswith(self.prefix)
        if not is_api or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        start: Message = {}
        body = bytearray()

        async def keep(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                await _send(scope, send, start, bytes(body))

        await self.app(scope, receive, keep)


async def _send(scope: Scope, send: Send, start: Message, body: bytes) -> None:
    if start["status"] == 200:
        headers = MutableHeaders(scope=start)
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers["etag"] = tag
        headers["cache-control"] = "private, no-cache"
        headers["vary"] = "authorization, cookie"
        tags = Headers(scope=scope).get("if-none-match", "")
        if tag in {one.strip().removeprefix("W/") for one in tags.split(",")}:
            start["status"] = 304
            del headers["content-length"]
            body = b""
    await send(start)
    await send({"type": "http.response.body", "body": body})


# The API: jobs.


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
        """Return whose token or session this is."""
        with self.answering(request) as (_, viewer):
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
        slower: str | None = _text('"yes": I/O took longer than in earlier runs.'),
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
        """List jobs that match all given parameters, sorted and in pages."""
        job_filter = JobFilter.parse(dict(request.query_params))
        with self.answering(request) as (connection, viewer):
            found = list_jobs(connection, viewer, job_filter, sort=sort, after=after, limit=limit)
            if viewer.is_staff:
                self.desk.audit(connection, viewer, f"jobs: {job_filter.words()}")
            items = [
                JobItem(**only(veiled(viewer, dict(row._mapping)), JobItem)) for row in found.rows
            ]
            return JobPage(items=items, next=found.next or None, total=found.total)

    def job(self, request: Request, job: int) -> JobDetail:
        """Return one job with the data of its sources."""
        with self.answering(request) as (connection, viewer):
            found = view_job(connection, viewer, job)
            if found is None:
                raise HTTPException(404)
            self.record_access(connection, viewer, found.access_reason, job)
            return _detail(found, job)

    def files(
        self, request: Request, job: int, source: int, after: After = "", limit: Limit = 50
    ) -> FilePage:
        """List the files of one source, in the order of its profile."""
        with self.answering(request) as (connection, viewer):
            found = list_files(connection, viewer, job, source, after=after, limit=limit)
            row = find_job(connection, viewer, job)
            if found is None or row is None:
                raise HTTPException(404)
            self.record_access(connection, viewer, viewer.access_reason(row), job)
            items = [FileItem(**only(row, FileItem)) for row in found.rows]
            return FilePage(items=items, next=found.next or None)

    def profile(self, request: Request, job: int, source: int) -> Any:
        """Return the profile of one source, if the caller may read names of files."""
        with self.answering(request) as (connection, viewer):
            found = full_profile(connection, viewer, job, source)
            row = find_job(connection, viewer, job)
            if found is None or row is None:
                raise HTTPException(404)
            self.record_access(connection, viewer, viewer.access_reason(row), job)
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


# The API: programs and the storage.

_Period = Annotated[str, Query(description=f"One of {', '.join(PERIODS)}.", max_length=20)]
_Name = Annotated[str, Query(max_length=200)]


class StorageRoutes(Routes):
    """Routes for programs, file systems, events and benchmarks."""

    def add_all(self) -> None:
        """Add the routes."""
        self.add("/programs", self.programs, ProgramList, "Programs of jobs that the caller sees")
        self.add("/storage", self.storage, StorageList, "All file systems now")
        self.add("/storage/{name}/load", self.load, LoadCurves, "Load of a file system over time")
        self.add("/storage/{name}/benchmarks", self.benchmarks, BenchmarkList, "Its benchmarks")
        self.add("/events", self.events, EventPage, "Events of the storage")

    def programs(self, request: Request, since: Since = None, until: Until = None) -> ProgramList:
        """Summarise each program over the jobs that the caller sees, by default for 90 days."""
        words = {"since": since or "", "until": until or ""}
        with self.answering(request) as (connection, viewer):
            period = Period.parse(words, time.time())
            found = survey(connection, viewer, period)
            return ProgramList(since=period.since, until=period.until, items=found)

    def storage(self, request: Request) -> StorageList:
        """Return the present state of each file system."""
        with self.answering(request) as (connection, _):
            return StorageList(items=view_storage(connection, time.time()))

    def load(
        self, request: Request, name: str, period: _Period = "day", until: Until = None
    ) -> LoadCurves:
        """Return the load of a file system in a period that ends now, or at `until`."""
        now = time.time()
        end = JobFilter.parse({"until": until or ""}).until
        with self.answering(request) as (connection, _):
            key = find_file_system(connection, name)
            if key is None:
                raise HTTPException(404)
            load_period = LoadPeriod.of(period, end, now)
            found = view_load(connection, key, load_period, now)
            return LoadCurves(
                name=name,
                since=load_period.since,
                until=load_period.until,
                width_seconds=found.width_seconds,
                at=list(found.moments),
                read_bytes_per_second=_values(found.read, found.moments),
                write_bytes_per_second=_values(found.write, found.moments),
                metadata_operations_per_second=_values(found.metadata, found.moments),
                targets=list(found.targets),
            )

    def benchmarks(self, request: Request, name: str) -> BenchmarkList:
        """Return benchmark results of a file system, campaign by campaign."""
        with self.answering(request) as (connection, _):
            if find_file_system(connection, name) is None:
                raise HTTPException(404)
            return BenchmarkList(name=name, items=benchmark_history(connection, name))

    def events(
        self,
        request: Request,
        file_system: _Name = "",
        kind: _Name = "",
        since: Since = None,
        until: Until = None,
        after: After = "",
        limit: Limit = 50,
    ) -> EventPage:
        """List events of the storage, newest first."""
        words = {"file_system": file_system, "kind": kind, "since": since or "",
                 "until": until or ""}  # fmt: skip
        event_filter = EventFilter.parse(words)
        with self.answering(request) as (connection, _):
            found = list_events(connection, event_filter, after=after, limit=limit)
            items = [EventItem(**only(row._mapping, EventItem)) for row in found.rows]
            return EventPage(items=items, next=found.next or None)


def _values(curve: Curve, moments: Sequence[int]) -> list[Any]:
    return [curve.values.get(at) for at in moments]


# The API for programs, version 1, with the same queries and rights as the pages.

ROUTES: tuple[type[Routes], ...] = (JobRoutes, StorageRoutes)
