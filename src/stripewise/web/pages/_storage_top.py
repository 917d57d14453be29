# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who causes the load of a file system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import (
    FEWEST_USERS,
    TOP_PERIODS,
    LoadPeriod,
    Share,
    Top,
    find_file_system,
    view_top,
)
from stripewise.text import plural, printable
from stripewise.web._urls import address
from stripewise.web._words import written
from stripewise.web.content import Block, Column, Content, Fact, Facts, Table
from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._storage_hurting import hurting
from stripewise.web.pages._storage_load import period_of, periods
from stripewise.web.pages._storage_words import pages_of, path_of

_AMOUNTS = (
    Column("read_bytes", "Read", "bytes"),
    Column("write_bytes", "Written", "bytes"),
    Column("moved_share", "Share of bytes", "share"),
    Column("meta_operations", "Metadata operations", "count"),
    Column("meta_share", "Share of operations", "share"),
)
_NONE = "No job that you see used this file system in this time, as far as {} tell."
_NOTE = (
    "From profiles of jobs: what ran without one is not in it. A job's amounts are taken to be "
    "even over its run; the part that lies in this time counts. Shares are of the jobs that you "
    "see."
)
_SERVED_NOTE = (
    "By the servers' counters of jobs, exact to the interval; programs outside of jobs count for "
    "their user where the servers know it. Shares are of what you see."
)


class StorageTop(Page):
    """Users, Unix groups, projects and jobs by what they do to a file system."""

    path = "/storage/{name}/top"
    section = "Storage"
    audience = Audience.LOGIN

    def build(self, asked: Asked) -> Content | None:
        """Show them."""
        name = str(asked.path["name"])
        key = find_file_system(asked.connection, name)
        if key is None:
            return None
        period = period_of(asked)
        top = view_top(asked.connection, asked.viewer, key, period)
        words = {"since": period.since, "until": period.until}
        is_staff = asked.viewer.is_staff
        blocks: list[Block] = [
            periods(path_of(name, "top"), period, asked.now, TOP_PERIODS),
            _sums(top, is_staff),
            _people("users", "Users", top.users, top, words if is_staff else None),
            _people("groups", "Unix groups", top.groups, top, None),
            _people("projects", "Projects", top.projects, top, words),
            _jobs(top),
            *hurting(asked, key),
            pages_of(name),
        ]
        audited = f"who causes the load of {name}" if is_staff else ""
        return Content(f"Who causes the load of {name}", _lead(name, top, period), blocks, audited)


def _lead(name: str, top: Top, period: LoadPeriod) -> str:
    seen = top.seen
    if not seen.jobs and not _moved(seen):
        return (
            f"{_when(period)}, no job that you see used {printable(name)}, as far as "
            f"{_source(top)} tell."
        )
    jobs = plural(seen.jobs, "job")
    moved = written(seen.read_bytes + seen.write_bytes, "bytes")
    text = f"{_when(period)}, {jobs} that you see moved {moved}"
    if top.outside is not None and _moved(top.outside):
        text += f", {_outside(top)}"
    text += "."
    if len(top.users) > 1 and (best := top.users[0]).name and _moved(seen):
        share = written(_moved(best) / _moved(seen), "share")
        text += f" {printable(best.name)} moved most: {share} of it."
    return text


def _source(top: Top) -> str:
    return "the servers' counters" if top.by_servers else "profiles"


def _when(period: LoadPeriod) -> str:
    return f"Over {'this' if period.is_past else 'the last'} {period.name}"


def _sums(top: Top, is_staff: bool) -> Facts:
    seen, others = top.seen, top.others
    note = (
        "You see all jobs." if is_staff
        else "Rounded to two digits." if others
        else f"Not shown: they are of fewer than {FEWEST_USERS} users, or mostly of one of them."
    )  # fmt: skip
    items = [
        Fact("seen_jobs", "Jobs that you see", seen.jobs, "count"),
        Fact("seen_bytes", "They moved", _moved(seen), "bytes", _outside(top)),
        Fact("seen_meta_operations", "Metadata operations", seen.meta_operations, "count"),
    ]
    if not is_staff:
        items += [
            Fact("other_jobs", "All other jobs", others and others.jobs, "count", note),
            Fact("other_bytes", "Moved by the others", others and _moved(others), "bytes"),
            Fact("other_meta_operations", "Metadata operations of the others",
                 others and others.meta_operations, "count"),
        ]  # fmt: skip
    items += _whole(top, is_staff)
    return Facts("sums", "All together", items)


def _outside(top: Top) -> str:
    """Say how much of what was moved is of no job."""
    if top.outside is None or not _moved(top.outside):
        return ""
    return f"with {written(_moved(top.outside), 'bytes')} of no known job"


def _whole(top: Top, is_staff: bool) -> list[Fact]:
    """Return what the file system did for all, and for staff what is of nobody that is known."""
    whole, rest = top.whole, top.rest if is_staff else None
    items = [
        Fact("source", "Told by", _source(top)),
        Fact("whole_bytes", "The whole file system moved", whole and _moved(whole), "bytes",
             "" if whole else "too few samples in this time"),
        Fact("whole_meta_operations", "Metadata operations of all",
             whole and whole.meta_operations, "count"),
    ]  # fmt: skip
    if is_staff and top.by_servers:
        items += [
            Fact("rest_bytes", "Of no known job or user", rest and _moved(rest), "bytes",
                 "the whole without the rows below"),
            Fact("rest_meta_operations", "Metadata operations of no known job or user",
                 rest and rest.meta_operations, "count"),
        ]  # fmt: skip
    return items


def _people(
    name: str, title: str, shares: Sequence[Share], top: Top, words: Mapping[str, Any] | None
) -> Table:
    rows = [
        {
            "name": one.name,
            "url": address("/jobs", {**words, name.removesuffix("s"): one.name}) if words else "",
            "jobs": one.jobs,
            **_amounts(vars(one), top.seen),
        }
        for one in shares
    ]
    return Table(
        name,
        title,
        [Column("name", title.removesuffix("s"), link="url" if words else ""),
         Column("jobs", "Jobs", "count"), *_AMOUNTS],
        rows,
        note=_SERVED_NOTE if top.by_servers else _NOTE,
        empty=_NONE.format(_source(top)),
    )  # fmt: skip


def _jobs(top: Top) -> Table:
    columns = [
        Column("raw_id", "Job", "id", link="url"),
        Column("name", "Name"),
        Column("program", "Program"),
        Column("user", "User"),
        Column("project", "Project"),
        Column("cluster", "Cluster"),
        Column("start_at", "Started (UTC)", "moment"),
        *_AMOUNTS,
    ]
    rows = [
        {**row, "url": address(f"/jobs/{row['id']}"), **_amounts(row, top.seen)}
        for row in top.jobs
    ]
    return Table("jobs", "Jobs", columns, rows,
                 note=_SERVED_NOTE if top.by_servers else _NOTE,
                 empty=_NONE.format(_source(top)))  # fmt: skip


def _amounts(row: Mapping[str, Any], seen: Share) -> dict[str, Any]:
    moved, whole = row["read_bytes"] + row["write_bytes"], _moved(seen)
    operations = row["meta_operations"]
    return {
        "read_bytes": row["read_bytes"],
        "write_bytes": row["write_bytes"],
        "moved_share": moved / whole if whole else None,
        "meta_operations": operations,
        "meta_share": operations / seen.meta_operations if seen.meta_operations else None,
    }


def _moved(one: Share) -> float:
    return one.read_bytes + one.write_bytes
