# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the runs of a campaign over time, and by the target of their file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from statistics import median
from typing import Any

import numpy as np

from stripewise.bench._case import CaseRun, RunFigure
from stripewise.bench.campaign import Campaign, CaseFigures
from stripewise.bench.report._axes import operation_title
from stripewise.bench.report._kinds import single_targets
from stripewise.present import (
    Chart,
    Spec,
    chart,
    number_text,
    percent_text,
    plural,
    printable,
    seconds_text,
    throughput_text,
    time_unit,
)

MOST_DOTS = 2000
"""Number of runs from which their quartiles over time are drawn instead of dots."""

_SPANS = 80
_CLIP = 2.5
SLOW_TARGET = 0.8
"""Rate relative to the others' median below which a target, in all of its runs, is slow."""


@dataclass(frozen=True)
class RelativeRun:
    """Figure of one run relative to the median of its cell.

    Attributes:
        run: Run with the figure.
        sample: Figure of the run.
        ratio: Its rate relative to the median of the cell and operation.
    """

    run: CaseRun
    sample: RunFigure
    ratio: float


def relative_runs(campaign: Campaign, figures: Iterable[CaseFigures]) -> list[RelativeRun]:
    """Return every figure of a cell with at least two runs, relative to the cell's median."""
    medians = {(one.case.key, one.operation): one.median for one in figures
               if len(one.rates) > 1}  # fmt: skip
    found = []
    for run in campaign.runs:
        for sample in run.samples:
            middle = medians.get((run.key, sample.operation), 0.0)
            if middle > 0 and sample.seconds > 0 and isfinite(sample.rate):
                found.append(RelativeRun(run, sample, sample.rate / middle))
    return found


def runs_over_time(campaign: Campaign, figures: Iterable[CaseFigures]) -> Chart | None:
    """Draw every run at its time, relative to its cell: what was slow for all becomes visible."""
    found = [one for one in relative_runs(campaign, figures) if one.run.started_unix_seconds > 0]
    if len(found) < 2:
        return None
    start = min(one.run.started_unix_seconds for one in found)
    end = max(one.run.started_unix_seconds + one.run.elapsed_seconds for one in found)
    unit, length = time_unit(end - start)

    def at(run: CaseRun) -> float:
        return (run.started_unix_seconds - start) / length

    x = chart.number("at", f"{unit} since the first run")
    many = len(found) > MOST_DOTS
    parts = _band(found, at, x) if many else _dots(campaign, found, at, x)
    meaning = "; band: middle half, line: median" if many else ""
    title = {"text": "Every run relative to the median of its cell",
             "subtitle": f"below 1: slower than the cell's other runs{meaning}"}  # fmt: skip
    spec = {"width": chart.WIDE, "layer": [_EQUAL, *parts], "height": 190, "title": title}
    slow = sum(one.ratio < 0.8 for one in found)
    words = (
        f"{plural(len(found), 'figure')} of runs over {seconds_text(end - start)}, each "
        f"relative to the median of its cell: {percent_text(slow / len(found))} are below "
        "0.8."
    )
    return Chart(chart.column(spec), words)


def _ratio(title: str) -> Spec:
    scale = {"domain": [0, _CLIP], "clamp": True, "nice": False}
    return chart.number("ratio", title, scale=scale)


_EQUAL = chart.constant("rule", {"y": {"datum": 1}}, color=chart.MUTED, strokeDash=[4, 3])
"""Line at the rate of the median."""


def _dots(
    campaign: Campaign, found: Sequence[RelativeRun], at: Callable[[CaseRun], float], x: Spec
) -> list[Spec]:
    """Return a dot for each figure, and a mark for each run without one."""
    y = _ratio("rate divided by the cell's median")
    rows = [
        {
            "at": at(one.run), "ratio": one.ratio, "cell": one.run.key, "repeat": one.run.repeat,
            "what": operation_title(one.sample.operation),
            "rate": throughput_text(
                one.sample.rate, of_data=one.sample.operation in ("write", "read")
            ),
            "by": f"{number_text(one.ratio)} of the median",
        }
        for one in found
    ]  # fmt: skip
    failed = [
        {"at": at(run), "ratio": 0.04, "cell": run.key, "what": printable(run.status)}
        for run in campaign.runs
        if not run.samples and run.started_unix_seconds > 0
    ]
    tooltip = chart.tips(cell="cell", what="operation", rate="rate", by="that is", repeat="repeat")
    dots = chart.points({"x": x, "y": y, "tooltip": tooltip}, color=chart.BASELINE, size=24,
                        opacity=0.6)  # fmt: skip
    marks = chart.points({"x": x, "y": y, "tooltip": chart.tips(cell="cell", what="status")},
                         color=chart.TROUBLE, shape="triangle-down", size=60)  # fmt: skip
    parts = [{"data": {"values": rows}, **dots}]
    return [*parts, {"data": {"values": failed}, **marks}] if failed else parts


def _band(found: Sequence[RelativeRun], at: Callable[[CaseRun], float], x: Spec) -> list[Spec]:
    """Return the quartiles of successive runs, if there would be too many dots."""
    y = _ratio("rate divided by the cell's median")
    rows = []
    for part in np.array_split(sorted((at(one.run), one.ratio) for one in found), _SPANS):
        low, middle, high = np.quantile(part[:, 1], (0.25, 0.5, 0.75))
        rows.append({"at": float(np.median(part[:, 0])), "low": float(low),
                     "ratio": float(middle), "high": float(high)})  # fmt: skip
    ends = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    marks = (
        chart.layer("area", ends, color=chart.BASELINE, opacity=0.25),
        chart.layer("line", {"x": x, "y": y}, color=chart.BASELINE),
    )
    return [{"data": {"values": rows}, **mark} for mark in marks]


# ---- targets ---------------------------------------------------------------------------------


def target_ratios(campaign: Campaign) -> dict[int, tuple[float, ...]]:
    """Return the rates of runs whose file was on one target: target to ratios.

    Each ratio is relative to the median of all such runs of the same case in any directory,
    because directories may be used to pin files to targets.
    """
    on = {run: target for target, runs in single_targets(campaign).items() for run in runs}
    rates: dict[tuple[Any, str], list[tuple[int, float]]] = {}
    for case, runs in campaign.of_cases():
        for run in runs:
            target = on.get((run.key, run.repeat))
            for sample in run.samples if target is not None else ():
                if target is not None and sample.seconds > 0 and sample.rate > 0:
                    alike = replace(case, directory="", repeats=1), sample.operation
                    rates.setdefault(alike, []).append((target, sample.rate))
    found: dict[int, list[float]] = {}
    for members in rates.values():
        middle = median(rate for _, rate in members)
        for target, rate in members:
            found.setdefault(target, []).append(rate / middle)
    return {target: tuple(found[target]) for target in sorted(found)}


def slow_targets(ratios: Mapping[int, Sequence[float]]) -> dict[int, float]:
    """Return targets whose runs are all slower than most runs on others, with their median.

    There must be at least three such runs, and at least two other targets.
    """
    found: dict[int, float] = {}
    for target, mine in ratios.items():
        others = [value for key, values in ratios.items() if key != target for value in values]
        if len(ratios) > 2 and len(mine) > 2 and max(mine) < SLOW_TARGET * median(others):
            found[target] = median(mine) / median(others)
    return found


def targets(campaign: Campaign) -> Chart | None:
    """Draw the runs on each target relative to others of their case, with slow ones marked."""
    ratios = target_ratios(campaign)
    if len(ratios) < 2:
        return None
    slow = slow_targets(ratios)
    rows: list[dict[str, Any]] = [
        {"target": str(target), "ratio": value, "slow": target in slow}
        for target, values in ratios.items() for value in values[:200]
    ]  # fmt: skip
    x: Spec = {"field": "target", "type": "ordinal", "title": "target of the file",
                     "sort": None, "axis": {"labelAngle": 0}}  # fmt: skip
    y = _ratio("rate divided by the case's median")
    colour = {"condition": {"test": "datum.slow", "value": chart.TROUBLE}, "value": chart.BASELINE}
    spec = chart.layers(
        rows,
        _EQUAL,
        chart.points({"x": x, "y": y, "color": colour,
                      "tooltip": chart.tips(target="target", ratio="rate / median")},
                     size=26, opacity=0.6),
        chart.layer("tick", {"x": x, "y": {**y, "aggregate": "median"}}, color=chart.INK,
                    thickness=2, size=20),
        height=170,
        title={"text": "Runs by the target that their file was on",
               "subtitle": "each relative to the median of its case; line: median of the target"},
    )  # fmt: skip
    slow_texts = [f"target {key} reaches {percent_text(value)} of the others"
            for key, value in slow.items()]  # fmt: skip
    words = (
        f"{plural(len(ratios), 'target')}; "
        + ("; ".join(slow_texts) or "none differs clearly")
        + "."
    )
    return Chart(chart.column(spec), words)
