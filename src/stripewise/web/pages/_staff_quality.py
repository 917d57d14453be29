# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For staff: whether three witnesses of jobs' I/O agree, and whether profiles have their job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.errors import UsageError
from stripewise.fleet.queries import (
    USUAL_RATIO,
    Agreement,
    Listing,
    Period,
    agreements,
    clocks_apart,
    disagreements,
    match_rules,
    unrecorded_jobs,
)
from stripewise.web._urls import address
from stripewise.web._words import written
from stripewise.web.content import Block, Content, Field, Table
from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._figures import Spec, columns, counted, period_search

Row = Mapping[str, Any]
_NAMES = {"profile": "Profile", "server": "Storage", "slurm": "Slurm"}
_JOB: tuple[Spec, ...] = (
    ("raw_id", "Job", "id"),
    ("cluster", "Cluster", "text"),
    ("user", "User", "text"),
    ("program", "Program", "text"),
    ("start_at", "Started (UTC)", "moment"),
)
_WHY = (
    "They count at different places: a profile what the program asks for, the storage what "
    "arrives there (caches, reads of the operating system, data in the metadata server), Slurm "
    "what local devices move, which misses most network file systems. Ranks without a profile and "
    "counters that were cut off also make a difference."
)


class StaffQuality(Page):
    """The three witnesses side by side, outliers, matches, clocks."""

    path = "/staff/quality"
    section = "Staff"
    lists_others = True
    audience = Audience.STAFF

    def build(self, asked: Asked) -> Content:
        """Compare them."""
        about = (asked.connection, asked.viewer, Period.parse(asked.words, asked.now))
        period = about[2]
        word = asked.words.get("least_ratio", "")
        ratio = _ratio(word)
        found = agreements(*about)
        odd = disagreements(*about, least_ratio=ratio, after=asked.words.get("after", ""))
        words = {**period.words, "least_ratio": word}
        apart, alone = clocks_apart(*about), unrecorded_jobs(*about)
        field = Field(
            "least_ratio", "Outliers differ by more than a factor of", word, kind="number"
        )
        blocks: list[Block] = [
            period_search(self.path, period, [field]),
            _witnesses(found),
            _outliers(odd, ratio, words),
            _matches(match_rules(*about)),
            _some("clocks", "Clocks apart", "profile", apart,
                  (*_JOB, ("kind", "Profile", "text"), ("apart_seconds", "Apart", "seconds")),
                  "Profiles that began outside the time of their job, by more than clocks usually "
                  "differ."),
            _some("unrecorded", "Jobs known from profiles only", "job", alone, _JOB,
                  "The scheduler's record has not come, or carries another job id."),
        ]  # fmt: skip
        return Content("Quality of the data", _lead(found, apart, alone), blocks)


def _ratio(word: str) -> float:
    try:
        found = float(word or USUAL_RATIO)
    except ValueError:
        found = 0.0
    if not 1.0 <= found < 1e9:
        raise UsageError(f"least_ratio={word[:40]!r}: give a factor from 1 on, such as 2")
    return found


def _lead(found: Sequence[Agreement], apart: Sequence[Row], alone: Sequence[Row]) -> str:
    both = sum(one.job_count for one in found)
    near = sum(one.near_count for one in found)
    text = "No job has more than one witness of its bytes."
    if both:
        text = f"Two witnesses agree within a factor of two in {written(near / both, 'share')} of "
        text += f"{counted(both, 'comparison')}."
    late = counted(apart[0]["total"], "profile") if apart else "No profile"
    record = "every job has a record of the scheduler"
    if alone:
        only = alone[0]["total"]
        record = f"{counted(only, 'job')} {'is' if only == 1 else 'are'} known from profiles only"
    return f"{text} {late} began outside the time of the job; {record}."


def _witnesses(found: Sequence[Agreement]) -> Table:
    specs = (
        ("witnesses", "Witnesses", "text"), ("job_count", "Jobs of both", "count"),
        ("close_share", "within 10 %", "share"), ("near_share", "within a factor of 2", "share"),
        ("first_bytes", "First: bytes of all", "bytes"),
        ("second_bytes", "Second: bytes of all", "bytes"), ("ratio", "First / second", "factor"),
    )  # fmt: skip
    rows = [
        {
            "witnesses": f"{_NAMES[one.first]}, {_NAMES[one.second]}",
            "job_count": one.job_count,
            "close_share": one.close_count / one.job_count if one.job_count else None,
            "near_share": one.near_count / one.job_count if one.job_count else None,
            "first_bytes": one.first_bytes,
            "second_bytes": one.second_bytes,
            "ratio": one.first_bytes / one.second_bytes
            if one.first_bytes is not None and one.second_bytes
            else None,
        }
        for one in found
    ]
    return Table("witnesses", "Three witnesses", columns(specs), rows, _WHY)


def _outliers(odd: Listing, ratio: float, words: Mapping[str, str]) -> Table:
    specs = (
        *_JOB, ("profile_bytes", "Profile", "bytes"), ("server_bytes", "Storage", "bytes"),
        ("slurm_bytes", "Slurm", "bytes"), ("ratio", "Largest / smallest", "factor"),
    )  # fmt: skip
    following = address(StaffQuality.path, {**words, "after": odd.next}) if odd.next else ""
    return Table("outliers", "Outliers", columns(specs, {"raw_id": "url"}),
                 list(map(_with_url, odd.rows)),
                 f"Jobs of which two witnesses differ by more than a factor of {ratio:g}, the "
                 "latest first. No ratio is given where one of them says zero.",
                 empty="There are none.", next=following)  # fmt: skip


def _matches(rows: Sequence[Row]) -> Table:
    specs = (
        ("rule", "How a profile found its job", "text"), ("source_count", "Profiles", "count"),
        ("least_confidence", "Lowest confidence", "share"),
    )  # fmt: skip
    return Table("matches", "Matches", columns(specs), rows,
                 empty="There are no profiles.")  # fmt: skip


def _some(
    name: str, title: str, noun: str, rows: Sequence[Row], specs: Sequence[Spec], note: str
) -> Table:
    total = counted(rows[0]["total"], noun) if rows else ""
    if rows and rows[0]["total"] > len(rows):
        total += f"; the latest {len(rows)} are shown"
    return Table(name, title, columns(specs, {"raw_id": "url"}), list(map(_with_url, rows)), note,
                 empty="There are none.", total=total)  # fmt: skip


def _with_url(row: Row) -> dict[str, Any]:
    return {**row, "url": address(f"/jobs/{row['id']}")}
