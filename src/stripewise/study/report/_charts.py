# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the runs of a study over time, its pairs, and the effect of each tunable."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stripewise.core import (
    Measurement,
    RunEntry,
    RunRole,
    RunStatus,
    StudyResult,
    Trial,
    TrialState,
    Value,
)
from stripewise.present import (
    Chart,
    Spec,
    chart,
    interval_text,
    plural,
    ratio_text,
    seconds_text,
    time_unit,
    value_text,
)
from stripewise.settings.tunables import format_settings, setting_name
from stripewise.study.report._digest import baseline_runs, best_runs

_WITHOUT_SYNC = "without sync"
_ROLES = {
    RunRole.WARM_UP: "warm-up (not counted)",
    RunRole.BASELINE: "baseline",
    RunRole.PAIR_BASELINE: "baseline",
    RunRole.TRIAL: "trial",
    RunRole.PAIR_WINNER: "{best}, fresh pairs",
    RunRole.REFERENCE: "other default",
    RunRole.REFERENCE_WINNER: "{best}, fresh pairs",
    RunRole.UNSYNCED_BASELINE: _WITHOUT_SYNC,
    RunRole.UNSYNCED_WINNER: _WITHOUT_SYNC,
}
_ENDS = {RunStatus.TIMEOUT: "timed out"}
Look = tuple[str, str]
"""Colour and shape of a mark."""
_LOOKS: dict[str, Look] = {
    "warm-up (not counted)": (chart.WARM_UP, "diamond"),
    "baseline": (chart.BASELINE, "circle"),
    "trial": (chart.TRIAL, "triangle-up"),
    "{best}, fresh pairs": (chart.BEST, "square"),
    _WITHOUT_SYNC: (chart.MUTED, "cross"),
    "failed": (chart.TROUBLE, "triangle-down"),
    "timed out": (chart.TROUBLE, "stroke"),
}
_TICK: Spec = {"color": chart.INK, "thickness": 2, "size": 26}


def evidence_chart(result: StudyResult) -> Chart | None:
    """Draw all runs of the baseline and the best, and the speed-up of each confirmation pair."""
    runs = _runs(result)
    if not runs:
        return None
    ratios = [
        first.io_seconds / second.io_seconds
        for first, second in result.pairs
        if first.ok and second.ok and first.io_seconds > 0 and second.io_seconds > 0
    ]
    parts = [_strips(runs, result.improved)]
    description = "I/O time of every run: " + "; ".join(
        f"{name}: {plural(len(times), 'run')}, median {seconds_text(statistics.median(times))}"
        for name, times in runs.items()
    )
    if ratios:
        parts.append(_ratios(ratios, result))
    if ratios and result.speedup is not None:
        interval = interval_text(result.speedup)
        description += f". Speed-up {ratio_text(result.speedup.median)}x {interval}"
    return Chart(chart.column(*parts), description)


def _runs(result: StudyResult) -> dict[str, list[float]]:
    """Return the I/O times of the baseline and of the configuration compared with it."""
    named = {"baseline": baseline_runs(result)}
    if result.improved:
        named["best"] = best_runs(result)
    else:
        named["candidate"] = tuple(second for _, second in result.pairs)
    times = {name: [run.io_seconds for run in runs if run.ok] for name, runs in named.items()}
    return {name: values for name, values in times.items() if values}


def _strips(runs: dict[str, list[float]], improved: bool) -> Spec:
    rows = [
        {"what": name, "seconds": seconds, "run": f"{number} of {len(times)}", "place": number % 3}
        for name, times in runs.items()
        for number, seconds in enumerate(times, 1)
    ]
    colours = [chart.BASELINE, chart.BEST if improved else chart.TRIAL]
    scale = {"domain": list(runs), "range": colours[: len(runs)]}
    y = chart.category("what", sort=None, title=None)
    x = chart.number("seconds", "I/O time of each run, s (bar: median)", scale={"zero": True})
    tips = chart.tips(what="configuration", run="run")
    points = chart.points(
        {
            **{"x": x, "y": y, "color": chart.category("what", legend=None, scale=scale)},
            "yOffset": {"field": "place", "type": "quantitative", "scale": {"domain": [-2, 4]}},
            "tooltip": [*tips, chart.tip("seconds", "I/O time, s")],
        },
        opacity=0.75,
    )
    medians = chart.layer("tick", {"x": {**x, "aggregate": "median"}, "y": y}, **_TICK)
    return chart.layers(rows, points, medians, height=58 * len(runs))


def _ratios(ratios: Sequence[float], result: StudyResult) -> Spec:
    name = "best" if result.improved else "candidate"
    colour = chart.BEST if result.improved else chart.TRIAL
    rows = [{"ratio": ratio, "pair": number} for number, ratio in enumerate(ratios, 1)]
    title = f"speed-up by {name} in each pair (band: interval)"
    x, y = chart.number("ratio", title, scale={"zero": False}), {"value": 22}
    tooltip = [*chart.tips(pair="pair"), chart.tip("ratio", "speed-up")]
    parts: list[Spec] = [
        chart.points(
            {"x": x, "y": y, "color": {"value": colour}, "tooltip": tooltip}, opacity=0.75
        ),
        chart.constant("rule", {"x": {"datum": 1}}, strokeDash=[4, 3], color=chart.MUTED),
    ]
    found = result.speedup
    if found is not None and math.isfinite(found.low) and math.isfinite(found.high):
        ends = {"x": {"datum": found.low}, "x2": {"datum": found.high}, "y": y}
        parts.insert(0, chart.constant("rule", ends, strokeWidth=12, opacity=0.25, color=colour))
    if found is not None and math.isfinite(found.median):
        parts.append(chart.constant("tick", {"x": {"datum": found.median}, "y": y}, **_TICK))
    return chart.layers(rows, *parts, height=44)


def timeline_chart(result: StudyResult) -> Chart | None:
    """Draw every run: its start, its duration, its I/O time and how it ended."""
    runs = [
        run
        for run in result.runs
        if run.measurement.status is not RunStatus.CANCELLED
        and run.measurement.started_unix_seconds > 0
    ]
    if not runs:
        return None
    start = min(run.measurement.started_unix_seconds for run in runs)
    end = max(_end(run.measurement) for run in runs)
    unit, length = time_unit(end - start)
    best = "best" if result.improved else "candidate"
    top = max([r.measurement.io_seconds for r in runs if r.measurement.ok] or [1.0])
    settings = {trial.number: format_settings(trial.settings) for trial in result.trials}
    rows = [_row(run, (start, length), (best, 1.1 * top), settings) for run in runs]
    used = {str(row["role"]) for row in rows}
    looks = {name.format(best=best): look for name, look in _LOOKS.items()}
    looks = {name: look for name, look in looks.items() if name in used}
    troubles = sum(not run.measurement.ok for run in runs)
    description = f"{plural(len(runs), 'run')} over {seconds_text(end - start)}, I/O time of each"
    if troubles:
        description += f"; {plural(troubles, 'run')} failed or timed out"
    return Chart(chart.column(_timeline(rows, looks, unit)), description)


def _row(
    run: RunEntry, clock: tuple[float, float], words: tuple[str, float], settings: dict[int, str]
) -> dict[str, Any]:
    """Return the chart row of a run: its coordinates and its tooltip."""
    found, (start, unit), (best, height) = run.measurement, clock, words
    begin, end = (found.started_unix_seconds - start) / unit, (_end(found) - start) / unit
    name = f"{run.case}: " if run.case else ""
    name += f"trial {run.trial_number}" if run.trial_number else run.role.value
    pair = f", pair {run.pair_number}" if run.pair_number else ""
    role = _ROLES[run.role].format(best=best) if found.ok else _ENDS.get(found.status, "failed")
    return {
        **{"from": begin, "to": end, "at": (begin + end) / 2, "role": role, "run": name + pair},
        "seconds": found.io_seconds if found.ok else height,
        "io": seconds_text(found.io_seconds) if found.ok else "none",
        "whole": seconds_text(found.elapsed_seconds),
        "settings": settings.get(run.trial_number or 0, "") or "defaults",
        "ended": found.status.value,
    }


def _timeline(rows: list[dict[str, Any]], looks: Mapping[str, Look], unit: str) -> Spec:
    y = chart.number("seconds")
    title = f"{unit} since the first run (line: duration of the run)"
    look = looked("role", looks, 2)
    spans = {"x": chart.number("from", title), "x2": {"field": "to"}, "y": y}
    duration = chart.layer(
        "rule",
        {**spans, "color": {"value": chart.WARM_UP}},
        opacity=0.5,
        strokeWidth=2,
    )
    tooltip = chart.tips(
        run="run", settings="settings", io="I/O time", whole="whole time", ended="ended"
    )
    points = chart.points({"x": chart.number("at", title), "y": y, "tooltip": tooltip, **look})
    return chart.layers(rows, duration, points, height=230, title="I/O time of each run, s")


def looked(field: str, looks: Mapping[str, Look], columns: int) -> Spec:
    """Return the encoding of a field by colour and shape, with one legend in given columns."""
    legend = {"title": None, "columns": columns}
    colours, shapes = (list(values) for values in zip(*looks.values(), strict=True))
    return {
        name: chart.category(field, legend=legend, scale={"domain": list(looks), "range": values})
        for name, values in (("color", colours), ("shape", shapes))
    }


def _end(measurement: Measurement) -> float:
    return measurement.started_unix_seconds + measurement.elapsed_seconds


# Effect of each tunable: the trials grouped by its values, as a table and as a chart.

DEFAULT = "not set"
MOST_CHARTS = 16


@dataclass(frozen=True)
class ValueEffect:
    """Trials that share one value of a tunable.

    Attributes:
        value: Value as text; "not set" if the tunable had its default.
        speedups: Trial number to its speed-up (baseline / trial), for successful trials.
        n_failed: Number of trials without a speed-up.
        n_runs: Number of runs of all these trials.
        winning: Whether the winner has this value.
    """

    value: str
    speedups: Mapping[int, float]
    n_failed: int
    n_runs: int
    winning: bool

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.speedups) + self.n_failed

    @property
    def median(self) -> float:
        """Median speed-up; NaN without one."""
        return statistics.median(self.speedups.values()) if self.speedups else math.nan


Effects = Mapping[str, Sequence[ValueEffect]]
"""Tunable name to the effects of its values."""


def tunable_effects(result: StudyResult) -> Effects:
    """Group the trials by the values of every tunable that was tried."""
    names = list(result.searched)
    names += [n for trial in result.trials for n in trial.settings if n not in names]
    tried = [n for n in dict.fromkeys(names) if any(n in t.settings for t in result.trials)]
    return {setting_name(name): _values(result, name) for name in tried}


def _values(result: StudyResult, name: str) -> list[ValueEffect]:
    groups: dict[str, list[Trial]] = {}
    for trial in result.trials:
        groups.setdefault(_shown(trial, name), []).append(trial)
    chosen = _shown(result.winner, name) if result.improved and result.winner else None
    texts = sorted(groups, key=lambda text: _rank(groups[text][0].settings.get(name)))
    return [_effect(text, groups[text], text == chosen) for text in texts]


def _shown(trial: Trial, name: str) -> str:
    return value_text(trial.settings[name]) if name in trial.settings else DEFAULT


def _rank(value: Value | None) -> tuple[float, ...]:
    """Return a sort key for a value: no value, texts, numbers."""
    if value is None:
        return ()
    if isinstance(value, tuple | list):
        return (1.0, *map(float, value))
    return (1.0, float(value)) if isinstance(value, int | float) else (0.0,)


def _effect(text: str, trials: Sequence[Trial], winning: bool) -> ValueEffect:
    good = {
        t.number: 1 / t.io_ratio
        for t in trials
        if 0 < t.io_ratio < math.inf and t.state is not TrialState.FAILED
    }
    return ValueEffect(
        value=text,
        speedups=good,
        n_failed=len(trials) - len(good),
        n_runs=sum(len(t.measurements) for t in trials),
        winning=winning,
    )


def effects_chart(effects: Effects) -> Chart | None:
    """Draw one panel per tunable: each mark is a trial, the bar is their median."""
    first = list(effects.items())[:MOST_CHARTS]
    shown = {name: values for name, values in first if any(v.speedups for v in values)}
    speedups = [s for values in shown.values() for v in values for s in v.speedups.values()]
    if not speedups:
        return None
    domain = [min(0.8, *speedups) / 1.1, max(1.25, *speedups) * 1.1]
    description = "Speed-up of the I/O by the value of each tunable: " + "; ".join(
        f"{name}: "
        + ", ".join(
            f"{v.value} {ratio_text(v.median)}x ({plural(v.n_trials, 'trial')})"
            for v in values
            if v.speedups
        )
        for name, values in shown.items()
    )
    panels = (_panel(name, values, domain) for name, values in shown.items())
    return Chart(chart.column(*panels), description)


def _panel(tunable: str, values: Sequence[ValueEffect], domain: list[float]) -> Spec:
    rows = [
        {"value": value.value, "speedup": speedup, "trial": number, "best": value.winning}
        for value in values
        for number, speedup in value.speedups.items()
    ]
    scale = {"type": "log", "domain": domain}
    x = chart.number("speedup", "speed-up of the I/O (bar: median)", scale=scale)
    names = [value.value for value in values]
    y = chart.category("value", title=None, scale={"domain": names})
    colours = {"condition": {"test": "datum.best", "value": chart.BEST}, "value": chart.TRIAL}
    speedup = {"field": "speedup", "title": "speed-up", "format": ",.3~r"}
    tooltip = [*chart.tips(trial="trial", value=tunable), speedup]
    points = chart.points(
        {"x": x, "y": y, "color": colours, "tooltip": tooltip}, size=60, opacity=0.8
    )
    ticks = {"x": {**x, "aggregate": "median"}, "y": y}
    medians = chart.layer("tick", ticks, color=chart.INK, thickness=2)
    one = chart.constant("rule", {"x": {"datum": 1}}, strokeDash=[4, 3], color=chart.MUTED)
    return chart.layers(rows, points, medians, one, height=22 * len(names), title=tunable)
