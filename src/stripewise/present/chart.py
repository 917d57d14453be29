# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds charts as Vega-Lite specifications, and exports them as pictures.

A page contains its charts as data and one script that draws them (tooltips, zoom, the width of the
window); it loads nothing from elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from stripewise.core import write_file
from stripewise.core.errors import UsageError
from stripewise.core.extras import require
from stripewise.present._printable import printable

Spec = dict[str, Any]

SUFFIXES = (".svg", ".png", ".pdf")
WRITE, READ = "#c04a00", "#0072b2"
BASELINE, BEST, TRIAL = "#0072b2", "#c04a00", "#0a8265"
WARM_UP, TROUBLE, MUTED, INK = "#8a8f99", "#b3225b", "#5b6472", "#1c2330"
WIDE = 760
_LABELS = 112
VEGA_VERSION = "6.1"
_CONFIG: Spec = {
    "font": "system-ui, 'DejaVu Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        **{"labelColor": MUTED, "titleColor": MUTED, "titleFontWeight": "normal"},
        **{"gridColor": "#e3e7ee", "domainColor": "#b9c0cb", "tickColor": "#b9c0cb"},
    },
    "axisY": {"minExtent": _LABELS, "maxExtent": _LABELS, "labelLimit": _LABELS - 8},
    "axisX": {"labelFlush": True, "labelOverlap": True, "tickCount": 6},
    "legend": {"orient": "top", "titleFontWeight": "normal", "labelColor": INK, "offset": 4},
    "title": {
        **{"anchor": "start", "fontSize": 12, "color": INK, "frame": "group"},
        **{"subtitleColor": MUTED, "subtitleFontSize": 11, "subtitlePadding": 2},
    },
}

_THEME = {MUTED: "muted", INK: "ink", "#e3e7ee": "line", "#b9c0cb": "line"}
"""Colours of the chart configuration, with their names in a page's style sheet."""
ZOOM: Spec = {
    "name": "zoom",
    "select": {
        **{"type": "interval", "encodings": ["x"], "clear": "dblclick"},
        "zoom": "wheel![event.ctrlKey]",
    },
    "bind": "scales",
}
"""Selection that lets readers pan along the time axis, and zoom with Ctrl and the wheel."""


@dataclass(frozen=True)
class Chart:
    """A chart specification, with a description for readers who cannot see the drawing."""

    spec: Spec
    description: str

    @property
    def data(self) -> Markup:
        """JSON for an attribute of a page in single quotes."""
        text = json.dumps(
            _shown(self.spec), separators=(",", ":"), allow_nan=False, ensure_ascii=False
        )
        for sign in "&<'":
            text = text.replace(sign, f"\\u{ord(sign):04x}")
        return Markup(text)  # our own specification, with data escaped


def layers(rows: Sequence[Mapping[str, Any]], *parts: Spec, **more: Any) -> Spec:
    """Return one chart in which several marks show the same data."""
    return {"width": WIDE, "data": {"values": list(rows)}, "layer": list(parts), **more}


def layer(mark: str, encoding: Spec, **looks: Any) -> Spec:
    """Return one mark for each row of the data, placed by an encoding."""
    return {"mark": {"type": mark, **looks}, "encoding": encoding}


def points(encoding: Spec, **looks: Any) -> Spec:
    """Return a dot for each row of the data."""
    return layer("point", encoding, **{"filled": True, "size": 70, **looks})


def constant(mark: str, encoding: Spec, **looks: Any) -> Spec:
    """Return one mark that does not depend on data."""
    return {"data": {"values": [{}]}, **layer(mark, encoding, **looks)}


def number(field: str, title: str | None = None, **more: Any) -> Spec:
    """Return the encoding of a field of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def category(field: str, **more: Any) -> Spec:
    """Return the encoding of a field of names."""
    return {"field": field, "type": "nominal", **more}


_APART = ("color", "stroke", "strokeDash", "shape", "x", "y")


def column(*parts: Spec) -> Spec:
    """Return charts stacked vertically."""
    apart = {"scale": dict.fromkeys(_APART, "independent")}
    return {"vconcat": list(parts), "config": _CONFIG, "spacing": 14, "resolve": apart}


def themed(spec: Spec) -> Spec:
    """Return a chart whose axes and texts have the colours of the page that shows it."""
    config = json.dumps(spec["config"])
    for colour, name in _THEME.items():
        config = config.replace(colour, f"var(--{name})")
    return {**spec, "config": json.loads(config), "background": None}


def tips(**fields: str) -> list[Spec]:
    """Return the fields that a tooltip shows, given their titles by name."""
    return [{"field": name, "title": title} for name, title in fields.items()]


def tip(field: str, title: str) -> Spec:
    """Return a number for a tooltip."""
    return number(field, title, format=",.3~r")


def write_picture(spec: Spec, path: Path) -> None:
    """Write a chart as a picture in the format of the path's suffix.

    Raises:
        UsageError: The suffix is not one of a picture format.
        StorageError: The file cannot be written.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path}: give a name that ends in {', '.join(SUFFIXES)}")
    write_file(path, picture(spec, path.suffix))


def picture(spec: Spec, suffix: str) -> bytes:
    """Return a chart drawn as a picture in the format of the suffix, one of SUFFIXES.

    Raises:
        RuntimeMissingError: The drawing library is not installed.
    """
    require("report", "a page or a picture")
    import vl_convert as vega

    shown = {**_shown(spec), "background": "white"}
    if suffix == ".svg":
        svg = _numbered(vega.vegalite_to_svg(shown, vl_version=VEGA_VERSION))
        if words := shown.get("description"):
            tag = Markup('<svg role="img" aria-label="{}" ').format(words)
            svg = svg.replace("<svg ", tag, 1)
        return svg.encode()
    if suffix == ".png":
        return bytes(vega.vegalite_to_png(shown, vl_version=VEGA_VERSION, scale=2))
    return bytes(vega.vegalite_to_pdf(shown, vl_version=VEGA_VERSION))


def _numbered(svg: str) -> str:
    """Renumber the ids, so that the same chart always gives the same file."""
    names: dict[str, str] = {}
    return re.sub(
        r"\b(clip|gradient_)\d+\b",
        lambda found: names.setdefault(found[0], f"{found[1]}{len(names)}"),
        svg,
    )


def _shown(part: Any) -> Any:
    """Return a specification in which every text is printable."""
    if isinstance(part, Mapping):
        return {printable(str(name)): _shown(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_shown(item) for item in part]
    return printable(part) if isinstance(part, str) else part


def time_unit(seconds: float) -> tuple[str, float]:
    """Return the unit of a time axis: its name and its length in seconds."""
    if seconds < 300:
        return ("seconds", 1.0) if seconds >= 0.1 else ("milliseconds", 1e-3)
    return ("minutes", 60.0) if seconds < 3 * 3600 else ("hours", 3600.0)


_BAND = 0.15
COLOURS = ["#0072b2", "#c04a00", "#0a8265", "#b3225b", "#8a6d00", "#5b6472"]


def against(
    rows: Sequence[dict[str, Any]], unit: str, title: str, *, shapes: Sequence[str] = ()
) -> Spec:
    """Return a chart of predicted against measured values, with a band around equality.

    Args:
        rows: One row per dot with "measured", "predicted", "set" (its colour), "cell" (its
            tooltip) and, if there are shapes, "fitted".
        unit: Unit of the values.
        title: Title of the chart.
        shapes: The two values of "fitted".
    """
    values = [float(str(row[key])) for row in rows for key in ("measured", "predicted")]
    ends = [min(values) / 1.2, max(values) * 1.2]
    scale = {"type": "log", "domain": ends, "nice": False}
    x = number("measured", f"measured, {unit}", scale=scale)
    y = number("predicted", f"predicted, {unit}", scale=scale)
    line = [
        {"x": at, "low": at * (1 - _BAND), "same": at, "high": at * (1 + _BAND)} for at in ends
    ]
    along = {"x": {**x, "field": "x"}}
    band = layer(
        "area", {**along, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        color=WARM_UP, opacity=0.2, clip=True,
    )  # fmt: skip
    same = layer("line", {**along, "y": {**y, "field": "same"}}, color=WARM_UP)
    names = sorted({str(row["set"]) for row in rows})
    looks: dict[str, Any] = {
        "color": category(
            "set", title=None, scale={"domain": names, "range": _colours(len(names))}
        ),
        "tooltip": tips(cell="cell"),
    }
    if shapes:
        scaled = {"domain": list(shapes), "range": ["cross", "circle"]}
        looks["shape"] = category("fitted", title=None, scale=scaled)
    dots = layer("point", {"x": x, "y": y, **looks}, filled=True, size=34, opacity=0.75)
    return layers(
        rows, {**band, "data": {"values": line}}, {**same, "data": {"values": line}}, dots,
        height=520,
        title={"text": title, "subtitle": "line: equal; band: within 15 %"},
    )  # fmt: skip


def _colours(number: int) -> list[str]:
    return (COLOURS * (number // len(COLOURS) + 1))[:number]
