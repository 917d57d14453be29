# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a survey of applications: a row for each figure, a column for each program.

Source: T. Nakagawa (JAMSTEC), Approach to provide supercomputer storage I/O information toward
users, 28th WSSP, 2018, "I/O profiling summary".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stripewise.errors import UsageError
from stripewise.fleet.queries import Period, ProgramSurvey, public_period, public_survey, survey
from stripewise.web._urls import address
from stripewise.web.content import Block, Column, Content, Field, Link, Links, Table
from stripewise.web.pages._base import Asked, Page
from stripewise.web.pages._figures import counted, period_search, program_url
from stripewise.web.pages._survey_rows import OF_OPENED, row_of

MOST_PROGRAMS = 20
USUAL_PROGRAMS = 4
_FIGURES = (
    ("area", "Research area", "text"),
    ("io_bytes", "Total I/O size", "bytes"),
    ("run_seconds", "Running time", "seconds"),
    ("io_share", "% I/O time", "share"),
    ("bytes_per_second", "I/O speed", "rate"),
    ("file_count", "# I/O File", "count"),
    ("meta_operations", "# meta operation", "count"),
    ("meta_share", "% meta / IO time", "share"),
    ("typical_at_once", "# Case run simultaneously", "count"),
)
_BASIS = (
    ("job_count", "Jobs", "count"),
    ("profiled_count", "Jobs with a profile", "count"),
    ("user_count", "Users", "count"),
    ("io_seconds_low", "I/O time, 10 %", "seconds"),
    ("io_seconds_median", "I/O time, median", "seconds"),
    ("io_seconds_high", "I/O time, 90 %", "seconds"),
    ("most_at_once", "Most that ran simultaneously", "count"),
)


class ProgramsSummary(Page):
    """Chosen programs side by side."""

    path = "/programs/summary"
    section = "Programs"

    def build(self, asked: Asked) -> Content:
        """Show them."""
        period = Period.parse(asked.words, asked.now)
        names = chosen(asked.words.get("programs", ""))
        seen = {one.program: one for one in survey(asked.connection, asked.viewer, period)}
        if not names:
            largest = sorted(seen.values(), key=lambda one: -(one.node_seconds or 0.0))
            names = [one.program for one in largest[:USUAL_PROGRAMS]]
        if not asked.viewer.is_staff:
            for one in public_survey(asked.connection, asked.now):
                seen.setdefault(one.program, one)
        shown = [seen[name] for name in names if name in seen]
        missing = [name for name in names if name not in seen]
        field = Field("programs", "Programs, with commas between them", ",".join(names))
        blocks: list[Block] = [
            period_search(self.path, period, [field]),
            _table(
                "summary", "I/O profiling summary", _FIGURES, shown, _note(shown, missing, asked)
            ),
            _table("basis", "Behind these figures", _BASIS, shown, ""),
        ]
        links = [Link(one.program, program_url(one.program)) for one in shown]
        blocks.append(Links("links", "Programs", [*links, Link("All", address("/programs"))]))
        lead = f"{counted(len(shown), 'program')} side by side, {period.text}."
        return Content("Summary of programs", lead, blocks)


def chosen(text: str) -> list[str]:
    """Return the names in a list with commas, each once.

    Raises:
        UsageError: There are too many.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if len(names) > MOST_PROGRAMS:
        raise UsageError(
            f"programs: these are {len(names)}; at most {MOST_PROGRAMS} fit side by side"
        )
    return names


def _note(shown: Sequence[ProgramSurvey], missing: Sequence[str], asked: Asked) -> str:
    text = (
        "Medians over the jobs with a profile. How many ran simultaneously is the median over the "
        f"time in which at least one job of the program ran. {OF_OPENED}"
    )
    if public := [one.program for one in shown if one.is_everybody]:
        text += (
            f" Figures of {', '.join(public)} are over all users "
            f"{public_period(asked.now).text}, rounded."
        )
    if missing:
        text += f" There are no figures that you may see of {', '.join(missing)}."
    return text


def _table(
    name: str,
    title: str,
    figures: Sequence[tuple[str, str, str]],
    shown: Sequence[ProgramSurvey],
    note: str,
) -> Table:
    rows = [(f"program {one.program}", row_of(one)) for one in shown]
    told: list[dict[str, Any]] = [
        {"figure": title, "name": figure, "kind": kind}
        | {column: row[figure] for column, row in rows}
        for figure, title, kind in figures
    ]
    heads = [Column("figure", "Figure")]
    for (column, _), one in zip(rows, shown, strict=True):
        title_of = f"{one.program} (all users)" if one.is_everybody else one.program
        heads.append(Column(column, title_of, "number", kinds="kind"))
    return Table(name, title, heads, told if shown else [], note,
                 empty="Choose programs by their names.")  # fmt: skip
