# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bars of a campaign: each series against the peak, metadata operations, and their percentiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from stripewise.bench import Case
from stripewise.bench.campaign import Campaign, CaseFigures
from stripewise.bench.report._axes import (
    Axis,
    axes_of,
    is_drawable,
    label_of,
    operation_title,
    rate_of,
    unit_of,
)
from stripewise.bench.report._curves import CROSS, PALETTE
from stripewise.bench.report._kinds import ChartKind
from stripewise.present import Chart, Spec, chart, percent_text, plural, seconds_text

MOST_BARS = 30
_LABELS = {"labelLimit": 250, "minExtent": 60, "maxExtent": 260}
_PERCENTS = ("50", "90", "99", "100")
_ROOM = 1.28
"""Of the longest bar, for its label."""

_BAR = {"opacity": 0.85, "height": 15}


@dataclass(frozen=True)
class Standing:
    """One bar: the best cell of a series, and how near it comes to the peak.

    Attributes:
        label: Of the series.
        figures: Of its best cell.
        efficiency: Its median by the highest of all series.
    """

    label: str
    figures: CaseFigures
    efficiency: float


def standings(kind: ChartKind, figures: Iterable[CaseFigures]) -> list[Standing]:
    """Compare the best cell of each series on as many nodes as most of them were measured on.

    Of several numbers of nodes the largest counts that at least two series have, so that no
    series wins by being measured on more nodes.
    """
    mine = [one for one in figures if kind.shows(one) and is_drawable(one)]
    best: dict[str, CaseFigures] = {}
    for one in _of_one_size(mine):
        label = label_of(one.case, kind.lines)
        if label not in best or one.median > best[label].median:
            best[label] = one
    peak = max((one.median for one in best.values()), default=0.0)
    found = [Standing(label, one, one.median / peak) for label, one in best.items()]
    return sorted(found, key=lambda one: -one.figures.median)


def _of_one_size(figures: Sequence[CaseFigures]) -> list[CaseFigures]:
    sizes: dict[tuple[int, int], set[str]] = {}
    for one in figures:
        sizes.setdefault(_size(one.case), set()).add(one.case.series)
    shared = [size for size, series in sizes.items() if len(series) > 1] or list(sizes)
    largest = max(shared, default=(0, 0))
    return [one for one in figures if _size(one.case) == largest]


def _size(case: Case) -> tuple[int, int]:
    return case.nodes, case.ranks_per_node


def bars(kind: ChartKind, campaign: Campaign, figures: Iterable[CaseFigures]) -> Chart | None:
    """Draw each series' best cell against the peak, with its interval, best run and outliers."""
    found = standings(kind, figures)[:MOST_BARS]
    if not found:
        return None
    axes = axes_of([one.case for one in campaign_cases(campaign)], campaign.suite.directories)
    unit = unit_of([one.figures for one in found])
    rows = [_bar(one, axes, kind.lines, unit.size) for one in found]
    case = found[0].figures.case
    size = f"{plural(case.nodes, 'node')}, {plural(case.ranks_per_node, 'rank')} per node"
    spec = chart.layers(
        rows,
        *_bar_marks(unit.name, max(row["end"] for row in rows)),
        height={"step": 26},
        title={"text": operation_title(kind.operation), "subtitle": size},
    )
    said = ", ".join(f"{one.label} {rate_of(one.figures)} ({percent_text(one.efficiency)})"
                     for one in found)  # fmt: skip
    return Chart(chart.column(spec), f"{operation_title(kind.operation)}, {size}: {said}.")


def campaign_cases(campaign: Campaign) -> list[CaseFigures]:
    """Return the cases of a campaign as bearers of no figures, for their axes."""
    return [CaseFigures(case, "", (), 0.0, 0.0) for case in campaign.suite.cases]


def _bar(
    one: Standing, axes: Iterable[Axis], lines: Sequence[Axis], size: float
) -> dict[str, Any]:
    found = one.figures
    where = [axis.said(found.case) for axis in axes if not axis.is_scale and axis not in lines]
    return {
        **{"label": one.label, "median": found.median / size, "best": found.best / size},
        **{"low": found.low / size, "high": found.high / size},
        "outliers": [found.rates[place] / size for place in found.outliers],
        "end": max(found.best, found.high) / size,
        "shown": ", ".join([percent_text(one.efficiency), *where[:1]]),
        **{"where": ", ".join(where) or "the only cell", "rate": rate_of(found)},
        "top": rate_of(found, found.best), "efficiency": percent_text(one.efficiency),
        "runs": len(found.rates),
    }  # fmt: skip


def _bar_marks(unit: str, top: float) -> list[Spec]:
    y = chart.category("label", title=None, sort=None, axis=_LABELS)
    x = chart.number("median", unit, scale={"domain": [0, _ROOM * top], "nice": False})
    tooltip = chart.tips(
        label="series", where="cell", rate="median", top="best", efficiency="of the peak",
        runs="runs",
    )  # fmt: skip
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    text = {"x": {**x, "field": "end"}, "y": y, "text": {"field": "shown"}}
    return [
        chart.layer("bar", {"x": x, "y": y, "tooltip": tooltip}, color=chart.BASELINE, **_BAR),
        chart.layer("rule", ends, color=chart.INK, strokeWidth=1.4),
        chart.layer("tick", {"x": {**x, "field": "best"}, "y": y}, color=chart.BEST, thickness=2,
                    size=15),
        {**chart.layer("point", {"x": {**x, "field": "outlier"}, "y": y}, shape=CROSS, size=30,
                       color=chart.INK, filled=False),
         "transform": [{"flatten": ["outliers"], "as": ["outlier"]}]},
        chart.layer("text", text, align="left", dx=8, color=chart.MUTED, fontSize=11),
    ]  # fmt: skip


# ---- metadata --------------------------------------------------------------------------------


def metadata_bars(figures: Iterable[CaseFigures], axes: Sequence[Axis]) -> Chart | None:
    """Draw the rate of every metadata operation on the largest job, a bar for each series."""
    every = [one for one in figures if not one.of_data and is_drawable(one)]
    found = _of_one_size(every)
    if not found:
        return None
    rest = [axis for axis in axes if not axis.is_scale]
    unit = unit_of(found)
    rows = [
        {
            "operation": operation_title(one.operation), "label": label_of(one.case, rest),
            "median": one.median / unit.size, "low": one.low / unit.size,
            "high": one.high / unit.size, "best": one.best / unit.size,
            "rate": rate_of(one), "top": rate_of(one, one.best), "runs": len(one.rates),
        }
        for one in found
    ]  # fmt: skip
    names = list(dict.fromkeys(str(row["label"]) for row in rows))
    case = found[0].case
    size = f"{plural(case.nodes, 'node')}, {plural(case.ranks_per_node, 'rank')} per node"
    spec = chart.layers(
        rows,
        *_grouped(names, unit.name, 1.04 * max(one.best for one in found) / unit.size),
        height={"step": 16, "for": "offset"} if len(names) > 1 else {"step": 26},
        title={"text": "Rate of each operation", "subtitle": size},
    )  # fmt: skip
    said = "; ".join(f"{row['operation']}, {row['label']}: {row['rate']}" for row in rows[:12])
    return Chart(chart.column(spec), f"Metadata operations, {size}. {said}.")


def _grouped(names: Sequence[str], unit: str, top: float) -> list[Spec]:
    y = chart.category("operation", title=None, sort=None, axis=_LABELS)
    apart = {"yOffset": {"field": "label", "sort": list(names)}} if len(names) > 1 else {}
    x = chart.number("median", unit, scale={"domain": [0, top], "nice": False})
    scale = {"domain": list(names), "range": [PALETTE[n % 8] for n in range(len(names))]}
    legend = {"title": None, "columns": 3, "labelLimit": 300} if len(names) > 1 else None
    colour = chart.category("label", scale=scale, legend=legend)
    tooltip = chart.tips(operation="operation", label="series", rate="median", top="best",
                         runs="runs")  # fmt: skip
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, **apart}
    return [
        chart.layer("bar", {"x": x, "y": y, "color": colour, "tooltip": tooltip, **apart},
                    opacity=0.85),
        chart.layer("rule", ends, color=chart.INK),
        chart.layer("tick", {"x": {**x, "field": "best"}, "y": y, **apart}, color=chart.INK,
                    thickness=2, size=10),
    ]  # fmt: skip


def percentiles(campaign: Campaign, axes: Sequence[Axis]) -> Chart | None:
    """Draw how long single operations took on the largest job: median, 90 %, 99 %, the longest."""
    rows = percentile_rows(campaign, axes)
    if not rows:
        return None
    names = list(dict.fromkeys(str(row["label"]) for row in rows))
    y = chart.category("operation", title=None, sort=None, axis=_LABELS)
    apart = {"yOffset": {"field": "label", "sort": names}} if len(names) > 1 else {}
    x = chart.number(
        "seconds", "time of one operation, ms", scale={"type": "log", "nice": False, "padding": 12}
    )
    scale = {"domain": names, "range": [PALETTE[n % 8] for n in range(len(names))]}
    colour = chart.category("label", scale=scale, legend=None if len(names) < 2 else
                            {"title": None, "columns": 3, "labelLimit": 300})  # fmt: skip
    shapes = {"domain": ["half", "90 %", "99 %", "longest"],
              "range": ["circle", "diamond", "triangle-right", "square"]}  # fmt: skip
    shape = chart.category("share", scale=shapes, legend={"title": "operations that took less",
                                                           "orient": "bottom"})  # fmt: skip
    tooltip = chart.tips(
        operation="operation", label="series", share="operations", took="took less than"
    )
    spec = chart.layers(
        rows,
        chart.layer("line", {"x": x, "y": y, "color": colour, "detail": [
            {"field": "operation"}, {"field": "label"}], **apart}, opacity=0.6),
        chart.points({"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip,
                      **apart}, size=60),
        height={"step": 16, "for": "offset"} if len(names) > 1 else {"step": 26},
        title={"text": "Time of single operations", "subtitle": "median of the runs"},
    )  # fmt: skip
    said = "; ".join(f"{row['operation']}, {row['label']}, {row['share']}: {row['took']}"
                     for row in rows if row["share"] in ("half", "99 %"))  # fmt: skip
    return Chart(chart.column(spec), f"Times of single operations. {said}.")


def percentile_rows(campaign: Campaign, axes: Sequence[Axis]) -> list[dict[str, Any]]:
    """Return the percentiles of each operation on the largest job, the median over its runs."""
    timed = [
        (case, sample)
        for case, runs in campaign.of_cases() for run in runs for sample in run.samples
        if sample.percentiles
    ]  # fmt: skip
    largest = max((_size(case) for case, _ in timed), default=None)
    rest = [axis for axis in axes if not axis.is_scale]
    found: dict[tuple[str, str, str], list[float]] = {}
    for case, sample in timed:
        if _size(case) == largest:
            for percent in _PERCENTS:
                if (seconds := sample.percentiles.get(percent, 0.0)) > 0:
                    key = operation_title(sample.operation), label_of(case, rest), percent
                    found.setdefault(key, []).append(seconds)
    words = {"50": "half", "90": "90 %", "99": "99 %", "100": "longest"}
    return [
        {"operation": operation, "label": label, "share": words[percent],
         "seconds": 1e3 * median(values), "took": seconds_text(median(values))}
        for (operation, label, percent), values in found.items()
    ]  # fmt: skip
