# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the page of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import Period, ProgramSurvey
from stripewise.web._urls import address
from stripewise.web.content import Chart, Column, Line, Table
from stripewise.web.pages._figures import columns

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
    ("io_share", "I/O time of run time", "share"),
    ("bytes_per_second", "Estimated I/O rate", "rate"),
)
"""Rows as in the CASE tables of the survey (see _programs_summary.py)."""


def case_table(
    job: Row | None, whole: ProgramSurvey | None, public: ProgramSurvey | None
) -> Table:
    """Return a representative job beside medians; READ_TIME and so on are sums over ranks."""
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
        heads.append(Column("high", "90 % of the jobs are below", "number", kinds="kind"))
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
    """Return the I/O time of jobs over the year."""
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
    """Return what costs time, with the jobs concerned."""
    specs = (
        ("code", "Finding", "code"), ("job_count", "Jobs", "count"),
        ("cost_seconds", "Expected gain, all jobs", "seconds"),
        ("cost_node_seconds", "in node-hours", "node-hours"),
    )  # fmt: skip
    told = [{**row, "url": address("/jobs", {**words, "finding": row["code"]})} for row in rows]
    note = "Findings overlap: their gains do not add up."
    return Table("findings", "What costs time", columns(specs, {"code": "url"}), told, note,
                 empty="Nothing was found that costs time.")  # fmt: skip


def patterns_table(rows: Sequence[Row], words: Mapping[str, str]) -> Table:
    """Return patterns of access, with the jobs concerned."""
    specs = (
        ("form", "Pattern", "code"), ("direction", "Direction", "text"),
        ("job_count", "Jobs", "count"), ("moved_bytes", "Moved", "bytes"),
        ("lost_seconds", "Lost, all jobs", "seconds"),
    )  # fmt: skip
    told = [with_direction(row, words) for row in rows]
    return Table("patterns", "Patterns of access", columns(specs, {"form": "url"}), told,
                 "What is lost is the expected gain of findings about the same files.",
                 empty="No profile of these jobs tells its patterns.")  # fmt: skip


def with_direction(row: Row, words: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of patterns with its direction in words, and the address of its jobs."""
    asked = {**words, "pattern": row["form"], "direction": "write" if row["is_write"] else "read"}
    direction = "written" if row["is_write"] else "read"
    return {**row, "direction": direction, "url": address("/jobs", asked)}


def settings_table(rows: Sequence[Row]) -> Table:
    """Return settings in use."""
    specs = (
        ("name", "Setting", "code"), ("requested", "Requested", "code"),
        ("applied", "Applied", "code"), ("effective", "Reported by the library", "code"),
        ("job_count", "Jobs", "count"), ("last_at", "Last", "day"),
    )  # fmt: skip
    return Table("settings", "Settings in use", columns(specs), rows,
                 "Requested by the program, applied by Stripewise.",
                 empty="No profile of these jobs tells settings.")  # fmt: skip


PAIR_COLUMNS = (
    ("made_at", "Proved", "day"), ("user", "By", "text"), ("speedup", "Speed-up of I/O", "factor"),
    ("low", "at least (95 %)", "factor"), ("high", "at most (95 %)", "factor"),
    ("pair_count", "Pairs", "count"), ("saved_seconds", "Saved in a run", "seconds"),
    ("elapsed_speedup", "Speed-up of the run", "factor"), ("node_count", "Nodes", "count"),
    ("rank_count", "Ranks", "count"), ("pattern", "Pattern", "code"),
    ("verification", "Outputs compared", "text"), ("settings", "Settings", "text"),
)  # fmt: skip


def pairs_table(rows: Sequence[Row]) -> Table:
    """Return proved savings, with their settings where the viewer may have them."""
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
