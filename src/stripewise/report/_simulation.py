# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated jobs in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from stripewise.machines import Storage
from stripewise.model import Value, to_json
from stripewise.report._columns import aligned, labelled, line
from stripewise.report._text import (
    format_bandwidth,
    format_bytes,
    format_percent,
    format_seconds,
    format_value,
    plural,
)
from stripewise.simulation import OWN_CALLS, Limit, Simulated, Workload
from stripewise.text import printable
from stripewise.tunables import format_settings

_MOST_ROWS = 60


@dataclass(frozen=True)
class SimulationRow:
    """One simulated job.

    Attributes:
        point: Its values of what is swept.
        workload: That it moves.
        found: What it takes.
    """

    point: Mapping[str, Value]
    workload: Workload
    found: Simulated


@dataclass(frozen=True)
class Simulation:
    """Simulated jobs on one storage.

    Attributes:
        storage: That they run on.
        pattern: As the user gave it.
        sweep: Name -> values, of which all combinations are simulated; empty: one job.
        rows: At least one.
    """

    storage: Storage
    pattern: str
    sweep: Mapping[str, Sequence[Value]]
    rows: Sequence[SimulationRow]

    @property
    def best(self) -> int:
        """Place of the row with the highest bandwidth, of equal ones the first."""
        rates = [row.found.bandwidth_bytes_per_second for row in self.rows]
        return rates.index(max(rates))


def simulation_lines(simulation: Simulation) -> Iterator[str]:
    """Say what simulated jobs take; of several, a table and the best one in full."""
    best = simulation.rows[simulation.best]
    storage = simulation.storage
    yield line("storage", printable(f"{storage.name}: {storage.title}"))
    yield line("pattern", printable(pattern_words(simulation)))
    if simulation.sweep:
        yield ""
        yield from _table(simulation)
        yield ""
        yield line("best", format_settings(best.point))
    yield line("job", job_words(best))
    yield line("stack", stack_words(best.found))
    yield line("time", time_words(best.found))
    yield line("bandwidth", format_bandwidth(best.found.bandwidth_bytes_per_second))
    yield from labelled("limits", [_limit(one) for one in best.found.limits])
    yield from labelled("requests", request_words(best.found))
    cv = storage.value("noise.cv")
    if cv > 0:
        yield line("noise", f"runs vary by {format_percent(cv)} (coefficient of variation)")
    yield from labelled("notes", [printable(text) for text in best.found.notes])


def pattern_words(simulation: Simulation) -> str:
    """Return the pattern as given, and in the notation where that was another."""
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
    return f"{each}, {format_bytes(work.bytes)} in all"


def stack_words(found: Simulated) -> str:
    """Return the stack, its settings and the files' layout."""
    parts = ["the program's own calls" if found.stack == OWN_CALLS else found.stack]
    parts += [f"transport {found.transport}"] if found.transport else []
    parts += [format_settings(found.settings)] if found.settings else []
    if found.layout.private:
        parts.append("files on the node's own part of the burst buffer")
        return printable("; ".join(parts))
    stripes = plural(found.layout.stripe_count, "stripe")
    parts.append(f"files of {stripes} of {format_bytes(found.layout.stripe_size)}")
    return printable("; ".join(parts))


def time_words(found: Simulated) -> str:
    """Return the time of a job, or that it has no end."""
    return format_seconds(found.seconds) if isfinite(found.seconds) else "the job hangs"


def request_words(found: Simulated) -> list[str]:
    """Return the requests that reach the file system, in sentences without a verb."""
    of = found.requests
    if not of.requests:
        return []
    number = f"{of.requests:,.0f} requests" if of.requests > 1.5 else "1 request"
    of_files = plural(of.files, "file")
    lines = [
        f"{number} of {format_bytes(of.size_bytes)} in the mean, by "
        f"{of.processes:,} of the ranks on {plural(of.nodes, 'node')}, to {of_files}"
    ]
    if of.rounds:
        rounds = f"{of.rounds:,.0f} rounds" if of.rounds > 1.5 else "1 round"
        exchanged = format_bytes(of.exchange_bytes)
        lines.append(f"{rounds} of collective buffering, {exchanged} exchanged in each")
    if of.read_modify_write_bytes:
        lines.append(f"{format_bytes(of.read_modify_write_bytes)} read before they are changed")
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
    return f"{format_percent(limit.share):>6}  {printable(limit.words)}"


def _table(simulation: Simulation) -> Iterator[str]:
    """Yield a row for each job; of many the fastest ones."""
    rows = list(enumerate(simulation.rows))
    if len(rows) > _MOST_ROWS:
        rows.sort(key=lambda row: -row[1].found.bandwidth_bytes_per_second)
        yield f"The fastest {_MOST_ROWS} of {len(rows):,} jobs (--json has all):"
    names = [name.rpartition(".")[2] for name in simulation.sweep]
    cells = [(*names, "time", "bandwidth", "", "limit")]
    for place, row in rows[:_MOST_ROWS]:
        limits = row.found.limits
        cells.append((
            *(format_value(value) for value in row.point.values()),
            time_words(row.found),
            format_bandwidth(row.found.bandwidth_bytes_per_second),
            "best" if place == simulation.best else "",
            printable(limits[0].words) if limits else "-",
        ))  # fmt: skip
    yield from aligned(cells)
