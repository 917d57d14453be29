# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs as rows of tables."""

from __future__ import annotations

from typing import Any

from stripewise.fleet.queries import ProgramSurvey
from stripewise.web.pages._figures import Spec, not_estimated, program_url

MEDIANS: tuple[Spec, ...] = (
    ("io_bytes", "Total I/O size", "bytes"),
    ("run_seconds", "Run time", "seconds"),
    ("io_share", "% I/O time", "share"),
    ("bytes_per_second", "I/O speed", "rate"),
    ("file_count", "# files", "count"),
    ("meta_operations", "# metadata operations", "count"),
    ("meta_share", "% metadata of I/O time", "share"),
)
OF_OPENED = "Metadata is that of opened files: calls by name, such as stat, are not in it."
COLUMNS: tuple[Spec, ...] = (
    ("program", "Program", "text"),
    ("area", "Research area", "text"),
    ("job_count", "Jobs", "count"),
    ("profiled_count", "With a profile", "count"),
    ("user_count", "Users", "count"),
    *MEDIANS,
    ("typical_at_once", "Jobs at the same time", "count"),
    ("most_at_once", "at most", "count"),
    ("node_seconds", "Node-hours", "node-hours"),
    ("avoidable_node_seconds", "avoidable", "node-hours"),
)
EVERYBODY: tuple[Spec, ...] = COLUMNS[: COLUMNS.index(MEDIANS[-1]) + 1]
SPREAD: tuple[Spec, ...] = (
    ("program", "Program", "text"),
    *(
        (f"{name}_{end}", f"{title}, {words}", kind)
        for name, title, kind in (
            ("io_seconds", "I/O time", "seconds"),
            ("io_bytes", "I/O size", "bytes"),
            ("bytes_per_second", "I/O speed", "rate"),
        )
        for end, words in (("low", "10 %"), ("median", "median"), ("high", "90 %"))
    ),
)


def row_of(one: ProgramSurvey) -> dict[str, Any]:
    """Return a row with the columns of `COLUMNS` and `SPREAD`, and the program's address."""
    row: dict[str, Any] = {
        name: getattr(one, name) if hasattr(one, name) else one.median(name)
        for name, _, _ in COLUMNS
    }
    for name, _, _ in SPREAD[1:]:
        figure, _, end = name.rpartition("_")
        known = one.figures.get(figure)
        row[name] = None if known is None else getattr(known, end)
    row["program_url"] = program_url(one.program)
    why = not_estimated(one.not_estimated)
    row["missing"] = {"avoidable_node_seconds": why} if why else {}
    if why and not one.avoidable_node_seconds:
        row["avoidable_node_seconds"] = None
    return row
