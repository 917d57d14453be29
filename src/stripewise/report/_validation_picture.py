# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of predicted against measured bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stripewise.calibration import SETS, Validation
from stripewise.errors import UsageError
from stripewise.report import _chart as chart
from stripewise.report._page import page_template
from stripewise.report._validation import cell_rows, label, score_words, sets_of

_BAND = 0.15
_COLOURS = ["#0072b2", "#c04a00", "#0a8265", "#b3225b", "#8a6d00", "#5b6472"]


def draw_validation(found: Sequence[Validation], path: Path) -> None:
    """Draw a dot for each bandwidth, a cross where it is marked for the fit, and a band of 15 %.

    Raises:
        UsageError: The suffix is of no picture, or there is no bandwidth to draw.
        StorageError: The file cannot be written.
    """
    rows = _rows(found)
    if not rows:
        raise UsageError("these tables have no bandwidth to draw: choose others with --set")
    chart.write_picture(chart.column(_spec(rows)), path)


def render_validation_html(found: Sequence[Validation]) -> str:
    """Render a page with the picture and all numbers."""
    rows = _rows(found)
    words = f"{len(rows)} published bandwidths and their predictions."
    tables = [
        {
            "name": one.table.name, "title": one.table.title, "unit": one.table.unit,
            "source": one.table.source, "rule": one.table.rule, "score": score_words([one]),
            "rows": list(cell_rows(one)),
        }
        for one in found
    ]  # fmt: skip
    return page_template("validation.html.j2", {}).render(
        picture=chart.Chart(chart.column(_spec(rows)), words) if rows else None,
        sets=[f"{name}: {score_words(members)}" for name, members in sets_of(found)],
        tables=tables,
    )


def _rows(found: Sequence[Validation]) -> list[dict[str, object]]:
    return [
        {
            "measured": one.cell.value / (1 << 30), "predicted": one.predicted / (1 << 30),
            "set": next((name for name, tables in SETS.items() if table.table.name in tables), ""),
            "fitted": "marked for the fit" if one.cell.calibrate else "only predicted",
            "cell": f"{table.table.name}: {label(one)}",
        }
        for table in found for one in table.cells
        if not table.table.is_time and table.table.unit != "ratio"
    ]  # fmt: skip


def _spec(rows: list[dict[str, object]]) -> chart.Spec:
    values = [float(str(row[key])) for row in rows for key in ("measured", "predicted")]
    ends = [min(values) / 1.2, max(values) * 1.2]
    scale = {"type": "log", "domain": ends, "nice": False}
    x = chart.number("measured", "measured, GiB/s", scale=scale)
    y = chart.number("predicted", "predicted, GiB/s", scale=scale)
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
    dots = chart.layer(
        "point",
        {
            "x": x, "y": y,
            "color": chart.category("set", title=None,
                                    scale={"domain": names, "range": _COLOURS[: len(names)]}),
            "shape": chart.category("fitted", title=None,
                                    scale={"domain": ["marked for the fit", "only predicted"],
                                           "range": ["cross", "circle"]}),
            "tooltip": chart.tips(cell="cell"),
        },
        filled=True, size=34, opacity=0.75,
    )  # fmt: skip
    return chart.layers(
        rows, {**band, "data": {"values": line}}, {**same, "data": {"values": line}}, dots,
        height=520,
        title={"text": "Published bandwidths and their predictions",
               "subtitle": "line: equal; band: within 15 %"},
    )  # fmt: skip
