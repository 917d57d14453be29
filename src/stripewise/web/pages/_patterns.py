# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Search of patterns: which jobs access their files so, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import (
    FEWEST_USERS,
    PatternFilter,
    Period,
    public_patterns,
    public_period,
    public_seconds,
    search_patterns,
)
from stripewise.web._words import written
from stripewise.web.content import Block, Content, Field, Table
from stripewise.web.pages._base import Asked, Page
from stripewise.web.pages._figures import Spec, columns, counted, period_search
from stripewise.web.pages._program_tables import with_direction

_COLUMNS: tuple[Spec, ...] = (
    ("form", "Pattern", "code"),
    ("direction", "Direction", "text"),
    ("job_count", "Jobs", "count"),
    ("program_count", "Programs", "count"),
    ("user_count", "Users", "count"),
    ("lost_seconds", "Lost, all jobs", "seconds"),
)


class Patterns(Page):
    """Forms of patterns over the jobs that the viewer sees, and over all users."""

    path = "/patterns"
    section = "Programs"

    def build(self, asked: Asked) -> Content:
        """List them, those that lose most first."""
        period = Period.parse(asked.words, asked.now)
        wanted = PatternFilter.parse(asked.words)
        words = {name: str(value) for name, value in vars(wanted).items() if value is not None}
        least = words.get("least_lost_seconds", "")
        rows = search_patterns(asked.connection, asked.viewer, wanted, period)
        about = {**period.link_words, "least_lost_seconds": least}
        fields = [
            Field("pattern", "Pattern", words.get("pattern", ""), kind="search"),
            Field("direction", "Direction", words.get("direction", ""),
                  [("read", "read"), ("write", "written")]),
            Field("least_lost_seconds", "Lost in a job, at least (s)", least, kind="number"),
        ]  # fmt: skip
        blocks: list[Block] = [
            period_search(self.path, period, fields),
            Table("patterns", "", columns(_COLUMNS, {"form": "url"}),
                  [with_direction(row, about) for row in rows],
                  note="What is lost is the expected gain of findings about the same files. Links "
                       "lead to the jobs.",
                  empty="No job that you may see matches this search.",
                  total=f"{counted(len(rows), 'pattern')} {period.text}"),
        ]  # fmt: skip
        if not asked.viewer.is_staff:
            blocks.append(_everybody(asked, wanted))
        return Content("Patterns of access", _lead(rows, period), blocks)


def _lead(rows: Sequence[Mapping[str, Any]], period: Period) -> str:
    if not rows:
        return f"No job that you may see accessed files in such a pattern {period.text}."
    first = rows[0]
    text = f"{counted(len(rows), 'pattern')} {period.text}."
    if not first["lost_seconds"]:
        return f"{text} None of them is known to cost time."
    lost = written(first["lost_seconds"], "seconds")
    way = "written" if first["is_write"] else "read"
    jobs = counted(first["job_count"], "job")
    return f"{text} The most is lost in {first['form']}, {way}: {lost} in {jobs}."


def _everybody(asked: Asked, wanted: PatternFilter) -> Table:
    rows = public_patterns(asked.connection, wanted, asked.now)
    least = public_seconds(wanted.least_lost_seconds)
    when = public_period(asked.now).text
    note = (
        f"Jobs of all users {when}, of patterns with at least {FEWEST_USERS} users, and without "
        "what is mostly one user's; rounded, so that nobody's job can be told apart."
    )
    if least is not None:
        note += f" They lose at least {written(least, 'seconds')} each."
    return Table(
        "everybody",
        "All users together",
        columns(spec for spec in _COLUMNS if spec[0] != "program_count"),
        [with_direction(row, {}) for row in rows],
        note,
        empty=f"No such pattern has {FEWEST_USERS} users {when}.",
    )
