# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the list of jobs, and reports what the I/O of each cost, or why that is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, NamedTuple

from stripewise.centre.database.queries import (
    COUNTED,
    SORTS,
    JobFilter,
    JobView,
    count_jobs,
    list_jobs,
    veiled,
)
from stripewise.centre.portal.pages._base import Page, PageRequest, address
from stripewise.core.errors import UsageError
from stripewise.evidence.diagnosis import RULES
from stripewise.present import plural
from stripewise.present.blocks import (
    Block,
    Column,
    Content,
    Field,
    Lines,
    Notice,
    Search,
    Table,
    written,
)

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
    ("slower_factor", "Slower than usual", "factor"),
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

    def build(self, request: PageRequest) -> Content:
        """List the jobs."""
        wanted = JobFilter.parse(request.words)
        sort = request.words.get("sort", "")
        listing = list_jobs(
            request.connection,
            request.viewer,
            wanted,
            sort=sort,
            after=request.words.get("after", ""),
        )
        number = listing.total
        if number is None:
            number = count_jobs(request.connection, request.viewer, wanted)
        total = f"over {plural(COUNTED, 'job')}" if number > COUNTED else plural(number, "job")
        words = wanted.words()
        shown = {name for name, *_ in _COLUMNS} - {"cluster", "no_data_reason"}
        if not (request.viewer.is_staff or request.viewer.managed):
            shown -= {"user"}
        rows = [_row(veiled(request.viewer, dict(row._mapping))) for row in listing.rows]
        if len({row["cluster"] for row in rows}) > 1:
            shown |= {"cluster"}  # clusters may share job ids
        if all(row["slower_factor"] is None for row in rows):
            shown -= {"slower_factor"}
        table = Table(
            "jobs",
            "",
            _columns(words, sort or "-start_at", shown),
            rows,
            empty="No job matches this search."
            if words
            else "Jobs appear here once they are stored in the database.",
            next=address(self.path, {**words, "sort": sort, "after": listing.next})
            if listing.next
            else "",
            total=total,
            note=_left_out(words),
        )
        title = "Jobs" if request.viewer.is_staff else "My jobs"
        blocks: list[Block] = [_search(request.viewer.is_staff, wanted, sort), table]
        return Content(title, _lead(number, total, is_search=bool(words)), blocks)


def _lead(number: int, total: str, *, is_search: bool) -> str:
    if number == 0:
        return "No job matches this search." if is_search else "No job that you may see is known."
    match = "matches" if number == 1 else "match"
    return f"{total} {match} this search." if is_search else f"You see {total}."


def _left_out(words: Mapping[str, str]) -> str:
    """Return which jobs a search for the minimum of a figure cannot find."""
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
        "no_figures": no_figures(row),
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
        field(
            "direction",
            "Direction of the pattern",
            choices=[("read", "read"), ("write", "written")],
        ),
        field("least_lost_seconds", "Lost in the pattern, at least (s)", "number"),
        field("slower", "Slower than usual", choices=[("yes", "than earlier runs")]),
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


# A job in a sentence or two: what its I/O cost, or why nothing is known of it.

Row = Mapping[str, Any]
_LONGEST_NUMBER = 18
HIDDEN = (
    "Names of files, and all text that may hold one, are shown to the owner of the job and to the "
    "centre's support only."
)
_REASONS = {
    "no profile": (
        "No I/O profile of this job has been taken in, so nothing is known about its I/O.",
        "To profile the next run, start the program as below or with Darshan loaded.",
    ),
    "did not run": ("This job did not run, so it made no I/O.", ""),
    "PENDING": (
        "This job waits in the queue: it has made no I/O yet.",
        "Start its program as below, and the run reports its I/O.",
    ),
    "RUNNING": (
        "This job still runs: profiles are written when its programs end.",
        "Look again after its end.",
    ),
    "no record": (
        "There is only the scheduler's record, and it is incomplete.",
        "It is filled in when the scheduler's accounting is read again.",
    ),
}
"""Meaning and remedy for each reason why there are no figures, or state of the job."""
_COUNTED = (
    "No I/O profile of this job is stored; what the storage's servers counted for it is below."
)
_UNFINISHED = {"PENDING": "waiting in the queue", "RUNNING": "still running"}
_PROFILED = (
    "# in the job script, before the program's own line:",
    "stripewise run -- srun ./program",
)


def title(row: Row) -> str:
    """Return the title of a job: its id with task or component, and its name."""
    return f"Job {job_id(row)}" + (f": {row['name']}" if row["name"] else "")


def job_id(row: Row) -> str:
    """Return the id of a job in the usual notation: "12_3" in an array, "12+1" in a group."""
    if row["array_job_id"] is not None and row["array_task_id"] is not None:
        return f"{row['array_job_id']}_{row['array_task_id']}"
    if row.get("het_job_id") is not None and row.get("het_offset") is not None:
        return f"{row['het_job_id']}+{row['het_offset']}"
    return f"without id ({row['id']})" if row["raw_id"] is None else str(row["raw_id"])


def number_word(name: str, text: str) -> int:
    """Return the key that a query contains.

    Raises:
        UsageError: It is not a number.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
        raise UsageError(f"{name}={text[:40]!r} is not a number, such as 7")
    return int(text)


def lead(view: JobView, *, is_served: bool = False) -> str:
    """Return the conclusion: the headline of the profile, or the same from the job's figures.

    Args:
        view: The job.
        is_served: Whether servers counted something for it.
    """
    row = view.row
    if row["no_data_reason"]:
        return _reason(row, is_served)[0]
    counted = view.counted
    if len(counted) == 1 and counted[0].document is not None and row["source_count"] == 1:
        return str(counted[0].document["headline"])
    return " ".join(filter(None, (_share(row, len(counted)), _avoidable(row))))


def no_figures(row: Row) -> str:
    """Return in a few words why a job has no figures, or "" if it has them."""
    reason = row["no_data_reason"] or ""
    return _UNFINISHED.get(row["state"], reason) if reason else ""


def missing(view: JobView, *, is_served: bool = False) -> list[Block]:
    """Return why there are no figures, and what to do; for arguments see `lead`."""
    reason = view.row["no_data_reason"]
    if not reason:
        return []
    words = [text for text in _reason(view.row, is_served) if text]
    found: list[Block] = [Notice("why", "Why there are no figures", words, "warn")]
    if reason == "no profile" or view.row["state"] == "PENDING":
        note = "Where the centre has set it up, the run reports itself to this portal."
        found.append(Lines("profile_next", "Profile the next run", _PROFILED, note))
    return found


def hidden(view: JobView) -> list[Block]:
    """Return a note on what is hidden from this viewer, if anything is."""
    if view.shows_names or not view.sources:
        return []
    general = "Findings are described in general words here."
    return [Notice("hidden", "", [HIDDEN, general])]


def _reason(row: Row, is_served: bool) -> tuple[str, str]:
    """Return why a job has no figures, and what to do."""
    reason = row["no_data_reason"]
    plain = (f"There are no figures of I/O: {reason}.", "")
    if row["state"] in _REASONS:
        return _REASONS[row["state"]]
    text, remedy = _REASONS.get(reason, plain)
    return (_COUNTED if is_served and reason == "no profile" else text), remedy


def _share(row: Row, runs: int) -> str:
    why = row["missing"].get("io_seconds", "")
    if row["io_seconds"] is None:
        return f"The I/O time of this job is not known{f': {why}' if why else ''}."
    seconds = written(row["io_seconds"], "seconds", why)
    programs = f" in {runs} runs of programs" if runs > 1 else ""
    if row["io_share"] is None:
        return f"{seconds} of this job was I/O{programs}."
    share = written(min(row["io_share"], 1.0), "share", why)
    share = share[:1].upper() + share[1:]
    whole = row["run_seconds"]
    of_run = f" of {written(whole, 'seconds')}" if whole else ""
    return f"{share} of the run was I/O ({seconds}{of_run}{programs})."


def _avoidable(row: Row) -> str:
    why = row["missing"].get("avoidable_seconds", "")
    if not row["finding_count"]:
        return (
            f"Not all of the run is known: {why}."
            if why
            else "No known cause of slow I/O was found."
        )
    if not row["avoidable_seconds"] or not row["top_finding"]:
        number = row["finding_count"]
        return f"{number} remark{'s'[: number != 1]}, whose cost is not known."
    words = finding_words(row["top_finding"]).title
    words = words[:1].lower() + words[1:]
    return f"About {written(row['avoidable_seconds'], 'seconds')} can be avoided: {words}."


# General texts of findings that name no file; docs/reference/findings.md has the rules.


class FindingWords(NamedTuple):
    """Texts for all findings with one code; `tunes` states whether settings can remedy it."""

    title: str
    remedy: str
    tunes: bool = False


_WORDS = {rule.code: FindingWords(rule.title, rule.general_remedy, rule.tunes) for rule in RULES}


def finding_words(code: str) -> FindingWords:
    """Return the texts of a finding; for an unknown one, its code."""
    return _WORDS.get(code) or FindingWords(code.replace("-", " ").capitalize(), "")
