# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The limits as a picture of the path of data: process -> node -> network -> target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, log2
from pathlib import Path

from markupsafe import Markup

from stripewise.bench.campaign import Campaign
from stripewise.bench.limits import Limit, Limits
from stripewise.core import write_file
from stripewise.core.errors import UsageError
from stripewise.present import chart, plural, printable, rate_text
from stripewise.storage.machines import Evidence

_STEP, _TOP, _ROW = 210, 64, 208
_MARGIN = 14
_THIN, _THICK = 12.0, 88.0
_FONT = "font-family=\"system-ui, 'DejaVu Sans', sans-serif\""
_PIPE, _NARROW, _ASSUMED = "#9cc4de", "#e9a27c", "#e3e7ee"


@dataclass(frozen=True)
class Stage:
    """One part of the path.

    Attributes:
        title: "process", "node", "network", "target", "file system".
        figure: Of the description.
        one: Bytes a second of one of them; infinite: it limits nothing that is known.
        count: How many of them the job uses.
        limit: As the campaign tells it; None: it limits no case, or is not known.
        on_path: Whether all data pass it; what only some libraries pass is never the narrowest.
        why: It is not known.
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
        """Bytes a second of all."""
        return self.one * self.count


def stages_of(limits: Limits, direction: str, nodes: int, ranks: int) -> list[Stage]:
    """Return the path of a job's data.

    Args:
        limits: What a campaign tells.
        direction: "write" or "read".
        nodes: Of the job.
        ranks: Of the job.
    """
    targets = int(limits.storage.value("servers.targets"))
    told = {one.figure: one for one in limits.limits}
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
        limit = told.get(figure)
        value = limit.value if limit else _described(limits, figure)
        why = limits.untold.get(figure, "")
        found.append(Stage(title, figure, value, count, limit, on_path, why))
    return [one for one in found if one.on_path or isfinite(one.one)]


def _described(limits: Limits, figure: str) -> float:
    """Return a figure that the campaign does not tell; infinite where the fit has assumed it."""
    known = limits.storage.figures.get(figure)
    if known is None or (figure in limits.untold and known.kind is Evidence.ASSUMED):
        return inf
    return known.value


def narrowest(stages: Sequence[Stage]) -> Stage | None:
    """Return the stage through which least goes; None: none is known."""
    known = [one for one in stages if one.on_path and isfinite(one.total)]
    return min(known, key=lambda one: one.total, default=None)


def largest_job(campaign: Campaign) -> tuple[int, int]:
    """Return nodes and ranks of the largest job that moves data."""
    jobs = [(case.nodes, case.ranks) for case in campaign.suite.cases
            if case.operation != "metadata"]  # fmt: skip
    return max(jobs, default=(1, 1))


def path_picture(campaign: Campaign, limits: Limits) -> tuple[Markup, str] | None:
    """Draw the path of the largest job's data, one row for each direction; SVG and its words."""
    nodes, ranks = largest_job(campaign)
    told = {one.figure for one in limits.limits}
    ways = [way for way in ("write", "read") if any(one.endswith(f"_{way}") for one in told)]
    if not ways:
        return None
    rows = [(way, stages_of(limits, way, nodes, ranks)) for way in ways]
    wide = 2 * _MARGIN + _STEP * max(len(stages) for _, stages in rows)
    job = f"{plural(nodes, 'node')} with {plural(ranks, 'process', 'processes')}"
    words = " ".join(_described_row(way, stages, job) for way, stages in rows)
    parts = [_drawn(way, stages, _ROW * place) for place, (way, stages) in enumerate(rows)]
    high = _ROW * len(rows) + 8
    svg = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" '
        'role="img" aria-label="{2}" {3} font-size="12"><title>Limits on the path of the data'
        '</title><desc>{2}</desc><rect width="{0}" height="{1}" fill="#ffffff"/>{4}</svg>'
    ).format(wide, high, words, Markup(_FONT), Markup("").join(parts))
    return svg, words


def draw_limits(campaign: Campaign, limits: Limits, path: Path) -> str:
    """Draw the path of the largest job's data as an SVG file, and return it in words.

    Raises:
        UsageError: The file is no SVG, or the limits tell nothing of the path.
        StorageError: The file cannot be written.
    """
    if path.suffix != ".svg":
        raise UsageError(f"{path}: limits are drawn as SVG: give a name that ends in .svg")
    drawn = path_picture(campaign, limits)
    if drawn is None:
        raise UsageError(
            "the campaign tells no limit of processes, nodes or targets: run a suite that does, "
            "such as array3d"
        )
    write_file(path, str(drawn[0]))
    return drawn[1]


def _described_row(way: str, stages: Sequence[Stage], job: str) -> str:
    said = [
        f"{one.title} {rate_text(one.one)} x {one.count} = {rate_text(one.total)}"
        for one in stages if isfinite(one.one)
    ]  # fmt: skip
    least = narrowest(stages)
    end = f"; narrowest: {least.title}" if least else ""
    return f"{way.capitalize()}, {job}: {', '.join(said)}{end}."


def _drawn(way: str, stages: Sequence[Stage], top: int) -> Markup:
    heights = _thickness(stages)
    least = narrowest(stages)
    middle = top + _TOP + 50
    parts = [_text(_MARGIN, top + 20, way.capitalize(), size=14, weight=600)]
    for place, (stage, height) in enumerate(zip(stages, heights, strict=True)):
        left = _MARGIN + place * _STEP
        if place:
            parts.append(_joint(left, middle, heights[place - 1], height))
        parts.append(_segment(stage, left, middle, height, stage is least))
    return Markup("").join(parts)


def _thickness(stages: Sequence[Stage]) -> list[float]:
    """Return the thickness of each part: logarithmic between the least and the most."""
    known = [one.total for one in stages if isfinite(one.total) and one.total > 0]
    low, high = min(known, default=1.0), max(known, default=1.0)
    span = max(log2(high / low), 1.0)
    return [
        _THIN + (_THICK - _THIN) * log2(one.total / low) / span
        if isfinite(one.total) and one.total > 0 else _THICK
        for one in stages
    ]  # fmt: skip


def _segment(stage: Stage, left: float, middle: float, height: float, least: bool) -> Markup:
    wide = _STEP - 34
    colour = _NARROW if least else _PIPE if stage.limit else _ASSUMED
    known = isfinite(stage.one)
    dash = Markup("") if known and stage.on_path else Markup(' stroke-dasharray="5 4"')
    edge = chart.BEST if least else "#5b6472"
    box = Markup(
        '<rect x="{}" y="{:.1f}" width="{}" height="{:.1f}" rx="5" fill="{}" stroke="{}"'
        ' stroke-width="{}"{}><title>{}</title></rect>'
    ).format(
        left, middle - height / 2, wide, height, colour if known else "#ffffff", edge,
        2 if least else 1, dash, _hover(stage),
    )  # fmt: skip
    name = f"{stage.title} – narrowest" if least else stage.title
    lines = [_text(left, middle - 58, name, weight=600, colour=edge if least else chart.INK)]
    lines += [
        _text(left, middle + 64 + 15 * place, words, colour=chart.MUTED)
        for place, words in enumerate(_below(stage))
    ]
    return box + Markup("").join(lines)


def _hover(stage: Stage) -> str:
    if stage.limit:
        return printable(stage.limit.sentence)
    return printable(stage.why or stage.figure)


def _below(stage: Stage) -> list[str]:
    """Two lines: one of it with the interval, then all of them."""
    if not isfinite(stage.one):
        return ["not told", "limits nothing that was seen"]
    shown = rate_text(stage.one)
    first = f"{shown} x {stage.count}" if stage.count > 1 else shown
    if stage.count > 1:
        first += f" = {rate_text(stage.total)}"
    if stage.limit:
        low, high = (rate_text(value) for value in (stage.limit.low, stage.limit.high))
        return [first, f"{low} – {high} each" if stage.count > 1 else f"{low} – {high}"]
    return [first, "limits no case that was seen"]


def _joint(left: float, middle: float, before: float, after: float) -> Markup:
    """The piece between two parts, as a pipe that gets narrower or wider."""
    start, end = left - 34, left
    corners = (
        (start, middle - before / 2), (end, middle - after / 2),
        (end, middle + after / 2), (start, middle + before / 2),
    )  # fmt: skip
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    arrow = f"M{start + 12:.0f} {middle - 5:.0f}l8 5l-8 5"
    return Markup(
        '<polygon points="{}" fill="#eef1f6"/><path d="{}" fill="none" stroke="#5b6472"'
        ' stroke-width="1.5"/>'
    ).format(points, arrow)


def _text(
    x: float, y: float, words: str, *, size: int = 12, weight: int = 400, colour: str = chart.INK
) -> Markup:
    return Markup(
        '<text x="{}" y="{:.0f}" font-size="{}" font-weight="{}" fill="{}">{}</text>'
    ).format(x, y, size, weight, colour, printable(words))
