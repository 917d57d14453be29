# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a recorded surface: sorted medians with their spread."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from stripewise.report import _chart as chart
from stripewise.report._chart import Spec
from stripewise.surfaces import Landscape, Surface


def draw_surface(surface: Surface, path: Path, title: str) -> None:
    """Draw the configurations from the fastest to the slowest, with all their runs' range.

    Raises:
        UsageError: The suffix is of no picture.
        StorageError: The file cannot be written.
    """
    scene = Landscape(surface)
    spots = [spot for spot in scene.spots if isfinite(spot.io_seconds)]
    rows = [
        {
            **{"place": place, "median": spot.io_seconds},
            **{"low": min(spot.times), "high": max(spot.times)},
        }
        for place, spot in enumerate(spots, 1)
    ]
    best = scene.best.io_seconds
    y: Spec = {"field": "median", "type": "quantitative", "title": "I/O time, s"}
    y |= {"scale": {"type": "log", "zero": False, "nice": False, "padding": 8}}
    x: Spec = {"field": "place", "type": "quantitative"}
    x["title"] = "configuration, from the fastest to the slowest"
    x["scale"] = {"domain": [0.5, max(len(rows), 1) + 0.5], "nice": False}
    x["axis"] = {"tickMinStep": 1, "format": "d"}
    band = {"type": "rect", "color": chart.BASELINE, "opacity": 0.15}
    within = {"y": {"datum": best}, "y2": {"datum": 1.05 * best}}
    default = {"type": "rule", "color": chart.TROUBLE, "strokeDash": [5, 3]}
    spec = chart.layers(
        rows,
        chart.constant(band, within),
        {"mark": {"type": "rule", "color": chart.WARM_UP}, "encoding": {
            "x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}},
        {"mark": {"type": "point", "filled": True, "color": chart.BASELINE},
         "encoding": {"x": x, "y": y}},
        chart.constant(default, {"y": {"datum": scene.default.io_seconds}}),
        height=260,
        title={
            "text": title,
            "subtitle": "dot: median; line: range of the runs; dashed: default; "
            "band: within 5 % of the optimum",
        },
    )  # fmt: skip
    chart.write_picture(chart.column(spec), path)
