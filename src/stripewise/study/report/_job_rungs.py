# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names the rungs of a job script's study, and lists them in tables for people and programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stripewise.core import JobStorage, JobStudy, RungRun, TrialState
from stripewise.present import TextTable, finite, known, plural, printable
from stripewise.present.blocks import Column, Content, Table
from stripewise.present.renderers import as_csv
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
    """Rungs that differ in only one setting.

    Attributes:
        tunable: Tunable that is varied.
        runs: Runs by its value, ascending; for each value the one with the fastest I/O.
    """

    tunable: str
    runs: tuple[RungRun, ...]

    @property
    def fastest(self) -> RungRun:
        """Run with the shortest I/O time."""
        return min(self.runs, key=lambda run: run.io_seconds)

    @property
    def where(self) -> str:
        """Place of the files: "burst buffer, 2 nodes"."""
        return place(self.runs[0])


def place(run: RungRun) -> str:
    """Return the place of a run's files: "parallel file system", "hybrid, burst buffer of ..."."""
    if run.storage == JobStorage.PARALLEL_FILE_SYSTEM or not run.nodes:
        return printable(run.storage)
    between = "burst buffer of " if run.storage == JobStorage.HYBRID else ""
    return f"{printable(run.storage)}, {between}{plural(run.nodes, 'node')}"


def label(run: RungRun) -> str:
    """Return a short name of a rung: "12 BB 4"."""
    short = _SHORT.get(run.storage, run.storage)
    return printable(f"{run.number} {short} {run.nodes or ''}".strip())


def name(run: RungRun) -> str:
    """Return the name of a rung in a sentence: "the baseline", "run 12"."""
    return f"run {run.number}" if run.number else "the baseline"


def what_was_set(run: RungRun) -> str:
    """Return the settings of a rung without burst-buffer nodes: "cb_nodes=64", "defaults"."""
    beside = {n: v for n, v in run.settings.items() if n != "job.burst_buffer_nodes"}
    return format_settings(beside) or "defaults"


def state_word(run: RungRun) -> str:
    """Return how a rung ended: "measured", "stopped early", "failed"."""
    if run.state == TrialState.COMPLETE:
        return "measured" if run.ok else "not measured"
    return "stopped early" if run.state == TrialState.HOPELESS else printable(run.state)


def series(study: JobStudy) -> dict[str, list[RungRun]]:
    """Return the three series of bandwidth by nodes, with the best run for each number of nodes.

    The series of the parallel file system has one run: the fastest.
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
    """Return the value of a tunable that is swept; None without one."""
    return run.aggregators if tunable == AGGREGATORS else run.striping_unit_bytes


def settings_but(run: RungRun, tunable: str) -> frozenset[tuple[str, object]]:
    """Return the settings of a run except one tunable, which comparable runs share."""
    return frozenset((n, v) for n, v in run.settings.items() if split_scope(n)[0] != tunable)


def sweeps(runs: Sequence[RungRun], tunable: str) -> Iterator[Sweep]:
    """Yield the sweeps of a tunable with at least two values, the longest sweep first."""
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


# Tables of a job script's rungs: for the terminal, pages, awk and spreadsheets.

WIDTH = 80
_FILE_COLUMNS = (
    Column("run", "Run", "id"),
    Column("storage", "Files"),
    Column("BB_nodes", "Burst-buffer nodes", "count"),
    Column("IO_aggregators", "Aggregators", "count"),
    Column("striping_unit_bytes", "Striping unit", "bytes"),
    Column("striping_buffer_bytes", "Buffer", "bytes"),
    Column("ranks", "Ranks", "count"),
    Column("threads", "Threads", "count"),
    Column("io_seconds", "I/O time", "seconds"),
    Column("time_seconds", "Whole run", "seconds"),
    Column("stage_in_seconds", "Stage-in", "seconds"),
    Column("stage_out_seconds", "Stage-out", "seconds"),
    Column("bandwidth_bytes_per_second", "Bandwidth", "rate"),
    Column("system_writes", "System writes", "count"),
    Column("io_speedup", "Speed-up of the I/O", "factor"),
    Column("state", ""),
    Column("studied_file", ""),
    Column("settings", ""),
    Column("reason", ""),
)
"""Columns of `rungs.csv`; pages show those with a title, and the last ones as words."""
_OF_CSV_ALONE = ("settings", "reason")
_WORD_COLUMNS = (Column("set", "Settings"), Column("outcome", "Outcome"))
_TERMINAL_COLUMNS = (
    Column("label", "run"),
    Column("IO_aggregators", "aggregators", "count"),
    Column("striping_unit_bytes", "striping", "bytes"),
    Column("striping_buffer_bytes", "buffer", "bytes"),
    Column("io", "I/O", "figure"),
    Column("time_seconds", "whole run", "seconds"),
    Column("system_writes", "writes", "count"),
    Column("io_speedup", "speed-up", "factor"),
)
MOST_ROWS = 500


def page_table(study: JobStudy) -> Table:
    """Return the table of all rungs for a page."""
    columns = [one for one in _FILE_COLUMNS if one.title]
    columns[1:1] = _WORD_COLUMNS
    rows = [_row(run, study) for run in study.runs[:MOST_ROWS]]
    return Table("job-runs", "", columns, rows, total="Every configuration")


def terminal_table(study: JobStudy) -> Table:
    """Return the table of all rungs for a terminal of 80 columns."""
    best = "; *: best" if study.best_run is not None else ""
    rows = [_row(run, study) for run in study.runs]
    return Table("job-runs", "", _TERMINAL_COLUMNS, rows, f"({SHORT_WORDS}{best})")


def _file_table(study: JobStudy) -> Table:
    return Table("rungs", "", _FILE_COLUMNS, [_row(run, study) for run in study.runs])


def _row(run: RungRun, study: JobStudy) -> dict[str, Any]:
    is_best = run.number == study.best
    row = {
        "run": run.number,
        "storage": str(run.storage),
        "BB_nodes": run.nodes,
        "IO_aggregators": run.aggregators or None,
        "striping_unit_bytes": run.striping_unit_bytes,
        "striping_buffer_bytes": run.buffer_bytes,
        "ranks": run.ranks,
        "threads": run.threads,
        "io_seconds": run.io_seconds,
        "time_seconds": run.elapsed_seconds,
        "stage_in_seconds": run.stage_in_seconds,
        "stage_out_seconds": run.stage_out_seconds,
        "bandwidth_bytes_per_second": run.bandwidth_bytes_per_second,
        "system_writes": run.system_writes,
        "io_speedup": 1 / run.io_ratio if 0 < run.io_ratio < math.inf else None,
        "state": str(run.state),
        "studied_file": run.studied_file,
        "settings": " ".join(f"{key}={hint_text(value)}" for key, value in run.settings.items()),
        "reason": run.reason,
        "set": what_was_set(run),
        "outcome": f"{state_word(run)}{' (best)' if is_best else ''}",
        "label": f"{label(run)}{' *' if is_best else ''}",
        "io": known(run.io_seconds, unknown="–") if run.ok else state_word(run),
        "look": "best" if is_best else "" if run.ok else "failed",
    }
    clean: dict[str, Any] = finite(row)
    return clean


def rungs_text(study: JobStudy) -> str:
    """Return `rungs.txt`: comments that begin with #, a header, a row for each rung.

    No cell contains a blank, so that awk can read it; "-" stands for an unknown value.
    """
    names = [one.name for one in _FILE_COLUMNS if one.name not in _OF_CSV_ALONE]
    rows = [[_word(row[name]) for name in names] for row in _file_table(study).rows]
    (lines,) = TextTable(names, rows).blocks()
    comments = [f"# job script {printable(study.script)}, step {study.step}"]
    if study.best is not None:
        comments.append(f"# best run {study.best}")
    if study.hints:
        comments.append(f"# {printable(study.hints)}")
    return "\n".join([*comments, *lines]) + "\n"


def rungs_csv(study: JobStudy) -> str:
    """Return `rungs.csv`: also with the settings and the rule; unknown cells are empty."""
    return as_csv(Content("", blocks=[_file_table(study)]))


def _word(value: Any) -> str:
    """Return a cell without blanks; "-" for an empty one."""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = "-" if value in (None, "") else printable(str(value))
    return "_".join(text.split()) or "-"
