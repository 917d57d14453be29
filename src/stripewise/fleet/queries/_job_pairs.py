# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gains that studies of a job's program have proved by pairs of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, false, or_, select

from stripewise.fleet.queries._pairs import visible_pairs
from stripewise.fleet.queries._viewer import Viewer
from stripewise.fleet.tables import PairedRun

Row = Mapping[str, Any]
_MOST = 50


def pairs_of(connection: Connection, viewer: Viewer, job: Row) -> Sequence[Row]:
    """Return proved gains of a job's program by its user or in its project, the newest first.

    Settings of a study may name files: they are None where the viewer may not read such names.

    Args:
        connection: To the database.
        viewer: Who looks; they see studies as they see jobs.
        job: As `find_job` gave it to that viewer.
    """
    if job["program_id"] is None:
        return []
    query = (
        select(*PairedRun.__table__.c)
        .where(PairedRun.program_id == job["program_id"], _related(job), visible_pairs(viewer))
        .order_by(PairedRun.made_at.desc(), PairedRun.id.desc())
        .limit(_MOST)
    )
    rows = [dict(row._mapping) for row in connection.execute(query)]
    for row in rows:
        if not viewer.reads_names(row):
            row.update(dict.fromkeys(("configuration", "hints")))
    return rows


def is_of_pattern(pair: Row, job: Row) -> bool:
    """Whether a proved gain may hold for a job: their patterns are not known to differ."""
    return not pair["pattern"] or not job["pattern"] or pair["pattern"] == job["pattern"]


def _related(job: Row) -> ColumnElement[bool]:
    found: list[ColumnElement[bool]] = []
    if job["person_id"] is not None:
        found.append(PairedRun.person_id == job["person_id"])
    if job["project_id"] is not None:
        found.append(PairedRun.project_id == job["project_id"])
    return or_(*found) if found else false()
