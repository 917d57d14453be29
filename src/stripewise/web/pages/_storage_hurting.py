# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that did most of what a server did while it was slow."""

from __future__ import annotations

from typing import Any

from stripewise.fleet.queries import Hurting, hurting_jobs
from stripewise.web._urls import address
from stripewise.web.content import Block, Column, Table
from stripewise.web.pages._base import Asked

_COLUMNS = (
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
_NOTE = (
    "In these hours of the last day, an operation of the server's targets took more than three "
    "times what was usual in the 28 days before, for storage targets a byte took longer too, and "
    "this job made more than half of all that the server did. That it was the cause is likely, "
    "not proved; whether others had work there is not counted."
)


def hurting(asked: Asked, key: int) -> list[Block]:
    """Return the jobs that hurt others: all of them to staff, their own to users, if any."""
    found = hurting_jobs(asked.connection, asked.viewer, key, asked.now)
    is_staff = asked.viewer.is_staff
    if not found and not is_staff:
        return []
    title = (
        "Jobs that may hurt others" if is_staff
        else "Your jobs with most of the load of a slow server"
    )  # fmt: skip
    return [
        Table("hurting", title, _COLUMNS, [_row(one) for one in found], note=_NOTE,
              empty="No job made most of the load of a server that was slow in the last day.")
    ]  # fmt: skip


def _row(one: Hurting) -> dict[str, Any]:
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
