# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two jobs side by side, and what changed from one to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.errors import UsageError
from stripewise.fleet.queries import (
    RunFacts,
    Sight,
    are_close,
    changes,
    facts_of_runs,
    find_job,
)
from stripewise.web._finding_words import finding_words
from stripewise.web._urls import address
from stripewise.web._words import written
from stripewise.web.content import Block, Compared, Comparison, Content, Field, Notice, Search
from stripewise.web.pages import _job_words
from stripewise.web.pages._base import Asked, Page
from stripewise.web.pages._job_history import FIGURES, change_words

Row = Mapping[str, Any]
_OF_ROW = (
    ("io_seconds", "I/O time", "seconds"), ("program", "Program", "text"),
    ("user", "User", "text"), ("cluster", "Cluster", "text"),
    ("state", "State", "text"), ("start_at", "Started (UTC)", "moment"),
    ("run_seconds", "Run time", "seconds"), ("io_share", "I/O share of run", "share"),
    ("read_seconds", "Time in reads, slowest rank", "seconds"),
    ("write_seconds", "Time in writes, slowest rank", "seconds"),
    ("meta_seconds", "Time in metadata, slowest rank", "seconds"),
    ("avoidable_seconds", "Avoidable", "seconds"), ("top_finding", "Finding", "text"),
)  # fmt: skip


class CompareJobs(Page):
    """Two jobs that the viewer sees."""

    path = "/jobs/compare"
    section = "My jobs"

    def build(self, asked: Asked) -> Content | None:
        """Compare them.

        Raises:
            UsageError: The query names no two jobs.
        """
        rows = []
        for name in ("a", "b"):
            text = asked.words.get(name, "").strip()
            if not text:
                raise UsageError(f"{name}: name two jobs, as in {self.path}?a=1&b=2")
            row = find_job(asked.connection, asked.viewer, _job_words.number_word(name, text))
            if row is None:
                return None
            rows.append(row)
        facts = facts_of_runs(asked.connection, asked.viewer, rows)
        first, second = (facts[row["id"]] for row in rows)
        looked = [row for row in rows if asked.viewer.sight(row) is Sight.STAFF]
        names = [_job_words.job_id(row) for row in rows]
        return Content(
            f"Jobs {names[0]} and {names[1]}",
            _lead(names, first, second),
            _blocks(rows, first, second),
            " ".join(f"job {row['id']}" for row in looked),
        )


def _lead(names: Sequence[str], first: RunFacts, second: RunFacts) -> str:
    one, other = first.io_seconds, second.io_seconds
    if one is None or other is None:
        without = names[0] if one is None else names[1]
        return f"The I/O time of job {without} is not known, so times cannot be compared."
    low, high = sorted((one, other))
    if are_close(one, other):
        return f"Both jobs spent about as long in I/O: {_seconds(one)} and {_seconds(other)}."
    longer, shorter = (names[0], names[1]) if one > other else (names[1], names[0])
    times = f"{written(high / low, 'factor')} as long" if low > 0 else "longer"
    return (
        f"Job {longer} spent {_seconds(high)} in I/O, {times} as job {shorter} ({_seconds(low)})."
    )


def _seconds(value: float) -> str:
    return written(value, "seconds")


def _blocks(rows: Sequence[Row], first: RunFacts, second: RunFacts) -> list[Block]:
    found = changes(second, [first])
    heads = [f"Job {_job_words.job_id(row)}" for row in rows]
    links = [address(f"/jobs/{row['id']}") for row in rows]
    words = [f"{change_words(one)[:1].upper()}{change_words(one)[1:]}." for one in found]
    settings = [
        Compared(one.name, one.name, (one.before, one.now), "code")
        for one in found
        if one.name.startswith("setting ")
    ]
    figures = [
        Compared(name, title, [getattr(one, name) for one in (first, second)], kind)
        for name, (title, kind) in FIGURES.items()
        if name != "io_seconds"
    ]
    of_rows = [
        Compared(
            name,
            title,
            [_value(row, name) for row in rows],
            kind,
            whys=[row["missing"].get(name, "") for row in rows],
        )
        for name, title, kind in _OF_ROW
    ]
    nothing = ["No recorded figure differs by more than a fifth."]
    return [
        Notice("changes", f"What is different in {heads[1][:1].lower()}{heads[1][1:]}",
               words or nothing),
        Comparison("figures", "Side by side", heads, [*of_rows, *figures, *settings],
                   links=links),
        Search("other", "", CompareJobs.path, [
            Field("a", "Job (its number in the address of its page)", str(rows[0]["id"]),
                  kind="number"),
            Field("b", "and job", str(rows[1]["id"]), kind="number"),
        ], button="Compare"),
    ]  # fmt: skip


def _value(row: Row, name: str) -> Any:
    value = row[name]
    return finding_words(value).title if name == "top_finding" and value else value
