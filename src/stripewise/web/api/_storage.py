# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The API: programs and the storage."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query, Request
from starlette.exceptions import HTTPException

from stripewise.fleet.queries import (
    PERIODS,
    Curve,
    EventFilter,
    JobFilter,
    LoadPeriod,
    Period,
    benchmark_history,
    find_file_system,
    list_events,
    survey,
    view_load,
    view_storage,
)
from stripewise.web.api._base import After, Limit, Routes, Since, Until, only
from stripewise.web.api._models import (
    BenchmarkCase,
    BenchmarkList,
    EventItem,
    EventPage,
    ProgramItem,
    ProgramList,
    StorageItem,
    StorageList,
    StorageLoad,
    TargetItem,
)

_Period = Annotated[str, Query(description=f"One of {', '.join(PERIODS)}.", max_length=20)]
_Name = Annotated[str, Query(max_length=200)]


class StorageRoutes(Routes):
    """Programs, file systems, events, benchmarks."""

    def add_all(self) -> None:
        """Add the routes."""
        self.add("/programs", self.programs, ProgramList, "Programs of jobs that the caller sees")
        self.add("/storage", self.storage, StorageList, "All file systems now")
        self.add("/storage/{name}/load", self.load, StorageLoad, "Load of a file system over time")
        self.add("/storage/{name}/benchmarks", self.benchmarks, BenchmarkList, "Its benchmarks")
        self.add("/events", self.events, EventPage, "Events of the storage")

    def programs(self, request: Request, since: Since = None, until: Until = None) -> ProgramList:
        """Sum up each program over the jobs that the caller sees; by default of 90 days."""
        words = {"since": since or "", "until": until or ""}
        with self.asked(request) as (connection, viewer):
            period = Period.parse(words, time.time())
            found = survey(connection, viewer, period)
            items = [ProgramItem(**only(asdict(one), ProgramItem)) for one in found]
            return ProgramList(since=period.since, until=period.until, items=items)

    def storage(self, request: Request) -> StorageList:
        """Tell how each file system is now."""
        with self.asked(request) as (connection, _):
            found = view_storage(connection, time.time())
            items = [StorageItem(**only(asdict(one), StorageItem)) for one in found]
            return StorageList(items=items)

    def load(
        self, request: Request, name: str, period: _Period = "day", until: Until = None
    ) -> StorageLoad:
        """Tell the load of a file system in a period that ends now, or at `until`."""
        now = time.time()
        end = JobFilter.parse({"until": until or ""}).until
        with self.asked(request) as (connection, _):
            key = find_file_system(connection, name)
            if key is None:
                raise HTTPException(404)
            asked = LoadPeriod.of(period, end, now)
            found = view_load(connection, key, asked, now)
            return StorageLoad(
                name=name,
                since=asked.since,
                until=asked.until,
                width_seconds=found.width_seconds,
                at=list(found.moments),
                read_bytes_per_second=_values(found.read, found.moments),
                write_bytes_per_second=_values(found.write, found.moments),
                metadata_operations_per_second=_values(found.metadata, found.moments),
                targets=[TargetItem(**only(asdict(one), TargetItem)) for one in found.targets],
            )

    def benchmarks(self, request: Request, name: str) -> BenchmarkList:
        """Tell what benchmarks of a file system measured, campaign by campaign."""
        with self.asked(request) as (connection, _):
            if find_file_system(connection, name) is None:
                raise HTTPException(404)
            found = benchmark_history(connection, name)
            items = [BenchmarkCase(**only(asdict(one), BenchmarkCase)) for one in found]
            return BenchmarkList(name=name, items=items)

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
        """List events of the storage, the newest first."""
        words = {"file_system": file_system, "kind": kind, "since": since or "",
                 "until": until or ""}  # fmt: skip
        asked = EventFilter.parse(words)
        with self.asked(request) as (connection, _):
            found = list_events(connection, asked, after=after, limit=limit)
            items = [EventItem(**only(row._mapping, EventItem)) for row in found.rows]
            return EventPage(items=items, next=found.next or None)


def _values(curve: Curve, moments: Sequence[int]) -> list[Any]:
    return [curve.values.get(at) for at in moments]
