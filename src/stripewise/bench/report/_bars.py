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
    Unit,
    axes_of,
    figure_row,
    is_drawable,
    job_words,
    label_of,
    operation_title,
    rate_of,
    unit_of,
)
from stripewise.bench.report._curves import colour_of, outliers
from stripewise.bench.report._kinds import ChartKind
from stripewise.present import Chart, Spec, chart, percent_text, seconds_text

MOST_BARS = 30
_LABELS = {"labelLimit": 250, "minExtent": 60, "maxExtent": 260}
_PERCENTS = ("50", "90", "99", "100")
_ROOM = 1.28
"""Of the longest bar, for its label."""

_TIPS = {"rate": "median", "top": "best", "runs": "runs"}


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
    axes = axes_of(list(campaign.suite.cases), campaign.suite.directories)
    where = [axis for axis in axes if not axis.is_scale and axis not in kind.lines]
    unit = unit_of([one.figures for one in found])
    rows = []
    for one in found:
        case, efficiency = one.figures.case, percent_text(one.efficiency)
        places = [axis.said(case) for axis in where]
        rows.append(
            {
                **figure_row(one.figures, unit),
                "label": one.label,
                "efficiency": efficiency,
                "end": max(one.figures.best, one.figures.high) / unit.size,
                "shown": ", ".join([efficiency, *places[:1]]),
                "where": ", ".join(places) or "the only cell",
            }
        )
    title, size = operation_title(kind.operation), job_words(found[0].figures.case)
    tips = {"label": "series", "where": "cell", **_TIPS, "efficiency": "of the peak"}
    spec = _bar_chart(rows, "label", [], unit, title, size, tips)
    said = ", ".join(f"{one.label} {rate_of(one.figures)} ({percent_text(one.efficiency)})"
                     for one in found)  # fmt: skip
    return Chart(chart.column(spec), f"{title}, {size}: {said}.")


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
            **figure_row(one, unit),
            "operation": operation_title(one.operation),
            "label": label_of(one.case, rest),
        }
        for one in found
    ]
    size = job_words(found[0].case)
    tips = {"operation": "operation", "label": "series", **_TIPS}
    names = list(dict.fromkeys(str(row["label"]) for row in rows))
    spec = _bar_chart(rows, "operation", names, unit, "Rate of each operation", size, tips)
    said = "; ".join(f"{row['operation']}, {row['label']}: {row['rate']}" for row in rows[:12])
    return Chart(chart.column(spec), f"Metadata operations, {size}. {said}.")


def _bar_chart(
    rows: Sequence[dict[str, Any]], field: str, names: Sequence[str], unit: Unit, title: str,
    subtitle: str, tips: dict[str, str],
) -> Spec:  # fmt: skip
    """Draw a bar for each row: its median, interval, best run and outliers.

    Args:
        rows: As of `figure_row`, with "label"; and with "shown", a text behind the bar, at "end".
        field: Of the rows, whose values stand at the vertical axis.
        names: Labels of bars side by side, each in a colour; empty: there are none.
        unit: Of the values.
        title: Of the chart.
        subtitle: Below it.
        tips: Fields of a tooltip, with their titles.
    """
    y, height = _side_by_side(field, names)
    is_marked = "shown" in rows[0]
    top = max(row["best"] for row in rows) * 1.04
    if is_marked:
        top = max(row["end"] for row in rows) * _ROOM
    x = chart.number("median", unit.name, scale={"domain": [0, top], "nice": False})
    colour = {"color": _colour(names)} if names else {}
    looks = {} if names else {"color": chart.BASELINE, "height": 15}
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, **y}
    parts = [
        chart.layer("bar", {"x": x, **y, **colour, "tooltip": chart.tips(**tips)}, opacity=0.85,
                    **looks),
        chart.layer("rule", ends, color=chart.INK, strokeWidth=1.4),
        chart.layer("tick", {"x": {**x, "field": "best"}, **y}, thickness=2,
                    color=chart.INK if names else chart.BEST, size=10 if names else 15),
        outliers({"x": {**x, "field": "outlier"}, **y}, color=chart.INK),
    ]  # fmt: skip
    if is_marked:
        text = {"x": {**x, "field": "end"}, **y, "text": {"field": "shown"}}
        parts.append(chart.layer("text", text, align="left", dx=8, color=chart.MUTED, fontSize=11))
    heads = {"text": title, "subtitle": subtitle}
    return chart.layers(rows, *parts, height=height, title=heads)


def _side_by_side(field: str, names: Sequence[str]) -> tuple[Spec, Spec]:
    """Return the vertical places of rows, and the height; those of several names are apart."""
    y: Spec = {"y": chart.category(field, title=None, sort=None, axis=_LABELS)}
    if len(names) < 2:
        return y, {"step": 26}
    return {**y, "yOffset": {"field": "label", "sort": list(names)}}, {"step": 16, "for": "offset"}


def _colour(names: Sequence[str]) -> Spec:
    legend = {"title": None, "columns": 3, "labelLimit": 300} if len(names) > 1 else None
    return colour_of("label", names, legend)


def percentiles(campaign: Campaign, axes: Sequence[Axis]) -> Chart | None:
    """Draw how long single operations took on the largest job: median, 90 %, 99 %, the longest."""
    rows = percentile_rows(campaign, axes)
    if not rows:
        return None
    names = list(dict.fromkeys(str(row["label"]) for row in rows))
    y, height = _side_by_side("operation", names)
    x = chart.number(
        "seconds", "time of one operation, ms", scale={"type": "log", "nice": False, "padding": 12}
    )
    shapes = {"domain": ["half", "90 %", "99 %", "longest"],
              "range": ["circle", "diamond", "triangle-right", "square"]}  # fmt: skip
    shape = chart.category("share", scale=shapes, legend={"title": "operations that took less",
                                                           "orient": "bottom"})  # fmt: skip
    tooltip = chart.tips(
        operation="operation", label="series", share="operations", took="took less than"
    )
    places = {"x": x, **y, "color": _colour(names)}
    apart = [{"field": "operation"}, {"field": "label"}]
    spec = chart.layers(
        rows,
        chart.layer("line", {**places, "detail": apart}, opacity=0.6),
        chart.points({**places, "shape": shape, "tooltip": tooltip}, size=60),
        height=height,
        title={"text": "Time of single operations", "subtitle": "median of the runs"},
    )
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
