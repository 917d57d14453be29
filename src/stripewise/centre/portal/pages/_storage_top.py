# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the page on who causes the load of a file system, and on jobs that may hurt others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    FEWEST_USERS,
    TOP_PERIODS,
    DisturbingJob,
    LoadPeriod,
    Share,
    Top,
    disturbing_jobs,
    view_top,
)
from stripewise.centre.portal.pages._base import Audience, PageRequest, address
from stripewise.centre.portal.pages._storage import StoragePage, pages_of, path_of
from stripewise.centre.portal.pages._storage_load import period_of, periods
from stripewise.core import NOTHING, Amount, total
from stripewise.present import plural, printable
from stripewise.present.blocks import Block, Column, Content, Fact, Facts, Table, written

_AMOUNTS = (
    Column("read_bytes", "Read", "bytes"),
    Column("write_bytes", "Written", "bytes"),
    Column("moved_share", "Share of bytes", "share"),
    Column("meta_operations", "Metadata operations", "count"),
    Column("meta_share", "Share of operations", "share"),
)
_NONE = "No job that you see used this file system in this time, as far as {} show."
_NOTE = (
    "From profiles of jobs; jobs without a profile are not included. A job's amounts are assumed "
    "to be spread evenly over its run, and the part within this time counts. Shares are of the "
    "jobs that you see, as far as their amounts are known."
)
_SERVED_NOTE = (
    "From the servers' counters of jobs, exact to the interval. Programs outside of jobs count "
    "for their user where the servers know the user. Shares are of what you see, as far as it is "
    "known."
)
_NAMES = ("read_bytes", "write_bytes", "meta_operations")
_ALL = "the file system"


class StorageTop(StoragePage):
    """Users, Unix groups, projects and jobs by what they do to a file system."""

    path = "/storage/{name}/top"
    audience = Audience.LOGIN

    def build_for(self, request: PageRequest, name: str, key: int) -> Content:
        """Show the sums, and the largest shares."""
        period = period_of(request)
        top = view_top(request.connection, request.viewer, key, period)
        words = {"since": period.since, "until": period.until}
        is_staff = request.viewer.is_staff
        blocks: list[Block] = [
            periods(path_of(name, "top"), period, request.now, TOP_PERIODS),
            _sums(top, is_staff),
            _people("users", "Users", top.users, top, words if is_staff else None),
            _people("groups", "Unix groups", top.groups, top, None),
            _people("projects", "Projects", top.projects, top, words),
            _jobs(top),
            *disturbing(request, key),
            pages_of(name),
        ]
        audited = f"who causes the load of {name}" if is_staff else ""
        return Content(f"Who causes the load of {name}", _lead(name, top, period), blocks, audited)


def _lead(name: str, top: Top, period: LoadPeriod) -> str:
    seen = top.seen
    if not seen.jobs and seen.moved == NOTHING:
        return (
            f"{_when(period)}, no job that you see used {printable(name)}, as far as "
            f"{_source(top)} show."
        )
    jobs = plural(seen.jobs, "job")
    text = f"{_when(period)}, {jobs} that you see moved {_amount_text(seen.moved)}"
    if outside := _outside(top):
        text += f", {outside}"
    return f"{text}.{_most(top)}"


def _amount_text(moved: Amount) -> str:
    if moved.value is None:
        return "an unknown amount"
    return written(moved.value, "bytes", moved.why)


_KNOWN = 0.995
"""Share that is of known jobs from which on the rest is not worth a word (chosen)."""


def _most(top: Top) -> str:
    """Return who moved most and their share of what, or "" if no known user moved anything."""
    if len(top.users) < 2 or not (seen := top.seen.moved).value:
        return ""
    best = next((one for one in top.users if one.name), None)
    nobody = sum(one.moved.least for one in top.users if not one.name)
    if best is None or not best.moved.least:
        return f" {written(nobody / seen.value, 'share')} of it cannot be attributed to a user."
    name, moved = printable(best.name or ""), best.moved
    if not seen.is_exact:
        share = written(moved.least / seen.value, "share")
        return f" As far as is known, {name} moved most: {share} of what is known ({seen.why})."
    outside = (top.outside.moved.value if top.outside else None) or 0.0
    of_jobs = max(seen.value - max(outside, nobody), moved.least)
    return (
        f" {name} moved most: {written(moved.least / of_jobs, 'share')} of "
        f"{_of_all(top, seen.value, of_jobs)}."
    )


def _of_all(top: Top, seen: float, of_jobs: float) -> str:
    """Return what a share is of: of what jobs moved, and how much of everything that is."""
    whole = top.whole.moved.value if top.whole else None
    every = whole or seen
    known = min(of_jobs / every, 1.0)
    if known >= _KNOWN:
        return "it"
    whose = f"all that {_ALL} moved" if whole else "that"
    rest = f"{written(1 - known, 'share')} is of none of them"
    return f"what known users moved, which is {written(known, 'share')} of {whose}; {rest}"


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
        _fact("seen_bytes", "They moved", seen.moved, "bytes", _outside(top)),
        _fact("seen_meta_operations", "Metadata operations", _operations(seen)),
    ]
    if not is_staff:
        items += [
            Fact("other_jobs", "All other jobs", others and others.jobs, "count", note),
            _fact("other_bytes", "Moved by the others", others.moved if others else None, "bytes"),
            _fact("other_meta_operations", "Metadata operations of the others",
                  _operations(others) if others else None),
        ]  # fmt: skip
    items += _whole(top, is_staff)
    return Facts("sums", "All together", items)


def _fact(
    name: str, title: str, amount: Amount | None, kind: str = "count", note: str = ""
) -> Fact:
    """Return a figure with why it is unknown or incomplete; None if it is not shown."""
    if amount is None:
        return Fact(name, title, None, kind, note)
    return Fact(name, title, amount.value, kind, note, why=amount.why)


def _operations(one: Share) -> Amount:
    return one.amount("meta_operations")


def _outside(top: Top) -> str:
    """Return how much of what was moved belongs to no job."""
    if top.outside is None or top.outside.moved == NOTHING:
        return ""
    return f"with {_amount_text(top.outside.moved)} outside of known jobs"


def _whole(top: Top, is_staff: bool) -> list[Fact]:
    """Return what the file system did for all, and for staff the part of unknown users."""
    whole, rest = top.whole, top.rest if is_staff else None
    moved, operations = (whole.moved, _operations(whole)) if whole else (None, None)
    note = "" if whole else "too few samples in this time"
    items = [
        Fact("source", "Source of these figures", _source(top)),
        _fact("whole_bytes", "The whole file system moved", moved, "bytes", note),
        _fact("whole_meta_operations", "Metadata operations of all", operations),
    ]
    if is_staff and top.by_servers:
        items += [
            _fact("rest_bytes", "Not attributed to a job or user",
                  rest.moved if rest else None, "bytes", "the total minus the rows below"),
            _fact("rest_meta_operations", "Metadata operations not attributed to a job or user",
                  _operations(rest) if rest else None),
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
    """Return the amounts of a row with their shares; an incomplete amount has no share."""
    known = {name: Amount.of(row[name], row["missing"].get(name, "")) for name in _NAMES}
    shares = {
        "moved_share": _share(total((known["read_bytes"], known["write_bytes"])), seen.moved),
        "meta_share": _share(known["meta_operations"], _operations(seen)),
    }
    both = {**known, **shares}
    return {
        **{name: amount.value for name, amount in both.items()},
        "missing": {name: amount.why for name, amount in both.items() if amount.why},
    }


def _share(part: Amount, whole: Amount) -> Amount:
    """Return a part's share in what is known; the share of an incomplete part is unknown."""
    if part.why or not whole.value:
        return Amount(None, part.why or whole.why)
    return Amount(part.least / whole.value)


# Jobs that did most of what a server did while it was slow.

_DISTURBING_COLUMNS = (
    Column("raw_id", "Job", "id", link="url"),
    Column("user", "User"),
    Column("program", "Program"),
    Column("cluster", "Cluster"),
    Column("server", "Server"),
    Column("what", "Most of its"),
    Column("share", "Share", "share"),
    Column("operation_seconds", "Time of an operation", "seconds"),
    Column("usual_seconds", "Usual", "seconds"),
    Column("at", "Hour (UTC)", "moment"),
    Column("hours", "Hours", "count"),
)
_DISTURBING_NOTE = (
    "In these hours of the last day, an operation of the server's targets took more than three "
    "times what was usual in the 28 days before, for storage targets a byte took longer too, and "
    "this job made more than half of all that the server did. That it was the cause is likely, "
    "not proved; whether others had work there is not counted."
)


def disturbing(request: PageRequest, key: int) -> list[Block]:
    """Return the jobs that hurt others: all of them for staff, their own for users, if any."""
    found = disturbing_jobs(request.connection, request.viewer, key, request.now)
    is_staff = request.viewer.is_staff
    if not found and not is_staff:
        return []
    title = (
        "Jobs that may slow others down" if is_staff
        else "Your jobs with most of the load of a slow server"
    )  # fmt: skip
    return [
        Table("hurting", title, _DISTURBING_COLUMNS, [_disturbing_row(one) for one in found],
              note=_DISTURBING_NOTE,
              empty="No job made most of the load of a server that was slow in the last day.")
    ]  # fmt: skip


def _disturbing_row(one: DisturbingJob) -> dict[str, Any]:
    return {
        **{name: one.job[name] for name in ("raw_id", "user", "program", "cluster")},
        "url": address(f"/jobs/{one.job['id']}"),
        "server": one.server or None,
        "what": "metadata operations" if one.is_metadata else "bytes",
        "share": one.share,
        "operation_seconds": one.operation_seconds,
        "usual_seconds": one.usual_seconds,
        "at": one.at,
        "hours": one.hours,
    }
