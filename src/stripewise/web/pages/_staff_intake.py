# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For staff: what was taken in and what was refused; for admins: the audit trail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import (
    Period,
    audit_trail,
    intake_hours,
    intake_sums,
    refused_inputs,
)
from stripewise.web._urls import address
from stripewise.web._words import moment
from stripewise.web.content import Block, Chart, Content, Field, Line, Search, Table
from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._figures import columns, counted, period_search

_DAYS = 7


class StaffIngest(Page):
    """The ledger of inputs."""

    path = "/staff/ingest"
    section = "Staff"
    audience = Audience.STAFF

    def build(self, asked: Asked) -> Content:
        """Show sums, the rate, and what was refused."""
        period = Period.parse(asked.words, asked.now, _DAYS)
        sums = intake_sums(asked.connection, asked.viewer, period)
        hours = intake_hours(asked.connection, asked.viewer, period)
        refused = refused_inputs(
            asked.connection, asked.viewer, after=asked.words.get("after", "")
        )
        following = address(self.path, {**period.words, "after": refused.next})
        specs = (
            ("kind", "Kind", "text"), ("outcome", "Outcome", "text"),
            ("input_count", "Inputs", "count"), ("size_bytes", "Size", "bytes"),
            ("last_at", "Last (UTC)", "moment"),
        )  # fmt: skip
        names = ("at", "Tried (UTC)", "moment"), ("kind", "Kind", "text"), ("name", "Name", "text")
        blocks: list[Block] = [
            period_search(self.path, period),
            Table("sums", "Taken in", columns(specs), sums, empty=f"Nothing {period.text}."),
            Chart(
                "rate", "Inputs an hour", [row["at"] for row in hours],
                [Line("stored", "Taken in", [row["stored"] for row in hours]),
                 Line("refused", "Refused", [row["refused"] for row in hours])],
                style="points", description="One point for each hour with inputs.",
                empty="Nothing was taken in.",
            ),
            Table(
                "refused", "Refused",
                columns((*names, ("size_bytes", "Size", "bytes"), ("reason", "Reason", "text"))),
                refused.rows, "Of all times, the latest first.",
                empty="No input was refused.", next=following if refused.next else "",
            ),
        ]  # fmt: skip
        return Content("Ingest", _lead(sums, hours, period), blocks)


def _lead(
    sums: Sequence[Mapping[str, Any]], hours: Sequence[Mapping[str, Any]], period: Period
) -> str:
    if not sums:
        return f"Nothing was taken in {period.text}."
    every = sum(row["input_count"] for row in sums)
    refused = sum(row["input_count"] for row in sums if row["outcome"] == "refused")
    last = max(row["last_at"] for row in sums)
    most = max((row["stored"] for row in hours), default=0)
    return (
        f"{counted(every, 'input')} came {period.text}, at most {most:,} in an hour; {refused:,} "
        f"of them were refused. The last came at {moment(last)} UTC."
    )


class StaffAudit(Page):
    """The audit trail, for admins."""

    path = "/staff/audit"
    section = "Staff"
    audience = Audience.ADMIN

    def build(self, asked: Asked) -> Content:
        """List it, the latest first."""
        login = asked.words.get("login", "").strip()
        found = audit_trail(
            asked.connection, asked.viewer, login=login, after=asked.words.get("after", "")
        )
        specs = (
            ("at", "When (UTC)", "moment"), ("login", "Who", "text"),
            ("action", "Action", "text"), ("target", "Object", "text"),
        )  # fmt: skip
        following = address(self.path, {"login": login, "after": found.next})
        table = Table("audit", "", columns(specs), found.rows,
                      empty="Nothing is in the audit trail.",
                      next=following if found.next else "")  # fmt: skip
        search = Search("search", "", self.path, [Field("login", "Account", login)])
        lead = "Looks at what is somebody else's, and changes of rights."
        if found.rows:
            lead += f" The latest on this page is of {moment(found.rows[0]['at'])} UTC."
        return Content("Audit", lead, [search, table])
