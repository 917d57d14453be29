# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows simulated jobs in words, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from stripewise.core import Value, to_json
from stripewise.present import (
    chart,
    count_text,
    labelled,
    line,
    percent_text,
    plural,
    printable,
    rate_text,
    seconds_text,
    size_text,
    value_text,
)
from stripewise.present.blocks import Block, Column, Content, Drawings, Notice, Points, Table
from stripewise.present.renderers import as_page, block_lines
from stripewise.settings.tunables import format_settings
from stripewise.storage.machines import Storage
from stripewise.storage.simulation._limits import Limit
from stripewise.storage.simulation._simulate import OWN_CALLS, Simulated
from stripewise.storage.stacks import Workload

_MOST_ROWS = 60


@dataclass(frozen=True)
class SimulationRow:
    """One simulated job.

    Attributes:
        point: Its swept values.
        workload: Workload of the job.
        found: Result of the simulation.
    """

    point: Mapping[str, Value]
    workload: Workload
    found: Simulated


@dataclass(frozen=True)
class Simulation:
    """Simulated jobs on one storage.

    Attributes:
        storage: Storage that they run on.
        pattern: Pattern as the user gave it.
        sweep: Values by name, of which all combinations are simulated; empty for one job.
        rows: Jobs, at least one.
    """

    storage: Storage
    pattern: str
    sweep: Mapping[str, Sequence[Value]]
    rows: Sequence[SimulationRow]

    @property
    def best(self) -> int:
        """Place of the row with the highest bandwidth, the first of equal ones."""
        rates = [row.found.bandwidth_bytes_per_second for row in self.rows]
        return rates.index(max(rates))


def simulation_lines(simulation: Simulation) -> Iterator[str]:
    """Yield the result of simulated jobs; of several, a table and the best one in full."""
    best = simulation.rows[simulation.best]
    storage = simulation.storage
    yield line("storage", printable(f"{storage.name}: {storage.title}"))
    yield line("pattern", printable(pattern_words(simulation)))
    if simulation.sweep:
        yield ""
        yield from block_lines(_jobs(simulation, _MOST_ROWS))
        yield ""
        yield line("best", format_settings(best.point))
    yield line("job", job_words(best))
    yield line("stack", stack_words(best.found))
    yield line("time", time_words(best.found))
    yield line("bandwidth", rate_text(best.found.bandwidth_bytes_per_second))
    yield from labelled("limits", [_limit(one) for one in best.found.limits])
    yield from labelled("requests", request_words(best.found))
    cv = storage.value("noise.cv")
    if cv > 0:
        yield line("noise", f"runs vary by {percent_text(cv)} (coefficient of variation)")
    yield from labelled("notes", [printable(text) for text in best.found.notes])


def pattern_words(simulation: Simulation) -> str:
    """Return the pattern as given, and also in the notation if that differs."""
    patterns = simulation.rows[0].workload.patterns
    notations = list(dict.fromkeys(one.notation for one in patterns))
    if not notations:
        return f"{simulation.pattern}: the program's own requests"
    more = f" and {len(notations) - 1} more" if len(notations) > 1 else ""
    plain = simulation.pattern.replace(" ", "")
    if notations[0].replace(" ", "").upper() == plain.upper():
        return notations[0]
    return f"{simulation.pattern}: {notations[0]}{more}"


def job_words(row: SimulationRow) -> str:
    """Return the size of a job."""
    work = row.workload
    ranks = plural(work.ranks_per_node, "rank")
    each = f"{plural(work.nodes, 'node')} with {ranks} each" if work.nodes > 1 else ranks
    return f"{each}, {size_text(work.bytes)} in all"


def stack_words(found: Simulated) -> str:
    """Return the stack, its settings and the files' layout."""
    parts = ["the program's own calls" if found.stack == OWN_CALLS else found.stack]
    parts += [f"transport {found.transport}"] if found.transport else []
    parts += [format_settings(found.settings)] if found.settings else []
    if found.layout.private:
        parts.append("files on the node's own part of the burst buffer")
        return printable("; ".join(parts))
    stripes = plural(found.layout.stripe_count, "stripe")
    parts.append(f"files of {stripes} of {size_text(found.layout.stripe_size)}")
    return printable("; ".join(parts))


def time_words(found: Simulated) -> str:
    """Return the time of a job, or that it has no end."""
    return seconds_text(found.seconds) if isfinite(found.seconds) else "the job hangs"


def request_words(found: Simulated) -> list[str]:
    """Return descriptions of the requests that reach the file system, without verbs."""
    of = found.requests
    if not of.requests:
        return []
    number = plural(max(round(of.requests), 1), "request")
    of_files = plural(of.files, "file")
    lines = [
        f"{number} of {size_text(of.size_bytes)} on average, by "
        f"{count_text(of.processes)} of the ranks on {plural(of.nodes, 'node')}, to {of_files}"
    ]
    if of.rounds:
        rounds = plural(max(round(of.rounds), 1), "round")
        exchanged = size_text(of.exchange_bytes)
        lines.append(f"{rounds} of collective buffering, {exchanged} exchanged in each")
    if of.read_modify_write_bytes:
        lines.append(f"{size_text(of.read_modify_write_bytes)} read before it is changed")
    return lines


def simulation_json(simulation: Simulation) -> dict[str, Any]:
    """Return everything as JSON; of several jobs the best one's figures, and a row for each."""
    storage, best = simulation.storage, simulation.rows[simulation.best]
    document: dict[str, Any] = {
        "storage": storage.name,
        "title": storage.title,
        "noise_cv": storage.value("noise.cv"),
        "pattern": simulation.pattern,
        "patterns": list(dict.fromkeys(one.notation for one in best.workload.patterns)),
        **_row_json(best),
    }
    if simulation.sweep:
        document["sweep"] = {name: to_json(list(v)) for name, v in simulation.sweep.items()}
        document["best"] = simulation.best
        document["rows"] = [
            {"point": to_json(dict(row.point)), **_row_json(row)} for row in simulation.rows
        ]
    return document


def _row_json(row: SimulationRow) -> dict[str, Any]:
    found, work = row.found, row.workload
    layout = found.layout
    return {
        "nodes": work.nodes,
        "ranks_per_node": work.ranks_per_node,
        "ranks": work.ranks,
        "stack": found.stack,
        "transport": found.transport,
        "settings": to_json(dict(found.settings)),
        "layout": {
            "stripe_count": layout.stripe_count,
            "stripe_size_bytes": layout.stripe_size,
            "targets": layout.targets,
            "private": layout.private,
        },
        "bytes": found.bytes,
        "seconds": found.seconds if isfinite(found.seconds) else None,
        "hangs": not isfinite(found.seconds),
        "bandwidth_bytes_per_second": found.bandwidth_bytes_per_second,
        "limits": [asdict(one) for one in found.limits],
        "requests": asdict(found.requests),
        "phases": [
            {
                "name": one.phase.name,
                "repeats": one.phase.repeats,
                "seconds": one.seconds,
                "exchange_seconds": one.exchange * one.phase.repeats,
                "metadata_seconds": one.metadata * one.phase.repeats,
                "metadata": dict(one.phase.metadata),
                "flows": [asdict(flow.flow) for flow in one.flows],
            }
            for one in found.phases
        ],
        "notes": list(found.notes),
    }


def _limit(limit: Limit) -> str:
    return f"{percent_text(limit.share):>6}  {printable(limit.words)}"


def _jobs(simulation: Simulation, most: int) -> Table:
    """Return a row for each job; if there are many, only the fastest ones."""
    rows = list(enumerate(simulation.rows))
    total = ""
    if len(rows) > most:
        rows.sort(key=lambda row: -row[1].found.bandwidth_bytes_per_second)
        total = f"The fastest {most} of {count_text(len(rows))} jobs (--json has all):"
    columns = [
        *(Column(name, _short(name)) for name in simulation.sweep),
        Column("time", "time", "figure"),
        Column("bandwidth", "bandwidth", "figure"),
        Column("look", ""),
        Column("limit", "limit"),
    ]
    return Table("jobs", "All jobs", columns, [
        {
            **{name: value_text(value) for name, value in row.point.items()},
            "time": time_words(row.found),
            "bandwidth": rate_text(row.found.bandwidth_bytes_per_second),
            "look": "best" if place == simulation.best else "",
            "limit": row.found.limits[0].words if row.found.limits else "-",
        }
        for place, row in rows[:most]
    ], total=total)  # fmt: skip


# Simulated jobs as one self-contained page.

_GIB = float(1 << 30)
_MOST_ROWS_OF_PAGE = 500
_MOST_BARS = 60


def render_simulation_html(simulation: Simulation) -> str:
    """Render the page; the same simulation gives the same page."""
    best = simulation.rows[simulation.best]
    storage, found, number = simulation.storage, best.found, len(simulation.rows)
    several = f", the best of {count_text(number)} jobs" if number > 1 else ""
    return as_page(
        Content(
            rate_text(found.bandwidth_bytes_per_second),
            f"{job_words(best)}: {time_words(found)}{several}. Nothing was run: this is what the "
            "description of the storage predicts.",
            list(_blocks(simulation, best)),
            subject=f"Simulation · {storage.name}: {storage.title}",
            command=pattern_words(simulation),
        )
    )


def _blocks(simulation: Simulation, best: SimulationRow) -> Iterator[Block]:
    found, several = best.found, len(simulation.rows) > 1
    if found.notes:
        yield Notice("notes", "Notes", found.notes, "warn")
    pictures = [sweep_chart(simulation)] if several else []
    pictures += [limits_chart(best)] if found.limits else []
    yield Drawings("pictures", "Jobs and limits" if several else "Limits", pictures)
    columns = (
        Column("words", "Limit"),
        Column("seconds", "Time in use", "seconds"),
        Column("share", "Share", "share"),
    )
    title = f"What limits{' the best job' if several else ''}"
    rows = [asdict(one) for one in found.limits]
    total = "Most limiting first; the uses overlap in time"
    yield Table("limits", title, columns, rows, total=total)
    texts = [stack_words(found), *request_words(found)]
    yield Points.of("requests", "Requests", texts)
    if several:
        yield _jobs(simulation, _MOST_ROWS_OF_PAGE)


def limits_chart(row: SimulationRow) -> chart.Chart:
    """Draw the time for which each resource is in use."""
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
        title={"text": "Where the time goes", "subtitle": "the uses overlap in time"},
    )
    words = "; ".join(f"{one.words} ({percent_text(one.share)})" for one in row.found.limits)
    return chart.Chart(chart.column(spec), f"Shares of the I/O time: {words}.")


def sweep_chart(simulation: Simulation) -> chart.Chart:
    """Draw the bandwidth over the first swept variable, with a line for each of the others."""
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
        return ", ".join(f"{_short(name)}={value_text(row.point[name])}" for name in names)

    limits, seconds = row.found.limits, row.found.seconds
    return {
        "value": value_text(row.point[first]),
        "rest": value_text(row.point[others[0]]) if len(others) == 1 else named(others),
        "shown": named([first, *others]),
        "bandwidth": row.found.bandwidth_bytes_per_second / _GIB,
        "seconds": seconds if seconds < float("inf") else None,
        "limit": limits[0].words if limits else "",
    }


def _short(name: str) -> str:
    """Return the name of a swept variable without its layer."""
    return name.rpartition(".")[2]
