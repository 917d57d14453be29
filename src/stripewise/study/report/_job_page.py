# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the study of a job script as charts and as a section of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.core import JobStudy, RungRun
from stripewise.present import (
    Chart,
    Spec,
    chart,
    known,
    plural,
    rate_text,
    seconds_text,
    size_text,
)
from stripewise.present.blocks import (
    Block,
    Column,
    Drawings,
    Lines,
    Notice,
    Points,
    Section,
    Table,
)
from stripewise.study.report._job_conclusions import against, conclusions, decisions, job_headline
from stripewise.study.report._job_cost import payback
from stripewise.study.report._job_rungs import (
    AGGREGATORS,
    DEFAULT_SERIES,
    FILE_SYSTEM_SERIES,
    SHORT_WORDS,
    STRIPING_UNIT,
    TUNED_SERIES,
    Sweep,
    label,
    name,
    place,
    series,
    speedup_text,
    state_word,
    sweeps,
    swept,
    what_was_set,
)
from stripewise.study.report._job_study import figure_text

MOST_RUNS = 80
_SERIES_LOOKS = {
    DEFAULT_SERIES: (chart.BASELINE, "circle"),
    TUNED_SERIES: (chart.BEST, "square"),
    FILE_SYSTEM_SERIES: (chart.TRIAL, "stroke"),
}
_COLOURS = (chart.BASELINE, chart.BEST, chart.TRIAL, chart.TROUBLE, chart.MUTED, "#7b5ea7")
_WORDS = tuple(SHORT_WORDS.split("; "))
_TIPS = {"run": "run", "place": "files", "settings": "settings", "io": "I/O", "whole": "whole run"}


def job_charts(study: JobStudy) -> dict[str, Chart]:
    """Return the charts that the rungs allow: name of its file without suffix to the chart."""
    found = {
        "rungs": times_chart(study),
        "bandwidth": bandwidth_chart(study),
        "aggregators": sweep_chart(study, AGGREGATORS),
        "striping-unit": sweep_chart(study, STRIPING_UNIT),
    }
    return {one: drawn for one, drawn in found.items() if drawn is not None}


def _said(run: RungRun) -> dict[str, Any]:
    """Return what the tooltip of a run shows."""
    return {
        "run": name(run),
        "place": place(run),
        "settings": what_was_set(run),
        "io": known(run.io_seconds, seconds_text),
        "whole": known(run.elapsed_seconds, seconds_text),
    }


def times_chart(study: JobStudy) -> Chart | None:
    """Draw the I/O time and the whole time of every rung, with staging where it is known."""
    shown = study.runs[:MOST_RUNS]
    rows = [row for run in shown for row in _times(run, study)]
    if not any(run.ok for run in shown):
        return None
    used = {row["what"] for row in rows}
    looks = {
        "I/O": (chart.BEST, "circle"),
        "whole run": (chart.BASELINE, "square"),
        "with staging": (chart.TRIAL, "diamond"),
        "no figure": (chart.TROUBLE, "cross"),
    }
    looks = {what: look for what, look in looks.items() if what in used}
    names = [label(run) + (" *" if run.number == study.best else "") for run in shown]
    y = chart.category("label", title=None, scale={"domain": names})
    x = chart.number("seconds", "time, s", scale={"zero": True})
    rule = chart.layer(
        "rule",
        {"x": {**x, "aggregate": "min"}, "x2": {"field": "seconds", "aggregate": "max"}, "y": y},
        color=chart.WARM_UP,
        opacity=0.6,
    )
    tooltip = [*chart.tips(**_TIPS), *chart.tips(what="mark"), chart.tip("seconds", "time, s")]
    points = chart.points({"x": x, "y": y, "tooltip": tooltip, **_looked("what", looks, 2)})
    more = len(study.runs) - len(shown)
    spec = chart.layers(
        rows,
        rule,
        points,
        height=20 * len(names),
        title={
            "text": "Time of each run" + (f", the first {MOST_RUNS}" if more > 0 else ""),
            "subtitle": [*_WORDS, *(["*: best"] if study.best is not None else [])],
        },
    )
    said = "; ".join(
        f"{name(run)} ({place(run)}): {_figures(run) if run.ok else state_word(run)}"
        for run in shown
    )
    return Chart(chart.column(spec), f"I/O time and whole time of each run: {said}")


def _figures(run: RungRun) -> str:
    return f"I/O {known(run.io_seconds)}, whole run {known(run.elapsed_seconds)}"


def _times(run: RungRun, study: JobStudy) -> list[dict[str, Any]]:
    row = _said(run) | {"label": label(run) + (" *" if run.number == study.best else "")}
    if not run.ok:
        return [{**row, "what": "no figure", "seconds": 0.0, "io": state_word(run)}]
    times = {"I/O": run.io_seconds, "whole run": run.elapsed_seconds}
    if run.staging_seconds > 0:
        times["with staging"] = run.elapsed_seconds + run.staging_seconds
    return [
        {**row, "what": what, "seconds": seconds}
        for what, seconds in times.items()
        if math.isfinite(seconds)
    ]


def _looked(field: str, looks: Mapping[str, tuple[str, str]], columns: int) -> Spec:
    """Return the encoding of a field by colour and shape, with one legend."""
    colours, shapes = zip(*looks.values(), strict=True)
    legend = {"title": None, "columns": columns}
    return {
        "color": chart.category(
            field, legend=legend, scale={"domain": list(looks), "range": list(colours)}
        ),
        "shape": chart.category(
            field, legend=legend, scale={"domain": list(looks), "range": list(shapes)}
        ),
    }


def bandwidth_chart(study: JobStudy) -> Chart | None:
    """Draw bandwidth against burst-buffer nodes; the parallel file system is a line across."""
    found = series(study)
    nodes = sorted({run.nodes for s, runs in found.items() for run in runs if run.nodes})
    if not nodes or not found:
        return None
    top = max(run.bandwidth_bytes_per_second for runs in found.values() for run in runs)
    unit, scale = ("GiB/s", 2**30) if top >= 2**30 else ("MiB/s", 2**20)
    rows = [
        {
            **_said(run),
            **{"series": one, "nodes": run.nodes or None},
            "bandwidth": run.bandwidth_bytes_per_second / scale,
        }
        for one, runs in found.items()
        for run in runs
    ]
    y = chart.number("bandwidth", None, scale={"zero": True})
    x = _doubling("nodes", "burst-buffer nodes", nodes, [str(node) for node in nodes])
    looks = {one: look for one, look in _SERIES_LOOKS.items() if one in found}
    looked = _looked("series", looks, 1)
    tooltip = [*chart.tips(series="series", **_TIPS), chart.tip("bandwidth", f"bandwidth, {unit}")]
    of_file_system = f"datum.series === '{FILE_SYSTEM_SERIES}'"
    on_nodes = {"transform": [{"filter": f"!({of_file_system})"}]}
    across = {
        "transform": [{"filter": of_file_system}],
        **chart.layer(
            "rule",
            {"y": y, "color": looked["color"], "tooltip": tooltip},
            strokeDash=[6, 4],
            strokeWidth=2,
        ),
    }
    lines = chart.layer("line", {"x": x, "y": y, "color": looked["color"]}, strokeWidth=1.5)
    points = chart.points({"x": x, "y": y, "tooltip": tooltip, **looked})
    parts = [across, {**on_nodes, **lines}, {**on_nodes, **points}]
    title = {"text": f"Bandwidth, {unit}", "subtitle": "of the best run with so many nodes"}
    spec = chart.layers(rows, *parts, height=240, title=title)
    said = "; ".join(
        f"{one}: "
        + ", ".join(
            (f"{plural(run.nodes, 'node')} " if run.nodes else "")
            + rate_text(run.bandwidth_bytes_per_second)
            for run in runs
        )
        for one, runs in found.items()
    )
    return Chart(chart.column(spec), f"Bandwidth by burst-buffer nodes: {said}")


def _doubling(field: str, title: str, values: Sequence[int], texts: Sequence[str]) -> Spec:
    """Return a logarithmic x axis whose marks are the values that were tried."""
    names = "{" + ",".join(f"'{v}':'{t}'" for v, t in zip(values, texts, strict=True)) + "}"
    return chart.number(
        field,
        title,
        scale={"type": "log", "base": 2, "domain": [values[0] / 1.4, values[-1] * 1.4]},
        axis={
            **{"values": list(values), "labelExpr": f"({names})[datum.value]", "grid": False},
            **{"labelOverlap": "greedy", "labelFlush": False},
            # Without it Vega leaves out every other value, however much room there is.
            "tickCount": len(values),
        },
    )


def sweep_chart(study: JobStudy, tunable: str) -> Chart | None:
    """Draw I/O time against the values of one tunable, a line for each sweep; None without one."""
    found = list(sweeps(study.runs, tunable))[: len(_COLOURS)]
    if not found:
        return None
    what = "aggregators" if tunable == AGGREGATORS else "striping unit"
    names = _names(found)
    rows = [
        {
            **_said(run),
            **{"sweep": one, "value": swept(run, tunable), "text": _value(run, tunable)},
            **{"seconds": run.io_seconds, "writes": _count(run.system_writes)},
        }
        for one, sweep in zip(names, found, strict=True)
        for run in sweep.runs
    ]
    values = sorted({row["value"] for row in rows})
    texts = {row["value"]: row["text"] for row in rows}
    x = _doubling("value", what, values, [texts[value] for value in values])
    y = chart.number("seconds", None, scale={"zero": True})
    legend = {"title": None, "columns": 1}
    colour = chart.category(
        "sweep",
        legend=legend,
        scale={"domain": names, "range": list(_COLOURS[: len(names)])},
    )
    tooltip = [*chart.tips(text=what, **_TIPS), chart.tip("writes", "system writes")]
    line = chart.layer("line", {"x": x, "y": y, "color": colour}, strokeWidth=1.5)
    points = chart.points({"x": x, "y": y, "color": colour, "tooltip": tooltip})
    spec = chart.layers(rows, line, points, height=200, title=f"I/O time, s, by {what}")
    said = "; ".join(
        f"{one}: "
        + ", ".join(f"{_value(r, tunable)} {seconds_text(r.io_seconds)}" for r in sweep.runs)
        for one, sweep in zip(names, found, strict=True)
    )
    return Chart(chart.column(spec), f"I/O time by {what}: {said}")


def _count(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def _names(found: Sequence[Sweep]) -> list[str]:
    """Name sweeps by where their files lay, and number those of the same place."""
    names: list[str] = []
    for sweep in found:
        same = sum(one.where == sweep.where for one in found)
        runs = f" (runs {', '.join(str(run.number) for run in sweep.runs)})"
        names.append(sweep.where + (runs if same > 1 else ""))
    return names


def _value(run: RungRun, tunable: str) -> str:
    value = swept(run, tunable) or 0
    return str(value) if tunable == AGGREGATORS else size_text(value)


# The study of a job script as a section of the report's page.

MOST_ROWS = 500


def job_section(study: JobStudy) -> Section:
    """Return the section of a job script's study."""
    lead = (
        f"{job_headline(study)}. Job script {study.script}, step {study.step}: "
        f"{plural(len(study.runs), 'configuration')} in {plural(study.n_jobs, 'job')}"
    )
    if study.queue_seconds is not None:
        lead += f", which waited {seconds_text(study.queue_seconds)} in the queue"
    lead += f", with {plural(study.controller_requests, 'request')} to the batch system."
    blocks: list[Block] = [Notice("job-lead", "", [lead], "plain")]
    if compared := against(study):
        blocks.append(Points.of("job-against", "", [f"Against {text}" for text in compared]))
    blocks.append(Points.of("job-conclusions", "What follows", conclusions(study)))
    title = "When has the study paid for itself?"
    blocks.append(Notice("job-paid", title, [payback(study).text], "plain"))
    if study.hints:
        lost = f"Lost in this form: {'; '.join(study.hints_lost)}" if study.hints_lost else ""
        title = "The hints for each file, a line for the job script"
        blocks.append(Lines("job-hints", title, study.hints.splitlines(), lost))
    blocks.append(Drawings("job-charts", "", list(job_charts(study).values())))
    blocks.append(_run_table(study))
    if study.mpiio:
        blocks.append(_mpiio_table(study))
    why: list[Block] = [Points.of("job-decisions", "", decisions(study)[:MOST_ROWS])]
    if study.stopped_because:
        stopped = f"The search ended: {study.stopped_because}."
        why.append(Notice("job-stopped", "", [stopped], "plain"))
    blocks.append(Section("job-why", "Why each run was made", why, is_folded=True))
    return Section("job", "The job script", blocks)


def _run_table(study: JobStudy) -> Table:
    columns = (
        Column("run", "Run", "id"),
        Column("place", "Files"),
        Column("settings", "Settings"),
        Column("aggregators", "Aggregators", "count"),
        Column("unit_bytes", "Striping unit", "bytes"),
        Column("buffer_bytes", "Buffer", "bytes"),
        Column("outcome", "Outcome"),
        Column("io_seconds", "I/O time", "seconds"),
        Column("whole_seconds", "Whole run", "seconds"),
        Column("stage_in_seconds", "Stage-in", "seconds"),
        Column("stage_out_seconds", "Stage-out", "seconds"),
        Column("bandwidth", "Bandwidth", "rate"),
        Column("system_writes", "System writes", "count"),
        Column("speedup", "Speed-up of the I/O", "figure"),
    )
    rows = [_run_row(run, study) for run in study.runs[:MOST_ROWS]]
    return Table("job-runs", "", columns, rows, total="Every configuration")


def _run_row(run: RungRun, study: JobStudy) -> dict[str, Any]:
    is_best = run.number == study.best
    return {
        "run": run.number,
        "place": place(run),
        "settings": what_was_set(run),
        "aggregators": run.aggregators or None,
        "unit_bytes": run.striping_unit_bytes,
        "buffer_bytes": run.buffer_bytes,
        "outcome": f"{state_word(run)}{' (best)' if is_best else ''}",
        "io_seconds": run.io_seconds if run.ok else None,
        "whole_seconds": run.elapsed_seconds if math.isfinite(run.elapsed_seconds) else None,
        "stage_in_seconds": run.stage_in_seconds,
        "stage_out_seconds": run.stage_out_seconds,
        "bandwidth": run.bandwidth_bytes_per_second if run.ok else None,
        "system_writes": run.system_writes or None,
        "speedup": speedup_text(run),
        "look": "best" if is_best else "" if run.ok else "failed",
    }


def _mpiio_table(study: JobStudy) -> Table:
    columns = (
        Column("file", "File"),
        Column("name", "Figure"),
        Column("before", "Baseline", "figure"),
        Column("after", "Best", "figure"),
    )
    rows = [
        {
            "file": one.file,
            "name": one.name,
            "before": figure_text(one.before, one.unit),
            "after": figure_text(one.after, one.unit),
        }
        for one in study.mpiio
    ]
    total = "What Cray MPICH printed of the files: statistics and timers"
    return Table("job-mpiio", "", columns, rows, total=total)
