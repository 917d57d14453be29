# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the first page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    BEFORE_DAYS,
    OWN_DAYS,
    FileSystemState,
    OwnSummary,
    own_summary,
    view_storage,
)
from stripewise.centre.portal.pages._base import (
    Audience,
    Page,
    PageRequest,
    address,
    not_estimated,
)
from stripewise.centre.portal.pages._storage import lead, notices
from stripewise.present import plural
from stripewise.present.blocks import (
    Block,
    Column,
    Content,
    Fact,
    Facts,
    Link,
    Links,
    Table,
    written,
)

_WHAT = "How jobs read and write files here, what costs time, and the state of the storage. "


class Front(Page):
    """The first page: what the portal is, the storage now, and the viewer's own jobs."""

    path = "/"
    section = ""
    audience = Audience.PUBLIC

    def build(self, request: PageRequest) -> Content:
        """Build the page."""
        states = view_storage(request.connection, request.now, compares=False)
        own = own_summary(request.connection, request.viewer, request.now)
        blocks: list[Block] = []
        if own is not None:
            blocks += _own(own, request.now)
        blocks += notices(states, request.now)
        if states:
            blocks.append(_now(states))
        blocks.append(_entries(request))
        title = request.site or "Input and output of jobs"
        return Content(title, _lead(own) or _WHAT + lead(states, request.now), blocks)


def _lead(own: OwnSummary | None) -> str:
    """Return the conclusion for a viewer with jobs, or "" for others."""
    if own is None or not own.jobs:
        return ""
    text = f"You ran {plural(own.jobs, 'job')} in the last {OWN_DAYS} days. "
    if own.profiled == 0 and own.served:
        known = plural(own.served, "job")
        return (
            f"{text}They ran without a profile; the storage servers counted the bytes of {known}."
        )
    if own.profiled == 0:
        return text + "Nothing is known about their I/O: they ran without a profile."
    text += _slower(own)
    why = not_estimated(own.not_estimated)
    if own.avoidable_seconds:
        saved = written(own.avoidable_seconds, "duration", why)
        saved = f"At {saved.removeprefix('at ')}" if why else f"About {saved}"
        return f"{text}{saved} of their I/O time could be saved."
    if why:
        return f"{text}How much of their I/O time could be saved is not known: {why}."
    return text + "No costly I/O was found in them."


def _slower(own: OwnSummary) -> str:
    """Return how many jobs were slower than their history, and which one lost most; or ""."""
    if own.slowest is None:
        return ""
    row = own.slowest
    factor = written(row["slower_factor"], "factor")
    if own.slower == 1:
        return f"The I/O of one, {_name(row)}, took {factor} its usual time. "
    return (
        f"The I/O of {own.slower} of them took longer than in earlier runs, most of all that of "
        f"{_name(row)}: {factor} its usual time. "
    )


def _name(row: Mapping[str, Any]) -> str:
    return str(row["name"] or row["raw_id"])


def _known(own: OwnSummary) -> float | None:
    """Return the avoidable time; zero is unknown if some jobs have no estimate."""
    return own.avoidable_seconds or (None if own.not_estimated else own.avoidable_seconds)


def _own(own: OwnSummary, now: float) -> list[Block]:
    """Return the figures of the viewer's own jobs, even if they see the jobs of others as well."""
    mine = {"user": own.user, "since": int(now) - OWN_DAYS * 86400}
    unknown = own.jobs - own.profiled
    note = f"{plural(unknown, 'job')} ran without a profile" if unknown else ""
    first = Fact("jobs", f"Your jobs in the last {OWN_DAYS} days", own.jobs, "count",
                 link=address("/jobs", mine))  # fmt: skip
    if not own.jobs:
        return [Facts("own", "", [first], is_large=True)]
    items = [
        first,
        Fact("io_seconds", "I/O time of these jobs", own.io_seconds, "duration", note),
        Fact("avoidable_seconds", "Avoidable I/O time", _known(own), "duration",
             "by the costliest finding of each job", why=not_estimated(own.not_estimated)),
    ]  # fmt: skip
    if own.slowest is not None:
        lost = own.slowest["io_seconds"] - own.slowest["usual_io_seconds"]
        items.append(
            Fact("slower", "Jobs slower than usual", own.slower, "count",
                 f"worst: {_name(own.slowest)}, {written(lost, 'seconds')} longer than before",
                 address("/jobs", {"slower": "yes", **mine}))
        )  # fmt: skip
    if own.worst is not None:
        row = own.worst
        lost = written(row["avoidable_seconds"], "seconds")
        items.append(
            Fact("worst_job", "The job that loses most time", row["name"] or row["raw_id"], "text",
                 f"{lost} avoidable", address(f"/jobs/{row['id']}"))
        )  # fmt: skip
    blocks: list[Block] = [Facts("own", "", items, is_large=True)]
    if own.new_findings:
        rows = [
            {"code": code, "jobs": jobs,
             "url": address("/jobs", {"finding": code, **mine})}
            for code, jobs in own.new_findings
        ]  # fmt: skip
        columns = [Column("code", "Finding", "code", link="url"), Column("jobs", "Jobs", "count")]
        blocks.append(
            Table("new_findings", "New findings in your jobs", columns, rows,
                  note=f"Your jobs in the {BEFORE_DAYS} days before did not have them.")
        )  # fmt: skip
    return blocks


def _now(states: Sequence[FileSystemState]) -> Facts:
    """Return the few most important figures of the storage, over all file systems."""
    fresh = [one for one in states if not one.is_stale]
    old = f"{plural(len(states) - len(fresh), 'file system')} without samples now"
    note = old if len(fresh) < len(states) else ""
    full = [one for one in states if one.space.share is not None]
    fullest = max(full, key=lambda one: one.space.share or 0.0, default=None)
    items = [
        Fact("read_bytes_per_second", "Read now", _sum(one.read.now for one in fresh), "rate",
             note, "/storage"),
        Fact("write_bytes_per_second", "Written now", _sum(one.write.now for one in fresh), "rate",
             note, "/storage"),
        Fact("fullest_share", "Fullest file system",
             None if fullest is None else fullest.space.share, "share",
             "" if fullest is None else fullest.name, "/storage"),
    ]  # fmt: skip
    return Facts("storage_now", "The storage now", items, is_large=True)


def _sum(values: object) -> float | None:
    known = [value for value in values if value is not None]  # type: ignore[attr-defined]
    return sum(known) if known else None


def _entries(request: PageRequest) -> Links:
    viewer = request.viewer
    items = []
    if viewer.role is None:
        items.append(Link("Log in", "/login", "to see your jobs"))
    else:
        jobs = "Jobs" if viewer.is_staff else "My jobs"
        items += [
            Link(jobs, "/jobs", "what each job reads and writes, and what costs time"),
            Link("Programs", "/programs", "which programs lose most time, and in which patterns"),
            Link("Savings", "/savings", "which savings pairs of runs have proved"),
        ]
    if viewer.is_staff:
        items.append(Link("Staff", "/staff", "where help pays most; coverage and ingest"))
    items += [
        Link("Storage", "/storage", "health, load, space, benchmarks"),
        Link("Advice of the site", "/storage/advice", "for fast input and output here"),
        Link("Events", "/storage/events", "what happened to the storage"),
    ]
    return Links("entries", "Where to go", items)
