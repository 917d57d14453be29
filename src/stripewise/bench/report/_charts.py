# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All charts of a campaign, in sections, each in panels that share their scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.bench.campaign import Campaign, CaseFigures
from stripewise.bench.report import _kinds as kinds
from stripewise.bench.report._axes import axes_of, operation_title
from stripewise.bench.report._bars import bars, metadata_bars, percentiles
from stripewise.bench.report._curves import PALETTE, Panel, curves, heat_map, line_names, panels_of
from stripewise.bench.report._kinds import ChartKind, chart_kinds
from stripewise.bench.report._over_time import runs_over_time, targets
from stripewise.core.errors import UsageError
from stripewise.present import Chart, chart, plural, printable
from stripewise.present.blocks import Drawings, Section

MOST_PANELS = 12
_GLYPHS = "●■▲◆✚▼▶◀"
_CURVES, _HEAT = ("curves", "Curves"), ("heat", "Heat maps")
_BARS, _METADATA, _RUNS = ("bars", "Against the peak"), ("metadata", "Metadata"), ("runs", "Runs")
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
        several: It has had panels of its own from the first.
    """

    title: str
    note: str
    panels: tuple[Chart, ...]
    legend: tuple[tuple[str, str, str], ...] = ()
    hidden: int = 0
    axes: str = ""
    several: bool = False


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
    found: list[Group] = []
    for one in groups:
        last = found[-1] if found else None
        if last and _alike(last, one) and len(one.panels) == 1 and not last.several:
            found[-1] = replace(last, panels=(*last.panels, *one.panels), title=one.axes)
        else:
            found.append(replace(one, several=len(one.panels) > 1))
    return found


def _alike(one: Group, other: Group) -> bool:
    return one.axes != "" and (one.note, one.legend, one.axes) == (
        other.note,
        other.legend,
        other.axes,
    )


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
    """Return the panels of a kind; the first names the lines, and of several operations each."""
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
