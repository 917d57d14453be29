# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A comparison of campaigns as one self-contained page."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

from stripewise.bench import (
    COMPARISON_METHOD,
    Case,
    ComparedCell,
    Comparison,
    case_words,
    factor_tables,
)
from stripewise.report import _chart as chart
from stripewise.report._campaign_compare import (
    factor_words,
    headline_of,
    operation_name,
    rate_words,
    sentences,
)
from stripewise.report._campaign_figures import operation_title
from stripewise.report._page import page_template

_MOST_CHARTS = 24
_MOST_ROWS = 2000
_COLOURS = (chart.BASELINE, chart.WRITE, chart.TRIAL, chart.TROUBLE, chart.MUTED, "#7a5200")


def render_comparison(found: Comparison) -> str:
    """Render the page of a comparison; the same campaigns give the same page."""
    return page_template(
        "campaign_compare.html.j2", {"rate": rate_words, "factor": factor_words}
    ).render(
        found=found,
        headline=headline_of(found),
        tables=factor_tables(found),
        sentences=[sentences(found, place) for place in range(1, len(found.names))],
        slow=[
            (name, one) for name, some in zip(found.names, found.slow, strict=True) for one in some
        ],
        method=COMPARISON_METHOD,
        pictures=charts(found),
        rows=[_row(one, len(found.names)) for one in found.cells[:_MOST_ROWS]],
        n_cells=len(found.cells),
        operation_title=operation_title,
    )


def _row(cell: ComparedCell, number: int) -> dict[str, Any]:
    classes = {"slower": "failed", "faster": "best"}
    verdicts = [ratio.verdict for ratio in cell.ratios if ratio and not ratio.unlike]
    return {
        "case": case_words(cell.case.key),
        "operation": operation_name(cell.operation),
        "cells": cell.cells,
        "ratios": cell.ratios[1:],
        "class": next((classes[one] for one in verdicts if one in classes), "")
        if number == 2
        else "",
    }


def charts(found: Comparison) -> list[chart.Chart]:
    """Draw each line of cases over nodes, or over processes, with a curve for each campaign."""
    lines: dict[tuple[str, str, str], list[ComparedCell]] = {}
    for cell in found.cells:
        lines.setdefault(_line(cell, found), []).append(cell)
    drawn = [
        _curve(key, members, found)
        for key, members in lines.items()
        if len({_x(key[2], one.case) for one in members}) > 1
    ]
    return drawn[:_MOST_CHARTS]


def _line(cell: ComparedCell, found: Comparison) -> tuple[str, str, str]:
    """Return what a cell's line is called, its operation, and what it is drawn over."""
    case = cell.case
    base = replace(case, nodes=1, ranks_per_node=1, repeats=1)
    of_line = [
        one.case
        for one in found.cells
        if one.operation == cell.operation
        and replace(one.case, nodes=1, ranks_per_node=1, repeats=1) == base
    ]
    over = "nodes" if len({one.nodes for one in of_line}) > 1 else "processes"
    if over == "nodes" and len({one.ranks_per_node for one in of_line}) > 1:
        base = replace(base, ranks_per_node=case.ranks_per_node)
    return case_words(base.key), cell.operation, over


def _x(over: str, case: Case) -> int:
    return case.nodes if over == "nodes" else case.ranks


def _curve(
    key: tuple[str, str, str], members: list[ComparedCell], found: Comparison
) -> chart.Chart:
    name, operation, over = key
    unit, scale = ("GiB/s", 2.0**30) if members[0].of_data else ("operations/s", 1.0)
    rows = []
    for member in members:
        for campaign, cell in zip(found.names, member.cells, strict=True):
            if cell is None:
                continue
            low, high = found.interval(cell)
            rows.append(
                {
                    "campaign": campaign, "x": _x(over, cell.case), "rate": cell.median / scale,
                    "low": low / scale if isfinite(low) else cell.median / scale,
                    "high": high / scale if isfinite(high) else cell.median / scale,
                    "runs": len(cell.logs),
                }
            )  # fmt: skip
    x = chart.number("x", over, scale={"type": "log", "base": 2, "nice": False}, axis={
        "values": sorted({row["x"] for row in rows}), "format": ",d", "grid": False})  # fmt: skip
    colour = chart.category(
        "campaign", title=None, sort=None,
        scale={"domain": list(found.names), "range": [
            _COLOURS[at % len(_COLOURS)] for at in range(len(found.names))]},
    )  # fmt: skip
    y = chart.number("rate", unit, scale={"zero": True})
    numbers = {"x": over, "rate": unit, "low": "low", "high": "high", "runs": "runs"}
    told = [*chart.tips(campaign="campaign"), *(chart.tip(*one) for one in numbers.items())]
    bars = {"x": x, "y": chart.number("low", unit), "y2": {"field": "high"}, "color": colour}
    spec = chart.layers(
        rows,
        chart.layer("rule", bars, strokeWidth=1.5),
        chart.layer("line", {"x": x, "y": y, "color": colour}),
        chart.points({"x": x, "y": y, "color": colour, "tooltip": told}, size=50),
        height=190,
        title={"text": f"{operation_title(operation)}: {name}",
               "subtitle": "medians with intervals of 95 %"},
    )  # fmt: skip
    ends = "; ".join(
        f"{row['campaign']} {row['rate']:.3g} {unit} at {row['x']}" for row in rows[-2:]
    )
    words = f"{operation_title(operation)} of {name} over {over}: {ends}."
    return chart.Chart(chart.column(spec), words)
