# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One program: a representative job, what costs its jobs time, what has been proved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stripewise.fleet.queries import (
    FEWEST_USERS,
    Period,
    ProgramSurvey,
    Sight,
    find_program,
    job_times,
    median_job,
    program_findings,
    program_pairs,
    program_patterns,
    program_settings,
    public_period,
    public_survey,
    survey,
)
from stripewise.web._urls import address
from stripewise.web._words import written
from stripewise.web.content import Block, Content, Fact, Facts, Link, Links, Notice
from stripewise.web.pages._base import Asked, Page
from stripewise.web.pages._figures import counted, not_estimated, period_search, program_url
from stripewise.web.pages._program_tables import (
    case_table,
    findings_table,
    pairs_table,
    patterns_table,
    settings_table,
    times_chart,
    year_before,
)


class OneProgram(Page):
    """A program over the jobs that the viewer sees, beside all users together."""

    path = "/programs/{program}"
    section = "Programs"

    def build(self, asked: Asked) -> Content | None:
        """Show it."""
        name = str(asked.path["program"])
        period = Period.parse(asked.words, asked.now)
        program_id = find_program(asked.connection, asked.viewer, name)
        public = _public(asked, name)
        if program_id is None:
            return None if public is None else _of_everybody(public, asked)
        found = survey(asked.connection, asked.viewer, period, program_id=program_id)
        whole = found[0] if found else None
        job = median_job(asked.connection, asked.viewer, program_id, period)
        blocks: list[Block] = [period_search(program_url(name), period)]
        if whole is not None:
            blocks.append(_facts(whole))
        if job or public:
            blocks.append(case_table(job, whole, public))
        blocks += _details(asked, program_id, name, period)
        sight = None if job is None else asked.viewer.sight(job)
        return Content(
            name,
            _lead(name, whole, period),
            blocks,
            audited=f"job {job['id']}" if job is not None and sight is Sight.STAFF else "",
        )


def _public(asked: Asked, name: str) -> ProgramSurvey | None:
    if asked.viewer.is_staff:
        return None
    every = public_survey(asked.connection, asked.now)
    return next((one for one in every if one.program == name), None)


def _details(asked: Asked, program_id: int, name: str, period: Period) -> list[Block]:
    about = (asked.connection, asked.viewer, program_id)
    words = {**period.link_words, "program": name}
    rows, step = job_times(*about, year_before(period))
    return [
        times_chart(rows, step),
        findings_table(program_findings(*about, period), words),
        patterns_table(program_patterns(*about, period), words),
        settings_table(program_settings(*about, period)),
        pairs_table(program_pairs(*about)),
        Links("links", "More", [
            Link("Jobs of this program", address("/jobs", words)),
            Link("All programs", address("/programs", period.words)),
        ]),
    ]  # fmt: skip


def _of_everybody(public: ProgramSurvey, asked: Asked) -> Content:
    text = (
        f"You have no job of {public.program}. These figures are medians over the jobs of all "
        f"users {public_period(asked.now).text}; there are at least {FEWEST_USERS} of them, and "
        "figures are rounded, so that nobody's job can be told apart."
    )
    links = Links("links", "More", [Link("All programs", address("/programs"))])
    blocks = [Notice("whose", "", [text]), _facts(public), case_table(None, None, public), links]
    lead = f"Figures of {public.program} over all users together."
    return Content(public.program, lead, blocks)


def _facts(one: ProgramSurvey) -> Facts:
    facts: list[Mapping[str, Any]] = [
        {"name": "job_count", "title": "Jobs", "value": one.job_count, "kind": "count",
         "note": f"{written(one.profiled_count, 'count')} with a profile"},
        {"name": "user_count", "title": "Users", "value": one.user_count, "kind": "count"},
        {"name": "area", "title": "Research area", "value": one.area,
         "note": "" if one.area else "not stated"},
        {"name": "meta_share", "title": "Metadata of I/O time", "kind": "share",
         "value": one.median("meta_share"), "note": "median, of opened files"},
        {"name": "typical_at_once", "title": "Jobs at the same time", "kind": "count",
         "value": one.typical_at_once,
         "note": "" if one.most_at_once is None else f"median; at most {one.most_at_once}"},
        {"name": "node_seconds", "title": "Spent", "kind": "node-seconds",
         "value": one.node_seconds},
        {"name": "avoidable_node_seconds", "title": "Avoidable", "kind": "node-seconds",
         "value": one.avoidable_node_seconds, "why": not_estimated(one.not_estimated)},
    ]  # fmt: skip
    shown = [fact for fact in facts if not (one.is_everybody and fact["value"] is None)]
    return Facts("overview", "", [Fact(**fact) for fact in shown], is_large=True)


def _lead(name: str, whole: ProgramSurvey | None, period: Period) -> str:
    if whole is None:
        return f"No job of {name} that you may see started {period.text}."
    jobs = counted(whole.job_count, "job")
    io_seconds, share = whole.median("io_seconds"), whole.median("io_share")
    if io_seconds is None:
        return f"{jobs} of {name} ran {period.text}; no profile tells the time of their I/O."
    text = f"{jobs} of {name} ran {period.text}; the median I/O time is "
    text += written(io_seconds, "seconds")
    if share is not None:
        text += f", {written(share, 'share')} of the run time"
    saved, why = whole.avoidable_node_seconds, not_estimated(whole.not_estimated)
    if not saved and why:
        return f"{text}. What could have been avoided is not known: {why}."
    if not saved:
        return f"{text}. No finding expects that time could be saved."
    least = written(saved, "node-seconds", why)
    return f"{text}. {least[:1].upper()}{least[1:]} could have been avoided."
