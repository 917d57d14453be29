# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws all charts of a campaign in sections, each in panels that share their scales."""

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
"""Length of an axis by that of its longest bar: the rest is for the label of the bar."""

_TIPS = {"rate": "median", "top": "best", "runs": "runs"}
_GLYPHS = "●■▲◆✚▼▶◀"
_CURVES, _HEAT = ("curves", "Curves"), ("heat", "Heat maps")
_BARS, _METADATA, _RUNS = (
    ("bars", "Compared with the peak"),
    ("metadata", "Metadata"),
    ("runs", "Runs"),
)
_SECTIONS = {
    kinds.CURVES: (_CURVES, "Dot: median. Band: its interval of 95 %. Dash: the best run. Cross: "
                   "an outlier, which counts all the same."),
    kinds.HEAT: (_HEAT, "The median of each cell; the brighter, the faster. Of many maps, those "
                 "of the largest job are shown."),
    kinds.BARS: (_BARS, "The best cell of each series on as many nodes, and its share of the "
                 "highest median. Line: interval of 95 %. Red tick: the best run. Cross: an "
                 "outlier."),
    kinds.METADATA: (_METADATA, "Operations per second of all ranks. Line: interval of 95 %. "
                     "Tick: the best run. Cross: an outlier."),
    kinds.PERCENTILES: (_METADATA, "How long a single operation took as its process saw it."),
    kinds.RUNS: (_RUNS, "When many cells are slow at the same time, something else used the "
                 "storage."),
    kinds.TARGETS: (_RUNS, "A target that is slow in every run needs a look by its "
                    "administrators."),
}  # fmt: skip
"""Name and title of the section of each kind of chart, and how it is to be read."""


@dataclass(frozen=True)
class Group:
    """Panels that belong together.

    Attributes:
        title: Above them; "": the panels' titles are enough.
        note: How they are to be read.
        legend: Glyph, colour and name of each line.
        panels: The charts.
        hidden: Panels for which there is no room.
        axes: What the panels are drawn over: "Over nodes".
    """

    title: str
    note: str
    panels: tuple[Chart, ...]
    legend: tuple[tuple[str, str, str], ...] = ()
    hidden: int = 0
    axes: str = ""


def chart_sections(campaign: Campaign, figures: Sequence[CaseFigures]) -> list[Section]:
    """Draw what follows from the campaign's axes, sorted into sections."""
    found: dict[tuple[str, str], list[Group]] = {}
    for kind in chart_kinds(campaign, figures):
        if group := chart_group(kind, campaign, figures):
            found.setdefault(_SECTIONS[kind.kind][0], []).append(group)
    order = dict.fromkeys(section for section, _ in _SECTIONS.values())
    return [_section(*one, merged(found[one])) for one in order if one in found]


def _section(name: str, title: str, groups: Sequence[Group]) -> Section:
    blocks: list[Drawings] = []
    said = ""
    for number, one in enumerate(groups, 1):
        verb = "is" if one.hidden == 1 else "are"
        hidden = f"{plural(one.hidden, 'more panel')} {verb} not shown: the table has all."
        notes = [one.note if one.note != said else "", hidden if one.hidden else ""]
        said = one.note
        note = " ".join(filter(None, notes))
        name_of_group = f"{name}-{number}"
        blocks.append(
            Drawings(name_of_group, one.title, one.panels, note, one.legend, is_grid=True)
        )
    return Section(name, title, blocks)


def merged(groups: Sequence[Group]) -> list[Group]:
    """Put neighbours of one panel each side by side, where their lines and notes are the same."""
    found = []
    for _, alike in groupby(groups, _what_it_shares):
        first, *others = alike
        panels = tuple(panel for one in (first, *others) for panel in one.panels)
        found.append(replace(first, panels=panels, title=first.axes) if others else first)
    return found


def _what_it_shares(one: Group) -> object:
    is_single = one.axes and len(one.panels) == 1
    return (one.note, one.legend, one.axes) if is_single else id(one)


def chart_group(
    kind: ChartKind, campaign: Campaign, figures: Sequence[CaseFigures]
) -> Group | None:
    """Draw one kind; None: it has nothing to show."""
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
    axes = axes_of_campaign(campaign)
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


# ---- pictures --------------------------------------------------------------------------------


def draw_campaign(
    campaign: Campaign,
    figures: Sequence[CaseFigures],
    path: Path,
    *,
    kind: str = "",
    operation: str = "",
) -> str:
    """Draw the charts of one kind as a picture of its own, and return what it shows in words.

    Args:
        campaign: That was made.
        figures: Of its cells.
        path: File; the suffix chooses the format.
        kind: "curves", "heat map", "bars", ...; "": the first that the campaign has.
        operation: Of the figures; "": all.

    Raises:
        UsageError: The campaign has no such chart, or the suffix is of no picture.
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
    """Leave the words of each single mark out: the picture as a whole has its own."""
    return {**part, "layer": [{**one, "mark": {**one["mark"], "aria": False}}
                              for one in part["layer"]]}  # fmt: skip


def _parts(
    kind: ChartKind, group: Group, figures: Sequence[CaseFigures], several: bool
) -> list[chart.Spec]:
    """Return the panels of a kind; the first names the lines, and each its operation."""
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
