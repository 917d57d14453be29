# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the same program by the same user, and what changed since the earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import MOST_RUNS, Change, RunFacts, are_close, changes, typical
from stripewise.web._urls import address
from stripewise.web._words import written
from stripewise.web.content import (
    Block,
    Chart,
    Column,
    Compared,
    Comparison,
    Line,
    Notice,
    Table,
)
from stripewise.web.pages import _job_words

Row = Mapping[str, Any]
FIGURES = {
    "io_seconds": ("I/O time", "seconds"), "bytes_per_second": ("I/O rate", "rate"),
    "read_bytes": ("Read", "bytes"), "write_bytes": ("Written", "bytes"),
    "meta_operations": ("Metadata operations", "count"), "file_count": ("Files", "count"),
    "rank_count": ("Ranks", "count"), "node_count": ("Nodes", "count"),
    "pattern": ("Main pattern", "code"), "stripes": ("Stripes of most data", "text"),
    "load_bytes_per_second": ("Load of the storage by all jobs", "rate"),
}  # fmt: skip
"""Field of `RunFacts` -> title and kind."""


def history(job: Row, runs: Sequence[Row], facts: Mapping[int, RunFacts]) -> list[Block]:
    """Return the runs around a job, and what is different in it.

    Args:
        job: Its row.
        runs: Of `list_runs`.
        facts: Of `facts_of_runs` for these.
    """
    if len(runs) < 2:
        return []
    place = next(at for at, run in enumerate(runs) if run["id"] == job["id"])
    before = [facts[run["id"]] for run in runs[:place]]
    found: list[Block] = []
    if before:
        found += _against(facts[job["id"]], before, place)
    return [*found, _chart(runs), _table(job, runs)]


def _against(now: RunFacts, before: Sequence[RunFacts], number: int) -> list[Block]:
    """Compare a run with those before it."""
    found = changes(now, before)
    usual = typical("io_seconds", before)
    runs = f"{'the last ' if number >= MOST_RUNS else ''}{number} earlier run{'s'[: number != 1]}"
    runs += " of this program by this user"
    text = [f"There {'is' if number == 1 else 'are'} {runs}."]
    if now.io_seconds is not None and usual is not None:
        text = [f"{_ratio(now.io_seconds, usual)} of {runs}."]
    text.append(_named(found, now.io_seconds, usual))
    rows = [_compared(one) for one in found]
    blocks: list[Block] = [Notice("changes_words", "Against the runs before", text)]
    if rows:
        note = (
            "Medians of earlier runs; of words the most common one. What is not known is left out."
        )
        blocks.append(
            Comparison("changes", "What changed", ("Runs before", "This run"), rows, note)
        )
    return blocks


def _ratio(now: float, usual: float) -> str:
    """Compare an I/O time with the usual one; ends with "the median (4.00 s)"."""
    took, median = written(now, "seconds"), f"the median ({written(usual, 'seconds')})"
    if are_close(now, usual):
        return f"I/O took {took}, about as long as {median}"
    times = f"{written(now / usual, 'factor')} " if usual > 0 and now > 0 else ""
    if now > usual:
        return f"I/O took {took}, longer than before: {times}{median}"
    return f"I/O took {took}, less than before: {times}{median}"


def _named(found: Sequence[Change], now: float | None, usual: float | None) -> str:
    """Name what differs, or say that nothing does."""
    if found:
        return "What differs: " + "; ".join(map(change_words, found)) + "."
    text = "Pattern, ranks, nodes, stripes, settings, bytes and load of the storage do not differ"
    text += ", as far as they are known"
    if now is None or usual is None or are_close(now, usual):
        return f"{text}."
    return f"{text}: none of these explains the time."


def change_words(change: Change) -> str:
    """Say one change: "ranks 64 instead of 32"."""
    title, kind = _title(change.name)
    title = title[:1].lower() + title[1:] if not change.name.startswith("setting ") else title
    return f"{title} {written(change.now, kind)} instead of {written(change.before, kind)}"


def _compared(change: Change) -> Compared:
    title, kind = _title(change.name)
    return Compared(change.name, title, (change.before, change.now), kind)


def _title(name: str) -> tuple[str, str]:
    return FIGURES.get(name) or (name, "code")


def _chart(runs: Sequence[Row]) -> Chart:
    return Chart(
        "history_chart",
        "I/O time of these runs",
        [run["start_at"] for run in runs],
        [
            Line("io_seconds", "I/O time", [run["io_seconds"] for run in runs]),
            Line("avoidable_seconds", "Avoidable", [run["avoidable_seconds"] for run in runs]),
        ],
        "seconds",
        description="One point for each run of this program by this user.",
        style="points",
    )


def _table(job: Row, runs: Sequence[Row]) -> Table:
    rows = [
        {
            **run,
            "job": _job_words.job_id(run),
            "job_url": address(f"/jobs/{run['id']}"),
            "is_this": "this job" if run["id"] == job["id"] else "compare",
            "compare_url": ""
            if run["id"] == job["id"]
            else address("/jobs/compare", {"a": job["id"], "b": run["id"]}),
        }
        for run in reversed(runs)
    ]
    return Table(
        "history",
        "Runs of the same program",
        [
            Column("job", "Job", link="job_url"),
            Column("start_at", "Started (UTC)", "moment"),
            Column("state", "State"),
            Column("rank_count", "Ranks", "count"),
            Column("node_count", "Nodes", "count"),
            Column("run_seconds", "Run time", "seconds"),
            Column("io_seconds", "I/O time", "seconds"),
            Column("bytes_per_second", "I/O rate", "rate"),
            Column("avoidable_seconds", "Avoidable", "seconds"),
            Column("no_data_reason", "Why no figures"),
            Column("is_this", "Compare", link="compare_url"),
        ],
        rows,
        note=f"Up to {MOST_RUNS} runs before this one and as many after it.",
    )
