# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws curves and heat maps of a campaign, panel by panel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log2
from typing import Any

from stripewise.bench.campaign import CaseFigures
from stripewise.bench.report._axes import (
    Axis,
    Unit,
    figure_row,
    is_drawable,
    label_of,
    operation_title,
    unit_of,
)
from stripewise.bench.report._kinds import HEAT, ChartKind
from stripewise.present import Chart, Spec, chart, number_text, printable

PALETTE = ("#0072b2", "#c04a00", "#0a8265", "#aa3f8f", "#8a6d00", "#3f9bd4", "#5b6472", "#1c2330")
"""Colours that are distinguishable with common forms of colour blindness, as are the shapes."""
SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down"),
    *("triangle-right", "triangle-left"),
)
_CROSS = "M-1,-1L1,1M1,-1L-1,1"
HEIGHT = 240
_LEGEND: Spec = {"title": None, "columns": 3, "labelLimit": 260, "symbolOpacity": 1}
_MOST_TEXTS = 8
_SHORT = 32
"""Maximum length of labels below an axis, for which every panel has space."""

_MOST_MAPS = 6
_WIDE_RANGE = 12.0
"""Ratio of the highest to the lowest figure from which the axis is logarithmic."""


@dataclass(frozen=True)
class Panel:
    """One part of a chart.

    Attributes:
        title: Common property of its cells.
        figures: Figures to show.
    """

    title: str
    figures: tuple[CaseFigures, ...]


def panels_of(kind: ChartKind, figures: Iterable[CaseFigures]) -> list[Panel]:
    """Sort the figures of an operation into panels, in the order of the axes."""
    found: dict[tuple[Any, ...], list[CaseFigures]] = {}
    series: dict[str, int] = {}
    for one in figures:
        if kind.shows(one) and is_drawable(one):
            place = series.setdefault(one.case.series, len(series)) if kind.series_apart else 0
            values = (axis.values.index(axis.at(one.case)) for axis in kind.panels)
            found.setdefault((place, *values), []).append(one)
    keys = sorted(found)
    if kind.kind == HEAT and len(keys) > _MOST_MAPS:
        keys = _panels_of_largest(kind, keys)
    return [Panel(_title(kind, found[key][0]), tuple(found[key])) for key in keys]


def _panels_of_largest(kind: ChartKind, keys: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the panels of the largest job, since curves show the effect of the job size."""
    scales = [place for place, axis in enumerate(kind.panels, 1) if axis.is_scale]
    sizes = {key: tuple(key[place] for place in scales) for key in keys}
    return [key for key in keys if sizes[key] == max(sizes.values())]


def _title(kind: ChartKind, one: CaseFigures) -> str:
    series = [printable(one.case.series)] if kind.series_apart else []
    return ", ".join(
        filter(None, [*series, *(axis.labelled_value(one.case) for axis in kind.panels)])
    )


# ---- curves ----------------------------------------------------------------------------------


def line_names(kind: ChartKind, panels: Sequence[Panel]) -> list[str]:
    """Return the distinct lines of all panels, in the order of the suite."""
    every = (label_of(one.case, kind.lines, series=not kind.series_apart)
             for panel in panels for one in panel.figures)  # fmt: skip
    return list(dict.fromkeys(every))


def curves(
    kind: ChartKind, panel: Panel, among: Sequence[Panel], *, legend: bool = False
) -> Chart:
    """Draw medians with their intervals over an axis, with best runs and outliers.

    Args:
        kind: Kind of chart with curves.
        panel: Panel to draw.
        among: All panels of the chart, which have a common scale.
        legend: Whether to name the lines in the drawing.
    """
    if kind.x is None:
        raise ValueError("curves need an axis")
    every = [one for each in among for one in each.figures]
    unit = unit_of(every)
    names = line_names(kind, among)
    rows = [_curve_row(kind, kind.x, one, unit) for one in panel.figures]
    rows.sort(key=lambda row: row["order"])
    spec = chart.layers(
        rows,
        *_curve_marks(kind.x, unit, _heights(every, unit), names, legend=legend),
        height=HEIGHT,
        title={"text": panel.title or operation_title(kind.operation)},
    )
    return Chart(chart.column(spec), _described(kind, panel))


def _curve_row(kind: ChartKind, x: Axis, one: CaseFigures, unit: Unit) -> dict[str, Any]:
    value = x.at(one.case)
    return {
        **figure_row(one, unit),
        "x": value if x.is_number else x.text(value),
        "order": x.values.index(value),
        "line": label_of(one.case, kind.lines, series=not kind.series_apart),
        "where": x.labelled_value(one.case),
        "doubts": ", ".join(dict.fromkeys(flag.name for flag in one.flags)) or "none",
    }


def _heights(figures: Sequence[CaseFigures], unit: Unit) -> Spec:
    low = min(min(one.low, one.median) for one in figures) / unit.size
    high = max(one.best for one in figures) / unit.size
    if high > _WIDE_RANGE * low > 0:
        domain = [low / 1.15, high * 1.15]
        return {"type": "log", "base": 2, "domain": domain, "nice": False, "clamp": True}
    return {"domain": [0, high * 1.06], "nice": False}


def _ticks(heights: Spec) -> Spec:
    """Return the ticks of a logarithmic axis: powers of two, or every other one if it is long."""
    if heights.get("type") != "log":
        return {}
    low, high = (log2(end) for end in heights["domain"])
    step = 1 + int((high - low) / 10)
    return {"values": [2.0**power for power in range(ceil(low), floor(high) + 1, step)],
            "format": ",.3~r"}  # fmt: skip


def _curve_marks(
    x: Axis, unit: Unit, heights: Spec, names: Sequence[str], *, legend: bool
) -> list[Spec]:
    across = horizontal(x)
    up = chart.number("median", unit.name, scale=heights, axis=_ticks(heights))
    shown = {**_LEGEND} if legend else None
    colour = colour_of("line", names, shown)
    shape = chart.category(
        "line", legend=shown,
        scale={"domain": list(names), "range": [SHAPES[n % 8] for n in range(len(names))]},
    )  # fmt: skip
    ends = {"x": across, "y": {**up, "field": "low"}, "y2": {"field": "high"}, "color": colour}
    at = {"x": across, "y": up, "color": colour}
    tooltip = chart.tips(
        line="series", where="at", rate="median", interval="interval, 95 %", top="best",
        runs="runs", doubts="doubts",
    )  # fmt: skip
    return [
        chart.layer("area", ends, opacity=0.16, clip=True),
        chart.layer("rule", ends, opacity=0.45, clip=True),
        chart.layer("line", at, strokeWidth=1.8),
        chart.layer("point", {**at, "y": {**up, "field": "best"}}, shape="stroke", size=90,
                    strokeWidth=1.6, filled=False),
        outliers({**at, "y": {**up, "field": "outlier"}}),
        chart.points({**at, "shape": shape, "tooltip": tooltip}, size=46),
    ]  # fmt: skip


def colour_of(field: str, names: Sequence[str], legend: Spec | None) -> Spec:
    """Return the encoding that assigns each name a colour of the palette."""
    colours = [PALETTE[n % len(PALETTE)] for n in range(len(names))]
    return chart.category(field, legend=legend, scale={"domain": list(names), "range": colours})


def outliers(places: Spec, **looks: Any) -> Spec:
    """Return a cross at the field "outlier" for each of the runs in "outliers"."""
    looks = {"shape": _CROSS, "size": 34, "strokeWidth": 1.4, "filled": False, **looks}
    crosses = chart.layer("point", places, clip=True, **looks)
    return {**crosses, "transform": [{"flatten": ["outliers"], "as": ["outlier"]}]}


def horizontal(axis: Axis) -> Spec:
    """Return the encoding of an axis: logarithmic to base 2, or equidistant values."""
    if not axis.is_number:
        order = [axis.text(value) for value in axis.values]
        return {"field": "x", "type": "ordinal", "title": axis.title, "sort": order,
                "axis": {"labelAngle": 0}, "scale": {"padding": 0.3}}  # fmt: skip
    values = [value for value in axis.values if value is not None]
    named = {str(value): axis.text(value) for value in values}
    short = sum(len(text) + 1 for text in named.values()) <= _SHORT
    labels = json.dumps(named)
    spec = chart.number("x", axis.title, scale={"type": "log", "base": 2, "nice": False,
                                                "domain": _domain(values)})  # fmt: skip
    shown = {"values": values, "labelExpr": f"({labels})[toString(datum.value)]",
             "grid": False, "labelOverlap": not short, "tickCount": len(named)}  # fmt: skip
    return {**spec, "axis": shown}


def _domain(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    margin = (high / low) ** 0.04 if high > low else 1.2
    return [low / margin, high * margin]


def _described(kind: ChartKind, panel: Panel) -> str:
    lines: dict[str, list[CaseFigures]] = {}
    for one in panel.figures:
        name = label_of(one.case, kind.lines, series=not kind.series_apart)
        lines.setdefault(name, []).append(one)
    texts = []
    for name, members in lines.items():
        top = max(members, key=lambda one: one.median)
        at = kind.x.labelled_value(top.case) if kind.x else ""
        texts.append(f"{name}: at most {top.text(top.median)} (median) with {at}")
    head = f"{operation_title(kind.operation)} over {kind.x.title if kind.x else ''}"
    return f"{head}{': ' + panel.title if panel.title else ''}. {'; '.join(texts)}."


# ---- heat maps -------------------------------------------------------------------------------


def heat_map(kind: ChartKind, panel: Panel, among: Sequence[Panel]) -> Chart:
    """Draw the median for every pair of values of two axes; panels share one colour scale."""
    if kind.x is None or kind.y is None:
        raise ValueError("a heat map needs two axes")
    every = [one for each in among for one in each.figures]
    unit = unit_of(every)
    top = max(one.median for one in every) / unit.size
    rows = _squares(kind.x, kind.y, panel.figures, unit, top)
    places = {
        "x": _steps("x", kind.x),
        "y": {**_steps("y", kind.y), "sort": [kind.y.text(v) for v in reversed(kind.y.values)]},
    }
    colour = chart.number("median", None, legend=None, scale={"scheme": "viridis",
                                                              "domain": [0, top]})  # fmt: skip
    dark = {"condition": {"test": "datum.share < 0.62", "value": "#ffffff"}, "value": chart.INK}
    tooltip = chart.tips(where="cell", rate="median", top="best", runs="runs")
    text = chart.layer("text", {**places, "text": {"field": "shown"}, "color": dark}, fontSize=11)
    spec = chart.layers(
        rows,
        chart.layer("rect", {**places, "color": colour, "tooltip": tooltip}, stroke="#ffffff"),
        *([text] if len(kind.x.values) <= (_MOST_TEXTS if len(among) > 1 else 16) else []),
        height={"step": 34},
        title={"text": panel.title or operation_title(kind.operation),
               "subtitle": f"median, {unit.name}"},
    )  # fmt: skip
    best = max(panel.figures, key=lambda one: one.median)
    words = (
        f"{operation_title(kind.operation)}: median over {kind.x.title} and {kind.y.title}"
        f"{' (' + panel.title + ')' if panel.title else ''}; the highest, "
        f"{best.text(best.median)}, with {kind.x.labelled_value(best.case)} and "
        f"{kind.y.labelled_value(best.case)}."
    )
    return Chart(chart.column(spec), words)


def _squares(
    x: Axis, y: Axis, figures: Iterable[CaseFigures], unit: Unit, top: float
) -> list[Mapping[str, Any]]:
    return [
        {
            **figure_row(one, unit),
            "x": x.text(x.at(one.case)), "y": y.text(y.at(one.case)),
            "share": one.median / unit.size / top, "shown": number_text(one.median / unit.size),
            "where": f"{x.labelled_value(one.case)}, {y.labelled_value(one.case)}",
        }
        for one in figures
    ]  # fmt: skip


def _steps(field: str, axis: Axis) -> Spec:
    texts = [axis.text(value) for value in axis.values]
    return {"field": field, "type": "ordinal", "title": axis.title, "sort": texts,
            "axis": {"labelAngle": 0, "grid": False}}  # fmt: skip
