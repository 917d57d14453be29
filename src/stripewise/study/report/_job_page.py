# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents the study of a job script as charts and as a section of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.core import JobStudy, MpiioFigure, RungRun
from stripewise.present import (
    Chart,
    Spec,
    chart,
    known,
    plural,
    printable,
    rate_text,
    seconds_text,
    size_text,
)
from stripewise.present.blocks import (
    Block,
    Column,
    Drawings,
    Fact,
    Facts,
    Lines,
    Notice,
    Points,
    Section,
    Table,
)
from stripewise.study.report._charts import looked
from stripewise.study.report._job_conclusions import against, conclusions, decisions
from stripewise.study.report._job_cost import payback
from stripewise.study.report._job_rungs import (
    AGGREGATORS,
    DEFAULT_SERIES,
    FILE_SYSTEM_SERIES,
    MOST_ROWS,
    SHORT_WORDS,
    STRIPING_UNIT,
    TUNED_SERIES,
    Sweep,
    label,
    name,
    page_table,
    place,
    series,
    state_word,
    sweeps,
    swept,
    what_was_set,
)

_MOST_RUNS = 80
_SERIES_LOOKS = {
    DEFAULT_SERIES: (chart.BASELINE, "circle"),
    TUNED_SERIES: (chart.BEST, "square"),
    FILE_SYSTEM_SERIES: (chart.TRIAL, "stroke"),
}
_COLOURS = (chart.BASELINE, chart.BEST, chart.TRIAL, chart.TROUBLE, chart.MUTED, "#7b5ea7")
_WORDS = tuple(SHORT_WORDS.split("; "))
_TIPS = {"run": "run", "place": "files", "settings": "settings", "io": "I/O", "whole": "whole run"}


def job_charts(study: JobStudy) -> dict[str, Chart]:
    """Return the charts that the rungs allow: file name without suffix to chart."""
    found = {
        "rungs": times_chart(study),
        "bandwidth": bandwidth_chart(study),
        "aggregators": sweep_chart(study, AGGREGATORS),
        "striping-unit": sweep_chart(study, STRIPING_UNIT),
    }
    return {one: drawn for one, drawn in found.items() if drawn is not None}


def _tooltip(run: RungRun) -> dict[str, Any]:
    """Return the content of a run's tooltip."""
    return {
        "run": name(run),
        "place": place(run),
        "settings": what_was_set(run),
        "io": known(run.io_seconds, seconds_text),
        "whole": known(run.elapsed_seconds, seconds_text),
    }


def times_chart(study: JobStudy) -> Chart | None:
    """Draw the I/O time and elapsed time of every rung, with staging if it is known."""
    shown = study.runs[:_MOST_RUNS]
    rows = [row for run in shown for row in _times(run, study)]
    if not any(run.ok for run in shown):
        return None
    used = {row["what"] for row in rows}
    looks = {
        "I/O": (chart.BEST, "circle"),
        "whole run": (chart.BASELINE, "square"),
        "with staging": (chart.TRIAL, "diamond"),
        "not measured": (chart.TROUBLE, "cross"),
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
    points = chart.points({"x": x, "y": y, "tooltip": tooltip, **looked("what", looks, 2)})
    more = len(study.runs) - len(shown)
    spec = chart.layers(
        rows,
        rule,
        points,
        height=20 * len(names),
        title={
            "text": "Time of each run" + (f", the first {_MOST_RUNS}" if more > 0 else ""),
            "subtitle": [*_WORDS, *(["*: best"] if study.best is not None else [])],
        },
    )
    texts = "; ".join(
        f"{name(run)} ({place(run)}): {_figures(run) if run.ok else state_word(run)}"
        for run in shown
    )
    return Chart(chart.column(spec), f"I/O time and whole time of each run: {texts}")


def _figures(run: RungRun) -> str:
    return f"I/O {known(run.io_seconds)}, whole run {known(run.elapsed_seconds)}"


def _times(run: RungRun, study: JobStudy) -> list[dict[str, Any]]:
    row = _tooltip(run) | {"label": label(run) + (" *" if run.number == study.best else "")}
    if not run.ok:
        return [{**row, "what": "not measured", "seconds": 0.0, "io": state_word(run)}]
    times = {"I/O": run.io_seconds, "whole run": run.elapsed_seconds}
    if run.staging_seconds > 0:
        times["with staging"] = run.elapsed_seconds + run.staging_seconds
    return [
        {**row, "what": what, "seconds": seconds}
        for what, seconds in times.items()
        if math.isfinite(seconds)
    ]


def bandwidth_chart(study: JobStudy) -> Chart | None:
    """Draw bandwidth against burst-buffer nodes, with the parallel file system as a line."""
    found = series(study)
    nodes = sorted({run.nodes for runs in found.values() for run in runs if run.nodes})
    if not nodes:
        return None
    top = max(run.bandwidth_bytes_per_second for runs in found.values() for run in runs)
    unit, scale = ("GiB/s", 2**30) if top >= 2**30 else ("MiB/s", 2**20)
    rows = [
        _tooltip(run) | {"curve": one, "value": at, "y": run.bandwidth_bytes_per_second / scale}
        for one, runs in found.items()
        for run in runs
        for at in ([run.nodes] if run.nodes else nodes)
    ]
    looks = {one: look for one, look in _SERIES_LOOKS.items() if one in found}
    tooltip = [*chart.tips(curve="series", **_TIPS), chart.tip("y", f"bandwidth, {unit}")]
    x = _doubling("burst-buffer nodes", {node: str(node) for node in nodes})
    title = {"text": f"Bandwidth, {unit}", "subtitle": "of the best run at each number of nodes"}
    texts = {
        one: [
            (f"{plural(run.nodes, 'node')} " if run.nodes else "")
            + rate_text(run.bandwidth_bytes_per_second)
            for run in runs
        ]
        for one, runs in found.items()
    }
    spec = _curves(rows, x, looks, tooltip, title)
    return Chart(spec, f"Bandwidth by burst-buffer nodes: {_in_words(texts)}")


def sweep_chart(study: JobStudy, tunable: str) -> Chart | None:
    """Draw I/O time against the values of one tunable, a line per sweep; None without sweeps."""
    found = list(sweeps(study.runs, tunable))[: len(_COLOURS)]
    if not found:
        return None
    what = "aggregators" if tunable == AGGREGATORS else "striping unit"
    names = _names(found)
    rows = [
        _tooltip(run)
        | {"curve": one, "value": swept(run, tunable), "text": _value(run, tunable)}
        | {"y": run.io_seconds, "writes": _count(run.system_writes)}
        for one, sweep in zip(names, found, strict=True)
        for run in sweep.runs
    ]
    looks = {one: (colour, "circle") for one, colour in zip(names, _COLOURS, strict=False)}
    tooltip = [*chart.tips(text=what, **_TIPS), chart.tip("writes", "system writes")]
    x = _doubling(what, {row["value"]: row["text"] for row in rows})
    texts = {
        one: [f"{_value(run, tunable)} {seconds_text(run.io_seconds)}" for run in sweep.runs]
        for one, sweep in zip(names, found, strict=True)
    }
    spec = _curves(rows, x, looks, tooltip, {"text": f"I/O time, s, by {what}"})
    return Chart(spec, f"I/O time by {what}: {_in_words(texts)}")


def _curves(
    rows: Sequence[Mapping[str, Any]],
    x: Spec,
    looks: Mapping[str, tuple[str, str]],
    tooltip: Sequence[Spec],
    title: Spec,
) -> Spec:
    """Return a chart of "y" over "value", a line for each "curve"."""
    y, look = chart.number("y", None, scale={"zero": True}), looked("curve", looks, 1)
    line = chart.layer("line", {"x": x, "y": y, "color": look["color"]}, strokeWidth=1.5)
    points = chart.points({"x": x, "y": y, "tooltip": list(tooltip), **look})
    return chart.column(chart.layers(rows, line, points, height=220, title=title))


def _doubling(title: str, texts: Mapping[int, str]) -> Spec:
    """Return a logarithmic x axis with a mark for each value that was tried."""
    values = sorted(texts)
    names = "{" + ",".join(f"'{value}':'{texts[value]}'" for value in values) + "}"
    return chart.number(
        "value",
        title,
        scale={"type": "log", "base": 2, "domain": [values[0] / 1.4, values[-1] * 1.4]},
        axis={
            **{"values": values, "labelExpr": f"({names})[datum.value]", "grid": False},
            **{"labelOverlap": "greedy", "labelFlush": False},
            # Without it Vega omits every other value, however much space there is.
            "tickCount": len(values),
        },
    )


def _in_words(texts: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{one}: {', '.join(items)}" for one, items in texts.items())


def _count(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def _names(found: Sequence[Sweep]) -> list[str]:
    """Return names of sweeps by the place of their files, numbered if the place is the same."""
    names: list[str] = []
    for sweep in found:
        same = sum(one.where == sweep.where for one in found)
        runs = f" (runs {', '.join(str(run.number) for run in sweep.runs)})"
        names.append(sweep.where + (runs if same > 1 else ""))
    return names


def _value(run: RungRun, tunable: str) -> str:
    value = swept(run, tunable) or 0
    return str(value) if tunable == AGGREGATORS else size_text(value)


# The study of a job script as a section of the report.


def job_section(study: JobStudy) -> Section:
    """Return the section of a job script's study."""
    blocks: list[Block] = [job_lead(study), job_conclusions(study), *job_hints(study)]
    blocks.append(Drawings("job-charts", "", list(job_charts(study).values())))
    blocks.append(page_table(study))
    if tables := mpiio_tables(study):
        blocks.append(Section("job-mpiio", MPIIO_TITLE, tables))
    why: list[Block] = [Points.of("job-decisions", "", decisions(study)[:MOST_ROWS])]
    if study.stopped_because:
        stopped = f"The search ended: {study.stopped_because}."
        why.append(Notice("job-stopped", "", [stopped], "plain"))
    blocks.append(Section("job-why", "Why each run was made", why, is_folded=True))
    return Section("job", "The job script", blocks)


def job_lead(study: JobStudy) -> Facts:
    """Return which script was studied, and with how many jobs."""
    text = f"{printable(study.script)}, step {study.step}: "
    text += f"{plural(len(study.runs), 'configuration')} in {plural(study.n_jobs, 'job')}"
    text += f", {plural(study.controller_requests, 'request')} to the batch system"
    return Facts("job-lead", "", [Fact("script", "job script", text)], is_listed=True)


def job_conclusions(study: JobStudy) -> Facts:
    """Return speed-ups against each default, conclusions, and when the study has paid off."""
    texts = {
        "against": against(study),
        "result": conclusions(study),
        "node-hours": [payback(study).text],
    }
    items = [
        Fact(f"{name}-{number}", "" if number else name, text)
        for name, several in texts.items()
        for number, text in enumerate(several)
    ]
    return Facts("job-conclusions", "", items, is_listed=True)


def job_hints(study: JobStudy) -> list[Block]:
    """Return the line that sets the hints for each file, if there are any."""
    if not study.hints:
        return []
    lost = f"This form cannot express: {'; '.join(study.hints_lost)}" if study.hints_lost else ""
    title = "Hints for each file, as a line for the job script"
    return [Lines("job-hints", title, study.hints.splitlines(), lost)]


MPIIO_TITLE = "Output of Cray MPICH in the last baseline run and in the last best run"
_KINDS = {"B": "bytes", "B/s": "rate", "%": "share"}


def mpiio_tables(study: JobStudy) -> list[Table]:
    """Return a table for each file with what MPI printed about it."""
    columns = (
        Column("name", "figure"),
        Column("before", "baseline", "figure", kinds="kind"),
        Column("after", "best", "figure", kinds="kind"),
    )
    return [
        Table(
            f"job-mpiio-{number}",
            path,
            columns,
            [_mpiio_row(one) for one in study.mpiio if one.file == path],
            total="Statistics and timers",
        )
        for number, path in enumerate(dict.fromkeys(figure.file for figure in study.mpiio))
    ]


def _mpiio_row(figure: MpiioFigure) -> dict[str, Any]:
    whole = 100 if figure.unit == "%" else 1
    sides = {"before": figure.before, "after": figure.after}
    shown = {name: None if value is None else value / whole for name, value in sides.items()}
    return {"name": figure.name, "kind": _KINDS.get(figure.unit, "count"), **shown}
