# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds pages for staff: an overview, possible savings, ignored advice, and agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    FEWEST_RUNS,
    LEAST_SECONDS,
    JobFilter,
    Monitor,
    Period,
    costly_programs,
    coverage,
    ignored_advice,
    intake_sums,
    uncounted,
    view_monitors,
)
from stripewise.centre.portal.pages._base import (
    Audience,
    Page,
    PageRequest,
    address,
    columns,
    not_estimated,
    period_search,
    program_url,
    rows_of_page,
    share_of,
)
from stripewise.centre.portal.pages._storage import age_text, names_text
from stripewise.core import Amount, total
from stripewise.present import plural, printable
from stripewise.present.blocks import (
    Block,
    Column,
    Content,
    Fact,
    Facts,
    Field,
    Link,
    Links,
    Notice,
    Table,
    moment,
    written,
)

Row = Mapping[str, Any]
DAYS = 30
_NO_NODES = "the nodes of some jobs are not known"


class Staff(Page):
    """Overview for staff."""

    path = "/staff"
    section = "Staff"
    audience = Audience.STAFF

    def build(self, request: PageRequest) -> Content:
        """Summarise the last days."""
        period = Period.parse(request.words, request.now, DAYS)
        days = coverage(request.connection, request.viewer, period)
        jobs, profiled = (
            sum(row[name] for row in days) for name in ("job_count", "profiled_count")
        )
        programs = costly_programs(request.connection, request.viewer, period)
        avoidable = _avoidable(programs)
        spent = sum(row["node_seconds"] or 0.0 for row in programs)
        sums = intake_sums(request.connection, request.viewer, period)
        refused = sum(row["input_count"] for row in sums if row["outcome"] == "refused")
        last = max((row["last_at"] for row in sums), default=None)
        facts = [
            Fact("job_count", "Jobs", jobs, "count"),
            Fact("profiled_share", "of them with a profile", profiled / jobs if jobs else None,
                 "share", link="/staff/coverage"),
            Fact("avoidable_node_seconds", "Avoidable", avoidable.value, "node-seconds",
                 f"of {written(spent, 'node-seconds')} of known programs", "/staff/programs",
                 avoidable.why),
            Fact("refused_count", "Inputs refused", refused, "count", link="/staff/ingest"),
            Fact("last_at", "Last input", last, "moment",
                 "" if last is not None else f"none {period.text}", "/staff/ingest"),
        ]  # fmt: skip
        blocks: list[Block] = [
            period_search(self.path, period),
            Facts("overview", "", facts, is_large=True),
            *monitoring(request),
            _links(request.viewer.is_admin),
        ]
        return Content("Staff", _lead(jobs, profiled, avoidable, period), blocks)


def _avoidable(programs: Sequence[Row]) -> Amount:
    """Return the total avoidable time; a lower bound if jobs have no estimate."""
    known = [row["avoidable_node_seconds"] for row in programs]
    every = [seconds for seconds in known if seconds is not None]
    why = not_estimated(sum(row["not_estimated"] for row in programs))
    return Amount.of(sum(every) if every or not known else None, why)


def _lead(jobs: int, profiled: int, avoidable: Amount, period: Period) -> str:
    if not jobs:
        return f"No job started {period.text}."
    share = written(profiled / jobs, "share")
    text = f"{plural(jobs, 'job')} started {period.text}; {share} have "
    if avoidable.value is None:
        return f"{text}a profile; what could have been avoided is not known: {avoidable.why}."
    saved = written(avoidable.value, "node-seconds", avoidable.why)
    return f"{text}a profile, and findings estimate that {saved} could have been avoided."


def _links(is_admin: bool) -> Links:
    found = [
        Link("Programs", "/staff/programs", "by the node-hours that could be avoided"),
        Link("Ignored advice", "/staff/ignored", "findings that recur in job after job"),
        Link("Coverage", "/staff/coverage", "which jobs have profiles, and of which kinds"),
        Link("Quality", "/staff/quality", "whether profiles, storage and Slurm agree"),
        Link("Ingest", "/staff/ingest", "what was stored, and what was refused"),
        Link("Savings", "/savings", "what proved settings have saved"),
    ]
    if is_admin:
        found.append(Link("Audit", "/staff/audit", "who looked at what"))
    return Links("links", "More pages", found)


class StaffPrograms(Page):
    """Programs by avoidable node-hours."""

    path = "/staff/programs"
    section = "Staff"
    audience = Audience.STAFF

    def build(self, request: PageRequest) -> Content:
        """List the programs."""
        period = Period.parse(request.words, request.now)
        rows = [
            {**row, "url": program_url(row["program"]),
             "avoidable_node_seconds": _avoidable([row]).value,
             "avoidable_share":
                 share_of(_avoidable([row]).value, row["profiled_node_seconds"]),
             "missing": _missing(row)}
            for row in costly_programs(request.connection, request.viewer, period)
        ]  # fmt: skip
        shown, following = rows_of_page(
            rows, self.path, period.words, request.words.get("from", "")
        )
        specs = (
            ("program", "Program", "text"), ("area", "Research area", "text"),
            ("avoidable_node_seconds", "Avoidable node-hours", "node-hours"),
            ("avoidable_share", "of profiled node-hours", "share"),
            ("node_seconds", "Node-hours", "node-hours"), ("job_count", "Jobs", "count"),
            ("profiled_count", "With a profile", "count"), ("user_count", "Users", "count"),
            ("top_finding", "Costliest finding", "code"),
        )  # fmt: skip
        table = Table(
            "programs", "", columns(specs, {"program": "url"}), shown,
            "Avoidable is the expected gain of each job's costliest finding, times its nodes.",
            empty="No job of this period names its program.", next=following,
        )  # fmt: skip
        known = [row for row in rows if row["avoidable_node_seconds"]]
        every = _avoidable(rows)
        lead = f"No finding predicts a saving {period.text}."
        if every.why:
            lead = f"What could have been avoided {period.text} is not known: {every.why}."
        if known:
            most = written(known[0]["avoidable_node_seconds"], "node-seconds")
            saved = written(every.value, "node-seconds", every.why)
            lead = (
                f"{saved[:1].upper()}{saved[1:]} could have been avoided {period.text}, most in "
                f"{known[0]['program']}: {most}."
            )
        blocks: list[Block] = [period_search(self.path, period), table]
        return Content("Programs by what could be saved", lead, blocks)


def _missing(row: Row) -> dict[str, str]:
    why = not_estimated(row["not_estimated"])
    names = ("avoidable_node_seconds", "avoidable_share")
    return dict.fromkeys(names, why) if why else {}


class StaffIgnored(Page):
    """Findings that nobody acts on."""

    path = "/staff/ignored"
    section = "Staff"
    lists_others = True
    audience = Audience.STAFF

    def build(self, request: PageRequest) -> Content:
        """List the findings, most costly first."""
        period = Period.parse(request.words, request.now)
        word = request.words.get("least_avoidable_seconds", "")
        least = JobFilter.parse({"least_avoidable_seconds": word}).least_avoidable_seconds
        seconds = LEAST_SECONDS if least is None else least
        rows = [
            {**row, "url": program_url(row["program"]), "jobs_url": _jobs_url(row)}
            for row in ignored_advice(
                request.connection, request.viewer, period, least_seconds=seconds
            )
        ]
        words = {**period.words, "least_avoidable_seconds": word}
        shown, following = rows_of_page(rows, self.path, words, request.words.get("from", ""))
        specs = (
            ("user", "User", "text"), ("program", "Program", "text"), ("code", "Finding", "code"),
            ("job_count", "Jobs in a row", "count"), ("since_at", "Since", "day"),
            ("last_at", "Last", "day"), ("lost_seconds", "Lost", "hours"),
            ("lost_node_seconds", "in node-hours", "node-hours"),
        )  # fmt: skip
        table = Table(
            "ignored", "",
            columns(specs, {"program": "url", "job_count": "jobs_url"}), shown,
            f"A finding is listed if at least {FEWEST_RUNS} jobs with a profile in a row, up "
            "to the latest one, had an expected gain of at least "
            f"{written(seconds, 'seconds')}. Jobs before the period are not looked at.",
            empty="No finding recurred so often.", next=following,
        )  # fmt: skip
        every = total(_lost(row) for row in rows)
        lead = f"No advice was ignored {period.text}."
        if rows:
            lead = (
                f"{plural(len(rows), 'finding')} recurred in job after job {period.text} and "
                f"cost {_cost_text(every)}."
            )
        field = Field(
            "least_avoidable_seconds", "Expected gain in a job, at least (s)", word, kind="number"
        )
        return Content("Ignored advice", lead, [period_search(self.path, period, [field]), table])


def _lost(row: Row) -> Amount:
    why = _NO_NODES if "lost_node_seconds" in row["missing"] else ""
    return Amount.of(row["lost_node_seconds"], why)


def _cost_text(cost: Amount) -> str:
    known = written(cost.value, "node-seconds", cost.why)
    return "an unknown number of node-seconds" if cost.value is None else known


def _jobs_url(row: Any) -> str:
    words = {name: row[name] for name in ("user", "program")}
    return address("/jobs", {**words, "finding": row["code"], "since": row["since_at"]})


# State of the monitoring: what delivers, what is silent, what nobody counts.

MOST_AGENTS = 100
_COLUMNS = (
    Column("agent", "Agent"),
    Column("newest_at", "Last delivery (UTC)", "moment"),
    Column("state", "State"),
)


def monitoring(request: PageRequest) -> list[Block]:
    """Return the state of the monitoring: in words, then the agents, silent ones first."""
    found = view_monitors(request.connection, request.now)
    missing = uncounted(request.connection, request.now)
    words = [*_agents_words(found), *_missing_words(missing)]
    is_bad = bool(missing) or any(one.is_silent for one in found)
    return [
        Notice("monitoring", "Monitoring", words, "warn" if is_bad else "good"),
        Table("agents", "Monitoring agents", _COLUMNS,
              [_row(one, request.now) for one in found[:MOST_AGENTS]],
              total=plural(len(found), "agent"), empty="No agent has delivered anything yet."),
    ]  # fmt: skip


def _agents_words(found: Sequence[Monitor]) -> list[str]:
    if not found:
        return ["No agent of `stripewise centre monitor` has delivered anything yet."]
    silent = [one.agent for one in found if one.is_silent]
    if not silent:
        return [f"{plural(len(found), 'agent')} of the monitoring: all deliver data."]
    verb = "is" if len(silent) == 1 else "are"
    return [f"{len(silent)} of {plural(len(found), 'agent')} {verb} silent: {names_text(silent)}."]


def _missing_words(missing: Sequence[tuple[str, float | None]]) -> list[str]:
    said = []
    never = [name for name, at in missing if at is None]
    if never:
        said.append(f"There are no counters of {names_text(never)}.")
    for name, at in [one for one in missing if one[1] is not None][:5]:
        assert at is not None
        said.append(f"The newest counters of {printable(name)} are of {moment(at)}.")
    return said


def _row(one: Monitor, now: float) -> dict[str, Any]:
    age = now - one.newest_at
    state = "delivers"
    if one.is_silent:
        state = (
            f"silent for {age_text(age)}" if age > 0 else f"its clock is {age_text(-age)} ahead"
        )
    return {"agent": one.agent, "newest_at": one.newest_at, "state": state}
