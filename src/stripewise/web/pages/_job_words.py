# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A job in a sentence or two: what its I/O cost, or why nothing is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stripewise.errors import UsageError
from stripewise.fleet.queries import JobView
from stripewise.web._finding_words import finding_words
from stripewise.web._words import written
from stripewise.web.content import Block, Lines, Notice

Row = Mapping[str, Any]
_LONGEST_NUMBER = 18
HIDDEN = (
    "Names of files, and all text that may hold one, are shown to the owner of the job and to the "
    "centre's support only."
)
_REASONS = {
    "no profile": (
        "No I/O profile of this job has been taken in, so nothing is known of its I/O.",
        "Have the next run profiled: start the program as below, or with Darshan loaded.",
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
        "Nothing but the scheduler's record is there, and that is not complete.",
        "It is filled in when the scheduler's accounting is read again.",
    ),
}
"""Reason why there are no figures, or state of the job -> what that means, and what to do."""
_COUNTED = (
    "No I/O profile of this job has been taken in; what the storage's servers counted of it is "
    "below."
)
_UNFINISHED = {"PENDING": "waiting in the queue", "RUNNING": "still running"}
_PROFILED = (
    "# in the job script, before the program's own line:",
    "stripewise run -- srun ./program",
)


def title(row: Row) -> str:
    """Return the name of a job: its id with its task, component and name."""
    return f"Job {job_id(row)}" + (f": {row['name']}" if row["name"] else "")


def job_id(row: Row) -> str:
    """Return the id of a job as people write it: "12_3" of an array, "12+1" of a group."""
    if row["array_job_id"] is not None and row["array_task_id"] is not None:
        return f"{row['array_job_id']}_{row['array_task_id']}"
    if row.get("het_job_id") is not None and row.get("het_offset") is not None:
        return f"{row['het_job_id']}+{row['het_offset']}"
    return f"without id ({row['id']})" if row["raw_id"] is None else str(row["raw_id"])


def number_word(name: str, text: str) -> int:
    """Return a key that a query names.

    Raises:
        UsageError: It is no number.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
        raise UsageError(f"{name}={text[:40]!r} is no number, such as 7")
    return int(text)


def lead(view: JobView, *, is_served: bool = False) -> str:
    """Return the conclusion: the headline of the profile, or the same from the job's figures.

    Args:
        view: The job.
        is_served: Servers counted something of it.
    """
    row = view.row
    if row["no_data_reason"]:
        return _reason(row, is_served)[0]
    counted = view.counted
    if len(counted) == 1 and counted[0].document is not None and row["source_count"] == 1:
        return str(counted[0].document["headline"])
    return " ".join(filter(None, (_share(row, len(counted)), _avoidable(row))))


def no_figures(row: Row) -> str:
    """Say in a few words why a job has no figures; "" if it has them."""
    reason = row["no_data_reason"] or ""
    return _UNFINISHED.get(row["state"], reason) if reason else ""


def missing(view: JobView, *, is_served: bool = False) -> list[Block]:
    """Say why there are no figures, and what to do; arguments as of `lead`."""
    reason = view.row["no_data_reason"]
    if not reason:
        return []
    words = [text for text in _reason(view.row, is_served) if text]
    found: list[Block] = [Notice("why", "Why there are no figures", words, "warn")]
    if reason == "no profile" or view.row["state"] == "PENDING":
        note = "Where the centre has set it up, the run reports itself to this portal."
        found.append(Lines("profile_next", "Have the next run profiled", _PROFILED, note))
    return found


def hidden(view: JobView) -> list[Block]:
    """Say what is not shown to this viewer, if anything is not."""
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
        return f"Not all of the run is known: {why}." if why else "Nothing stands out."
    if not row["avoidable_seconds"] or not row["top_finding"]:
        number = row["finding_count"]
        return f"{number} remark{'s'[: number != 1]}; what they cost is not known."
    words = finding_words(row["top_finding"]).title
    words = words[:1].lower() + words[1:]
    return f"About {written(row['avoidable_seconds'], 'seconds')} can be avoided: {words}."
