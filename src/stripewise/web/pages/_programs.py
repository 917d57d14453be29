# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The survey of applications: what each program asks of the storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import (
    FEWEST_USERS,
    Period,
    ProgramSurvey,
    public_period,
    public_survey,
    survey,
)
from stripewise.web._urls import address
from stripewise.web._words import written
from stripewise.web.content import Block, Content, Link, Links, Table
from stripewise.web.pages._base import Asked, Page
from stripewise.web.pages._figures import (
    columns,
    counted,
    in_order,
    not_estimated,
    period_search,
    some,
    sorted_columns,
)
from stripewise.web.pages._survey_rows import COLUMNS, EVERYBODY, OF_OPENED, SPREAD, row_of

USUAL_SORT = "-node_seconds"
_LINKS = {"program": "program_url"}
_NOTE = (
    "Only profiles name programs: jobs without one are not in this table. Figures of I/O are "
    "medians over the jobs. “Jobs at the same time” is the typical number of jobs that run "
    "together, then the greatest. “Avoidable” is the part of the node-hours that findings expect "
    f"to gain. {OF_OPENED}"
)


class Programs(Page):
    """All programs of the jobs that the viewer sees."""

    path = "/programs"
    section = "Programs"

    def build(self, asked: Asked) -> Content:
        """Summarise each program."""
        period = Period.parse(asked.words, asked.now)
        sort = asked.words.get("sort") or USUAL_SORT
        found = survey(asked.connection, asked.viewer, period)
        rows = in_order(map(row_of, found), sort, COLUMNS)
        words = {**period.words, "sort": sort}
        shown, following = some(rows, self.path, words, asked.words.get("from", ""))
        blocks: list[Block] = [
            period_search(self.path, period, kept={"sort": sort}),
            Table(
                "programs",
                "",
                sorted_columns(COLUMNS, self.path, period.words, sort, _LINKS),
                shown,
                note=_NOTE,
                empty="None of the jobs that you may see names its program in this period.",
                next=following,
                total=f"{counted(len(rows), 'program')} {period.text}",
            ),
            Table(
                "spread",
                "Spread between jobs",
                columns(SPREAD, _LINKS),
                shown,
                note="A tenth of the jobs lies below the first figure, a tenth above the last.",
            ),
        ]
        if not asked.viewer.is_staff:
            blocks.append(_everybody(public_survey(asked.connection, asked.now), asked.now))
        blocks.append(_links(rows, period))
        return Content("Programs", _lead(found, asked.viewer.is_staff), blocks)


def _lead(found: Sequence[ProgramSurvey], is_staff: bool) -> str:
    if not found:
        return "There are no jobs in this period whose program is known."
    jobs = sum(one.job_count for one in found)
    whose = "Jobs of all users" if is_staff else "The jobs that you may see"
    text = f"{whose}: {counted(jobs, 'job')} of {counted(len(found), 'program')}."
    known = [one for one in found if one.avoidable_node_seconds]
    why = not_estimated(sum(one.not_estimated for one in found))
    if not known and why:
        return f"{text} What could have been avoided is not known: {why}."
    if not known:
        return f"{text} No finding expects that time could be saved."
    worst = max(known, key=lambda one: one.avoidable_node_seconds or 0.0)
    every = sum(one.avoidable_node_seconds or 0.0 for one in known)
    most = written(worst.avoidable_node_seconds, "node-seconds")
    saved = written(every, "node-seconds", why)
    return f"{text} {saved[:1].upper()}{saved[1:]} could have been avoided" + (
        f", {most} of them in {worst.program}." if len(known) > 1 else f", in {worst.program}."
    )


def _everybody(found: Sequence[ProgramSurvey], now: float) -> Table:
    return Table(
        "everybody",
        "All users together",
        columns(EVERYBODY, _LINKS),
        [row_of(one) for one in found],
        note=(
            f"Medians over the jobs of all users {public_period(now).text}, of programs with at "
            f"least {FEWEST_USERS} users; rounded, so that nobody's job can be told apart."
        ),
        empty=f"No program has {FEWEST_USERS} users with profiles {public_period(now).text}.",
    )


def _links(rows: Sequence[Mapping[str, Any]], period: Period) -> Links:
    names = ",".join(row["program"] for row in rows[:4] if "," not in row["program"])
    return Links(
        "links",
        "More",
        [
            Link("Summary table",
                 address("/programs/summary", {**period.words, "programs": names}),
                 "as in surveys of applications: a column for each program"),
            Link("Patterns", address("/patterns", period.words),
                 "in which patterns jobs access their files, and what that costs"),
            Link("Savings", "/savings", "what proved settings have saved"),
        ],
    )  # fmt: skip
