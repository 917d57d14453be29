# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each tunable did: the trials grouped by its values, as a table and as a chart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stripewise.model import StudyResult, Trial, TrialState, Value
from stripewise.report import _chart as chart
from stripewise.report._chart import Chart, Spec
from stripewise.report._text import format_ratio, format_value, plural
from stripewise.tunables import setting_name

DEFAULT = "not set"
MOST_CHARTS = 16


@dataclass(frozen=True)
class ValueEffect:
    """Trials with one value of a tunable.

    Attributes:
        value: As text; "not set" where the tunable was at its default.
        speedups: Trial to its speed-up (baseline / trial), of those that gave a figure.
        n_failed: Trials that gave none.
        n_runs: Runs of all these trials.
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
"""Tunable to what its values did."""


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
    return format_value(trial.settings[name]) if name in trial.settings else DEFAULT


def _rank(value: Value | None) -> tuple[float, ...]:
    """Order values: none at all, texts, numbers."""
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
    """Draw one panel a tunable: each mark is a trial, the bar is their median."""
    first = list(effects.items())[:MOST_CHARTS]
    shown = {name: values for name, values in first if any(v.speedups for v in values)}
    speedups = [s for values in shown.values() for v in values for s in v.speedups.values()]
    if not speedups:
        return None
    domain = [min(0.8, *speedups) / 1.1, max(1.25, *speedups) * 1.1]
    description = "Speed-up of the I/O by the value of each tunable: " + "; ".join(
        f"{name}: "
        + ", ".join(
            f"{v.value} {format_ratio(v.median)}x ({plural(v.n_trials, 'trial')})"
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
