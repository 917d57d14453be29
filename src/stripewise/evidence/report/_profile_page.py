# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders the profile of a run as one self-contained page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Figured, total
from stripewise.evidence.figures import Diagnosis, Figures, Finding, size_labels
from stripewise.evidence.figures import heat_cells as heat
from stripewise.evidence.figures.heat_cells import LAYER_NAMES, Cells, TimeAxis, time_axis
from stripewise.evidence.patterns import Pattern
from stripewise.evidence.report._profile_patterns import MOST_PATTERNS, pattern_groups
from stripewise.evidence.report._profile_time import phase_words, time_chart
from stripewise.evidence.trace import Evidence, IoLayer, RunProfile
from stripewise.present import (
    amount_words,
    count_text,
    known,
    page_template,
    percent_text,
    plural,
    seconds_text,
    size_text,
)
from stripewise.present.blocks import Advice, Fact, Facts, Findings, Part

_MOST = {"files": 25, "variance": 30, "requests": 30, "patterns": MOST_PATTERNS, "names": 6}
"""Rows of each table, and names of datasets at one pattern; the page counts the others."""


def render_profile_html(
    diagnosis: Diagnosis, evidence: Evidence, patterns: Sequence[Pattern] = ()
) -> str:
    """Render the page; the same arguments give the same page.

    Names of files, users, hosts and commands are data: they are escaped, and control
    characters made visible.
    """
    profile = evidence.profile
    figures = diagnosis.figures
    return page_template("profile.html.j2", _FILTERS).render(
        d=diagnosis,
        f=figures,
        profile=profile,
        cards=cards(figures),
        run_parts=run_parts(figures),
        time_parts=time_parts(figures),
        found=findings_block(diagnosis),
        timeline=timeline(diagnosis, profile),
        size_names=size_labels(),
        sizes=size_tables(profile),
        patterns=pattern_groups(patterns),
        missing=missing(diagnosis, profile),
        notes=list(dict.fromkeys(diagnosis.notes)),
        most=_MOST,
        layer_names=LAYER_NAMES,
        trace=evidence.trace,
    )


_SHOWN = {
    **dict.fromkeys(("read_bytes", "write_bytes"), size_text),
    **dict.fromkeys(("elapsed_seconds", "cumulated_seconds", "own_seconds"), seconds_text),
}


def _told(row: Figured, name: str) -> str:
    return amount_words(row, name, _SHOWN[name])


def _order(value: float | None) -> float | str:
    """Return what a table is sorted by; "": not known, which comes last either way."""
    return "" if value is None or not math.isfinite(value) else value


def _together(rows: Sequence[Figured], name: str) -> str:
    return total(row.amount(name) for row in rows).words(_SHOWN[name])


_FILTERS: dict[str, Callable[..., Any]] = {
    "told": _told,
    "together": _together,
    "order": _order,
    "known_order": lambda row, name: _order(row.amount(name).value),
    "percent": lambda value: known(value, percent_text, "–"),
    "number": lambda value: known(value, count_text, "–"),
    "maybe_seconds": lambda value: known(value, seconds_text, "–"),
    "mean": lambda value: known(value, size_text, "–"),
    "base": lambda path: path.rstrip("/").rpartition("/")[2] or path,
    "parent": lambda path: path.rstrip("/").rpartition("/")[0],
}


# What the page shows: figures, shares, the run over time, sizes, why a section is empty.

_MOST_SPANS = 12


def run_parts(figures: Figures) -> tuple[Part, ...]:
    """Share of I/O in the run; () where one of them is not known."""
    if not figures.run_seconds > 0 or "io_seconds" in figures.missing:
        return ()
    rest = max(figures.run_seconds - figures.io_seconds, 0.0)
    return (
        Part("io", "I/O", figures.io_seconds, "io"),
        Part("rest", "all else", rest, "rest"),
    )


def time_parts(figures: Figures) -> tuple[Part, ...]:
    """Reading, writing and metadata in the cumulated time of all ranks."""
    parts = (
        ("writing", figures.cumulated_write_seconds, "write"),
        ("reading", figures.cumulated_read_seconds, "read"),
        ("metadata", figures.cumulated_meta_seconds, "meta"),
    )
    told = tuple(
        Part(colour, name, value, colour) for name, value, colour in parts if math.isfinite(value)
    )
    return told if sum(part.value for part in told) > 0 else ()


def cards(figures: Figures) -> Facts:
    """Return the headline figures; where not all of one is known it says why."""
    ranks = plural(figures.n_ranks, "rank") if figures.n_ranks else "no MPI"
    where = f" on {plural(figures.n_hosts, 'node')}" if figures.n_hosts else ""
    metadata = f"{_share(figures.meta_share)} of the time in I/O calls"
    asked, rate = "as the program asked", "bytes moved, divided by the I/O time"
    items = []
    for title, name, kind, note in (
        ("Run time", "run_seconds", "seconds", ranks + where),
        ("I/O time", _io_name(figures), "seconds", _io_note(figures)),
        ("Written", "write_bytes", "bytes", asked),
        ("Read", "read_bytes", "bytes", asked),
        ("I/O rate", "rate_bytes_per_second", "rate", rate),
        ("Files", "n_files", "count", _files_note(figures)),
        ("Metadata operations", "meta_operations", "count", metadata),
    ):
        amount = figures.amount(name)
        why = amount.why or ("" if amount.value is not None else "not known")
        items.append(Fact(name, title, amount.value, kind, note, why=why))
    return Facts("figures", "", items, is_large=True)


def _io_name(figures: Figures) -> str:
    """Of a time that is missing in part what is sure counts."""
    return "io_low_seconds" if "io_seconds" in figures.missing else "io_seconds"


def _share(value: float) -> str:
    return known(value, percent_text, "unknown share")


def _io_note(figures: Figures) -> str:
    share = f"{_share(figures.io_share)} of the run"
    if not figures.io_exact:
        least = known(figures.io_low_seconds)
        return f"{share} at most; at least {least} (ranks are not told apart)"
    if figures.slowest_rank >= 0:
        return f"{share}; slowest rank ({figures.slowest_rank})"
    return share


def _files_note(figures: Figures) -> str:
    kinds = (
        (figures.n_read_only, "only read"),
        (figures.n_write_only, "only written"),
        (figures.n_read_write, "both"),
        (figures.n_no_data, "without data"),
        (figures.n_shared, "shared by ranks"),
    )
    return ", ".join(f"{number} {name}" for number, name in kinds if number)


def findings_block(diagnosis: Diagnosis) -> Findings:
    """Return what costs time, and what to do."""
    figures = diagnosis.figures
    empty = "Nothing stands out: no known cause of slow I/O was found."
    if figures.missing.get("io_seconds") and not diagnosis.files:
        empty = "What the program did is not known, so nothing can be said of its cost."
    elif diagnosis.partial or figures.missing.get("io_seconds"):
        empty = (
            "No known cause of slow I/O was found in what this source tells; not all of the run "
            "is known."
        )
    items = [_advice(finding, figures) for finding in diagnosis.findings]
    return Findings("findings", "Findings", items, empty)


def _advice(finding: Finding, figures: Figures) -> Advice:
    basis = finding.cost_basis
    if finding.cost_seconds is None:
        basis = f"No gain is claimed{f': {basis}' if basis else ''}."
    elif basis:
        assumed = "" if finding.measured else " (costs of the storage assumed)"
        basis = f"After the change: {basis}{assumed}."
    return Advice(
        finding.code,
        finding.severity.value,
        finding.title,
        finding.text,
        finding.cost_seconds,
        finding.least_seconds,
        finding.most_seconds,
        finding.remedy,
        finding.lines,
        finding.tune,
        basis,
        None,
        finding.evidence,
        finding.stake_seconds,
        figures.run_seconds if figures.run_seconds > 0 else None,
        _cost_parts(finding, figures),
        finding.files,
        finding.n_files,
    )


def _cost_parts(finding: Finding, figures: Figures) -> tuple[Part, ...]:
    """Return cost and stake of a finding in the run time; () where the cost is not known."""
    whole = figures.run_seconds if figures.run_seconds > 0 else figures.io_seconds
    cost = finding.cost_seconds
    if cost is None or not whole > 0:
        return ()
    cost = min(max(cost, 0.0), whole)
    stake = min(max(finding.stake_seconds, cost), whole)
    return (
        Part("cost", "could be saved", cost, "cost"),
        Part("stake", "rest of the calls concerned", stake - cost, "stake"),
        Part("rest", "rest of the run", whole - stake, "rest"),
    )


def missing(diagnosis: Diagnosis, profile: RunProfile) -> dict[str, str]:
    """Say for each section that is empty why it is."""
    texts = {
        "files": "No file was touched.",
        "layers": "No I/O call was counted.",
        "timeline": "This source has no time bins, so when things happened is not known: "
        "`stripewise run --trace` records them, Darshan does with its HEATMAP module (from 3.4) "
        "or DXT.",
        "variance": _no_variance(diagnosis.figures),
        "requests": _no_requests(profile),
        "patterns": "No access pattern: it needs single calls, as `stripewise run --trace` or "
        "Darshan's "
        "DXT record them.",
    }
    if not len(profile.counters):
        gap = diagnosis.figures.why_missing
        why = f"; not all of it can be read: {gap}" if gap else ""
        text = f"This source ({profile.source}) holds no record of any file{why}."
        return dict.fromkeys(texts, text)
    return texts


def _no_variance(figures: Figures) -> str:
    if figures.n_ranks <= 1 and figures.n_processes <= 1:
        return "There was one process only."
    return "No file was shared by ranks in a way that lets their times be compared."


def _no_requests(profile: RunProfile) -> str:
    if profile.layers and not any("mpi" in name.lower() for name in profile.layers):
        return "MPI-IO was not watched."
    return "No file was moved through MPI-IO, so nothing gathers or splits the program's requests."


def size_tables(profile: RunProfile) -> list[dict[str, Any]]:
    """Sizes of the requests of MPI-IO and of the system, for files that MPI-IO opened.

    Returns:
        A table for each direction that moved anything: `direction`, `columns` (what is counted,
        number of requests, largest count), `rows` (size, count in each column).
    """
    counters = profile.counters
    above = counters[counters["layer"] == IoLayer.MPIIO]
    beneath = counters[counters["layer"] == IoLayer.POSIX]
    beneath = beneath[np.isin(beneath["file"], above["file"])]
    levels = {"asked of MPI-IO": above, "reached the file system (POSIX)": beneath}
    tables = []
    for direction in ("write", "read"):
        counts = np.array([rows[f"{direction}_sizes"].sum(axis=0) for rows in levels.values()])
        used = np.flatnonzero(counts.any(axis=0))
        if used.size:
            shown = slice(used[0], used[-1] + 1)
            sums, tops = counts.sum(axis=1).tolist(), counts.max(axis=1).tolist()
            rows = zip(size_labels()[shown], counts[:, shown].T.tolist(), strict=True)
            columns = list(zip(levels, sums, tops, strict=True))
            tables.append({"direction": direction, "columns": columns, "rows": list(rows)})
    return tables


def timeline(diagnosis: Diagnosis, profile: RunProfile) -> dict[str, Any] | None:
    """Prepare everything that has time on its horizontal axis; None without time bins."""
    axis = time_axis(profile)
    if axis is None:
        return None
    written, read = (heat.moved_bytes(profile, axis, way) for way in ("write", "read"))
    return {
        "chart": time_chart(profile, diagnosis.phases),
        "spans": _spans((written, read, heat.busy_seconds(profile, axis)), axis),
        "phases": [phase_words(phase) for phase in diagnosis.phases],
        "files_known": heat.knows_files(profile),
        "busy_known": bool((profile.heat["busy_seconds"] > 0).any()),
    }


def _spans(parts: tuple[Cells, Cells, Cells], axis: TimeAxis) -> list[tuple[float, ...]]:
    """Tell what the pictures show: start, end, bytes written and read, busy time, active ranks."""
    n = axis.n_columns
    edges = np.unique(np.linspace(0, n, min(n, _MOST_SPANS) + 1).round().astype(np.int64))
    sums = [np.add.reduceat(heat.series(cells, axis), edges[:-1]).tolist() for cells in parts]
    times = (edges * axis.column_seconds).tolist()
    return list(zip(times, times[1:], *sums, _active(parts, edges), strict=False))


def _active(parts: tuple[Cells, ...], edges: NDArray[np.int64]) -> list[int]:
    """Count the ranks that did anything between two edges."""
    rank = np.concatenate([cells.rank for cells in parts])
    span = np.searchsorted(edges, np.concatenate([cells.column for cells in parts]), "right") - 1
    n_ranks = int(rank.max(initial=0)) + 3
    pairs = np.unique(span * n_ranks + rank + 2)
    return [int(n) for n in np.bincount(pairs // n_ranks, minlength=len(edges) - 1)]
