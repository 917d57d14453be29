# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings of a job: what was requested, what was applied, what the library says acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stripewise.fleet.queries import JobView
from stripewise.web.content import Block, Column, Table

Row = Mapping[str, Any]
_MOST = 60
_ROMIO_REPORTS = frozenset({"cb_buffer_size", "romio_cb_write", "romio_cb_read"})
"""ROMIO reports all hints that it knows, these among them; other libraries echo any hint."""


def settings(view: JobView) -> list[Block]:
    """Return all settings, those first that were asked for and do not act."""
    rows = [row for source in view.counted for row in _judged(source.settings)]
    if not rows:
        return []
    rows.sort(key=lambda one: (one["order"], one["name"]))
    columns = [
        Column("name", "Setting", "code"),
        Column("requested", "Requested by the program", "code"),
        Column("applied", "Applied by Stripewise", "code"),
        Column("effective", "Reported by the library", "code"),
        Column("acts", "Does it act?"),
    ]
    if view.shows_names:
        columns.insert(0, Column("file_class", "Files", "code"))
    bad = sum(one["order"] == 0 for one in rows)
    note = (
        f"{bad} requested or applied setting{'s do' if bad != 1 else ' does'} not act."
        if bad
        else ""
    )
    total = f"{_MOST} of {len(rows)} settings; the profile has all" if len(rows) > _MOST else ""
    return [Table("settings", "Settings", columns, rows[:_MOST], note=note, total=total)]


def _judged(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Say of each setting of a source whether it acts."""
    reported = {
        row["file_class"]
        for row in rows
        if row["name"] in _ROMIO_REPORTS and row["effective"] is not None
    }
    return [{**row, **_verdict(row, row["file_class"] in reported)} for row in rows]


def _verdict(row: Row, reports_all: bool) -> dict[str, Any]:
    asked = row["requested"] if row["applied"] is None else row["applied"]
    got = row["effective"]
    if asked is None:
        return {"order": 2, "acts": "the library's own value"}
    if not reports_all:
        return {"order": 1, "acts": "not known: this library does not say what it made of it"}
    if got is None:
        return {"order": 0, "acts": "no: this MPI does not know it"}
    if got.strip().lower() != asked.strip().lower():
        return {"order": 0, "acts": f"no: {got} acts instead"}
    return {"order": 1, "acts": "yes"}
