# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated jobs as one self-contained page."""

from __future__ import annotations

from typing import Any

from stripewise.report import _chart as chart
from stripewise.report._page import page_template
from stripewise.report._simulation import (
    Simulation,
    SimulationRow,
    job_words,
    pattern_words,
    request_words,
    stack_words,
    time_words,
)
from stripewise.report._text import (
    format_bandwidth,
    format_percent,
    format_value,
)

_GIB = float(1 << 30)
_MOST_ROWS = 500
_MOST_BARS = 60


def render_simulation_html(simulation: Simulation) -> str:
    """Render the page; the same simulation gives the same page."""
    best = simulation.rows[simulation.best]
    pictures = [limits_chart(best)] if best.found.limits else []
    if len(simulation.rows) > 1:
        pictures.insert(0, sweep_chart(simulation))
    return page_template("simulation.html.j2", {"percent": format_percent}).render(
        storage=simulation.storage,
        pattern=pattern_words(simulation),
        best=best.found,
        job=job_words(best),
        stack=stack_words(best.found),
        time=time_words(best.found),
        requests=request_words(best.found),
        pictures=pictures,
        names=[_short(name) for name in simulation.sweep],
        rows=[_cells(simulation, place) for place in range(min(len(simulation.rows), _MOST_ROWS))],
        n_rows=len(simulation.rows),
    )


def _cells(simulation: Simulation, place: int) -> dict[str, Any]:
    row = simulation.rows[place]
    limits = row.found.limits
    return {
        "values": [format_value(value) for value in row.point.values()],
        "time": time_words(row.found),
        "bandwidth": format_bandwidth(row.found.bandwidth_bytes_per_second),
        "limit": limits[0].words if limits else "",
        "best": place == simulation.best,
    }


def limits_chart(row: SimulationRow) -> chart.Chart:
    """Draw for how long each resource is in use."""
    rows = [
        {"limit": one.words, "seconds": one.seconds, "share": 100 * one.share}
        for one in row.found.limits
        if one.seconds < float("inf")
    ]
    encoding = {
        "x": chart.number("share", "share of the job's I/O time, %", scale={"domain": [0, 100]}),
        "y": chart.category(
            "limit", title=None, sort=None, axis={"labelLimit": 420, "maxExtent": 430}
        ),
        "tooltip": [*chart.tips(limit="limit"), chart.tip("seconds", "seconds")],
    }
    spec = chart.layers(
        rows,
        chart.layer("bar", encoding, color=chart.BASELINE),
        height={"step": 26},
        title={"text": "What the time goes to", "subtitle": "uses overlap in time"},
    )
    words = "; ".join(f"{one.words} ({format_percent(one.share)})" for one in row.found.limits)
    return chart.Chart(chart.column(spec), f"Shares of the I/O time: {words}.")


def sweep_chart(simulation: Simulation) -> chart.Chart:
    """Draw the bandwidth over the values of what is swept first, a line for each of the rest."""
    first, *others = simulation.sweep
    rows = [_dot(row, first, others) for row in simulation.rows]
    numeric = all(
        isinstance(value, int | float) and value > 0 for value in simulation.sweep[first]
    )
    ordinal = {
        **{"field": "value", "type": "ordinal", "title": _short(first), "sort": None},
        "axis": {"labelAngle": 0},
    }
    encoding: chart.Spec = {
        "x": ordinal,
        "y": chart.number("bandwidth", "bandwidth, GiB/s"),
        "tooltip": [
            *chart.tips(shown="job", limit="limited by"),
            chart.tip("bandwidth", "GiB/s"),
            chart.tip("seconds", "seconds"),
        ],
    }
    colours = len({row["rest"] for row in rows})
    if others and colours <= _MOST_BARS:
        title = _short(others[0]) if len(others) == 1 else None
        legend = {"labelLimit": 400, "columns": 6 if title else 2}
        encoding["color"] = chart.category("rest", title=title, sort=None, legend=legend)
    parts = [chart.points(encoding)]
    if numeric and colours <= _MOST_BARS:
        parts.insert(0, chart.layer("line", encoding))
    spec = chart.layers(rows, *parts, height=280, title={"text": "Bandwidth of each job"})
    best = rows[simulation.best]
    low, high = (f(row["bandwidth"] for row in rows) for f in (min, max))
    words = f"Bandwidth of {len(rows)} jobs, {low:.3g} to {high:.3g} GiB/s; best: {best['shown']}."
    return chart.Chart(chart.column(spec), words)


def _dot(row: SimulationRow, first: str, others: list[str]) -> dict[str, Any]:
    def named(names: list[str]) -> str:
        return ", ".join(f"{_short(name)}={format_value(row.point[name])}" for name in names)

    limits, seconds = row.found.limits, row.found.seconds
    return {
        "value": format_value(row.point[first]),
        "rest": format_value(row.point[others[0]]) if len(others) == 1 else named(others),
        "shown": named([first, *others]),
        "bandwidth": row.found.bandwidth_bytes_per_second / _GIB,
        "seconds": seconds if seconds < float("inf") else None,
        "limit": limits[0].words if limits else "",
    }


def _short(name: str) -> str:
    """Return the name of what is swept without its layer."""
    return name.rpartition(".")[2]
