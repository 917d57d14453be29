# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds pages for staff about the data: coverage, inputs, agreement of sources, audit trail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    GROUPS,
    USUAL_RATIO,
    Agreement,
    Listing,
    Period,
    agreements,
    audit_trail,
    coverage,
    disagreements,
    intake_hours,
    intake_sums,
    match_rules,
    profiles_with_other_clocks,
    reasons,
    refused_inputs,
    unrecorded_jobs,
)
from stripewise.centre.portal.pages._base import (
    Audience,
    Page,
    PageRequest,
    Spec,
    address,
    columns,
    period_search,
    share_of,
)
from stripewise.core.errors import UsageError
from stripewise.present import count_text, plural
from stripewise.present.blocks import (
    Block,
    Chart,
    Content,
    Field,
    Line,
    Search,
    Table,
    moment,
    written,
)

Row = Mapping[str, Any]


class StaffCoverage(Page):
    """Shares of jobs and node-hours with a profile, by day, partition or cluster."""

    path = "/staff/coverage"
    section = "Staff"
    audience = Audience.STAFF

    def build(self, request: PageRequest) -> Content:
        """Build the page."""
        period = Period.parse(request.words, request.now)
        by = request.words.get("by") or "day"
        rows = list(map(_with_shares, coverage(request.connection, request.viewer, period, by)))
        choices = [(name, name) for name in GROUPS]
        blocks: list[Block] = [
            period_search(
                self.path, period, [Field("by", "A row for each", by, choices, has_any=False)]
            ),
            *([_chart(rows)] if by == "day" else []),
            _reasons(reasons(request.connection, request.viewer, period)),
            _table(rows, by),
        ]
        return Content("Coverage", _lead(rows, period), blocks)


def _with_shares(row: Row) -> dict[str, Any]:
    spent, seen = row["node_seconds"], row["profiled_node_seconds"]
    return {
        **row,
        "share": row["profiled_count"] / row["job_count"],
        "node_share": share_of(0.0 if not row["profiled_count"] else seen, spent),
        **{f"{kind}_share": number / row["job_count"] for kind, number in row["kinds"].items()},
    }


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
    return f"{text}; they account for {written(seen, 'share')} of the node-hours."


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
        ("share", "Jobs with a profile", "share"),
        ("node_seconds", "Node-hours", "node-hours"),
        ("node_share", "Node-hours with a profile", "share"),
        *((f"{kind}_share", f"Jobs with {kind}", "share") for kind in kinds),
    ]
    zeros = {f"{kind}_share": 0.0 for kind in kinds}
    table_rows = [{**zeros, **row} for row in reversed(rows)] if by == "day" else [
        {**zeros, **row} for row in rows
    ]  # fmt: skip
    return Table("groups", f"By {by}", columns(specs), table_rows,
                 "A job may have profiles of several kinds.", empty="No job started.")  # fmt: skip


def _reasons(rows: Sequence[Row]) -> Table:
    specs = (
        ("reason", "Why there are no figures", "text"), ("job_count", "Jobs", "count"),
        ("node_seconds", "Node-hours", "node-hours"),
    )  # fmt: skip
    return Table("reasons", "Jobs without figures", columns(specs), rows,
                 empty="All jobs have figures.")  # fmt: skip


# For staff: what was ingested and what was refused; for admins: the audit trail.

_DAYS = 7


class StaffIngest(Page):
    """The ledger of inputs."""

    path = "/staff/ingest"
    section = "Staff"
    audience = Audience.STAFF

    def build(self, request: PageRequest) -> Content:
        """Show sums, the rate, and refused inputs."""
        period = Period.parse(request.words, request.now, _DAYS)
        sums = intake_sums(request.connection, request.viewer, period)
        hours = intake_hours(request.connection, request.viewer, period)
        refused = refused_inputs(
            request.connection, request.viewer, after=request.words.get("after", "")
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
            Table("sums", "Stored", columns(specs), sums, empty=f"Nothing {period.text}."),
            Chart(
                "rate", "Inputs per hour", [row["at"] for row in hours],
                [Line("stored", "Stored", [row["stored"] for row in hours]),
                 Line("refused", "Refused", [row["refused"] for row in hours])],
                style="points", description="One point for each hour with inputs.",
                empty="Nothing was stored.",
            ),
            Table(
                "refused", "Refused",
                columns((*names, ("size_bytes", "Size", "bytes"), ("reason", "Reason", "text"))),
                refused.rows, "Of all times, the latest first.",
                empty="No input was refused.", next=following if refused.next else "",
            ),
        ]  # fmt: skip
        return Content("Ingest", _intake_lead(sums, hours, period), blocks)


def _intake_lead(
    sums: Sequence[Mapping[str, Any]], hours: Sequence[Mapping[str, Any]], period: Period
) -> str:
    if not sums:
        return f"Nothing was stored {period.text}."
    every = sum(row["input_count"] for row in sums)
    refused = sum(row["input_count"] for row in sums if row["outcome"] == "refused")
    last = max(row["last_at"] for row in sums)
    most = max((row["stored"] for row in hours), default=0)
    return (
        f"{plural(every, 'input')} came {period.text}, at most {count_text(most)} in an hour; "
        f"{count_text(refused)} of them were refused. The last came at {moment(last)} UTC."
    )


class StaffAudit(Page):
    """The audit trail, for admins."""

    path = "/staff/audit"
    section = "Staff"
    audience = Audience.ADMIN

    def build(self, request: PageRequest) -> Content:
        """List the entries, latest first."""
        login = request.words.get("login", "").strip()
        found = audit_trail(
            request.connection, request.viewer, login=login, after=request.words.get("after", "")
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
        lead = "Accesses to the data of others, and changes of rights."
        if found.rows:
            lead += f" The latest on this page is of {moment(found.rows[0]['at'])} UTC."
        return Content("Audit", lead, [search, table])


# For staff: whether three sources for jobs' I/O agree, and whether profiles have their job.

_NAMES = {"profile": "Profile", "server": "Storage", "slurm": "Slurm"}
_JOB: tuple[Spec, ...] = (
    ("raw_id", "Job", "id"),
    ("cluster", "Cluster", "text"),
    ("user", "User", "text"),
    ("program", "Program", "text"),
    ("start_at", "Started (UTC)", "moment"),
)
_WHY = (
    "They count at different places: a profile counts what the program requests, the "
    "storage what arrives there (which caches, reads of the operating system and data in "
    "the metadata server change), and Slurm what local devices move, which misses most "
    "network file systems. Ranks without a profile and counters that were cut off also make "
    "a difference."
)


class StaffQuality(Page):
    """The three sources side by side, outliers, matches, clocks."""

    path = "/staff/quality"
    section = "Staff"
    lists_others = True
    audience = Audience.STAFF

    def build(self, request: PageRequest) -> Content:
        """Compare the sources."""
        about = (request.connection, request.viewer, Period.parse(request.words, request.now))
        period = about[2]
        word = request.words.get("least_ratio", "")
        ratio = _ratio(word)
        found = agreements(*about)
        odd = disagreements(*about, least_ratio=ratio, after=request.words.get("after", ""))
        words = {**period.words, "least_ratio": word}
        apart, alone = profiles_with_other_clocks(*about), unrecorded_jobs(*about)
        field = Field(
            "least_ratio", "Outliers differ by more than a factor of", word, kind="number"
        )
        blocks: list[Block] = [
            period_search(self.path, period, [field]),
            _witnesses(found),
            _outliers(odd, ratio, words),
            _matches(match_rules(*about)),
            _some("clocks", "Clock differences", "profile", apart,
                  (*_JOB, ("kind", "Profile", "text"), ("apart_seconds", "Difference", "seconds")),
                  "Profiles that began outside the time of their job, by more than clocks usually "
                  "differ."),
            _some("unrecorded", "Jobs known from profiles only", "job", alone, _JOB,
                  "The scheduler's record has not come, or carries another job id."),
        ]  # fmt: skip
        return Content("Quality of the data", _agreement_lead(found, apart, alone), blocks)


def _ratio(word: str) -> float:
    try:
        found = float(word or USUAL_RATIO)
    except ValueError:
        found = 0.0
    if not 1.0 <= found < 1e9:
        raise UsageError(f"least_ratio={word[:40]!r}: give a factor from 1 on, such as 2")
    return found


def _agreement_lead(found: Sequence[Agreement], apart: Sequence[Row], alone: Sequence[Row]) -> str:
    both = sum(one.job_count for one in found)
    near = sum(one.near_count for one in found)
    text = "No job has more than one source for its bytes."
    if both:
        text = f"Two sources agree within a factor of two in {written(near / both, 'share')} of "
        text += f"{plural(both, 'comparison')}."
    late = plural(apart[0]["total"], "profile") if apart else "No profile"
    record = "every job has a record of the scheduler"
    if alone:
        only = alone[0]["total"]
        record = f"{plural(only, 'job')} {'is' if only == 1 else 'are'} known from profiles only"
    return f"{text} {late} began outside the time of the job; {record}."


def _witnesses(found: Sequence[Agreement]) -> Table:
    specs = (
        ("witnesses", "Sources", "text"), ("job_count", "Jobs with both", "count"),
        ("close_share", "within 10 %", "share"), ("near_share", "within a factor of 2", "share"),
        ("first_bytes", "First: bytes of all", "bytes"),
        ("second_bytes", "Second: bytes of all", "bytes"), ("ratio", "First / second", "factor"),
    )  # fmt: skip
    rows = [
        {
            "witnesses": f"{_NAMES[one.first]}, {_NAMES[one.second]}",
            "job_count": one.job_count,
            "close_share": one.close_count / one.job_count if one.job_count else None,
            "near_share": one.near_count / one.job_count if one.job_count else None,
            "first_bytes": one.first_bytes,
            "second_bytes": one.second_bytes,
            "ratio": one.first_bytes / one.second_bytes
            if one.first_bytes is not None and one.second_bytes
            else None,
        }
        for one in found
    ]
    return Table("witnesses", "Three sources compared", columns(specs), rows, _WHY)


def _outliers(odd: Listing, ratio: float, words: Mapping[str, str]) -> Table:
    specs = (
        *_JOB, ("profile_bytes", "Profile", "bytes"), ("server_bytes", "Storage", "bytes"),
        ("slurm_bytes", "Slurm", "bytes"), ("ratio", "Largest / smallest", "factor"),
    )  # fmt: skip
    following = address(StaffQuality.path, {**words, "after": odd.next}) if odd.next else ""
    return Table("outliers", "Outliers", columns(specs, {"raw_id": "url"}),
                 list(map(_with_url, odd.rows)),
                 f"Jobs for which two sources differ by more than a factor of {ratio:g}, the "
                 "latest first. No ratio is given where one of them says zero.",
                 empty="There are none.", next=following)  # fmt: skip


def _matches(rows: Sequence[Row]) -> Table:
    specs = (
        ("rule", "How profiles were matched to "
                 "jobs", "text"), ("source_count", "Profiles", "count"),
        ("least_confidence", "Lowest confidence", "share"),
    )  # fmt: skip
    return Table("matches", "Matches", columns(specs), rows,
                 empty="There are no profiles.")  # fmt: skip


def _some(
    name: str, title: str, noun: str, rows: Sequence[Row], specs: Sequence[Spec], note: str
) -> Table:
    total = plural(rows[0]["total"], noun) if rows else ""
    if rows and rows[0]["total"] > len(rows):
        total += f"; the latest {len(rows)} are shown"
    return Table(name, title, columns(specs, {"raw_id": "url"}), list(map(_with_url, rows)), note,
                 empty="There are none.", total=total)  # fmt: skip


def _with_url(row: Row) -> dict[str, Any]:
    return {**row, "url": address(f"/jobs/{row['id']}")}
