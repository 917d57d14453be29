# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names the rungs of a job script's study, and lists them in tables for people and programs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stripewise.core import JobStorage, JobStudy, RungRun, TrialState
from stripewise.present import (
    Columns,
    TextTable,
    csv_cell,
    finite,
    known,
    plural,
    printable,
    ratio_text,
    size_text,
)
from stripewise.settings.tunables import format_settings, hint_text, split_scope

DEFAULT_SERIES = "burst buffer, default"
TUNED_SERIES = "burst buffer, tuned"
FILE_SYSTEM_SERIES = "parallel file system"
AGGREGATORS, STRIPING_UNIT = "mpiio.cb_nodes", "mpiio.striping_unit"
FILES = "job.burst_buffer_files"
_SHORT: dict[str, str] = {
    JobStorage.PARALLEL_FILE_SYSTEM: "PFS",
    JobStorage.BURST_BUFFER: "BB",
    JobStorage.HYBRID: "HY",
}
SHORT_WORDS = "PFS: parallel file system; BB n: burst buffer of n nodes; HY n: hybrid"


@dataclass(frozen=True)
class Sweep:
    """Rungs that differ in one setting alone.

    Attributes:
        tunable: What is varied.
        runs: By its value, ascending; each value once, the fastest I/O of it.
    """

    tunable: str
    runs: tuple[RungRun, ...]

    @property
    def fastest(self) -> RungRun:
        """The one with the shortest I/O time."""
        return min(self.runs, key=lambda run: run.io_seconds)

    @property
    def where(self) -> str:
        """Where its files lay: "burst buffer, 2 nodes"."""
        return place(self.runs[0])


def place(run: RungRun) -> str:
    """Say where the files lay: "parallel file system", "hybrid, burst buffer of 2 nodes"."""
    if run.storage == JobStorage.PARALLEL_FILE_SYSTEM or not run.nodes:
        return printable(run.storage)
    between = "burst buffer of " if run.storage == JobStorage.HYBRID else ""
    return f"{printable(run.storage)}, {between}{plural(run.nodes, 'node')}"


def label(run: RungRun) -> str:
    """Name a rung where there is little room: "12 BB 4"."""
    short = _SHORT.get(run.storage, run.storage)
    return printable(f"{run.number} {short} {run.nodes or ''}".strip())


def name(run: RungRun) -> str:
    """Name a rung in a sentence: "the baseline", "run 12"."""
    return f"run {run.number}" if run.number else "the baseline"


def what_was_set(run: RungRun) -> str:
    """Say its settings beside the burst buffer's nodes: "cb_nodes=64", "defaults"."""
    beside = {n: v for n, v in run.settings.items() if n != "job.burst_buffer_nodes"}
    return format_settings(beside) or "defaults"


def state_word(run: RungRun) -> str:
    """Say how a rung ended: "measured", "stopped early", "failed"."""
    if run.state == TrialState.COMPLETE:
        return "measured" if run.ok else "no figure"
    return "stopped early" if run.state == TrialState.HOPELESS else printable(run.state)


def speedup_text(run: RungRun) -> str:
    """Format its I/O speed-up over the baseline: 3.8x; "–" without a figure."""
    return f"{ratio_text(1 / run.io_ratio)}x" if 0 < run.io_ratio < float("inf") else "–"


def size_or_dash(size_bytes: int | None) -> str:
    """Format a size, "–" where it is not known."""
    return size_text(size_bytes) if size_bytes is not None else "–"


def series(study: JobStudy) -> dict[str, list[RungRun]]:
    """Return the three series of bandwidth against nodes: the best run of each, by nodes.

    The one of the parallel file system has one run: the fastest.
    """
    found: dict[str, dict[int, RungRun]] = {}
    for run in study.runs:
        if not run.ok or not run.bandwidth_bytes_per_second > 0:
            continue
        known = found.setdefault(_series_of(run), {})
        key = run.nodes if run.storage != JobStorage.PARALLEL_FILE_SYSTEM else 0
        best = known.get(key)
        if best is None or run.bandwidth_bytes_per_second > best.bandwidth_bytes_per_second:
            known[key] = run
    order = (DEFAULT_SERIES, TUNED_SERIES, FILE_SYSTEM_SERIES)
    return {
        one: [found[one][nodes] for nodes in sorted(found[one])] for one in order if one in found
    }


def _series_of(run: RungRun) -> str:
    if run.storage == JobStorage.PARALLEL_FILE_SYSTEM:
        return FILE_SYSTEM_SERIES
    return DEFAULT_SERIES if run.is_default else TUNED_SERIES


def swept(run: RungRun, tunable: str) -> int | None:
    """Return the value of a tunable that is swept."""
    return run.aggregators if tunable == AGGREGATORS else run.striping_unit_bytes


def settings_but(run: RungRun, tunable: str) -> frozenset[tuple[str, object]]:
    """Return the settings of a run without one tunable: what it must share to be compared."""
    return frozenset((n, v) for n, v in run.settings.items() if split_scope(n)[0] != tunable)


def sweeps(runs: Sequence[RungRun], tunable: str) -> Iterator[Sweep]:
    """Yield the sweeps of a tunable with two values or more; the one with most values first."""
    groups: dict[object, dict[int, RungRun]] = {}
    for run in runs:
        value = swept(run, tunable)
        if not run.ok or not value:
            continue
        key = (run.storage, run.nodes, run.ranks, run.threads, settings_but(run, tunable))
        known = groups.setdefault(key, {})
        if value not in known or run.io_seconds < known[value].io_seconds:
            known[value] = run
    found = [
        Sweep(tunable, tuple(known[value] for value in sorted(known)))
        for known in groups.values()
        if len(known) > 1
    ]
    yield from sorted(found, key=lambda sweep: -len(sweep.runs))


# The rungs of a job script's study as tables: for the terminal, for awk, for a spreadsheet.

WIDTH = 80
_Column = tuple[str, Callable[[RungRun], Any]]


def table_lines(study: JobStudy, width: int = WIDTH) -> list[str]:
    """Return the table of every rung for a terminal; a narrow one gets it in blocks."""
    columns: Columns[RungRun] = (
        ("run", lambda run: label(run) + (" *" if run.number == study.best else "")),
        ("aggregators", lambda run: str(run.aggregators or "–")),
        ("striping", lambda run: size_or_dash(run.striping_unit_bytes)),
        ("buffer", lambda run: size_or_dash(run.buffer_bytes)),
        ("I/O", lambda run: known(run.io_seconds, unknown="–") if run.ok else state_word(run)),
        ("whole run", lambda run: known(run.elapsed_seconds, unknown="–")),
        ("writes", lambda run: str(run.system_writes or "–")),
        ("speed-up", speedup_text),
    )
    blocks = list(TextTable.of(columns, study.runs).blocks(width))
    lines = [line for block in blocks for line in (*block, "")][:-1]
    best = ["*: best"] if study.best_run is not None else []
    return [*lines, f"({SHORT_WORDS})", *best]


_TEXT_COLUMNS: tuple[_Column, ...] = (
    ("run", lambda run: run.number),
    ("storage", lambda run: run.storage),
    ("BB_nodes", lambda run: run.nodes),
    ("IO_aggregators", lambda run: run.aggregators),
    ("striping_unit_bytes", lambda run: run.striping_unit_bytes),
    ("striping_buffer_bytes", lambda run: run.buffer_bytes),
    ("ranks", lambda run: run.ranks),
    ("threads", lambda run: run.threads),
    ("io_seconds", lambda run: run.io_seconds),
    ("time_seconds", lambda run: run.elapsed_seconds),
    ("stage_in_seconds", lambda run: run.stage_in_seconds),
    ("stage_out_seconds", lambda run: run.stage_out_seconds),
    ("bandwidth_bytes_per_second", lambda run: run.bandwidth_bytes_per_second),
    ("system_writes", lambda run: run.system_writes),
    ("io_speedup", lambda run: 1 / run.io_ratio if run.io_ratio > 0 else math.nan),
    ("state", lambda run: run.state),
    ("studied_file", lambda run: run.studied_file),
)


def rungs_text(study: JobStudy) -> str:
    """Return `rungs.txt`: comments that begin with #, a header, a row for each rung.

    No cell holds a blank, so that awk can read it; "-" is what is not known.
    """
    rows = [[_word(show(run)) for _, show in _TEXT_COLUMNS] for run in study.runs]
    table = TextTable([heading for heading, _ in _TEXT_COLUMNS], rows)
    (lines,) = table.blocks()
    comments = [f"# job script {printable(study.script)}, step {study.step}"]
    if study.best is not None:
        comments.append(f"# best run {study.best}")
    if study.hints:
        comments.append(f"# {printable(study.hints)}")
    return "\n".join([*comments, *lines]) + "\n"


def rungs_csv(study: JobStudy) -> str:
    """Return `rungs.csv`: the same with the settings and the rule; unknown cells are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(heading for heading, _ in _TEXT_COLUMNS), "settings", "reason"])
    for run in study.runs:
        settings = " ".join(f"{one}={hint_text(value)}" for one, value in run.settings.items())
        values = [*(show(run) for _, show in _TEXT_COLUMNS), settings, run.reason]
        writer.writerow([_cell(value) for value in values])
    return text.getvalue()


def _cell(value: Any) -> Any:
    value = finite(value)
    if isinstance(value, float):
        return f"{value:.9g}"
    return "" if value is None else csv_cell(str(value) if isinstance(value, str) else value)


def _word(value: Any) -> str:
    """Return a cell without blanks; "-" for nothing."""
    value = finite(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    text = "-" if value in (None, "") else printable(str(value))
    return "_".join(text.split()) or "-"
