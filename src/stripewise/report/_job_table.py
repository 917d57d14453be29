# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The rungs of a job script's study as tables: for the terminal, for awk, for a spreadsheet."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from typing import Any

from stripewise.model import JobStudy, RungRun
from stripewise.report._columns import Columns, TextTable
from stripewise.report._job_rungs import (
    SHORT_WORDS,
    label,
    size_or_dash,
    speedup_text,
    state_word,
)
from stripewise.report._text import known
from stripewise.text import csv_cell, finite, printable
from stripewise.tunables import hint_text

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
