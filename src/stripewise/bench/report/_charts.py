# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws all charts of a campaign in sections, each with panels that share their scales."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from stripewise.bench import Case
from stripewise.bench.campaign import Campaign, CaseFigures
from stripewise.bench.report import _kinds as kinds
from stripewise.bench.report._axes import (
    Axis,
    Unit,
    axes_of,
    axes_of_campaign,
    figure_row,
    is_drawable,
    job_words,
    label_of,
    operation_title,
    rate_of,
    unit_of,
)
from stripewise.bench.report._curves import (
    PALETTE,
    Panel,
    colour_of,
    curves,
    heat_map,
    line_names,
    outliers,
    panels_of,
)
from stripewise.bench.report._kinds import ChartKind, chart_kinds
from stripewise.bench.report._over_time import runs_over_time, targets
from stripewise.core.errors import UsageError
from stripewise.present import (
    Chart,
    Spec,
    chart,
    percent_text,
    plural,
    printable,
    seconds_text,
)
from stripewise.present.blocks import Drawings, Section

MOST_PANELS = 12
MOST_BARS = 30
_LABELS = {"labelLimit": 250, "minExtent": 60, "maxExtent": 260}
_PERCENTS = ("50", "90", "99", "100")
_ROOM = 1.28
"""Length of an axis relative to its longest bar, which leaves space for the bar's label."""

_TIPS = {"rate": "median", "top": "best", "runs": "runs"}
_GLYPHS = "●■▲◆✚▼▶◀"
_CURVES, _HEAT = ("curves", "Curves"), ("heat", "Heat maps")
_BARS, _METADATA, _RUNS = (
    ("bars", "Compared with the peak"),
    ("metadata", "Metadata"),
    ("runs", "Runs"),
)
_SECTIONS = {
    kinds.CURVES: (_CURVES, (
        "Dot: median. Band: its interval of 95 %. Dash: the best run. Cross: an outlier, "
        "which is included in the figures."
    )),
    kinds.HEAT: (_HEAT, "The median of each cell; the brighter, the faster. Of many maps, those "
                 "of the largest job are shown."),
    kinds.BARS: (_BARS, "The best cell of each series on as many nodes, and its share of the "
                 "highest median. Line: interval of 95 %. Red tick: the best run. Cross: an "
                 "outlier."),
    kinds.METADATA: (_METADATA, "Operations per second of all ranks. Line: interval of 95 %. "
                     "Tick: the best run. Cross: an outlier."),
    kinds.PERCENTILES: (_METADATA, "Time of single operations, measured by the process that made "
                        "them."),
    kinds.RUNS: (_RUNS, "When many cells are slow at the same time, something else used the "
                 "storage."),
    kinds.TARGETS: (_RUNS, "A target that is slow in every run needs a look by its "
                    "administrators."),
}  # fmt: skip
"""Name and title of the section of each kind of chart, and how to read it."""


@dataclass(frozen=True)
class Group:
    """Panels that are shown together.

    Attributes:
        title: Title above the panels; empty if their own titles are sufficient.
        note: How to read them.
        legend: Glyph, colour and name of each line.
        panels: Charts of the panels.
        hidden: Panels for which there is no space.
        axes: Quantity over which the panels are drawn: "Over nodes".
    """

    title: str
    note: str
    panels: tuple[Chart, ...]
    legend: tuple[tuple[str, str, str], ...] = ()
    hidden: int = 0
    axes: str = ""


def chart_sections(campaign: Campaign, figures: Sequence[CaseFigures]) -> list[Section]:
    """Draw all charts that suit the campaign's axes, sorted into sections."""
    found: dict[tuple[str, str], list[Group]] = {}
    for kind in chart_kinds(campaign, figures):
        if group := chart_group(kind, campaign, figures):
            found.setdefault(_SECTIONS[kind.kind][0], []).append(group)
    order = dict.fromkeys(section for section, _ in _SECTIONS.values())
    return [_section(*one, merged(found[one])) for one in order if one in found]


def _section(name: str, title: str, groups: Sequence[Group]) -> Section:
    blocks: list[Drawings] = []
    shown = ""
    for number, one in enumerate(groups, 1):
        verb = "is" if one.hidden == 1 else "are"
        hidden = f"{plural(one.hidden, 'more panel')} {verb} not shown: the table has all."
        notes = [one.note if one.note != shown else "", hidden if one.hidden else ""]
        shown = one.note
        note = " ".join(filter(None, notes))
        name_of_group = f"{name}-{number}"
        blocks.append(
            Drawings(name_of_group, one.title, one.panels, note, one.legend, is_grid=True)
        )
    return Section(name, title, blocks)


def merged(groups: Sequence[Group]) -> list[Group]:
    """Merge adjacent groups of one panel each if their lines and notes are the same."""
    found = []
    for _, alike in groupby(groups, _shared_key):
        first, *others = alike
        panels = tuple(panel for one in (first, *others) for panel in one.panels)
        found.append(replace(first, panels=panels, title=first.axes) if others else first)
    return found


def _shared_key(one: Group) -> object:
    is_single = one.axes and len(one.panels) == 1
    return (one.note, one.legend, one.axes) if is_single else id(one)


def chart_group(
    kind: ChartKind, campaign: Campaign, figures: Sequence[CaseFigures]
) -> Group | None:
    """Draw one kind of chart; None if it has nothing to show."""
    if kind.kind in (kinds.CURVES, kinds.HEAT):
        return _panelled(kind, panels_of(kind, figures))
    axes = axes_of([one.case for one in figures], campaign.suite.directories)
    if kind.kind == kinds.BARS:
        made = bars(kind, campaign, figures)
    elif kind.kind == kinds.METADATA:
        made = metadata_bars(figures, axes)
    elif kind.kind == kinds.PERCENTILES:
        made = percentiles(campaign, axes)
    else:
        made = runs_over_time(campaign, figures) if kind.kind == kinds.RUNS else targets(campaign)
    return Group("", _SECTIONS[kind.kind][1], (made,)) if made is not None else None


def _panelled(kind: ChartKind, panels: Sequence[Panel]) -> Group | None:
    if not panels:
        return None
    shown, hidden = panels[:MOST_PANELS], len(panels) - MOST_PANELS
    draw = curves if kind.kind == kinds.CURVES else heat_map
    title = operation_title(kind.operation)
    over = f" over {kind.x.title}" if kind.x else ""
    over += f" and {kind.y.title}" if kind.y else ""
    charts = tuple(draw(kind, panel, panels) for panel in shown)
    legend: tuple[tuple[str, str, str], ...] = ()
    if kind.kind == kinds.CURVES:
        names = line_names(kind, panels)
        legend = tuple((_GLYPHS[n % 8], PALETTE[n % 8], name) for n, name in enumerate(names))
    over += f": {', '.join(map(printable, kind.series))}" if kind.series else ""
    axes = over.strip()[:1].upper() + over.strip()[1:]
    return Group(title + over, _SECTIONS[kind.kind][1], charts, legend, max(hidden, 0), axes)


# ---- bars ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """One bar: the best cell of a series, relative to the peak.

    Attributes:
        label: Label of the series.
        figures: Figures of its best cell.
        efficiency: Its median relative to the highest of all series.
    """

    label: str
    figures: CaseFigures
    efficiency: float


def standings(kind: ChartKind, figures: Iterable[CaseFigures]) -> list[Standing]:
    """Compare the best cell of each series, on the number of nodes measured for most of them.

    The largest number of nodes that at least two series have is used, so that no series wins by
    being measured on more nodes.
    """
    mine = [one for one in figures if kind.shows(one) and is_drawable(one)]
    best: dict[str, CaseFigures] = {}
    for one in _figures_of_one_size(mine):
        label = label_of(one.case, kind.lines)
        if label not in best or one.median > best[label].median:
            best[label] = one
    peak = max((one.median for one in best.values()), default=0.0)
    found = [Standing(label, one, one.median / peak) for label, one in best.items()]
    return sorted(found, key=lambda one: -one.figures.median)


def _figures_of_one_size(figures: Sequence[CaseFigures]) -> list[CaseFigures]:
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
    axes = axes_of_campaign(campaign)
    where = [axis for axis in axes if not axis.is_scale and axis not in kind.lines]
    unit = unit_of([one.figures for one in found])
    rows = []
    for one in found:
        case, efficiency = one.figures.case, percent_text(one.efficiency)
        places = [axis.labelled_value(case) for axis in where]
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
    description = ", ".join(f"{one.label} {rate_of(one.figures)} ({percent_text(one.efficiency)})"
                     for one in found)  # fmt: skip
    return Chart(chart.column(spec), f"{title}, {size}: {description}.")


def metadata_bars(figures: Iterable[CaseFigures], axes: Sequence[Axis]) -> Chart | None:
    """Draw the rate of every metadata operation on the largest job, a bar for each series."""
    every = [one for one in figures if not one.of_data and is_drawable(one)]
    found = _figures_of_one_size(every)
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
    description = "; ".join(
        f"{row['operation']}, {row['label']}: {row['rate']}" for row in rows[:12]
    )
    return Chart(chart.column(spec), f"Metadata operations, {size}. {description}.")


def _bar_chart(
    rows: Sequence[dict[str, Any]], field: str, names: Sequence[str], unit: Unit, title: str,
    subtitle: str, tips: dict[str, str],
) -> Spec:  # fmt: skip
    """Draw a bar for each row: its median, interval, best run and outliers.

    Args:
        rows: Rows of `figure_row` with "label", and "shown", a text behind the bar at "end".
        field: Field of the rows for the vertical axis.
        names: Labels of bars side by side, each in its colour; empty if there are none.
        unit: Unit of the values.
        title: Title of the chart.
        subtitle: Subtitle of the chart.
        tips: Fields of the tooltip, with their titles.
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
    """Return the vertical positions of rows, and the height; several names are offset."""
    y: Spec = {"y": chart.category(field, title=None, sort=None, axis=_LABELS)}
    if len(names) < 2:
        return y, {"step": 26}
    return {**y, "yOffset": {"field": "label", "sort": list(names)}}, {"step": 16, "for": "offset"}


def _colour(names: Sequence[str]) -> Spec:
    legend = {"title": None, "columns": 3, "labelLimit": 300} if len(names) > 1 else None
    return colour_of("label", names, legend)


def percentiles(campaign: Campaign, axes: Sequence[Axis]) -> Chart | None:
    """Draw times of single operations on the largest job: median, 90 %, 99 % and maximum."""
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
    description = "; ".join(f"{row['operation']}, {row['label']}, {row['share']}: {row['took']}"
                     for row in rows if row["share"] in ("half", "99 %"))  # fmt: skip
    return Chart(chart.column(spec), f"Times of single operations. {description}.")


def percentile_rows(campaign: Campaign, axes: Sequence[Axis]) -> list[dict[str, Any]]:
    """Return the percentiles of each operation on the largest job, as medians over its runs."""
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


# ---- pictures --------------------------------------------------------------------------------


def draw_campaign(
    campaign: Campaign,
    figures: Sequence[CaseFigures],
    path: Path,
    *,
    kind: str = "",
    operation: str = "",
) -> str:
    """Draw the charts of one kind as a picture, and return a description in words.

    Args:
        campaign: Campaign that was made.
        figures: Figures of its cells.
        path: Path of the picture; the suffix determines the format.
        kind: "curves", "heat map", "bars", ...; empty for the first that the campaign has.
        operation: Operation to draw; empty for all.

    Raises:
        UsageError: The campaign has no such chart, or the suffix is not that of a picture.
        StorageError: The file cannot be written.
    """
    found = [
        (one, group)
        for one in chart_kinds(campaign, figures)
        if kind in ("", one.kind) and operation in ("", one.operation)
        if (group := chart_group(one, campaign, figures)) is not None
    ]
    if not found:
        what = f"{kind or 'chart'} of {operation}" if operation else f"chart {kind or 'at all'}"
        raise UsageError(f"the campaign has no {what}: choose another kind or operation")
    found = [pair for pair in found if pair[0].kind == found[0][0].kind]
    parts = [part for one, group in found for part in _parts(one, group, figures, len(found) > 1)]
    words = " ".join(panel.description for _, group in found for panel in group.panels)
    picture = {**chart.column(*map(_silent, parts[:MOST_PANELS])), "description": words}
    chart.write_picture(picture, path)
    return words


def _silent(part: chart.Spec) -> chart.Spec:
    """Remove the descriptions of single marks, since the picture as a whole has its own."""
    return {**part, "layer": [{**one, "mark": {**one["mark"], "aria": False}}
                              for one in part["layer"]]}  # fmt: skip


def _parts(
    kind: ChartKind, group: Group, figures: Sequence[CaseFigures], several: bool
) -> list[chart.Spec]:
    """Return the panels of a kind; the first has the legend, and each has its operation."""
    parts: list[chart.Spec] = [panel.spec["vconcat"][0] for panel in group.panels]
    if kind.kind == kinds.CURVES and len(group.legend) > 1:
        panels = panels_of(kind, figures)
        parts[0] = curves(kind, panels[0], panels, legend=True).spec["vconcat"][0]
    return [_named(part, operation_title(kind.operation)) for part in parts] if several else parts


def _named(part: chart.Spec, operation: str) -> chart.Spec:
    title = part["title"] if isinstance(part["title"], dict) else {"text": part["title"]}
    text = str(title["text"])
    named = text if text.startswith(operation) else f"{operation}: {text}"
    return {**part, "title": {**title, "text": named}}
