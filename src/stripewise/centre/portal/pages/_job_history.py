# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows runs of the same program, and two jobs side by side with what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.centre.database.queries import (
    MOST_RUNS,
    AccessReason,
    Change,
    RunFacts,
    are_close,
    changes,
    facts_of_runs,
    find_job,
    typical,
)
from stripewise.centre.portal.pages import _jobs
from stripewise.centre.portal.pages._base import Page, PageRequest, address
from stripewise.centre.portal.pages._jobs import finding_words
from stripewise.core.errors import UsageError
from stripewise.core.regression import PastRun, are_alike
from stripewise.present.blocks import (
    Block,
    Chart,
    Column,
    Compared,
    Comparison,
    Content,
    Field,
    Line,
    Notice,
    Search,
    Table,
    written,
)

Row = Mapping[str, Any]
_MOST_NAMED = 3
"""Number of differences that the first sentence of a page names."""
FIGURES = {
    "io_seconds": ("I/O time", "seconds"), "bytes_per_second": ("I/O rate", "rate"),
    "read_bytes": ("Read", "bytes"), "write_bytes": ("Written", "bytes"),
    "meta_operations": ("Metadata operations", "count"), "file_count": ("Files", "count"),
    "rank_count": ("Ranks", "count"), "node_count": ("Nodes", "count"),
    "pattern": ("Main pattern", "code"), "stripes": ("Striping of most data", "text"),
    "file_system": ("File system of most data", "text"),
    "load_bytes_per_second": ("Load of the storage by all jobs", "rate"),
}  # fmt: skip
"""Title and kind of each field of `RunFacts`."""


def compared(job: Row, runs: Sequence[Row], facts: Mapping[int, RunFacts]) -> list[Block]:
    """Return how a job differs from the runs before it.

    Args:
        job: Row of the job.
        runs: Result of `list_runs`.
        facts: Result of `facts_of_runs` for these runs.
    """
    place = next((at for at, run in enumerate(runs) if run["id"] == job["id"]), 0)
    before = [facts[run["id"]] for run in runs[:place]]
    return _against(facts[job["id"]], before, place) if before else []


def _alike_before(job: Row, runs: Sequence[Row], facts: Mapping[int, RunFacts]) -> list[RunFacts]:
    """Return the runs before a job that were of similar size."""
    place = next((at for at, run in enumerate(runs) if run["id"] == job["id"]), 0)
    now = _past(facts[job["id"]])
    before = (facts[run["id"]] for run in runs[:place])
    return [one for one in before if are_alike(now, _past(one))]


def _past(one: RunFacts) -> PastRun:
    parts = (one.read_bytes, one.write_bytes)
    moved = None if None in parts else float(sum(part or 0 for part in parts))
    return PastRun(one.io_seconds, moved, one.rank_count)


def history(job: Row, runs: Sequence[Row]) -> list[Block]:
    """Return the runs around a job; for arguments see `compared`."""
    return [_chart(runs), _table(job, runs)] if len(runs) > 1 else []


def regression(job: Row, runs: Sequence[Row], facts: Mapping[int, RunFacts]) -> str:
    """Return in a sentence that a job was slower than its history and what differs, or "".

    For arguments see `compared`.
    """
    if job["slower_factor"] is None:
        return ""
    usual = written(job["usual_io_seconds"], "seconds")
    text = (
        f"I/O took {written(job['slower_factor'], 'factor')} its usual time: "
        f"{written(job['io_seconds'], 'seconds')} instead of {usual}, the median of "
        f"{job['earlier_count']} earlier runs of similar size. "
    )
    found = changes(facts[job["id"]], _alike_before(job, runs, facts))
    if not found:
        return f"{text}No recorded fact explains it."
    words = [change_words(one) for one in found[:_MOST_NAMED]]
    more = f"; and {len(found) - len(words)} more" if len(found) > len(words) else ""
    return f"{text}What differs: {'; '.join(words)}{more}."


def _against(now: RunFacts, before: Sequence[RunFacts], number: int) -> list[Block]:
    """Return a comparison of a run with those before it."""
    found = changes(now, before)
    usual = typical("io_seconds", before)
    runs = f"{'the last ' if number >= MOST_RUNS else ''}{number} earlier run{'s'[: number != 1]}"
    runs += " of this program by this user"
    text = [f"There {'is' if number == 1 else 'are'} {runs}."]
    if now.io_seconds is not None and usual is not None:
        text = [f"{_ratio(now.io_seconds, usual)} of {runs}."]
    text.append(_named(found, now.io_seconds, usual))
    rows = [_compared(one) for one in found]
    blocks: list[Block] = [Notice("changes_words", "Compared with earlier runs", text)]
    if rows:
        note = (
            "Medians of earlier runs; for text, the most common value. Unknown values are "
            "left out."
        )
        blocks.append(
            Comparison("changes", "What changed", ("Earlier runs", "This run"), rows, note)
        )
    return blocks


def _ratio(now: float, usual: float) -> str:
    """Return a comparison of an I/O time with the usual one, ending with "the median (4.00 s)"."""
    took, median = written(now, "seconds"), f"the median ({written(usual, 'seconds')})"
    if are_close(now, usual):
        return f"I/O took {took}, about as long as {median}"
    times = f"{written(now / usual, 'factor')} " if usual > 0 and now > 0 else ""
    if now > usual:
        return f"I/O took {took}, longer than before: {times}{median}"
    return f"I/O took {took}, less than before: {times}{median}"


def _named(found: Sequence[Change], now: float | None, usual: float | None) -> str:
    """Return what differs, or that nothing does."""
    if found:
        return "What differs: " + "; ".join(map(change_words, found)) + "."
    text = "Pattern, ranks, nodes, stripes, settings, bytes and load of the storage do not differ"
    text += ", as far as they are known"
    if now is None or usual is None or are_close(now, usual):
        return f"{text}."
    return f"{text}: none of these explains the time."


def change_words(change: Change) -> str:
    """Return one change in words: "ranks 64 instead of 32"."""
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
            "job": _jobs.job_id(run),
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


# Two jobs side by side, and what changed from one to the other.

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
    """Comparison of two jobs that the viewer sees."""

    path = "/jobs/compare"
    section = "My jobs"

    def build(self, request: PageRequest) -> Content | None:
        """Return the comparison of two jobs.

        Raises:
            UsageError: The query does not name two jobs.
        """
        rows = []
        for name in ("a", "b"):
            text = request.words.get(name, "").strip()
            if not text:
                raise UsageError(f"{name}: name two jobs, as in {self.path}?a=1&b=2")
            row = find_job(request.connection, request.viewer, _jobs.number_word(name, text))
            if row is None:
                return None
            rows.append(row)
        facts = facts_of_runs(request.connection, request.viewer, rows)
        first, second = (facts[row["id"]] for row in rows)
        looked = [row for row in rows if request.viewer.access_reason(row) is AccessReason.STAFF]
        names = [_jobs.job_id(row) for row in rows]
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
    heads = [f"Job {_jobs.job_id(row)}" for row in rows]
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
            Field("a", "Job (the number in the address of its page)", str(rows[0]["id"]),
                  kind="number"),
            Field("b", "and job", str(rows[1]["id"]), kind="number"),
        ], button="Compare"),
    ]  # fmt: skip


def _value(row: Row, name: str) -> Any:
    value = row[name]
    return finding_words(value).title if name == "top_finding" and value else value
