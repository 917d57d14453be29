# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the evidence: all runs of baseline and best, and all runs over time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from stripewise.model import Measurement, RunEntry, RunRole, RunStatus, StudyResult
from stripewise.report import _svg
from stripewise.report._digest import baseline_runs, best_runs
from stripewise.report._text import format_interval, format_ratio, format_seconds, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROLES: tuple[tuple[frozenset[RunRole], str, str, str], ...] = (
    (frozenset({RunRole.WARM_UP}), "warm-up (not counted)", _svg.WARM_UP, "D"),
    (frozenset({RunRole.BASELINE, RunRole.PAIR_BASELINE}), "baseline", _svg.BASELINE, "o"),
    (frozenset({RunRole.TRIAL}), "trial", _svg.TRIAL, "^"),
    (frozenset({RunRole.PAIR_WINNER}), "{best}, fresh pairs", _svg.BEST, "s"),
    (
        frozenset({RunRole.UNSYNCED_BASELINE, RunRole.UNSYNCED_WINNER}),
        "without sync",
        _svg.MUTED,
        "P",
    ),
)


def evidence_figure(result: StudyResult, place: int = 0) -> Markup | None:
    """Draw all runs of baseline and best, and the ratio of each fresh pair.

    Args:
        result: Of a study of one command, or the view of one case.
        place: Of the case, so that figures on one page have names of their own.
    """
    rows = _rows(result)
    if not rows:
        return None
    ratios = [
        first.io_seconds / second.io_seconds
        for first, second in result.pairs
        if first.ok and second.ok and first.io_seconds > 0 and second.io_seconds > 0
    ]

    def paint(figure: Figure) -> None:
        figure.get_layout_engine().set(wspace=0.06)  # type: ignore[union-attr,call-arg]
        if ratios:
            left, right = figure.subplots(1, 2, width_ratios=(3, 2))
            _paint_ratios(right, ratios, result)
        else:
            left = figure.subplots()
        _paint_rows(left, rows)

    description = "I/O time of every run: " + "; ".join(
        f"{name}: {plural(len(times), 'run')}, median {format_seconds(statistics.median(times))}"
        for name, times, _, _ in rows
    )
    if ratios and result.speedup is not None:
        description += (
            f". Speed-up {format_ratio(result.speedup.median)}x {format_interval(result.speedup)}"
        )
    name = f"evidence-{place}" if place else "evidence"
    return _svg.draw(name, (10, 1.1 + 0.62 * len(rows)), description, paint)


_Row = tuple[str, list[float], str, str]


def _rows(result: StudyResult) -> list[_Row]:
    rows: list[_Row] = []

    def add(name: str, runs: Sequence[Measurement], colour: str, marker: str) -> None:
        times = [run.io_seconds for run in runs if run.ok]
        if times:
            rows.append((name, times, colour, marker))

    add("baseline", baseline_runs(result), _svg.BASELINE, "o")
    if result.improved:
        add("best", best_runs(result), _svg.BEST, "s")
    else:
        add("candidate", [second for _, second in result.pairs], _svg.TRIAL, "^")
    return rows


def _paint_rows(axes: Axes, rows: Sequence[_Row]) -> None:
    for y, (_, times, colour, marker) in enumerate(rows):
        offsets = [0.16 * ((i % 3) - 1) for i in range(len(times))]
        axes.plot(
            times,
            [y + offset for offset in offsets],
            marker,
            color=colour,
            alpha=0.85,
            markersize=7,
            markeredgecolor=_svg.PAPER,
            markeredgewidth=0.8,
            clip_on=False,
            zorder=3,
        )
        middle = statistics.median(times)
        axes.plot([middle, middle], [y - 0.34, y + 0.34], "-", color=_svg.INK, linewidth=2)
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.set_xlabel("I/O time of each run, s (bar: median)")
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x")
    axes.set_axisbelow(True)


def _paint_ratios(axes: Axes, ratios: Sequence[float], result: StudyResult) -> None:
    axes.axvline(1, color=_svg.MUTED, linewidth=1, linestyle=(0, (4, 3)))
    colour = _svg.BEST if result.improved else _svg.TRIAL
    speedup = result.speedup
    if speedup is not None and math.isfinite(speedup.low) and math.isfinite(speedup.high):
        axes.plot(
            [speedup.low, speedup.high],
            [0, 0],
            "-",
            color=colour,
            linewidth=9,
            alpha=0.3,
            solid_capstyle="butt",
        )
    if speedup is not None and math.isfinite(speedup.median):
        axes.plot([speedup.median] * 2, [-0.3, 0.3], "-", color=_svg.INK, linewidth=2)
    axes.plot(
        ratios,
        [0.0] * len(ratios),
        "o",
        color=colour,
        markersize=7,
        markeredgecolor=_svg.PAPER,
        markeredgewidth=0.8,
        zorder=3,
    )
    low, high = min([1.0, *ratios]), max([1.0, *ratios])
    margin = max(0.06 * (high - low), 0.03)
    axes.set_xlim(max(0.0, low - margin), high + margin)
    axes.set_ylim(-0.8, 0.8)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    name = "best" if result.improved else "candidate"
    axes.set_xlabel(f"baseline / {name}, each pair (1: no change)")
    axes.grid(True, axis="x")
    axes.set_axisbelow(True)


def timeline_figure(result: StudyResult) -> Markup | None:
    """Draw every run where it was made: when, how long, its I/O time, how it ended."""
    runs = [
        run
        for run in result.runs
        if run.measurement.status is not RunStatus.CANCELLED
        and run.measurement.started_unix_seconds > 0
    ]
    if not runs:
        return None
    start = min(run.measurement.started_unix_seconds for run in runs)
    end = max(r.measurement.started_unix_seconds + r.measurement.elapsed_seconds for r in runs)
    unit, scale = _time_unit(end - start)
    troubles = [run for run in runs if not run.measurement.ok]
    best = "best" if result.improved else "candidate"

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        top = max([r.measurement.io_seconds for r in runs if r.measurement.ok] or [1.0]) or 1.0
        for roles, label, colour, marker in _ROLES:
            chosen = [r for r in runs if r.role in roles and r.measurement.ok]
            _paint_runs(axes, chosen, (start, scale), (label.format(best=best), colour, marker))
        if troubles:
            _paint_troubles(axes, troubles, (start, scale), 1.14 * top)
        axes.set_ylim(0, (1.24 if troubles else 1.1) * top)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"{unit} since the first run (line: duration of the run)")
        axes.set_ylabel("I/O time, s")
        axes.tick_params(axis="y", labelcolor=_svg.MUTED)
        axes.grid(True, axis="both")
        axes.set_axisbelow(True)
        figure.legend(loc="outside upper left", ncols=7, handletextpad=0.1, columnspacing=1.0)

    description = (
        f"{plural(len(runs), 'run')} over {format_seconds(end - start)}, I/O time of each;"
        f" {plural(len(troubles), 'run')} failed or timed out"
    )
    return _svg.draw("timeline", (10, 3.9), description, paint)


def _paint_runs(
    axes: Axes,
    runs: Sequence[RunEntry],
    clock: tuple[float, float],
    look: tuple[str, str, str],
) -> None:
    if not runs:
        return
    start, scale = clock
    label, colour, marker = look
    begins = [(r.measurement.started_unix_seconds - start) / scale for r in runs]
    ends = [b + r.measurement.elapsed_seconds / scale for b, r in zip(begins, runs, strict=True)]
    heights = [r.measurement.io_seconds for r in runs]
    axes.hlines(heights, begins, ends, color=colour, linewidth=2.2, alpha=0.55)
    middles = [(b + e) / 2 for b, e in zip(begins, ends, strict=True)]
    axes.plot(
        middles,
        heights,
        marker,
        color=colour,
        markersize=6.5,
        markeredgecolor=_svg.PAPER,
        markeredgewidth=0.8,
        label=label,
        zorder=3,
    )


def _paint_troubles(
    axes: Axes, runs: Sequence[RunEntry], clock: tuple[float, float], height: float
) -> None:
    start, scale = clock
    for statuses, label, marker in (
        ((RunStatus.FAILED, RunStatus.UNSEEN), "failed", "x"),
        ((RunStatus.TIMEOUT,), "timed out", "|"),
    ):
        chosen = [r.measurement for r in runs if r.measurement.status in statuses]
        if not chosen:
            continue
        begins = [(m.started_unix_seconds - start) / scale for m in chosen]
        ends = [b + m.elapsed_seconds / scale for b, m in zip(begins, chosen, strict=True)]
        axes.hlines([height] * len(chosen), begins, ends, color=_svg.TROUBLE, linewidth=1.5)
        axes.plot(
            ends,
            [height] * len(chosen),
            marker,
            color=_svg.TROUBLE,
            markersize=10,
            markeredgewidth=2.4,
            label=label,
            zorder=4,
        )


def _time_unit(seconds: float) -> tuple[str, float]:
    if seconds < 300:
        return "Seconds", 1.0
    return ("Minutes", 60.0) if seconds < 3 * 3600 else ("Hours", 3600.0)
