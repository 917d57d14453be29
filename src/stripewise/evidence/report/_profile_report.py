# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Combines the blocks of a run into the output of a terminal, and the page of its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.figures import heat_cells as heat
from stripewise.evidence.figures.heat_cells import Cells, TimeAxis, time_axis
from stripewise.evidence.report import _profile_blocks as of_run
from stripewise.evidence.report._profile_blocks import NO_TIME_BINS, Row, size_bars
from stripewise.evidence.report._profile_patterns import patterns
from stripewise.evidence.report._profile_time import phases, phases_of, time_chart
from stripewise.evidence.trace import Evidence, IoLayer, RunProfile
from stripewise.present import count_text, plural
from stripewise.present.blocks import (
    Bars,
    Block,
    Column,
    Content,
    Drawings,
    Fact,
    Facts,
    Notice,
    Points,
    Section,
    Table,
)

_MOST_FILES, _MOST_ROWS, _MOST_HOSTS, _MOST_SPANS = 25, 30, 16, 12


def profile_content(profile: Row, most: int, *, findings_only: bool = False) -> Content:
    """Return what a terminal shows of a run.

    Args:
        profile: Profile of the run.
        most: Maximum number of rows of each table.
        findings_only: Whether to leave out all but the conclusion and the findings.
    """
    facts = of_run.facts(profile)
    blocks: list[Block] = [*facts[:1], of_run.findings(profile)]
    if not findings_only:
        tables: list[Block] = [
            of_run.layers(profile),
            *of_run.files_of_profile(profile, most),
            of_run.variance(profile, most),
            of_run.requests(profile, most, "Requests before and after MPI-IO"),
        ]
        blocks = [*facts, of_run.findings(profile), of_run.figures(profile), of_run.times(profile)]
        blocks += [one for one in tables if isinstance(one, Table) and one.rows]
        blocks += phases(profile)
        if profile["patterns"]:
            blocks.append(replace(patterns(profile, most)[0], title="Access patterns"))
        if most < max(profile[f"{name}_total"] for name in ("files", "variance", "requests")):
            text = f"Each table has at most {plural(most, 'row')}: --all shows all rows."
            blocks.append(Notice("left_out", "", [text], "plain"))
    blocks += _notes(profile)
    source = "   ".join(filter(None, (profile["source"], profile["command"])))
    return Content(profile["summary"], "" if findings_only else source, blocks)


def _notes(profile: Row) -> list[Block]:
    notes = list(dict.fromkeys(profile["notes"]))
    title = "Partial data" if profile["partial"] else "Good to know"
    return [Points.of("notes", title, notes)] if notes else []


def profile_page(profile: Row, evidence: Evidence) -> Content:
    """Return the page of a run; the same arguments give the same page.

    Args:
        profile: Profile of the run, with all its files.
        evidence: Evidence for the profile, which also shows what each rank did when.
    """
    empty = _why_empty(profile, evidence.profile)
    blocks: list[Block] = [
        *(_notes(profile) if profile["partial"] else []),
        *of_run.facts(profile),
        of_run.findings(profile),
        of_run.figures(profile),
        Section("shares", "Where the time went",
                [of_run.io_share(profile), of_run.times(profile)]),
        Section("timeline", "Timeline", list(_timeline(profile, evidence.profile, empty))),
        Section("patterns", "Access patterns", patterns(profile)),
        *of_run.files_of_profile(profile, _MOST_FILES, empty["files"]),
        of_run.variance(profile, _MOST_ROWS, empty["variance"]),
        Section("requests", "Requests before and after collective buffering", [
            *_sizes_of_requests(evidence.profile),
            of_run.requests(profile, _MOST_ROWS, "File by file", empty["requests"]),
        ]),
        of_run.layers(profile, empty["layers"]),
        _source(profile, evidence),
        *([] if profile["partial"] else _notes(profile)),
    ]  # fmt: skip
    headline = profile["headline"]
    job = f" · job {profile['job_id']}" if profile["job_id"] else ""
    return Content(
        "I/O profile",
        f"{headline[:1].upper()}{headline[1:]}",
        blocks,
        subject=f"{profile['source']}{job}",
        command=profile["command"],
        badges=[("warn", "! Partial: see the notes")] if profile["partial"] else [],
    )


def _why_empty(profile: Row, run: RunProfile) -> dict[str, str]:
    """Return, for each empty section, the reason why it is empty."""
    if not len(run.counters):
        gap = of_run.why_partly_known(profile)
        why = f"; not all of it can be read: {gap}" if gap else ""
        text = f"This source ({run.source}) holds no record of any file{why}."
        return dict.fromkeys(("files", "layers", "timeline", "variance", "requests"), text)
    figures = profile["figures"]
    alone = figures["n_ranks"] <= 1 and figures["n_processes"] <= 1
    is_watched = not run.layers or any("mpi" in name.lower() for name in run.layers)
    return {
        "files": "No file was used.",
        "layers": "No I/O call was counted.",
        "timeline": NO_TIME_BINS,
        "variance": "There was only one process."
        if alone
        else "No file was shared by ranks in a way that lets their times be compared.",
        "requests": "No data was moved through MPI-IO, so nothing gathers or splits the program's "
        "requests."
        if is_watched
        else "MPI-IO was not recorded.",
    }


def _sizes_of_requests(run: RunProfile) -> Iterator[Bars]:
    """Yield the sizes of the requests to MPI-IO and to the system, for files of MPI-IO."""
    above = run.counters[run.counters["layer"] == IoLayer.MPIIO]
    beneath = run.counters[run.counters["layer"] == IoLayer.POSIX]
    beneath = beneath[np.isin(beneath["file"], above["file"])]
    levels = {"requested from MPI-IO": above, "reached the file system (POSIX)": beneath}
    for direction, title in (("write", "Writes"), ("read", "Reads")):
        sums = [rows[f"{direction}_sizes"].sum(axis=0).tolist() for rows in levels.values()]
        if not any(map(any, sums)):
            continue
        for number, (level, sizes) in enumerate(zip(levels, sums, strict=True)):
            note = f"{plural(sum(sizes), 'call')} {level}, all files that MPI-IO opened."
            name = f"{direction}_sizes_{number}"
            yield size_bars(name, f"{title} by size: {level}", sizes, note)


def _timeline(profile: Row, run: RunProfile, empty: dict[str, str]) -> Iterator[Block]:
    """Yield everything that has time on its horizontal axis."""
    axis = time_axis(run)
    if axis is None:
        yield Notice("no_timeline", "", [empty["timeline"]], "plain")
        return
    found = time_chart(run, phases_of(profile))
    knows_files = heat.knows_files(run)
    absent = []
    if found is None:
        absent.append("The time bins of this source hold no bytes and no busy time.")
    else:
        level = "what the program requested" if knows_files else "what reached the file system"
        how = (
            f"Bandwidth is {level}. To zoom in, turn the mouse wheel while holding Ctrl. Drag to "
            "move along the time, and double-click to see the whole run again."
        )
        yield Drawings("time_chart", "", [found], how)
    if not (run.heat["busy_seconds"] > 0).any():
        absent.append(
            "The time bins of this source have only bytes, so it is not known when the "
            "ranks were busy."
        )
    if not knows_files:
        absent.append(
            "The time bins of this source do not distinguish files, so there is no picture "
            "for each file."
        )
    if absent:
        yield Notice("timeline_gaps", "", absent, "plain")
    yield from phases(profile, title="")
    spans = [_spans(run, axis)]
    yield Section("time_table", "As a table", spans, is_folded=True)


def _spans(run: RunProfile, axis: TimeAxis) -> Table:
    """Return the contents of the pictures as a table."""
    written, read = (heat.moved_bytes(run, axis, way) for way in ("write", "read"))
    parts = (written, read, heat.busy_seconds(run, axis))
    n = axis.n_columns
    edges = np.unique(np.linspace(0, n, min(n, _MOST_SPANS) + 1).round().astype(np.int64))
    sums = [np.add.reduceat(heat.series(cells, axis), edges[:-1]).tolist() for cells in parts]
    at = (edges * axis.column_seconds).tolist()
    columns = (
        Column("begin", "From", "seconds"),
        Column("end", "To", "seconds"),
        Column("write_bytes", "Written", "bytes"),
        Column("read_bytes", "Read", "bytes"),
        Column("busy_seconds", "Time in I/O calls, all ranks", "seconds"),
        Column("active_ranks", "Active ranks", "count"),
    )
    lines = zip(at, at[1:], *sums, _active_ranks(parts, edges), strict=False)
    rows = [
        {column.name: value for column, value in zip(columns, line, strict=True)} for line in lines
    ]
    total = f"The run in {len(rows)} spans of time"
    return Table("spans", "", columns, rows, total=total)


def _active_ranks(parts: Sequence[Cells], edges: NDArray[np.int64]) -> list[int]:
    """Count the ranks that did anything between two edges."""
    rank = np.concatenate([cells.rank for cells in parts])
    span = np.searchsorted(edges, np.concatenate([cells.column for cells in parts]), "right") - 1
    n_ranks = int(rank.max(initial=0)) + 3
    pairs = np.unique(span * n_ranks + rank + 2)
    return [int(n) for n in np.bincount(pairs // n_ranks, minlength=len(edges) - 1)]


def _source(profile: Row, evidence: Evidence) -> Facts:
    """Describe where the figures come from."""
    run, trace = evidence.profile, evidence.trace
    recorded = ""
    if run.n_processes and run.n_processes != run.n_ranks:
        recorded = f"{plural(run.n_processes, 'process', 'processes')} recorded"
    more = len(run.hosts) - _MOST_HOSTS
    hosts = ", ".join(run.hosts[:_MOST_HOSTS]) + (f" and {more} more" if more > 0 else "")
    started = run.start if run.start > 0 else None
    facts: list[tuple[str, str, Any, str, str]] = [
        ("source", "Source", profile["source"], "text", ""),
        ("job_id", "Job", run.job_id, "text", ""),
        ("user", "User", run.user, "text", ""),
        ("start", "Started", started, "instant", ""),
        ("ranks", "Ranks", count_text(run.n_ranks) if run.n_ranks else "no MPI", "text", recorded),
        ("hosts", "Nodes", hosts, "text", ""),
        ("layers", "Recorded layers", ", ".join(run.layers) or "not stated", "text", ""),
    ]
    if trace is not None:
        calls = (
            f"{count_text(int(trace.rows['count'].sum()))} in {plural(len(trace.rows), 'record')}"
        )
        lost = (
            f"{count_text(trace.lost_calls)} more were lost: the trace reached its size limit"
            if trace.lost_calls
            else ""
        )
        facts.append(("calls", "Single calls", calls, "text", lost))
    return Facts("source", "Source of the figures", [Fact(*one) for one in facts if one[2]])
