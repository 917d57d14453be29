# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Cray MPICH printed of the baseline's files and of the best run's, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stripewise.model import (
    JobStudy,
    Measurement,
    MpiioFigure,
    MpiioFile,
    MpiioSide,
    StudyResult,
)
from stripewise.report._columns import TextTable
from stripewise.report._digest import baseline_runs, best_runs
from stripewise.report._text import format_bandwidth, format_bytes, significant
from stripewise.text import printable

MOST_FILES = 8
_Told = Iterator[tuple[str, str, float | None]]
_UNKNOWN = "–"
_WHOLE = ("total", "open/close/trunc time")
_FIELDS = (
    ("collective {}s", "calls", "collective"),
    ("independent {}s", "calls", "independent"),
    ("aggregators", "", "aggregators"),
    ("stripe count", "", "stripe_count"),
    ("stripe size", "B", "stripe_bytes"),
    ("system {}s", "calls", "system_calls"),
    ("stripe-sized system {}s", "calls", "stripe_sized"),
    ("mean system {}", "B", "average_bytes"),
    ("reads before {}s", "calls", "modify_reads"),
    ("gaps between system {}s", "", "gaps"),
)


def mpiio_figures(result: StudyResult) -> tuple[MpiioFigure, ...]:
    """Compare the largest files of the last baseline run and of the last best run.

    The best run's are missing where no configuration won; nothing is returned where MPI printed
    nothing.
    """
    before = _printed(baseline_runs(result))
    after = _printed(best_runs(result)) if result.improved else {}
    names = list(dict.fromkeys([*before, *after]))[:MOST_FILES]
    return tuple(
        figure for name in names for figure in _of_file(name, before.get(name), after.get(name))
    )


def _printed(runs: Sequence[Measurement]) -> dict[str, MpiioFile]:
    last = next((run.mpiio for run in reversed(runs) if run.ok and run.mpiio), ())
    return {file.path: file for file in last}


def _of_file(
    path: str, before: MpiioFile | None, after: MpiioFile | None
) -> Iterator[MpiioFigure]:
    one = {(name, unit): value for name, unit, value in _told(before)}
    two = {(name, unit): value for name, unit, value in _told(after)}
    for name, unit in dict.fromkeys([*one, *two]):
        values = one.get((name, unit)), two.get((name, unit))
        if any(value is not None for value in values):
            yield MpiioFigure(path, name, unit, *values)


def _told(file: MpiioFile | None) -> _Told:
    if file is None:
        return
    for direction, side in (("write", file.write), ("read", file.read)):
        if side is not None:
            yield from _of_side(direction, side)
        yield from _of_timers(direction, file)


def _of_side(direction: str, side: MpiioSide) -> _Told:
    for name, unit, field in _FIELDS:
        text = name.format(direction)
        yield text if direction in text else f"{text}, {direction}s", unit, getattr(side, field)


def _of_timers(direction: str, file: MpiioFile) -> _Told:
    """Yield shares of the time and rates, of all ranks where there is a block of these."""
    blocks = [block for block in file.timers if block.direction == direction]
    blocks.sort(key=lambda block: block.scale != "all ranks")
    for block in blocks[:1]:
        for phase in block.phases:
            if phase.share is not None and phase.name not in _WHOLE:
                yield f"time in {phase.name}, {direction}s", "%", 100 * phase.share
        yield f"data send rate, {direction}s", "B/s", block.data_send_bytes_per_second
        yield f"raw {direction} rate", "B/s", block.raw_bytes_per_second
        yield f"net {direction} rate", "B/s", block.net_bytes_per_second


def figure_text(value: float | None, unit: str) -> str:
    """Write a figure as people read it."""
    if value is None:
        return _UNKNOWN
    if unit == "B":
        return format_bytes(value)
    if unit == "B/s":
        return format_bandwidth(value)
    return f"{significant(value)} %" if unit == "%" else f"{value:.0f}"


def mpiio_text(study: JobStudy) -> str:
    """Return `mpiio.txt`: a table of each file."""
    lines = ["What Cray MPICH printed of the last baseline run and of the last best run"]
    for path in dict.fromkeys(figure.file for figure in study.mpiio):
        rows = [
            [
                one.name,
                figure_text(one.before, one.unit),
                figure_text(one.after, one.unit),
            ]
            for one in study.mpiio
            if one.file == path
        ]
        (table,) = TextTable(["figure", "baseline", "best"], rows).blocks()
        lines += ["", printable(path), *table]
    return "\n".join(lines) + "\n"
