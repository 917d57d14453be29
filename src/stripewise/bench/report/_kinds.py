# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Selects the charts of a campaign by what varies in it, never by the name of its suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from stripewise.bench import Case
from stripewise.bench.campaign import Campaign, CaseFigures, DirectoryStriping, figures_of
from stripewise.bench.report._axes import DIRECTORY, Axis, axes_of

MOST_LINES = 8
"""Maximum number of lines in a panel: as many colours as readers can distinguish."""

CURVES, HEAT, BARS, METADATA = "curves", "heat map", "bars", "metadata"
PERCENTILES, RUNS, TARGETS = "percentiles", "runs", "targets"
DATA = ("write", "read")


@dataclass(frozen=True)
class ChartKind:
    """One kind of chart of one operation.

    Attributes:
        kind: "curves", "heat map", "bars", "metadata", "percentiles", "runs" or "targets".
        operation: Operation to draw: "write", "create"; empty for all.
        x: Horizontal axis; None for categories.
        y: Vertical axis of a heat map.
        lines: Axes that, with the series, distinguish lines (or bars).
        panels: Axes that distinguish panels; series do so too if `series_apart`.
        series_apart: Whether each series has its own panels.
        series: Series to show; empty for all.
    """

    kind: str
    operation: str = ""
    x: Axis | None = None
    y: Axis | None = None
    lines: tuple[Axis, ...] = ()
    panels: tuple[Axis, ...] = ()
    series_apart: bool = False
    series: tuple[str, ...] = ()

    def shows(self, one: CaseFigures) -> bool:
        """Return whether a figure belongs in the chart."""
        if one.operation != self.operation or (self.series and one.case.series not in self.series):
            return False
        return all(axis is None or axis.at(one.case) is not None for axis in (self.x, self.y))


def chart_kinds(
    campaign: Campaign, figures: Sequence[CaseFigures] | None = None
) -> tuple[ChartKind, ...]:
    """Return the charts of a campaign in the order of its page.

    * Curves over the size of the job (nodes, otherwise ranks per node), or otherwise over the
      number with the most values; a panel for each directory, a line for each series and whatever
      else varies.  Series in which other things vary (for example other settings) get their own
      curves; one in which only names vary gets bars.
    * A heat map if two more things vary, or one with at least three values in addition to the job
      size.
    * Bars of bandwidth if there are several series, or if nothing that varies is a number; bars of
      all metadata operations together.
    * Percentiles if operations were timed individually; runs over time if cells were repeated;
      targets if files had one target each.
    """
    found = figures_of(campaign) if figures is None else figures
    kinds: list[ChartKind] = []
    for operation, cases in _by_operation(found).items():
        groups = _groups_alike(cases, campaign.suite.directories)
        for group in groups:
            axes = axes_of(group, campaign.suite.directories)
            series = tuple(dict.fromkeys(case.series for case in group))
            made = list(_kinds_of_group(operation, axes, len(series)))
            if len(groups) > 1 and operation in DATA and _horizontal(axes) is None:
                made = [ChartKind(BARS, operation, lines=axes)]
            kinds += made if len(groups) == 1 else [replace(one, series=series) for one in made]
        kinds += _bars(operation, axes_of(cases, campaign.suite.directories), cases)
    return (*kinds, *_kinds_of_all(campaign, found))


def _by_operation(figures: Iterable[CaseFigures]) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for one in figures:
        found.setdefault(one.operation, []).append(one.case)
    return found


def _groups_alike(
    cases: Iterable[Case], places: Mapping[str, DirectoryStriping]
) -> list[list[Case]]:
    """Group series by what varies within them, except the directory."""
    by_series: dict[str, list[Case]] = {}
    for case in cases:
        by_series.setdefault(case.series, []).append(case)
    found: dict[frozenset[str], list[Case]] = {}
    for members in by_series.values():
        names = {axis.name for axis in axes_of(members, places)}
        found.setdefault(frozenset(names - {DIRECTORY}), []).extend(members)
    return list(found.values())


def _bars(operation: str, axes: Sequence[Axis], cases: Sequence[Case]) -> Iterator[ChartKind]:
    across = _horizontal(axes)
    if operation in DATA and (across is None or len({case.series for case in cases}) > 1):
        yield ChartKind(BARS, operation, lines=() if across is not None else tuple(axes))


def _kinds_of_group(operation: str, axes: Sequence[Axis], series: int) -> Iterator[ChartKind]:
    x = _horizontal(axes)
    if x is not None:
        yield _curves(operation, x, [one for one in axes if one is not x], series)
    if pair := _pair(axes):
        rest = tuple(one for one in axes if one not in pair)
        yield ChartKind(HEAT, operation, *pair, panels=rest, series_apart=series > 1)


def _horizontal(axes: Sequence[Axis]) -> Axis | None:
    """Return the axis over which curves are drawn."""
    scales = [one for one in axes if one.is_scale]
    if scales:
        return scales[0]
    numbers = [one for one in axes if one.is_number]
    return max(numbers, key=lambda one: len(one.values), default=None)


def _curves(operation: str, x: Axis, rest: list[Axis], series: int) -> ChartKind:
    """Give each directory a panel, and more of the axes while there are too many lines."""
    panels = [one for one in rest if one.name == DIRECTORY and not _is_measure(one)]
    lines = [one for one in rest if one not in panels]
    lines.sort(key=lambda one: -len(one.values))
    apart = series > 1 and (series > MOST_LINES or any(one.is_number for one in lines))
    side_by_side = 1 if apart else series
    while lines and side_by_side * prod(len(one.values) for one in lines) > MOST_LINES:
        panels.append(lines.pop())
    return ChartKind(
        CURVES, operation, x, lines=tuple(lines), panels=tuple(panels), series_apart=apart
    )


def _pair(axes: Sequence[Axis]) -> tuple[Axis, Axis] | None:
    """Return the axes of a heat map: those with most values, and the job size only if needed."""
    others = sorted(
        (one for one in axes if not one.is_scale and (one.name != DIRECTORY or _is_measure(one))),
        key=lambda one: -len(one.values),
    )
    if len(others) > 1 and len(others[0].values) > 2:
        return others[0], others[1]
    scales = [one for one in axes if one.is_scale]
    pair = (*scales, *others)[:2]
    if len(pair) == 2 and min(len(one.values) for one in pair) > 2:
        return pair[0], pair[1]
    return None


def _is_measure(directories: Axis) -> bool:
    """Return whether directories differ in one number, so that they are more than names."""
    return directories.title != DIRECTORY


def _kinds_of_all(campaign: Campaign, figures: Iterable[CaseFigures]) -> Iterator[ChartKind]:
    if any(not one.of_data for one in figures):
        yield ChartKind(METADATA)
    samples = [sample for run in campaign.runs for sample in run.samples]
    if any(sample.percentiles for sample in samples):
        yield ChartKind(PERCENTILES)
    timed = sum(run.started_unix_seconds > 0 for run in campaign.runs)
    if timed > 1 and any(run.repeat > 1 for run in campaign.runs):
        yield ChartKind(RUNS)
    if len(single_targets(campaign)) > 1:
        yield ChartKind(TARGETS)


def single_targets(campaign: Campaign) -> dict[int, list[tuple[str, int]]]:
    """Return the runs whose file was on one target: target to (key, repeat) of each."""
    found: dict[int, list[tuple[str, int]]] = {}
    for run in campaign.runs:
        targets = run.layout.get("targets")
        if run.samples and isinstance(targets, list | tuple) and len(targets) == 1:
            target = targets[0]
            if isinstance(target, int):
                found.setdefault(target, []).append((run.key, run.repeat))
    return dict(sorted(found.items()))
