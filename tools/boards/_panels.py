# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates panels, each with a unit and a sentence about what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    dashboard,
    heatmap,
    prometheus,
    stat,
    statetimeline,
    table,
    text,
    timeseries,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common as shapes
from grafana_foundation_sdk.models import heatmap as heat
from grafana_foundation_sdk.models.dashboard import (
    DashboardLink,
    DataSourceRef,
    DataTransformerConfig,
    DynamicConfigValue,
    Panel,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMapping,
    ValueMappingResult,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from grafana_foundation_sdk.models.text import TextMode

_T = TypeVar("_T")
SELDOM = "4m"
"""Least step for metrics read once per minute (clients, quota): rates need several readings."""
SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
"""Data source selected by the board's variable: no board is bound to a single one."""
Steps = Sequence[tuple[float, str]]
"""Ascending pairs (lower bound, colour); values below the first are green."""
FLAG_GOOD: Mapping[str, tuple[str, str]] = {"1": ("ok", "green"), "0": ("failed", "red")}
FLAG_BAD: Mapping[str, tuple[str, str]] = {"0": ("ok", "green"), "1": ("missing", "red")}


class Line(NamedTuple):
    """One query of a panel.

    Attributes:
        expression: PromQL expression.
        legend: Name of its series, with labels as {{fs}}.
    """

    expression: str
    legend: str


class Column(NamedTuple):
    """One query of a table.

    Attributes:
        title / expression: Title of the column, and its PromQL expression.
        unit: Unit as named by Grafana.
        steps: Colours of the text; () for none.
    """

    title: str
    expression: str
    unit: str
    steps: Steps = ()


def lines(
    title: str, description: str, queries: Sequence[Line], unit: str, *, stacked: bool = False,
    steps: Steps = (), width: int = 12, most: float | None = None, every: str = "",
) -> Builder[Panel]:  # fmt: skip
    """Return curves over time, starting at zero; `every` is the least step."""
    legend = common.VizLegendOptions().show_legend(True).placement(shapes.LegendPlacement.BOTTOM)
    legend = legend.display_mode(shapes.LegendDisplayMode.LIST)
    tooltip = common.VizTooltipOptions().mode(shapes.TooltipDisplayMode.MULTI)
    panel = timeseries.Panel().title(title).description(description).datasource(SOURCE)
    panel = panel.unit(unit).min(0).span(width).height(8).legend(legend)
    panel = panel.tooltip(tooltip.sort(shapes.SortOrder.DESCENDING)).fill_opacity(8)
    panel = panel.show_points(shapes.VisibilityMode.NEVER)
    if every:
        panel = panel.interval(every)
    if most is not None:
        panel = panel.max(most)
    if stacked:
        stacking = common.StackingConfig().mode(shapes.StackingMode.NORMAL).group("A")
        panel = panel.stacking(stacking).fill_opacity(40)
    if steps:
        style = common.GraphThresholdsStyleConfig().mode(shapes.GraphThresholdsStyleMode.DASHED)
        panel = panel.thresholds(_thresholds(steps)).thresholds_style(style)
    return panel.targets([_query(one, ref) for one, ref in _named(queries)])


def figure(
    title: str, description: str, query: Line, unit: str, *, steps: Steps = (), width: int = 4,
    names: Mapping[str, tuple[str, str]] | None = None, empty: str = "",
) -> Builder[Panel]:  # fmt: skip
    """Return a large number for the present value of each series."""
    panel = stat.Panel().title(title).description(description).datasource(SOURCE).unit(unit)
    panel = panel.span(width).height(4).graph_mode(shapes.BigValueGraphMode.NONE)
    panel = panel.color_mode(shapes.BigValueColorMode.VALUE).reduce_options(_last())
    panel = panel.thresholds(_thresholds(steps))
    if names:
        panel = panel.mappings(_mappings(names))
    if empty:
        panel = panel.no_value(empty)
    return panel.targets([_query(query, "A", instant=True)])


def bars(
    title: str, description: str, query: Line, unit: str, *, steps: Steps = (), width: int = 12,
    most: float | None = None,
) -> Builder[Panel]:  # fmt: skip
    """Return a bar for the present value of each series."""
    panel = bargauge.Panel().title(title).description(description).datasource(SOURCE)
    panel = panel.unit(unit).min(0).span(width).height(8).reduce_options(_last())
    panel = panel.orientation(shapes.VizOrientation.HORIZONTAL).thresholds(_thresholds(steps))
    panel = panel.display_mode(shapes.BarGaugeDisplayMode.BASIC)
    if most is not None:
        panel = panel.max(most)
    return panel.targets([_query(query, "A", instant=True)])


def states(
    title: str, description: str, query: Line, names: Mapping[str, tuple[str, str]], *,
    width: int = 12,
) -> Builder[Panel]:  # fmt: skip
    """Return a strip over time with the states of each series."""
    legend = common.VizLegendOptions().show_legend(False).placement(shapes.LegendPlacement.BOTTOM)
    panel = statetimeline.Panel().title(title).description(description).datasource(SOURCE)
    panel = panel.unit("short").span(width).height(8).mappings(_mappings(names)).legend(legend)
    panel = panel.show_value(shapes.VisibilityMode.NEVER)
    panel = panel.thresholds(_thresholds(()))
    return panel.targets([_query(query, "A")])


def heat_map(
    title: str, description: str, expression: str, unit: str, *, width: int = 8
) -> Builder[Panel]:
    """Return a histogram over time; the expression must be summed by "le"."""
    colours = heatmap.HeatmapColorOptions().mode(heat.HeatmapColorMode.SCHEME).scheme("Blues")
    colours = colours.steps(32).exponent(0.5).scale(heat.HeatmapColorScale.EXPONENTIAL)
    colours = colours.fill("blue").reverse(False)
    panel = heatmap.Panel().title(title).description(description).datasource(SOURCE)
    panel = panel.span(width).height(8).calculate(False).color(colours)
    panel = panel.y_axis(heatmap.YAxisConfig().unit(unit))
    panel = panel.cell_values(heatmap.CellValues().unit("ops"))
    found = prometheus.Dataquery().expr(expression).range().legend_format("{{le}}").ref_id("A")
    return panel.targets([found.format(PromQueryFormat.HEATMAP)])


def rows(
    title: str, description: str, columns: Sequence[Column], *, links: Mapping[str, str],
    width: int = 24, height: int = 8, every: str = "",
) -> Builder[Panel]:  # fmt: skip
    """Return a table, sorted by its first column of values, largest first.

    Args:
        title: Title of the panel.
        description: Description of the panel.
        columns: Columns, each a query; all with the same labels, which become the first columns.
        links: Label of a column to the link of its values.
        width: Width on the grid of 24 columns.
        height: Height on the grid.
        every: Least step, for counters that are read rarely.
    """
    panel = table.Panel().title(title).description(description).datasource(SOURCE)
    panel = panel.unit("short").span(width).height(height).filterable(True)
    sort = common.TableSortByFieldState().display_name(columns[0].title).desc(True)
    panel = panel.sort_by([sort]).thresholds(_thresholds(()))
    if every:
        panel = panel.interval(every)
    titles = {_value(ref, columns): one.title for one, ref in _named(columns)}
    hidden = {"Time": True, "job": True, "instance": True}
    panel = panel.transformations([
        DataTransformerConfig(id_val="merge", options={}),
        DataTransformerConfig(
            id_val="organize", options={"excludeByName": hidden, "renameByName": titles}
        ),
    ])  # fmt: skip
    for one in columns:
        panel = panel.override_by_name(one.title, _looks(one))
    for label, url in links.items():
        link = DashboardLink(title="Open", url=url)
        shown = [{"title": link.title, "url": link.url, "targetBlank": False}]
        panel = panel.override_by_name(label, [DynamicConfigValue("links", shown)])
    queries = [
        _query(Line(one.expression, ""), ref, instant=True).format(PromQueryFormat.TABLE)
        for one, ref in _named(columns)
    ]
    return panel.targets(list(queries))


def words(content: str, *, height: int = 2, width: int = 24) -> Builder[Panel]:
    """Return a panel with Markdown text."""
    panel = text.Panel().title("").transparent(True).span(width).height(height)
    return panel.mode(TextMode.MARKDOWN).content(content)


def _named(queries: Sequence[_T]) -> list[tuple[_T, str]]:
    return [(one, chr(ord("A") + place)) for place, one in enumerate(queries)]


def _value(ref: str, columns: Sequence[Column]) -> str:
    """Return the name that Grafana gives to the values of a query in a table."""
    return f"Value #{ref}" if len(columns) > 1 else "Value"


def _query(line: Line, ref: str, *, instant: bool = False) -> prometheus.Dataquery:
    query = prometheus.Dataquery().expr(line.expression).legend_format(line.legend).ref_id(ref)
    query = query.datasource(SOURCE)
    return query.instant() if instant else query.range()


def _looks(column: Column) -> list[DynamicConfigValue]:
    found = [DynamicConfigValue("unit", column.unit)]
    if column.steps:
        found.append(DynamicConfigValue("custom.cellOptions", {"type": "color-text"}))
        steps: list[dict[str, object]] = [{"value": None, "color": "green"}]
        steps += [{"value": value, "color": colour} for value, colour in column.steps]
        found.append(DynamicConfigValue("thresholds", {"mode": "absolute", "steps": steps}))
    return found


def _last() -> common.ReduceDataOptions:
    return common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)


def _thresholds(steps: Steps) -> dashboard.ThresholdsConfig:
    found = [Threshold(value=None, color="green")]
    found += [Threshold(value=value, color=colour) for value, colour in steps]
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(found)


def _mappings(names: Mapping[str, tuple[str, str]]) -> list[ValueMapping]:
    options = {
        value: ValueMappingResult(text=word, color=colour, index=place)
        for place, (value, (word, colour)) in enumerate(names.items())
    }
    return [ValueMap(options=options)]
