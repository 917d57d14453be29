# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Turns blocks of curves and heat maps into the charts that a page draws."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial, singledispatch

from stripewise.present import chart
from stripewise.present._printable import printable
from stripewise.present.blocks import UNKNOWN, Chart, Heat, moment, written

Values = Sequence[float | None]
Row = dict[str, float | str | None]

_COLOURS = [f"var(--{name})" for name in ("read", "write", "meta", "good", "bad", "muted")]
"""Colours by their names in the page's style; its script inserts those of the light or dark
mode."""
_DIGITS = 6
_HEIGHT = 220
_CLOCK = {
    **dict.fromkeys(("milliseconds", "seconds"), "%H:%M:%S"),
    **dict.fromkeys(("minutes", "hours"), "%H:%M"),
    **dict.fromkeys(("day", "date", "week"), "%m-%d"),
    **{"month": "%Y-%m", "quarter": "%Y-%m", "year": "%Y"},
}
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_LEAST_SHADE = 0.08
_HEAT_PIXELS = (80, 260)


@singledispatch
def drawn(block: object) -> chart.Chart:
    """Return the chart of a block, in the colours of the page that shows it."""
    raise TypeError(f"{type(block).__name__} is not a chart")


@drawn.register
def _curves(block: Chart) -> chart.Chart:
    values = [value for line in block.lines for value in line.values if value is not None]
    unit, size = _unit(block.kind, max(map(abs, values), default=0.0))
    lines: list[Values] = [
        [_rounded(value, size) for value in line.values] for line in block.lines
    ]
    names = [f"line{place}" for place in range(len(lines))]
    at = [1000 * one for one in block.at] if block.is_clock else list(block.at)
    x = _time(block)
    y = chart.number("value", unit, scale=_heights([value / size for value in values]))
    looks = _looks([line.title for line in block.lines], block.style)
    parts = []
    if spans := _spans(block):
        parts.append(_with_data(spans, "rect", {"x": x, "x2": {"field": "end"},
                     "tooltip": chart.tips(title="marked")}, color="var(--link)", opacity=0.14,
                     strokeWidth=2))  # fmt: skip
    if block.style != "points":
        is_steps = block.style == "steps"
        how = "step-after" if is_steps else "linear"
        rows = _rows(*_extended(at, lines)) if is_steps else _rows(at, lines)
        parts.append(_with_data(rows, "line", {"x": x, "y": y, **looks}, interpolate=how,
                                strokeWidth=2))  # fmt: skip
    dots = lines if block.style == "points" else [_isolated(line) for line in lines]
    if block.style == "steps" and len(at) > 1:
        dots = []  # each value has its own line
    if rows := [row for row in _rows(at, dots) if row["value"] is not None]:
        # The dots of the first line are larger, so that coinciding dots of several lines are all
        # visible.
        large = {"condition": {"test": "datum.line === 'line0'", "value": 70}, "value": 34}
        parts.append(_with_data(rows, "point", {"x": x, "y": y, "size": large, **looks},
                                filled=True))  # fmt: skip
    titles = [printable(line.title) for line in block.lines]
    parts.append(_pointer(block, at, dict(zip(names, lines, strict=True)), titles, unit))
    spec = {"width": chart.WIDE, "height": _HEIGHT, "layer": parts}
    return chart.Chart(chart.themed(chart.column(spec)), f"{block.title}. {block.description}")


def _unit(kind: str, most: float) -> tuple[str, float]:
    """Return the unit of an axis and its size in base units."""
    if kind in ("bytes", "rate"):
        place = min(max(int(most).bit_length() - 1, 0) // 10, len(_SIZES) - 1)
        return _SIZES[place] + ("/s" if kind == "rate" else ""), 1024.0**place
    if kind == "seconds":
        return chart.time_unit(most)
    return ("%", 0.01) if kind == "share" else ("per second" if kind == "operations" else "", 1.0)


def _rounded(value: float | None, size: float) -> float | None:
    return None if value is None else float(f"{value / size:.{_DIGITS}g}")


def _heights(values: Sequence[float]) -> chart.Spec:
    top = 1.05 * max(values, default=0.0)
    return {"domain": [min(0.0, *values) if values else 0.0, top or 1.0], "nice": False}


def _time(block: Chart) -> chart.Spec:
    if not block.is_clock:
        return chart.number("at", "seconds", scale={"nice": False, "zero": False})
    scale = {"type": "utc", "nice": False, "padding": 6 if block.style == "points" else 0}
    return {"field": "at", "type": "temporal", "title": None, "scale": scale,
            "axis": {"format": _CLOCK, "grid": False}}  # fmt: skip


def _looks(titles: Sequence[str], style: str) -> chart.Spec:
    """Return the colour and dash of each line; dashes distinguish lines of the same colour."""
    names = [f"line{place}" for place in range(len(titles))]
    names_map = json.dumps(dict(zip(names, map(printable, titles), strict=True)))
    legend = {"title": None, "labelExpr": f"({names_map})[datum.value]", "columns": 3,
              "labelLimit": 260, "symbolType": "circle" if style == "points" else "stroke",
              "symbolStrokeWidth": 2}  # fmt: skip
    colours = {"domain": names, "range": [_COLOURS[n % len(_COLOURS)] for n in range(len(names))]}
    dashes = {"domain": names, "range": [[6, 4] if n >= len(_COLOURS) else [1, 0]
                                         for n in range(len(names))]}  # fmt: skip
    looks = {"color": chart.category("line", scale=colours, legend=legend)}
    if len(names) > len(_COLOURS):
        looks["strokeDash"] = chart.category("line", scale=dashes, legend=legend)
    return looks if names[1:] else {**looks, "detail": {"field": "line"}}


def _rows(at: Sequence[float], lines: Sequence[Values]) -> list[Row]:
    """Return a row for each time and line."""
    return [
        {"at": moment_at, "line": f"line{place}", "value": value}
        for place, values in enumerate(lines)
        for moment_at, value in zip(at, values, strict=True)
    ]


def _with_data(rows: Sequence[Row], mark: str, places: chart.Spec, **looks: object) -> chart.Spec:
    """Return a layer with its own data."""
    return {"data": {"values": rows}, **chart.layer(mark, places, clip=True, **looks)}


def _extended(at: Sequence[float], lines: Sequence[Values]) -> tuple[list[float], list[Values]]:
    """Extend each value to the next time, and the last one as long as the one before it."""
    last = at[-1] - at[-2] if len(at) > 1 else 1.0
    extended: list[Values] = [
        [value if value is not None else before
         for value, before in zip((*values, None), (None, *values), strict=True)]
        for values in lines
    ]  # fmt: skip
    return [*at, at[-1] + last], extended


def _isolated(values: Values) -> Values:
    """Return the values with gaps on both sides, which no line connects."""
    around = zip((None, *values), values, (*values[1:], None), strict=False)
    return [one if before is after is None else None for before, one, after in around]


def _spans(block: Chart) -> list[Row]:
    """Return the marked parts of the time range that the chart shows."""
    factor = 1000 if block.is_clock else 1
    first, last = min(block.at), max(block.at)
    return [
        {"at": factor * max(one.begin, first), "end": factor * min(one.end, last),
         "title": one.title}
        for one in block.spans
        if min(one.end, last) > max(one.begin, first)
    ]  # fmt: skip


def _pointer(
    block: Chart, at: Sequence[float], lines: dict[str, Values], titles: Sequence[str], unit: str
) -> chart.Spec:
    """Return a line at the pointer with a tooltip of all values at that time."""
    when = moment if block.is_clock else partial(written, kind="seconds")
    rows: list[Row] = [
        {"at": one, "when": when(block.at[place]),
         **{name: values[place] for name, values in lines.items()}}
        for place, one in enumerate(at)
    ]  # fmt: skip
    ends = f", {unit}" if unit else ""
    titles_by_field = {f"said{place}": title + ends for place, title in enumerate(titles)}
    tips = chart.tips(**{"when": "UTC" if block.is_clock else "time"}, **titles_by_field)
    transform = [
        {"calculate": f"isValid(datum.{name}) ? format(datum.{name}, ',.3~r') : '{UNKNOWN}'",
         "as": f"said{place}"}
        for place, name in enumerate(lines)
    ]  # fmt: skip
    shown = {"condition": {"param": "pointer", "empty": False, "value": 0.6}, "value": 0}
    point = {"type": "point", "fields": ["at"], "nearest": True, "on": "pointermove",
             "clear": "pointerout"}  # fmt: skip
    places = {"x": _time(block), "opacity": shown, "tooltip": tips}
    rule = _with_data(rows, "rule", places, color="var(--muted)")
    pointer = {"name": "pointer", "select": point}
    return {**rule, "transform": transform, "params": [pointer, chart.ZOOM]}


@drawn.register
def _heat(block: Heat) -> chart.Chart:
    width = max(map(len, block.cells), default=0)
    unit, length = chart.time_unit(width * block.bin_seconds)
    step = block.bin_seconds / length
    rows: list[Row] = [
        {"row": row, "at": round(step * place, _DIGITS), "end": round(step * (place + 1), _DIGITS),
         "cell": round(cell, 3), "label": block.labels[row], "share": written(cell, "share")}
        for row, cells in enumerate(block.cells)
        for place, cell in enumerate(cells)
        if cell > 0
    ]  # fmt: skip
    labels = json.dumps([printable(label) for label in block.labels])
    x = chart.number("at", f"{unit} since the start", axis={"grid": False},
                     scale={"domain": [0, step * width], "nice": False})  # fmt: skip
    y = {"field": "row", "type": "ordinal", "title": None, "scale": {
        "domain": list(range(len(block.cells))), "padding": 0}, "axis": {
        "labelExpr": f"({labels})[datum.value]", "labelOverlap": True}}  # fmt: skip
    shade = chart.number("cell", None, legend=None, scale={
        "domain": [0, 1], "range": [_LEAST_SHADE, 1], "clamp": True})  # fmt: skip
    tips = chart.tips(label="row", at=f"from, {unit}", share="of the largest")
    low, high = _HEAT_PIXELS
    spec = chart.layers(
        rows,
        chart.layer("rect", {"x": x, "x2": {"field": "end"}, "y": y, "opacity": shade,
                             "tooltip": tips}, color="var(--io)"),
        height=min(max(12 * len(block.cells), low), high),
        view={"fill": "var(--soft)"},
    )  # fmt: skip
    return chart.Chart(chart.themed(chart.column(spec)), f"{block.title}. {block.description}")
