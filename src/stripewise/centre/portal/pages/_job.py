# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the page of one job: its facts, its settings, and when its ranks were busy with I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    MOST_SOURCES,
    AccessReason,
    JobView,
    calls_by_direction,
    facts_of_runs,
    list_runs,
    loads_beside,
    next_run,
    pairs_of_job,
    served_of,
    view_job,
)
from stripewise.centre.portal.pages import (
    _job_files,
    _job_findings,
    _job_history,
    _job_load,
    _jobs,
)
from stripewise.centre.portal.pages._base import Page, PageRequest, address, part
from stripewise.centre.portal.pages._jobs import finding_words
from stripewise.evidence.report import phases, rank_cells
from stripewise.present import count_text, plural
from stripewise.present.blocks import (
    Block,
    Column,
    Content,
    Fact,
    Facts,
    Table,
    written,
)


class JobDetails(Page):
    """One job with all that is known of its I/O."""

    path = "/jobs/{job:int}"
    section = "My jobs"

    def build(self, request: PageRequest) -> Content | None:
        """Return the page of a job."""
        view = view_job(request.connection, request.viewer, int(request.path["job"]))
        if view is None:
            return None
        pairs = pairs_of_job(request.connection, request.viewer, view.row)
        runs = list_runs(request.connection, request.viewer, view.row)
        facts = facts_of_runs(request.connection, request.viewer, runs)
        served = served_of(request.connection, view)
        sizes = calls_by_direction(request.connection, view) if served else {}
        slower = _job_history.regression(view.row, runs, facts)
        compared = _job_history.compared(view.row, runs, facts)
        blocks: list[Block] = [
            *_job_findings.facts(view),
            figures(view),
            *(compared if slower else ()),
            *_jobs.missing(view, is_served=bool(served)),
            *_jobs.hidden(view),
            *_job_findings.findings(view, pairs),
            _job_findings.downloads(view, next_run(view, pairs)),
            *_job_findings.seconds(view),
            *_job_files.patterns(view),
            *timeline(view),
            *_job_files.served(view, served, sizes),
            *_job_load.loads(view, loads_beside(request.connection, view), is_served=bool(served)),
            *(() if slower else compared),
            *_job_history.history(view.row, runs),
            *_job_files.file_systems(view),
            *_job_files.files(request, view),
            *settings(view),
            *_job_files.witnesses(view),
            sources(view),
            about(view.row, request.now),
        ]
        lead = _jobs.lead(view, is_served=bool(served))
        lead = f"{slower} {lead}" if slower else lead
        return Content(_jobs.title(view.row), lead, blocks, audited(view))


def audited(view: JobView) -> str:
    """Return the audit entry for a look at a job, or "" for the viewer's own job."""
    return f"job {view.row['id']}" if view.access_reason is AccessReason.STAFF else ""


# Facts of a job: its figures, its owner, where it ran, and its sources.

Row = Mapping[str, Any]
_CONFIDENCE = ((0.95, "certain"), (0.75, "likely"), (0.45, "uncertain"), (0.01, "a guess"))
"""Minimum confidence, and how certain it makes the match of a profile and a job."""
_RULES = {
    "job id and time": "matched by job id and time",
    "job id": "matched by job id alone: the profile has no time",
    "job id, clocks apart": "matched by job id, though the times do not agree",
    "job id, nearest in time": "matched by job id, to the run nearest in time",
    "job id, no record": "matched by job id to other profiles: there is no scheduler's record",
    "no record": "no scheduler's record of this job id",
    "no job id": "the profile names no job",
    "job id of another time": "the jobs with this id ran at another time",
    "job id of another user": "the job id belongs to another user's job",
    "job id, not shown to be of this user": (
        "the record of the job with this id does not show that the job was this user's"
    ),
    "job id of several jobs, no time": "several jobs had this id, and the profile has no time",
    "job id on several clusters": "several clusters had this job id",
}
_KINDS = {
    "darshan": "Darshan log", "trace": "trace of Stripewise", "report": "report of stripewise run",
    "recorder": "trace of Recorder", "mpiio-stats": "statistics of Cray MPICH",
}  # fmt: skip


def figures(view: JobView) -> Facts:
    """Return the few most important figures."""
    row = view.row
    why = _jobs.no_figures(row)
    share = row["io_share"]
    of_run = "" if share is None else f"{written(min(share, 1.0), 'share')} of the run"
    best = finding_words(row["top_finding"]).title if row["top_finding"] else ""
    items = [
        Fact("run_seconds", "Run time", row["run_seconds"], "seconds", _ran_on(row)),
        _figure(row, "io_seconds", "I/O time", "seconds", of_run or why),
        _figure(row, "avoidable_seconds", "Avoidable", "seconds", best or why),
        _figure(row, "read_bytes", "Read", "bytes", why),
        _figure(row, "write_bytes", "Written", "bytes", why),
        Fact("state", "State", row["state"], "text", _exit(row)),
    ]
    return Facts("figures", "", items, is_large=True)


def about(row: Row, now: float) -> Facts:
    """Return whose job it is, and where and when it ran."""
    items = [
        _linked("user", "User", row["user"]),
        _linked("project", "Project", row["project"]),
        Fact("unix_group", "Unix group", row["unix_group"]),
        Fact("program", "Program", row["program"],
             link=f"/programs/{part(row['program'])}" if row["program"] else ""),
        _linked("cluster", "Cluster", row["cluster"] or None),
        Fact("raw_id", "Job id", row["raw_id"], "id", _group(row)),
        Fact("partition", "Partition", row["partition"]),
        Fact("qos", "Quality of service", row["qos"]),
        Fact("node_count", "Nodes", row["node_count"], "count"),
        Fact("node_list", "Node list", row["node_list"]),
        Fact("rank_count", "Ranks", row["rank_count"], "count"),
        Fact("cpu_count", "Processors", row["cpu_count"], "count"),
        Fact("submit_at", "Submitted (UTC)", row["submit_at"], "moment", _restarts(row)),
        Fact("start_at", "Started (UTC)", row["start_at"], "moment"),
        Fact("end_at", "Ended (UTC)", row["end_at"], "moment"),
        Fact("wait_seconds", "Waited in the queue", _wait(row, now), "duration", _still(row)),
        Fact("time_limit_seconds", "Time limit", row["time_limit_seconds"], "duration",
             _used(row)),
        _figure(row, "file_count", "Files", "count", _shared(row)),
        _figure(row, "meta_operations", "Metadata operations", "count",
                "on files that were opened"),
        _figure(row, "bytes_per_second", "I/O rate", "rate",
                "bytes moved, divided by the I/O time"),
    ]  # fmt: skip
    return Facts("about", "About this job", items)


def _figure(row: Row, name: str, title: str, kind: str, note: str) -> Fact:
    return Fact(name, title, row[name], kind, note, why=row["missing"].get(name, ""))


def sources(view: JobView) -> Table:
    """Return the sources of a job, and how certain it is that they belong to it."""
    number = view.row["source_count"]
    rows = [_source(view, one.about) for one in view.sources]
    return Table(
        "sources",
        "Sources of these figures",
        [
            Column("kind", "Source"),
            Column("name", "File", link="profile_url"),
            Column("program", "Program"),
            Column("start_at", "Began (UTC)", "moment"),
            Column("rank_count", "Ranks", "count"),
            Column("io_seconds", "I/O time", "seconds"),
            Column("match", "Why it belongs to this job"),
            Column("confidence", "Confidence", "share"),
            Column("sure", "In words"),
            Column("use", "Used for the figures"),
        ],
        rows,
        note="A file name downloads the whole profile, as `stripewise profile --json` prints it."
        if view.shows_names
        else "",
        empty="No profile of this job is stored.",
        total=f"{MOST_SOURCES} of {number} sources, those with most I/O time"
        if number > len(rows)
        else "",
    )


def _source(view: JobView, about: Row) -> dict[str, Any]:
    if about["is_partial"]:
        use = "yes, but it is not complete: some of the run is missing"
    elif about["is_counted"]:
        use = "yes"
    else:
        use = "no: another source records more of the same run"
    return {
        **about,
        "kind": _KINDS.get(about["kind"], about["kind"]),
        "name": about["name"] or None,
        "match": _RULES.get(about["match_rule"], about["match_rule"]),
        "sure": next(
            (word for least, word in _CONFIDENCE if about["confidence"] >= least), "not known"
        ),
        "use": use,
        "profile_url": address(f"/jobs/{view.row['id']}/profile/{about['id']}")
        if view.shows_names
        else "",
    }


def _linked(name: str, title: str, value: str | None) -> Fact:
    return Fact(name, title, value, link=address("/jobs", {name: value}) if value else "")


def _ran_on(row: Row) -> str:
    counts = ((row["rank_count"], "rank"), (row["node_count"], "node"))
    return " on ".join(plural(number, noun) for number, noun in counts if number)


def _exit(row: Row) -> str:
    if row["exit_signal"]:
        return f"ended by signal {row['exit_signal']}"
    return f"exit code {row['exit_code']}" if row["exit_code"] else ""


def _group(row: Row) -> str:
    shown = _jobs.job_id(row)
    if row["array_job_id"] is not None:
        return f"task {row['array_task_id']} of array {row['array_job_id']}"
    if row["het_job_id"] is not None:
        return f"component {row['het_offset']} of heterogeneous job {row['het_job_id']} ({shown})"
    return ""


def _restarts(row: Row) -> str:
    number = row["restart_count"]
    return f"put back into the queue {plural(number, 'time')}" if number else ""


def _wait(row: Row, now: float) -> float | None:
    if row["submit_at"] is None:
        return None
    if row["start_at"] is None:
        is_over = row["end_at"] is not None or row["no_data_reason"] == "did not run"
        return None if is_over and row["state"] != "PENDING" else max(now - row["submit_at"], 0.0)
    return max(float(row["start_at"] - row["submit_at"]), 0.0)


def _still(row: Row) -> str:
    eligible, start = row["eligible_at"], row["start_at"]
    if eligible is None or start is None or start < eligible or eligible == row["submit_at"]:
        return ""
    return f"{written(float(start - eligible), 'duration')} of it ready to run"


def _used(row: Row) -> str:
    limit, run = row["time_limit_seconds"], row["run_seconds"]
    return f"{written(run / limit, 'share')} of it used" if limit and run is not None else ""


def _shared(row: Row) -> str:
    number = row["shared_file_count"]
    return f"{count_text(number)} shared by ranks" if number else ""


# Settings of a job: requested, applied, and effective as reported by the library.

_MOST = 60
_ROMIO_REPORTS = frozenset({"cb_buffer_size", "romio_cb_write", "romio_cb_read"})
"""ROMIO reports all hints that it knows, including these; other libraries echo any hint."""


def settings(view: JobView) -> list[Block]:
    """Return all settings, starting with those that were requested and are not effective."""
    rows = [row for source in view.counted for row in _judged(source.settings)]
    if not rows:
        return []
    rows.sort(key=lambda one: (one["order"], one["name"]))
    columns = [
        Column("name", "Setting", "code"),
        Column("requested", "Requested by the program", "code"),
        Column("applied", "Applied by Stripewise", "code"),
        Column("effective", "Reported by the library", "code"),
        Column("acts", "Does it act?"),
    ]
    if view.shows_names:
        columns.insert(0, Column("file_class", "Files", "code"))
    bad = sum(one["order"] == 0 for one in rows)
    note = (
        f"{bad} requested or applied setting{'s do' if bad != 1 else ' does'} not act."
        if bad
        else ""
    )
    total = f"{_MOST} of {len(rows)} settings; the profile has all" if len(rows) > _MOST else ""
    return [Table("settings", "Settings", columns, rows[:_MOST], note=note, total=total)]


def _judged(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the settings of a source, each with whether it is effective."""
    reported = {
        row["file_class"]
        for row in rows
        if row["name"] in _ROMIO_REPORTS and row["effective"] is not None
    }
    return [{**row, **_verdict(row, row["file_class"] in reported)} for row in rows]


def _verdict(row: Row, reports_all: bool) -> dict[str, Any]:
    requested = row["requested"] if row["applied"] is None else row["applied"]
    got = row["effective"]
    if requested is None:
        return {"order": 2, "acts": "the library's own value"}
    if not reports_all:
        return {"order": 1, "acts": "not known: this library does not report what it did with it"}
    if got is None:
        return {"order": 0, "acts": "no: this MPI does not know it"}
    if got.strip().lower() != requested.strip().lower():
        return {"order": 0, "acts": f"no: {got} acts instead"}
    return {"order": 1, "acts": "yes"}


# When the ranks of a job were busy with I/O, and whether that occurs in phases.

_MOST_RUNS = 4


def timeline(view: JobView) -> list[Block]:
    """Return a map of each run of a program, and its phases in words."""
    found: list[Block] = []
    for number, source in enumerate(view.counted[:_MOST_RUNS], 1):
        if source.document is None:
            continue
        ending, run = "", ""
        if len(view.counted) > 1:
            program = source.about["program"]
            ending, run = f"_{number}", f", run {number}" + (f" ({program})" if program else "")
        title = f"When the ranks were in I/O{run}"
        found.append(rank_cells(source.document, f"timeline{ending}", title))
        found += phases(source.document, f"phases{ending}", f"Phases{run}")
    return found
