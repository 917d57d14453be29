# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the page of one program, and the ledger of what proved settings have saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    FEWEST_USERS,
    AccessReason,
    Period,
    ProgramSurvey,
    Saving,
    SavingsLedger,
    find_program,
    job_times,
    median_job,
    pair_settings,
    program_findings,
    program_pairs,
    program_patterns,
    program_settings,
    public_period,
    public_survey,
    savings_ledger,
    survey,
)
from stripewise.centre.portal.pages._base import (
    Page,
    PageRequest,
    address,
    columns,
    not_estimated,
    period_search,
    program_url,
)
from stripewise.core import Amount, total
from stripewise.core.errors import UsageError
from stripewise.present import plural
from stripewise.present.blocks import (
    Block,
    Chart,
    Column,
    Content,
    Download,
    Fact,
    Facts,
    Line,
    Link,
    Links,
    Notice,
    Table,
    written,
)


class OneProgram(Page):
    """A program over the jobs that the viewer sees, compared with all users."""

    path = "/programs/{program}"
    section = "Programs"

    def build(self, request: PageRequest) -> Content | None:
        """Build the page."""
        name = str(request.path["program"])
        period = Period.parse(request.words, request.now)
        program_id = find_program(request.connection, request.viewer, name)
        public = _public(request, name)
        if program_id is None:
            return None if public is None else _public_content(public, request)
        found = survey(request.connection, request.viewer, period, program_id=program_id)
        whole = found[0] if found else None
        job = median_job(request.connection, request.viewer, program_id, period)
        blocks: list[Block] = [period_search(program_url(name), period)]
        if whole is not None:
            blocks.append(_facts(whole))
        if job or public:
            blocks.append(case_table(job, whole, public))
        blocks += _details(request, program_id, name, period)
        access_reason = None if job is None else request.viewer.access_reason(job)
        return Content(
            name,
            _lead(name, whole, period),
            blocks,
            audited=f"job {job['id']}"
            if job is not None and access_reason is AccessReason.STAFF
            else "",
        )


def _public(request: PageRequest, name: str) -> ProgramSurvey | None:
    if request.viewer.is_staff:
        return None
    every = public_survey(request.connection, request.now)
    return next((one for one in every if one.program == name), None)


def _details(request: PageRequest, program_id: int, name: str, period: Period) -> list[Block]:
    about = (request.connection, request.viewer, program_id)
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


def _public_content(public: ProgramSurvey, request: PageRequest) -> Content:
    text = (
        f"You have no job of {public.program}. These figures are medians over the jobs of all "
        f"users {public_period(request.now).text}; there are at least {FEWEST_USERS} of them, and "
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
        {"name": "meta_share", "title": "Metadata share of I/O time", "kind": "share",
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
    jobs = plural(whole.job_count, "job")
    io_seconds, share = whole.median("io_seconds"), whole.median("io_share")
    if io_seconds is None:
        return f"{jobs} of {name} ran {period.text}; no profile records the time of their I/O."
    text = f"{jobs} of {name} ran {period.text}; the median I/O time is "
    text += written(io_seconds, "seconds")
    if share is not None:
        text += f", {written(share, 'share')} of the run time"
    saved, why = whole.avoidable_node_seconds, not_estimated(whole.not_estimated)
    if not saved and why:
        return f"{text}. What could have been avoided is not known: {why}."
    if not saved:
        return f"{text}. No finding predicts a saving."
    least = written(saved, "node-seconds", why)
    return f"{text}. {least[:1].upper()}{least[1:]} could have been avoided."


# Tables of the page of a program.

Row = Mapping[str, Any]
_CASE = (
    ("rank_count", "Ranks", "count"),
    ("run_seconds", "Run time", "seconds"),
    ("file_count", "Total # files", "count"),
    ("read_only_count", "read_only", "count"),
    ("write_only_count", "write_only", "count"),
    ("read_bytes", "Total READ", "bytes"),
    ("write_bytes", "Total WRITE", "bytes"),
    ("meta_operations", "Total META (operations)", "count"),
    ("cumulated_read_seconds", "Total READ_TIME", "seconds"),
    ("cumulated_write_seconds", "Total WRITE_TIME", "seconds"),
    ("cumulated_meta_seconds", "Total META_TIME", "seconds"),
    ("io_seconds", "I/O time", "seconds"),
    ("io_share", "I/O share of run time", "share"),
    ("bytes_per_second", "Estimated I/O rate", "rate"),
)
"""Rows as in the CASE tables of the survey (see _programs_summary.py)."""


def case_table(
    job: Row | None, whole: ProgramSurvey | None, public: ProgramSurvey | None
) -> Table:
    """Return a representative job beside medians; READ_TIME and the like are sums over ranks."""
    job = job or {}
    rows = [
        {"figure": title, "name": name, "kind": kind, "job": job.get(name),
         "job_url": address(f"/jobs/{job['id']}") if job else "",
         "median": None if whole is None else whole.median(name),
         "high": _high(whole, name), "everybody": None if public is None else public.median(name)}
        for name, title, kind in _CASE
    ]  # fmt: skip
    heads = [Column("figure", "Figure")]
    if job:
        heads.append(Column("job", f"Job {job['raw_id'] or job['id']}", "number", kinds="kind"))
    if whole is not None:
        heads.append(Column("median", "Median", "number", kinds="kind"))
        heads.append(Column("high", "90th percentile of the jobs", "number", kinds="kind"))
    if public is not None:
        heads.append(Column("everybody", "Median of all users", "number", kinds="kind"))
    note = (
        "READ_TIME, WRITE_TIME and META_TIME are sums over ranks, I/O time is the slowest rank's."
    )
    if job:
        note = f"The job is the one with the median I/O time. {note}"
    return Table("case", "Figures", heads, rows, note)


def _high(whole: ProgramSurvey | None, name: str) -> float | None:
    known = None if whole is None else whole.figures.get(name)
    return None if known is None else known.high


def times_chart(rows: Sequence[Row], step: int) -> Chart:
    """Return the chart of I/O times of jobs over the year."""
    note = "" if step == 1 else f"Every {step}th job is shown."
    return Chart(
        "times",
        "I/O time over the year",
        [row["start_at"] for row in rows],
        [
            Line("io_seconds", "I/O time", [row["io_seconds"] for row in rows]),
            Line("avoidable_seconds", "Avoidable", [row["avoidable_seconds"] for row in rows]),
        ],
        "seconds",
        style="points",
        description="One point for each job, at its start.",
        note=note,
        empty="No job of this year has a profile.",
    )


def findings_table(rows: Sequence[Row], words: Mapping[str, str]) -> Table:
    """Return the table of what costs time, with the jobs concerned."""
    specs = (
        ("code", "Finding", "code"), ("job_count", "Jobs", "count"),
        ("cost_seconds", "Expected gain, all jobs", "seconds"),
        ("cost_node_seconds", "in node-hours", "node-hours"),
    )  # fmt: skip
    table_rows = [
        {**row, "url": address("/jobs", {**words, "finding": row["code"]})} for row in rows
    ]
    note = "Findings overlap: their gains do not add up."
    return Table("findings", "What costs time", columns(specs, {"code": "url"}), table_rows, note,
                 empty="Nothing was found that costs time.")  # fmt: skip


def patterns_table(rows: Sequence[Row], words: Mapping[str, str]) -> Table:
    """Return the table of access patterns, with the jobs concerned."""
    specs = (
        ("form", "Pattern", "code"), ("direction", "Direction", "text"),
        ("job_count", "Jobs", "count"), ("moved_bytes", "Moved", "bytes"),
        ("lost_seconds", "Lost, all jobs", "seconds"),
    )  # fmt: skip
    table_rows = [with_direction(row, words) for row in rows]
    return Table("patterns", "Patterns of access", columns(specs, {"form": "url"}), table_rows,
                 "Lost: the expected gain of findings about these files.",
                 empty="No profile of these jobs records its patterns.")  # fmt: skip


def with_direction(row: Row, words: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of patterns with its direction in words, and the address of its jobs."""
    query = {
        **words,
        "pattern": row["form"],
        "direction": "write" if row["is_write"] else "read",
    }
    direction = "written" if row["is_write"] else "read"
    return {**row, "direction": direction, "url": address("/jobs", query)}


def settings_table(rows: Sequence[Row]) -> Table:
    """Return the table of used settings."""
    specs = (
        ("name", "Setting", "code"), ("requested", "Requested", "code"),
        ("applied", "Applied", "code"), ("effective", "Reported by the library", "code"),
        ("job_count", "Jobs", "count"), ("last_at", "Last", "day"),
    )  # fmt: skip
    return Table("settings", "Settings in use", columns(specs), rows,
                 "Requested by the program, applied by Stripewise.",
                 empty="No profile of these jobs records settings.")  # fmt: skip


PAIR_COLUMNS = (
    ("made_at", "Proved", "day"), ("user", "By", "text"), ("speedup", "Speed-up of I/O", "factor"),
    ("low", "at least (95 %)", "factor"), ("high", "at most (95 %)", "factor"),
    ("pair_count", "Pairs", "count"), ("saved_seconds", "Saved per run", "seconds"),
    ("elapsed_speedup", "Speed-up of the run", "factor"), ("node_count", "Nodes", "count"),
    ("rank_count", "Ranks", "count"), ("pattern", "Pattern", "code"),
    ("verification", "Outputs compared", "text"), ("settings", "Settings", "text"),
)  # fmt: skip


def pairs_table(rows: Sequence[Row]) -> Table:
    """Return the table of proved savings, with the settings if the viewer may see them."""
    return Table("pairs", "Savings proved by pairs of runs",
                 columns(PAIR_COLUMNS, {"settings": "settings_url"}),
                 list(map(with_settings, rows)),
                 empty="No pairs of runs that you may see have proved a saving.")  # fmt: skip


def with_settings(row: Row) -> dict[str, Any]:
    """Return a row of pairs with the address of its settings."""
    shows = row["shows_settings"]
    url = address(f"/savings/{row['id']}/settings") if shows else ""
    return {**row, "settings": "download" if shows else None, "settings_url": url}


def year_before(period: Period) -> Period:
    """Return the year that ends with a period."""
    return Period(max(period.until - 365 * 86400, 0), period.until, {})


# The ledger of savings: what proved settings have saved since, and these settings to download.

_DAYS = 365
_LEDGER = (
    ("program", "Program", "text"), ("project", "Project", "text"),
    ("run_count", "Later runs", "count"), ("saved_seconds", "Regained", "hours"),
    ("saved_node_seconds", "in node-hours", "node-hours"),
)  # fmt: skip
_PAIRS = (
    ("program", "Program", "text"), ("run_count", "Later runs", "count"),
    ("regained_seconds", "Regained", "hours"),
    ("regained_node_seconds", "in node-hours", "node-hours"), *PAIR_COLUMNS,
)  # fmt: skip
_HOW = (
    "A later run is a job of the same program, after the proof, whose profile shows all "
    "proved settings of files as applied or requested. It counts once, for the newest "
    "proof, with what that proof saved per run."
)


class Savings(Page):
    """What was saved, by project and by proof, as far as the viewer sees proofs and jobs."""

    path = "/savings"
    section = "Programs"

    def build(self, request: PageRequest) -> Content:
        """Sum the savings."""
        period = Period.parse(request.words, request.now, _DAYS)
        ledger = savings_ledger(request.connection, request.viewer, period)
        projects = [{**row, "url": program_url(row["program"])} for row in ledger.projects]
        blocks: list[Block] = [
            period_search(self.path, period),
            _saved_facts(ledger),
            Table("projects", "By project and program", columns(_LEDGER, {"program": "url"}),
                  projects, _HOW, empty="No later run with proved settings is known."),
            Table("pairs", "Proofs",
                  columns(_PAIRS, {"settings": "settings_url", "program": "url"}),
                  list(map(_row, ledger.savings)), _note(ledger),
                  empty="No pairs of runs that you may see have proved a saving."),
        ]  # fmt: skip
        return Content("Savings", _saved_lead(ledger, period), blocks)


def _row(one: Saving) -> dict[str, object]:
    known = one.is_traceable
    return {
        **with_settings(one.pair),
        "url": program_url(one.pair["program"]),
        "run_count": one.run_count if known else None,
        "regained_seconds": one.saved_seconds if known else None,
        "regained_node_seconds": one.saved_node_seconds if known else None,
        "missing": {name.replace("saved", "regained"): why for name, why in one.missing.items()},
    }


def _sum(ledger: SavingsLedger, name: str) -> Amount:
    return total(one.amount(name) for one in ledger.savings)


def _saved_facts(ledger: SavingsLedger) -> Facts:
    runs = sum(one.run_count for one in ledger.savings)
    seconds, nodes = _sum(ledger, "saved_seconds"), _sum(ledger, "saved_node_seconds")
    return Facts(
        "totals",
        "",
        [
            Fact("saved_seconds", "Regained", seconds.value, "hours", "of I/O time",
                 why=seconds.why),
            Fact("saved_node_seconds", "Regained", nodes.value, "node-seconds", why=nodes.why),
            Fact("run_count", "Later runs with proved settings", runs, "count"),
            Fact("pair_count", "Proofs", len(ledger.savings), "count"),
        ],
        is_large=True,
    )  # fmt: skip


def _note(ledger: SavingsLedger) -> str:
    text = (
        "Later runs are not counted for settings that no profile records (settings of the "
        "job and of HDF5)."
    )
    if ledger.is_whole:
        return text
    return f"{text} Only the newest {plural(len(ledger.savings), 'proof')} are counted."


def _saved_lead(ledger: SavingsLedger, period: Period) -> str:
    if not ledger.savings:
        return "No pairs of runs that you may see have proved a saving yet."
    proofs = plural(len(ledger.savings), "proof")
    runs = sum(one.run_count for one in ledger.savings)
    if not runs:
        return f"{proofs}; no later run with these settings is known {period.text}."
    seconds = _sum(ledger, "saved_seconds")
    about = "" if seconds.why else "about "
    return (
        f"{plural(runs, 'later run')} {period.text} used proved settings and regained {about}"
        f"{'an ' if seconds.value is None else ''}{written(seconds.value, 'hours', seconds.why)}"
        f"{' amount' if seconds.value is None else ''} of I/O time."
    )


class SavingsSettings(Page):
    """The settings of a proof as a file, for their owner and staff."""

    path = "/savings/{pair:int}/settings"
    section = "Programs"

    def build(self, request: PageRequest) -> Download | None:
        """Return TOML, or with form=lines, lines of a job script that work without Stripewise."""
        form = request.words.get("form", "toml")
        if form not in ("toml", "lines"):
            raise UsageError(f"form={form[:40]!r}: settings come as toml or lines")
        found = pair_settings(request.connection, request.viewer, int(request.path["pair"]))
        if found is None or (form == "lines" and not found.hints):
            return None
        key = found.row["id"]
        is_anothers = request.viewer.access_reason(found.row) is AccessReason.STAFF
        audited = f"settings of pair {key}" if is_anothers else ""
        if form == "lines":
            name, text, media = f"stripewise-{key}.txt", found.hints + "\n", "text/plain"
        else:
            name, text, media = f"stripewise-{key}.toml", found.configuration, "application/toml"
        return Download(name, text, media, audited)
