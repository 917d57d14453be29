# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the survey of applications, its summary, and the search of access patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    FEWEST_USERS,
    PatternFilter,
    Period,
    ProgramSurvey,
    public_patterns,
    public_period,
    public_seconds,
    public_survey,
    search_patterns,
    survey,
)
from stripewise.centre.portal.pages._base import (
    Page,
    PageRequest,
    Spec,
    address,
    columns,
    in_order,
    not_estimated,
    period_search,
    program_url,
    rows_of_page,
    sorted_columns,
)
from stripewise.centre.portal.pages._program import with_direction
from stripewise.core.errors import UsageError
from stripewise.present import plural
from stripewise.present.blocks import Block, Column, Content, Field, Link, Links, Table, written

# The summary of a survey of applications: a row for each figure, a column for each program.
#
# Source: T. Nakagawa (JAMSTEC), Approach to provide supercomputer storage I/O information toward
# users, 28th WSSP, 2018, "I/O profiling summary".

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

    def build(self, request: PageRequest) -> Content:
        """Build the page."""
        period = Period.parse(request.words, request.now)
        names = chosen(request.words.get("programs", ""))
        seen = {one.program: one for one in survey(request.connection, request.viewer, period)}
        if not names:
            largest = sorted(seen.values(), key=lambda one: -(one.node_seconds or 0.0))
            names = [one.program for one in largest[:USUAL_PROGRAMS]]
        if not request.viewer.is_staff:
            for one in public_survey(request.connection, request.now):
                seen.setdefault(one.program, one)
        shown = [seen[name] for name in names if name in seen]
        missing = [name for name in names if name not in seen]
        field = Field("programs", "Programs, with commas between them", ",".join(names))
        blocks: list[Block] = [
            period_search(self.path, period, [field]),
            _table(
                "summary", "I/O profiling summary", _FIGURES, shown, _note(shown, missing, request)
            ),
            _table("basis", "Behind these figures", _BASIS, shown, ""),
        ]
        links = [Link(one.program, program_url(one.program)) for one in shown]
        blocks.append(Links("links", "Programs", [*links, Link("All", address("/programs"))]))
        lead = f"{plural(len(shown), 'program')} side by side, {period.text}."
        return Content("Summary of programs", lead, blocks)


def chosen(text: str) -> list[str]:
    """Return the names in a comma-separated list, without repetitions.

    Raises:
        UsageError: There are too many.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if len(names) > MOST_PROGRAMS:
        raise UsageError(
            f"programs: these are {len(names)}; at most {MOST_PROGRAMS} fit side by side"
        )
    return names


def _note(shown: Sequence[ProgramSurvey], missing: Sequence[str], request: PageRequest) -> str:
    text = (
        "Medians over the jobs with a profile. How many ran simultaneously is the median over the "
        f"time in which at least one job of the program ran. {OF_OPENED}"
    )
    if public := [one.program for one in shown if one.is_everybody]:
        text += (
            f" Figures of {', '.join(public)} are over all users "
            f"{public_period(request.now).text}, rounded."
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
    table_rows: list[dict[str, Any]] = [
        {"figure": title, "name": figure, "kind": kind}
        | {column: row[figure] for column, row in rows}
        for figure, title, kind in figures
    ]
    heads = [Column("figure", "Figure")]
    for (column, _), one in zip(rows, shown, strict=True):
        title_of = f"{one.program} (all users)" if one.is_everybody else one.program
        heads.append(Column(column, title_of, "number", kinds="kind"))
    return Table(name, title, heads, table_rows if shown else [], note,
                 empty="Choose programs by their names.")  # fmt: skip


# Programs as rows of tables.

MEDIANS: tuple[Spec, ...] = (
    ("io_bytes", "Total I/O size", "bytes"),
    ("run_seconds", "Run time", "seconds"),
    ("io_share", "% I/O time", "share"),
    ("bytes_per_second", "I/O speed", "rate"),
    ("file_count", "# files", "count"),
    ("meta_operations", "# metadata operations", "count"),
    ("meta_share", "% metadata of I/O time", "share"),
)
OF_OPENED = "Metadata is that of opened files: calls by name, such as stat, are not included."
COLUMNS: tuple[Spec, ...] = (
    ("program", "Program", "text"),
    ("area", "Research area", "text"),
    ("job_count", "Jobs", "count"),
    ("profiled_count", "With a profile", "count"),
    ("user_count", "Users", "count"),
    *MEDIANS,
    ("typical_at_once", "Jobs at the same time", "count"),
    ("most_at_once", "at most", "count"),
    ("node_seconds", "Node-hours", "node-hours"),
    ("avoidable_node_seconds", "avoidable", "node-hours"),
)
EVERYBODY: tuple[Spec, ...] = COLUMNS[: COLUMNS.index(MEDIANS[-1]) + 1]
SPREAD: tuple[Spec, ...] = (
    ("program", "Program", "text"),
    *(
        (f"{name}_{end}", f"{title}, {words}", kind)
        for name, title, kind in (
            ("io_seconds", "I/O time", "seconds"),
            ("io_bytes", "I/O size", "bytes"),
            ("bytes_per_second", "I/O speed", "rate"),
        )
        for end, words in (("low", "10 %"), ("median", "median"), ("high", "90 %"))
    ),
)


def row_of(one: ProgramSurvey) -> dict[str, Any]:
    """Return a row with the columns of `COLUMNS` and `SPREAD`, and the program's address."""
    row: dict[str, Any] = {
        name: getattr(one, name) if hasattr(one, name) else one.median(name)
        for name, _, _ in COLUMNS
    }
    for name, _, _ in SPREAD[1:]:
        figure, _, end = name.rpartition("_")
        known = one.figures.get(figure)
        row[name] = None if known is None else getattr(known, end)
    row["program_url"] = program_url(one.program)
    why = not_estimated(one.not_estimated)
    row["missing"] = {"avoidable_node_seconds": why} if why else {}
    if why and not one.avoidable_node_seconds:
        row["avoidable_node_seconds"] = None
    return row


# The survey of applications: the I/O demands of each program.

USUAL_SORT = "-node_seconds"
_LINKS = {"program": "program_url"}
_NOTE = (
    "Only profiles name programs: jobs without one are not included. Figures of I/O are "
    "medians over the jobs. “Jobs at the same time” is the typical number of jobs that run "
    "together, then the greatest. “Avoidable” is the part of the node-hours that findings expect "
    f"to gain. {OF_OPENED}"
)


class Programs(Page):
    """All programs of the jobs that the viewer sees."""

    path = "/programs"
    section = "Programs"

    def build(self, request: PageRequest) -> Content:
        """Summarise each program."""
        period = Period.parse(request.words, request.now)
        sort = request.words.get("sort") or USUAL_SORT
        found = survey(request.connection, request.viewer, period)
        rows = in_order(map(row_of, found), sort, COLUMNS)
        words = {**period.words, "sort": sort}
        shown, following = rows_of_page(rows, self.path, words, request.words.get("from", ""))
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
                total=f"{plural(len(rows), 'program')} {period.text}",
            ),
            Table(
                "spread",
                "Spread between jobs",
                columns(SPREAD, _LINKS),
                shown,
                note="A tenth of the jobs lies below the first figure, a tenth above the last.",
            ),
        ]
        if not request.viewer.is_staff:
            blocks.append(_everybody(public_survey(request.connection, request.now), request.now))
        blocks.append(_links(rows, period))
        return Content("Programs", _lead(found, request.viewer.is_staff), blocks)


def _lead(found: Sequence[ProgramSurvey], is_staff: bool) -> str:
    if not found:
        return "There are no jobs in this period whose program is known."
    jobs = sum(one.job_count for one in found)
    whose = "Jobs of all users" if is_staff else "The jobs that you may see"
    text = f"{whose}: {plural(jobs, 'job')} of {plural(len(found), 'program')}."
    known = [one for one in found if one.avoidable_node_seconds]
    why = not_estimated(sum(one.not_estimated for one in found))
    if not known and why:
        return f"{text} What could have been avoided is not known: {why}."
    if not known:
        return f"{text} No finding predicts a saving."
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
        empty=(
            f"No program has at least {FEWEST_USERS} users with profiles "
            f"{public_period(now).text}."
        ),
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


# Search of patterns: which jobs have such access patterns, and what they cost.

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

    def build(self, request: PageRequest) -> Content:
        """List the patterns that lose most first."""
        period = Period.parse(request.words, request.now)
        wanted = PatternFilter.parse(request.words)
        words = {name: str(value) for name, value in vars(wanted).items() if value is not None}
        least = words.get("least_lost_seconds", "")
        rows = search_patterns(request.connection, request.viewer, wanted, period)
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
                  note="Lost: the expected gain of findings about these files. Links "
                       "lead to the jobs.",
                  empty="No job that you may see matches this search.",
                  total=f"{plural(len(rows), 'pattern')} {period.text}"),
        ]  # fmt: skip
        if not request.viewer.is_staff:
            blocks.append(_everybody_patterns(request, wanted))
        return Content("Patterns of access", _pattern_lead(rows, period), blocks)


def _pattern_lead(rows: Sequence[Mapping[str, Any]], period: Period) -> str:
    if not rows:
        return f"No job that you may see accessed files in such a pattern {period.text}."
    first = rows[0]
    text = f"{plural(len(rows), 'pattern')} {period.text}."
    if not first["lost_seconds"]:
        return f"{text} None of them is known to cost time."
    lost = written(first["lost_seconds"], "seconds")
    way = "written" if first["is_write"] else "read"
    jobs = plural(first["job_count"], "job")
    return f"{text} The most is lost in {first['form']}, {way}: {lost} in {jobs}."


def _everybody_patterns(request: PageRequest, wanted: PatternFilter) -> Table:
    rows = public_patterns(request.connection, wanted, request.now)
    least = public_seconds(wanted.least_lost_seconds)
    when = public_period(request.now).text
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
        empty=f"No such pattern has at least {FEWEST_USERS} users {when}.",
    )
