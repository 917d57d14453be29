# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A chart of predicted against measured values: a dot each, and a band around equality."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stripewise.report import _chart as chart

_BAND = 0.15
COLOURS = ["#0072b2", "#c04a00", "#0a8265", "#b3225b", "#8a6d00", "#5b6472"]


def against(
    rows: Sequence[dict[str, Any]], unit: str, title: str, *, shapes: Sequence[str] = ()
) -> chart.Spec:
    """Return the chart.

    Args:
        rows: With "measured", "predicted", "set" (its colour), "cell" (its tooltip) and, where
            there are shapes, "fitted".
        unit: Of the values.
        title: Of the chart.
        shapes: The two values of "fitted".
    """
    values = [float(str(row[key])) for row in rows for key in ("measured", "predicted")]
    ends = [min(values) / 1.2, max(values) * 1.2]
    scale = {"type": "log", "domain": ends, "nice": False}
    x = chart.number("measured", f"measured, {unit}", scale=scale)
    y = chart.number("predicted", f"predicted, {unit}", scale=scale)
    line = [
        {"x": at, "low": at * (1 - _BAND), "same": at, "high": at * (1 + _BAND)} for at in ends
    ]
    along = {"x": {**x, "field": "x"}}
    band = chart.layer(
        "area", {**along, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        color=chart.WARM_UP, opacity=0.2, clip=True,
    )  # fmt: skip
    same = chart.layer("line", {**along, "y": {**y, "field": "same"}}, color=chart.WARM_UP)
    names = sorted({str(row["set"]) for row in rows})
    looks: dict[str, Any] = {
        "color": chart.category(
            "set", title=None, scale={"domain": names, "range": _colours(len(names))}
        ),
        "tooltip": chart.tips(cell="cell"),
    }
    if shapes:
        scaled = {"domain": list(shapes), "range": ["cross", "circle"]}
        looks["shape"] = chart.category("fitted", title=None, scale=scaled)
    dots = chart.layer("point", {"x": x, "y": y, **looks}, filled=True, size=34, opacity=0.75)
    return chart.layers(
        rows, {**band, "data": {"values": line}}, {**same, "data": {"values": line}}, dots,
        height=520,
        title={"text": title, "subtitle": "line: equal; band: within 15 %"},
    )  # fmt: skip


def _colours(number: int) -> list[str]:
    return (COLOURS * (number // len(COLOURS) + 1))[:number]
