# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The list of jobs: searched, sorted, in pages."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from stripewise.fleet.queries import COUNTED, SORTS, JobFilter, count_jobs, list_jobs, veiled
from stripewise.web._urls import address
from stripewise.web.content import Block, Column, Content, Field, Search, Table
from stripewise.web.pages import _job_words
from stripewise.web.pages._base import Asked, Page

_COLUMNS = (
    ("raw_id", "Job", "id"),
    ("name", "Name", "text"),
    ("program", "Program", "text"),
    ("user", "User", "text"),
    ("cluster", "Cluster", "text"),
    ("start_at", "Started (UTC)", "moment"),
    ("run_seconds", "Run time", "seconds"),
    ("io_seconds", "I/O time", "seconds"),
    ("io_share", "I/O share of run", "share"),
    ("read_bytes", "Read", "bytes"),
    ("write_bytes", "Written", "bytes"),
    ("avoidable_seconds", "Avoidable", "seconds"),
    ("top_finding", "Finding", "code"),
    ("pattern", "Pattern", "code"),
    ("no_data_reason", "Why no figures", "text"),
)
_STATES = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "NODE_FAIL", "RUNNING",
           "PENDING")  # fmt: skip
_SOURCES = (
    ("any", "any kind of profile"), ("none", "no profile"), ("darshan", "Darshan"),
    ("trace", "trace"), ("report", "stripewise run"),
)  # fmt: skip


class Jobs(Page):
    """All jobs that the viewer sees."""

    path = "/jobs"
    section = "My jobs"
    lists_others = True

    def build(self, asked: Asked) -> Content:
        """List them."""
        wanted = JobFilter.parse(asked.words)
        sort = asked.words.get("sort", "")
        listing = list_jobs(
            asked.connection, asked.viewer, wanted, sort=sort, after=asked.words.get("after", "")
        )
        number = listing.total
        if number is None:
            number = count_jobs(asked.connection, asked.viewer, wanted)
        total = f"{COUNTED:,}+ jobs" if number > COUNTED else f"{number:,} job{'s'[: number != 1]}"
        words = wanted.words()
        shown = {name for name, *_ in _COLUMNS} - {"cluster", "no_data_reason"}
        if not (asked.viewer.is_staff or asked.viewer.managed):
            shown -= {"user"}
        rows = [_row(veiled(asked.viewer, dict(row._mapping))) for row in listing.rows]
        if len({row["cluster"] for row in rows}) > 1:
            shown |= {"cluster"}  # they may share job ids
        table = Table(
            "jobs",
            "",
            _columns(words, sort or "-start_at", shown),
            rows,
            empty="No job matches this search."
            if words
            else "Jobs appear here once they have been taken in.",
            next=address(self.path, {**words, "sort": sort, "after": listing.next})
            if listing.next
            else "",
            total=total,
            note=_left_out(words),
        )
        title = "Jobs" if asked.viewer.is_staff else "My jobs"
        blocks: list[Block] = [_search(asked.viewer.is_staff, wanted, sort), table]
        return Content(title, _lead(number, total, is_search=bool(words)), blocks)


def _lead(number: int, total: str, *, is_search: bool) -> str:
    if number == 0:
        return "No job matches this search." if is_search else "No job that you may see is known."
    match = "matches" if number == 1 else "match"
    return f"{total} {match} this search." if is_search else f"You see {total}."


def _left_out(words: Mapping[str, str]) -> str:
    """Say which jobs a search for the least of a figure cannot find."""
    names = [words_of for name, words_of in _LEAST.items() if name in words]
    if not names:
        return ""
    return f"Jobs of which {' or '.join(names)} is not known are not among them."


_LEAST = {
    "least_io_seconds": "the I/O time",
    "least_avoidable_seconds": "the avoidable time",
    "least_lost_seconds": "the time lost",
}


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "job_url": address(f"/jobs/{row['id']}"),
        "no_figures": _job_words.no_figures(row),
    }


def _columns(words: Mapping[str, str], sort: str, shown: Set[str]) -> list[Column]:
    found = []
    for name, title, kind in _COLUMNS:
        now = sort.removeprefix("-") == name
        following = name if now and sort.startswith("-") else f"-{name}"
        found.append(
            Column(
                name,
                title,
                kind,
                link="job_url" if name in ("raw_id", "name") else "",
                sort=address(Jobs.path, {**words, "sort": following}) if name in SORTS else "",
                sorted="" if not now else "descending" if sort.startswith("-") else "ascending",
                instead="no_figures" if name == "top_finding" else "",
                is_shown=name in shown,
            )
        )
    return found


def _search(is_staff: bool, wanted: JobFilter, sort: str) -> Search:
    words = wanted.words()

    def field(name: str, title: str, kind: str = "text", choices: Any = ()) -> Field:
        return Field(name, title, words.get(name, ""), choices, kind)

    more = [
        field("project", "Project"),
        field("cluster", "Cluster"),
        field("state", "State", choices=[(state, state) for state in _STATES]),
        field("finding", "Finding"),
        field("pattern", "Pattern"),
        field("direction", "Its direction", choices=[("read", "read"), ("write", "written")]),
        field("least_lost_seconds", "Lost in it, at least (s)", "number"),
        field("source", "Profile", choices=_SOURCES),
        field("least_io_seconds", "I/O time, at least (s)", "number"),
        field("least_avoidable_seconds", "Avoidable time, at least (s)", "number"),
    ]
    if is_staff:
        more.insert(0, field("user", "User"))
    return Search(
        "search",
        "",
        Jobs.path,
        [
            field("q", "Job, name or program", "search"),
            field("program", "Program"),
            field("since", "From", "date"),
            field("until", "Before", "date"),
        ],
        more,
        {"sort": sort} if sort else {},
    )
