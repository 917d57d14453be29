# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws a run over time, and describes its phases in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stripewise.core.errors import UsageError
from stripewise.evidence.figures import Diagnosis, Periodicity
from stripewise.evidence.figures import heat_cells as heat
from stripewise.evidence.figures.heat_cells import Cells, Floats, TimeAxis
from stripewise.evidence.report._profile_blocks import NO_TIME_BINS
from stripewise.evidence.trace import Evidence, RunProfile
from stripewise.present import (
    Chart,
    Spec,
    chart,
    number_text,
    percent_text,
    plural,
    rate_text,
    seconds_text,
    size_text,
    time_unit,
)
from stripewise.present.blocks import Block, Heat, Notice

RAMPS = {
    "write": ("#fde6d0", "#f3a25e", "#c04a00", "#521c00"),
    "read": ("#deecf8", "#74b0dc", "#0072b2", "#002c48"),
    "busy": ("#ebe6f4", "#a794cf", "#5e3c99", "#241048"),
}
"""Colours from low to high; lightness falls steadily, so that they are readable in grey print."""
_COLOURS = {"write": chart.WRITE, "read": chart.READ}
_VERBS = {"write": "Written", "read": "Read"}
_TITLES = {"write": "Written, {}", "read": "Read, {}", "busy": "Time in I/O calls, {}"}
_UNITS: dict[str, tuple[str, float, Callable[[float], str]]] = {
    "rate": ("MiB/s", 2.0**-20, rate_text),
    "share": ("%", 100.0, lambda v: f"{100 * v:{'.0f' if v >= 0.01 or v == 0 else '.2g'}} %"),
    "ranks": ("ranks", 1.0, lambda v: f"{number_text(v)} rank{'' if v == 1 else 's'}"),
}
"""Name, factor from the values of a map, and function that formats one value."""
_MOST_LABELS, _MOST_TITLE = 8, 110


@dataclass(frozen=True, eq=False)
class TimeMap:
    """One matrix over time before it is drawn.

    Attributes:
        kind: Meaning of a row: "rank" or "file".
        quantity: "write", "read" or "busy".
        title: Title in words.
        unit: "rate" (bytes per second), "share" (of the time) or "ranks" (their number).
        labels: Labels of the rows.
        values: (n_rows, n_columns) float64, in `unit`.
    """

    kind: str
    quantity: str
    title: str
    unit: str
    labels: Sequence[str]
    values: Floats


def draw_profile(diagnosis: Diagnosis, evidence: Evidence, path: Path) -> None:
    """Draw bandwidth and the heat maps of ranks over time.

    Raises:
        UsageError: The suffix is not of a picture, or the source has no time bins.
        StorageError: The file cannot be written.
    """
    found = time_chart(evidence.profile, files=False)
    if found is None:
        raise UsageError(
            f"{evidence.profile.source} has no time bins, so there is no picture over time; "
            "`stripewise run --trace` records them"
        )
    title = diagnosis.command or diagnosis.source
    title = title if len(title) <= _MOST_TITLE else title[:_MOST_TITLE] + "…"
    chart.write_picture({**found.spec, "title": title}, path)


def time_chart(
    profile: RunProfile, phases: Sequence[Periodicity] = (), *, files: bool = True
) -> Chart | None:
    """Draw bandwidth and heat maps above each other, under one axis of time.

    Args:
        profile: Profile of the run.
        phases: Phases of each direction, whose beginnings are marked.
        files: Whether to draw maps of files in addition to those of ranks.

    Returns:
        The chart; None if the source has no time bins or they are empty.
    """
    axis = heat.time_axis(profile)
    if axis is None:
        return None
    maps = [one for one in time_maps(profile, axis) if files or one.kind == "rank"]
    bands = _rates(profile, axis)
    if not maps and not bands:
        return None
    top = max((float(values.max()) for values in bands.values()), default=0.0)
    marks = phase_marks(bands, axis.column_seconds, phases)
    parts = [_band(name, bands[name], top, axis, marks.get(name, ())) for name in bands]
    parts += [_heat(one, axis) for one in maps]
    for place, part in enumerate(parts):
        unit = part.get("layer", [part])[0]
        unit["name"] = f"part{place}"
        if place < len(parts) - 1:
            unit["encoding"]["x"]["title"] = None
    zoom = {**chart.ZOOM, "views": [f"part{place}" for place in range(len(parts))]}
    words = [
        f"{_VERBS[name]}: at most {rate_text(float(values.max()))}"
        for name, values in bands.items()
    ]
    words += [describe(one, axis) for one in maps]
    return Chart({**chart.column(*parts), "params": [zoom]}, "; ".join(words))


def _rates(profile: RunProfile, axis: TimeAxis) -> dict[str, Floats]:
    """Return the bandwidth of each direction that moved anything: (n_columns,) float64, B/s."""
    moved = {name: heat.series(heat.moved_bytes(profile, axis, name), axis) for name in _VERBS}
    return {name: cells / axis.column_seconds for name, cells in moved.items() if cells.any()}


def _band(
    quantity: str, values: Floats, top: float, axis: TimeAxis, marks: Sequence[float]
) -> Spec:
    """Draw the bandwidth of one direction; both have the same scale."""
    title = f"{_VERBS[quantity]}, all ranks together, MiB/s"
    y = chart.number("v", scale={"domain": [0, top * 2.0**-20]}, axis={"tickCount": 3})
    encoding = {**_x(axis), "y": y, "y2": {"datum": 0}, "tooltip": _tips("MiB/s")}
    parts = [chart.layer("rect", encoding, color=_COLOURS[quantity], clip=True)]
    if marks:
        unit = time_unit(axis.seconds)[1]
        begins = {"x": {"field": "from", "type": "quantitative"}}
        rule = chart.layer("rule", begins, color=chart.MUTED, strokeDash=[3, 3], clip=True)
        parts.append({"data": {"values": [{"from": at / unit} for at in marks]}, **rule})
    return {**_table(values[None, :] * 2.0**-20, axis, title), "height": 80, "layer": parts}


def _heat(one: TimeMap, axis: TimeAxis) -> Spec:
    """Draw one map; a cell without I/O is blank."""
    unit, factor, _ = _UNITS[one.unit]
    values = one.values * factor
    names = one.labels
    name, _, layer = one.title.partition(": ")
    spec = _table(values, axis, {"text": f"{name}, {unit}", "subtitle": layer})
    for line in spec["data"]["values"]:
        line["row"] = names[line["row"]]
    spec["mark"] = {"type": "rect", "clip": True}
    ranks = one.kind == "rank"
    spec["height"] = min(max(14 * len(names), 28), 220) if ranks else 18 * len(names)
    step = -(-len(names) // _MOST_LABELS) if ranks else 1
    base = "slice(datum.label, lastindexof(datum.label, '/') + 1)"
    spec["encoding"] = {
        **_x(axis),
        "y": chart.category(
            "row",
            title=None,
            sort=None,
            scale={"domain": list(names)},
            axis={"values": list(names[::step]), "labelExpr": base},
        ),
        "color": _colour(one, values[values > 0], unit),
        "tooltip": [*chart.tips(row=one.kind), *_tips(unit)],
    }
    return spec


def _colour(one: TimeMap, values: Floats, unit: str) -> Spec:
    """Colour rates by their range, logarithmic if it is wide; shares up to the whole time."""
    scale: Spec = {"range": list(RAMPS[one.quantity]), "clamp": True}
    high = float(values.max(initial=0.0)) or 1.0
    low = max(float(values.min(initial=high)), high / 1e4)
    if one.unit == "rate" and high >= 8 * low:
        scale |= {"type": "log", "domain": [low, high]}
    else:
        scale |= {"domain": [0, max(100.0, high) if one.unit == "share" else high]}
    legend: Spec = {"title": "blank: nothing", "gradientLength": 120, "titleOrient": "left"}
    legend |= {"format": ",.2~r", "gradientThickness": 10, "tickCount": 3}
    return {"field": "v", "type": "quantitative", "scale": scale, "legend": legend}


def _table(values: Floats, axis: TimeAxis, title: str | Spec) -> Spec:
    """Return the data of one chart: the columns and values of each row, and their time."""
    name, length = time_unit(axis.seconds)
    width = axis.column_seconds / length
    lines = [
        {"row": row, "c": used.tolist(), "v": [float(f"{v:.4g}") for v in values[row, used]]}
        for row, used in ((row, np.flatnonzero(line)) for row, line in enumerate(values))
        if used.size
    ]
    ends = "format(datum.from, '.4~r') + ' to ' + format(datum.to, '.4~r')"
    derived = {"from": f"datum.c * {width!r}", "to": f"(datum.c + 1) * {width!r}"}
    derived["time"] = f"{ends} + ' {name}'"
    return {
        **{"title": title, "width": chart.WIDE, "data": {"values": lines}},
        "transform": [
            {"flatten": ["c", "v"]},
            *({"calculate": how, "as": what} for what, how in derived.items()),
        ],
    }


def _x(axis: TimeAxis) -> Spec:
    name, length = time_unit(axis.seconds)
    scale = {"domain": [0, axis.seconds / length], "nice": False}
    title = f"{name} since the run began"
    return {"x": chart.number("from", title, scale=scale), "x2": {"field": "to"}}


def _tips(unit: str) -> list[Spec]:
    return [*chart.tips(time="time"), chart.tip("v", unit)]


def time_maps(profile: RunProfile, axis: TimeAxis) -> Iterator[TimeMap]:
    """Yield all maps that contain something; ranks first, then files if they are known."""
    parts = list(_parts(profile, axis))
    rows = heat.rank_rows(profile)
    each = "each rank" if max(rows.members) == 1 else "each rank (mean of neighbours)"
    for quantity, words, cells in parts:
        title = _TITLES[quantity].format(each) + words
        values = heat.rank_matrix(cells, rows, axis) / axis.column_seconds
        unit = "share" if quantity == "busy" else "rate"
        yield TimeMap("rank", quantity, title, unit, rows.labels, values)
    if not heat.knows_files(profile):
        return
    rows = heat.file_rows(profile, *(cells for _, _, cells in parts))
    first_level: dict[str, Cells] = {}
    for quantity, _, cells in parts:
        first_level.setdefault(quantity, cells)
    for quantity, cells in first_level.items():
        values = heat.file_matrix(cells, rows, axis) / axis.column_seconds
        title, unit = _TITLES[quantity].format("each file"), "rate"
        if quantity == "busy":
            several = bool(values.max(initial=0.0) > 1)
            title = "Ranks in I/O calls on each file" if several else title
            unit = "ranks" if several else "share"
        kept = np.flatnonzero(values.any(axis=1))
        labels = [rows.labels[row] for row in kept]
        yield TimeMap("file", quantity, title, unit, labels, values[kept])


def _parts(profile: RunProfile, axis: TimeAxis) -> Iterator[tuple[str, str, Cells]]:
    """Yield quantity, description of its layer and cells; both levels only if they differ."""
    for quantity in ("write", "read"):
        program = heat.moved_bytes(profile, axis, quantity, "program")
        system = heat.moved_bytes(profile, axis, quantity, "system")
        if program.layers == system.layers or _alike(program, system):
            if system.value.any():
                yield quantity, "", system
            continue
        if not program.value.any():
            words = f": beneath the program's calls ({_join(system)}), which requested none"
            yield quantity, words, system
            continue
        yield quantity, f": what the program requested ({_join(program)})", program
        yield quantity, f": what reached the file system ({_join(system)})", system
    busy = heat.busy_seconds(profile, axis)
    if busy.value.any():
        yield "busy", "", busy


def _alike(first: Cells, second: Cells) -> bool:
    """Return whether two levels agree by rank and in sum: nothing was gathered or split."""
    if not (first.value.any() and second.value.any()):
        return False
    one, other = (np.bincount(cells.rank + 2, cells.value) for cells in (first, second))
    return len(one) == len(other) and bool(np.allclose(one, other, rtol=0.02, atol=65_536))


def _join(cells: Cells) -> str:
    return " and ".join(cells.layers)


def describe(one: TimeMap, axis: TimeAxis) -> str:
    """Describe in words what a map shows."""
    show = _UNITS[one.unit][2]
    values = one.values
    row, column = divmod(int(values.argmax()), values.shape[1])
    active_rows = int((values > 0).any(axis=1).sum())
    active_columns = int((values > 0).any(axis=0).sum())
    where = one.labels[row]
    return (
        f"Heat map: {one.title}. {active_rows} of {values.shape[0]} rows and {active_columns} of "
        f"{values.shape[1]} spans of {seconds_text(axis.column_seconds)} have any. Most in "
        f"{where} at {seconds_text(column * axis.column_seconds)}: "
        f"{show(float(values[row, column]))}."
    )


# When the phases of a run begin.


def phase_marks(
    rates: Mapping[str, Floats], column_seconds: float, phases: Sequence[Periodicity]
) -> dict[str, tuple[float, ...]]:
    """Find when the phases of each periodic direction begin, in seconds.

    Args:
        rates: Direction ("write", "read") to (n_columns,) float64.
        column_seconds: Width of a column.
        phases: Phases that were found for each direction.
    """
    return {
        phase.direction: tuple(
            column * column_seconds
            for column in _marks(rates[phase.direction], phase.period_seconds / column_seconds)
        )
        for phase in phases
        if phase.periodic and phase.period_seconds > 0 and phase.direction in rates
    }


def _marks(series: Floats, period: float) -> tuple[float, ...]:
    """Find the columns where phases begin: the comb of that period with the largest increase."""
    n = len(series)
    if not 2 <= period <= n or n / period > 100:
        return ()
    rising = np.maximum(np.diff(series, prepend=0.0), 0)
    combs = [np.arange(shift, n, period) for shift in range(math.ceil(period))]
    best = max(combs, key=lambda teeth: float(rising[teeth.astype(np.int64)].sum()))
    active = np.flatnonzero(series)
    return tuple(float(at) for at in best if active[0] - 1 <= at <= active[-1])


# The phases of a profile in words, and its map of ranks as cells.

_MOST_ROWS, _MOST_COLUMNS = 32, 120
"""Maximum number of cells that are drawn: a profile has up to 128 x 240."""


def phases_of(profile: Mapping[str, Any]) -> list[Periodicity]:
    """Return the phases of a profile."""
    found = []
    for row in profile["phases"]:
        known: dict[str, Any] = {
            name: math.nan if one is None else one for name, one in row.items()
        }
        found.append(Periodicity(**known))
    return found


def phase_words(phase: Periodicity) -> str:
    """Describe the phases of one direction."""
    verb = {"write": "Writes", "read": "Reads"}.get(phase.direction, phase.direction)
    burst, width = size_text(phase.phase_bytes), seconds_text(phase.resolution_seconds)
    if is_long := math.isfinite(phase.phase_seconds):
        burst = f"{seconds_text(phase.phase_seconds)} and {burst}"
    if phase.periodic:
        text = (
            f"{verb} come every {seconds_text(phase.period_seconds)} "
            f"(confidence {percent_text(phase.confidence)}): {phase.n_phases} phases of {burst} "
            "each (medians)."
        )
    elif phase.n_phases <= 1:
        text = f"{verb}: one phase of {burst}." if phase.n_phases else f"{verb}: no phases."
    else:
        text = (
            f"{verb}: {phase.n_phases} phases of {burst} each (medians), without a regular period."
        )
    if not phase.n_phases or (is_long and phase.n_phases == 1):
        return text
    if not is_long:
        return (
            f"{text} {'It is' if phase.n_phases == 1 else 'They are'} shorter than three time "
            f"bins of {width}, so the time taken is not known."
        )
    return f"{text} The time resolution is {width}."


def phases(profile: Mapping[str, Any], name: str = "phases", title: str = "Phases") -> list[Block]:
    """Return the phases in words; empty if the source has no time bins."""
    words = [phase_words(phase) for phase in phases_of(profile)]
    return [Notice(name, title, words, "plain")] if words else []


def rank_cells(profile: Mapping[str, Any], name: str, title: str) -> Heat | Notice:
    """Return when the ranks were in I/O as cells, or the reason why that is unknown."""
    maps = [one for one in profile["heat"] if one["kind"] == "ranks"]
    if not maps:
        return Notice(name, title, [NO_TIME_BINS])
    one = min(maps, key=lambda one: one["view"] != "program")
    busy = _grid(one["busy_seconds"])
    is_time = bool((busy > 0).any())
    cells = busy if is_time else _grid(one["read_bytes"]) + _grid(one["write_bytes"])
    down, across = -(-len(cells) // _MOST_ROWS) or 1, -(-cells.shape[1] // _MOST_COLUMNS) or 1
    if cells.size:
        cells = np.add.reduceat(cells, np.arange(0, cells.shape[0], down), axis=0)
        cells = np.add.reduceat(cells, np.arange(0, cells.shape[1], across), axis=1)
    width = one["bin_seconds"] * across
    shares = cells / (float(cells.max(initial=0.0)) or 1.0)
    what = "time in I/O calls" if is_time else "bytes moved (this source records no times)"
    description = (
        f"{plural(len(shares), 'row')} of ranks, {plural(shares.shape[1], 'column')} of "
        f"{seconds_text(width)}: the stronger the colour, the more {what}, as a share of the "
        f"largest cell. {_busiest(shares, width)}"
    )
    note = "" if one["view"] == "program" else "Calls as they reached the operating system."
    labels = one["labels"]
    ends = [(labels[at], labels[at : at + down][-1]) for at in range(0, len(labels), down)]
    names = [first if first == last else f"{first} to {last}" for first, last in ends]
    return Heat(name, title, names, width, shares.tolist(), description, note)


def _busiest(shares: Floats, width: float) -> str:
    """Describe how much of the time all ranks were idle, and when most was done."""
    columns = shares.sum(axis=0)
    if not columns.any():
        return "No cell has any."
    top = int(columns.argmax())
    idle = float((columns == 0).mean())
    return (
        f"The busiest span begins at {seconds_text(top * width)}; in {percent_text(idle)} of "
        "the time no rank did any I/O."
    )


def _grid(rows: Sequence[Sequence[float | None]]) -> Floats:
    grid = np.array([[value or 0.0 for value in row] for row in rows], np.float64)
    return grid.reshape(len(rows), -1) if len(rows) else np.zeros((0, 0))
