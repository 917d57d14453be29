# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the limits along the path of data: process, node, network, target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path

from stripewise.bench.campaign import Campaign
from stripewise.bench.limits import Limit, Limits
from stripewise.core.errors import UsageError
from stripewise.present import Chart, Spec, chart, plural, printable, rate_text
from stripewise.storage.machines import FigureOrigin

_GIB = float(1 << 30)
_NARROWEST, _LIMITS, _NO_LIMIT, _SOME = (
    "narrowest", "limits some cases", "limits no measured case", "only some jobs pass it"
)  # fmt: skip
_KINDS = {_NARROWEST: chart.BEST, _LIMITS: chart.BASELINE, _NO_LIMIT: "#b9c0cb", _SOME: "#9cc4de"}
"""Colours of the parts."""


@dataclass(frozen=True)
class Stage:
    """One part of the path.

    Attributes:
        title: "process", "node", "network", "target", "file system".
        figure: Name of its figure in the description.
        one: Bytes per second of a single one; infinite without a known limit.
        count: Number of them that the job uses.
        limit: Limit that the campaign shows; None if it limits no case, or is unknown.
        on_path: Whether all data pass it; parts that only some libraries use are never the
            narrowest.
        why: Reason why the limit is unknown.
    """

    title: str
    figure: str
    one: float
    count: int
    limit: Limit | None = None
    on_path: bool = True
    why: str = ""

    @property
    def total(self) -> float:
        """Bytes per second of all of them."""
        return self.one * self.count

    @property
    def words(self) -> str:
        """Rates of one of them and of all: "1.2 GiB/s x 16 = 19 GiB/s"."""
        if self.count == 1:
            return rate_text(self.one)
        return f"{rate_text(self.one)} x {self.count} = {rate_text(self.total)}"


def stages_of(limits: Limits, direction: str, nodes: int, ranks: int) -> list[Stage]:
    """Return the path of a job's data.

    Args:
        limits: Limits that a campaign shows.
        direction: "write" or "read".
        nodes: Number of nodes of the job.
        ranks: Number of ranks of the job.
    """
    targets = int(limits.storage.value("servers.targets"))
    known = {one.figure: one for one in limits.limits}
    parts = (
        ("process", f"client.process_{direction}", ranks, True),
        ("shared file, per node", f"client.file_{direction}", nodes, False),
        ("node", f"client.node_{direction}", nodes, True),
        ("network, per aggregator", "exchange.bandwidth", nodes, False),
        ("target", f"servers.target_{direction}", targets, True),
        ("file system", f"servers.whole_{direction}", 1, True),
    )
    found = []
    for title, figure, count, on_path in parts:
        limit = known.get(figure)
        value = limit.value if limit else _described(limits, figure)
        why = limits.undetermined.get(figure, "")
        found.append(Stage(title, figure, value, count, limit, on_path, why))
    return [one for one in found if one.on_path or isfinite(one.one)]


def _described(limits: Limits, figure: str) -> float:
    """Return a figure that the campaign does not show; infinite if the fit has assumed it."""
    known = limits.storage.figures.get(figure)
    if known is None or (figure in limits.undetermined and known.kind is FigureOrigin.ASSUMED):
        return inf
    return known.value


def narrowest(stages: Sequence[Stage]) -> Stage | None:
    """Return the stage with the lowest total rate; None if none is known."""
    known = [one for one in stages if one.on_path and isfinite(one.total)]
    return min(known, key=lambda one: one.total, default=None)


def largest_job(campaign: Campaign) -> tuple[int, int]:
    """Return nodes and ranks of the largest job that moves data."""
    jobs = [(case.nodes, case.ranks) for case in campaign.suite.cases
            if case.operation != "metadata"]  # fmt: skip
    return max(jobs, default=(1, 1))


def path_chart(campaign: Campaign, limits: Limits) -> Chart | None:
    """Draw the rate of each part of the largest job's path, for each direction.

    Returns:
        The chart; None if the limits contain nothing about the path.
    """
    nodes, ranks = largest_job(campaign)
    figures = {one.figure for one in limits.limits}
    ways = [way for way in ("write", "read") if any(one.endswith(f"_{way}") for one in figures)]
    if not ways:
        return None
    paths = {way: stages_of(limits, way, nodes, ranks) for way in ways}
    known = [one.total for stages in paths.values() for one in stages if isfinite(one.total)]
    ends = [min(known, default=1.0) / 4 / _GIB, max(known, default=1.0) * 40 / _GIB]
    job = f"{plural(nodes, 'node')} with {plural(ranks, 'process', 'processes')}"
    words = " ".join(_described_row(way, stages, job) for way, stages in paths.items())
    parts = [_direction(way, stages, job, ends) for way, stages in paths.items()]
    return Chart(chart.column(*parts), words)


def draw_limits(campaign: Campaign, limits: Limits, path: Path) -> str:
    """Draw the path of the largest job's data as a picture, and return it in words.

    Raises:
        UsageError: The suffix is not that of a picture, or the limits contain nothing of the path.
        StorageError: The file cannot be written.
    """
    drawn = path_chart(campaign, limits)
    if drawn is None:
        raise UsageError(
            "the campaign shows no limit of processes, nodes or targets: run a suite that does, "
            "such as array3d"
        )
    chart.write_picture({**drawn.spec, "description": drawn.description}, path)
    return drawn.description


def _described_row(way: str, stages: Sequence[Stage], job: str) -> str:
    parts = [f"{one.title} {one.words}" for one in stages if isfinite(one.one)]
    least = narrowest(stages)
    end = f"; narrowest: {least.title}" if least else ""
    return f"{way.capitalize()}, {job}: {', '.join(parts)}{end}."


def _direction(way: str, stages: Sequence[Stage], job: str, ends: Sequence[float]) -> Spec:
    """Return a bar for each part of the path, in the order in which the data pass them."""
    least = narrowest(stages)
    rows = [
        {
            "stage": f"{one.title} – narrowest" if one is least else one.title,
            "rate": one.total / _GIB if isfinite(one.total) else ends[0],
            "kind": _NARROWEST if one is least else _kind(one),
            "said": _rate_words(one),
            "why": printable(one.limit.sentence if one.limit else one.why or one.figure),
        }
        for one in stages
    ]
    y = chart.category("stage", title=None, sort=None,
                       axis={"labelLimit": 200, "minExtent": 60, "maxExtent": 210})  # fmt: skip
    x = chart.number("rate", "GiB/s", scale={"type": "log", "domain": ends, "nice": False},
                     axis={"grid": False})  # fmt: skip
    colour = chart.category("kind", scale={"domain": list(_KINDS), "range": list(_KINDS.values())},
                            legend={"title": None, "columns": 2, "labelLimit": 300})  # fmt: skip
    tips = chart.tips(stage="part", said="lets through", why="because")
    return chart.layers(
        rows,
        chart.layer("bar", {"x": x, "x2": {"datum": ends[0]}, "y": y, "color": colour,
                            "tooltip": tips}, height=15),
        chart.layer("text", {"x": x, "y": y, "text": {"field": "said"}}, align="left", dx=6,
                    color=chart.MUTED, fontSize=11),
        height={"step": 26},
        title={"text": way.capitalize(), "subtitle": job},
    )  # fmt: skip


def _kind(stage: Stage) -> str:
    if not stage.on_path:
        return _SOME
    return _LIMITS if stage.limit else _NO_LIMIT


def _rate_words(stage: Stage) -> str:
    """Return the rate of all of a part, and the interval of one of them."""
    if not isfinite(stage.one):
        return "not known: it limited no case"
    if stage.limit:
        low, high = (rate_text(value) for value in (stage.limit.low, stage.limit.high))
        return f"{stage.words} ({low} – {high}{' each' if stage.count > 1 else ''})"
    return f"{stage.words}, limits no measured case"
