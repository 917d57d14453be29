# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For staff: which jobs are seen, and by what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import GROUPS, Period, coverage, reasons
from stripewise.web._words import written
from stripewise.web.content import Block, Chart, Content, Field, Line, Table
from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._figures import columns, period_search

Row = Mapping[str, Any]


class StaffCoverage(Page):
    """Shares of jobs and node-hours with a profile, by day, partition or cluster."""

    path = "/staff/coverage"
    section = "Staff"
    audience = Audience.STAFF

    def build(self, asked: Asked) -> Content:
        """Tell them."""
        period = Period.parse(asked.words, asked.now)
        by = asked.words.get("by") or "day"
        rows = list(map(_with_shares, coverage(asked.connection, asked.viewer, period, by)))
        choices = [(name, name) for name in GROUPS]
        blocks: list[Block] = [
            period_search(
                self.path, period, [Field("by", "A row for each", by, choices, has_any=False)]
            ),
            *([_chart(rows)] if by == "day" else []),
            _reasons(reasons(asked.connection, asked.viewer, period)),
            _table(rows, by),
        ]
        return Content("Coverage", _lead(rows, period), blocks)


def _with_shares(row: Row) -> dict[str, Any]:
    spent, seen = row["node_seconds"], row["profiled_node_seconds"]
    return {
        **row,
        "share": row["profiled_count"] / row["job_count"],
        "node_share": _share(0.0 if not row["profiled_count"] else seen, spent),
        **{f"{kind}_share": number / row["job_count"] for kind, number in row["kinds"].items()},
    }


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _lead(rows: Sequence[Row], period: Period) -> str:
    jobs = sum(row["job_count"] for row in rows)
    if not jobs:
        return f"No job started {period.text}."
    share = sum(row["profiled_count"] for row in rows) / jobs
    text = f"{written(share, 'share')} of the jobs {period.text} have a profile"
    spent = sum(row["node_seconds"] or 0.0 for row in rows)
    if not spent:
        return f"{text}."
    seen = sum(row["profiled_node_seconds"] or 0.0 for row in rows) / spent
    return f"{text}; they make {written(seen, 'share')} of the node-hours."


def _chart(rows: Sequence[Row]) -> Chart:
    return Chart(
        "days",
        "Share with a profile, by day",
        [row["group"] for row in rows],
        [
            Line("share", "Jobs", [row["share"] for row in rows]),
            Line("node_share", "Node-hours", [row["node_share"] for row in rows]),
        ],
        "share",
        description="One point for each day on which jobs started.",
        empty="No job started in this time.",
    )


def _table(rows: Sequence[Row], by: str) -> Table:
    kinds = sorted({kind for row in rows for kind in row["kinds"]})
    specs = [
        ("group", by.capitalize(), "day" if by == "day" else "text"),
        ("job_count", "Jobs", "count"),
        ("share", "with a profile", "share"),
        ("node_seconds", "Node-hours", "node-hours"),
        ("node_share", "with a profile", "share"),
        *((f"{kind}_share", f"Jobs with {kind}", "share") for kind in kinds),
    ]
    zeros = {f"{kind}_share": 0.0 for kind in kinds}
    told = [{**zeros, **row} for row in reversed(rows)] if by == "day" else [
        {**zeros, **row} for row in rows
    ]  # fmt: skip
    return Table("groups", f"By {by}", columns(specs), told,
                 "A job may have profiles of several kinds.", empty="No job started.")  # fmt: skip


def _reasons(rows: Sequence[Row]) -> Table:
    specs = (
        ("reason", "Why there are no figures", "text"), ("job_count", "Jobs", "count"),
        ("node_seconds", "Node-hours", "node-hours"),
    )  # fmt: skip
    return Table("reasons", "Jobs without figures", columns(specs), rows,
                 empty="All jobs have figures.")  # fmt: skip
