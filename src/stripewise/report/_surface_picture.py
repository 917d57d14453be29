# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a recorded surface: sorted medians with their spread."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from stripewise.report import _chart as chart
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
    best, default = scene.best.io_seconds, {"y": {"datum": scene.default.io_seconds}}
    log = {"type": "log", "zero": False, "nice": False, "padding": 8}
    y = chart.number("median", "I/O time, s", scale=log)
    x = chart.number(
        "place",
        "configuration, from the fastest to the slowest",
        scale={"domain": [0.5, max(len(rows), 1) + 0.5], "nice": False},
        axis={"tickMinStep": 1, "format": "d"},
    )
    ranges = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    within = {"y": {"datum": best}, "y2": {"datum": 1.05 * best}}
    spec = chart.layers(
        rows,
        chart.constant("rect", within, color=chart.BASELINE, opacity=0.15),
        chart.layer("rule", ranges, color=chart.WARM_UP),
        chart.layer("point", {"x": x, "y": y}, filled=True, color=chart.BASELINE),
        chart.constant("rule", default, color=chart.TROUBLE, strokeDash=[5, 3]),
        height=260,
        title={
            "text": title,
            "subtitle": "dot: median; line: range of the runs; dashed: default; "
            "band: within 5 % of the optimum",
        },
    )
    chart.write_picture(chart.column(spec), path)
