# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gains that pairs of runs have proved, as far as a viewer sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select, true

from stripewise.fleet.queries._job import Row
from stripewise.fleet.queries._period import rows_of
from stripewise.fleet.queries._viewer import Viewer
from stripewise.fleet.tables import Member, PairedRun, Person, Program, Project

MOST_PAIRS = 50
_COLUMNS = (
    *(PairedRun.id, PairedRun.made_at, PairedRun.speedup, PairedRun.low, PairedRun.high),
    *(PairedRun.pair_count, PairedRun.elapsed_speedup, PairedRun.saved_seconds),
    *(PairedRun.node_count, PairedRun.rank_count, PairedRun.pattern, PairedRun.verification),
    *(PairedRun.person_id, PairedRun.project_id, PairedRun.program_id),
    *(Program.name.label("program"), Person.name.label("user"), Project.name.label("project")),
)


@dataclass(frozen=True)
class PairSettings:
    """The settings of a pair.

    Attributes:
        row: As of `program_pairs`.
        configuration: TOML.
        hints: Lines that need no Stripewise; "" if they cannot say it.
    """

    row: Row
    configuration: str
    hints: str


def program_pairs(connection: Connection, viewer: Viewer, program_id: int) -> Sequence[Row]:
    """Return the pairs of a program that the viewer sees, those that save most first.

    Each row has `shows_settings`: whether the viewer may have them.
    """
    query = pairs_of(viewer).where(PairedRun.program_id == program_id)
    saved = PairedRun.saved_seconds
    unknown_last = case((saved.is_(None), 1), else_=0)
    query = query.order_by(unknown_last, saved.desc(), PairedRun.id).limit(MOST_PAIRS)
    return [marked(viewer, row) for row in rows_of(connection.execute(query))]


def pair_settings(connection: Connection, viewer: Viewer, pair_id: int) -> PairSettings | None:
    """Return the settings of a pair; None: the viewer may not have them, or there is none."""
    if not 0 < pair_id < 1 << 62:
        return None
    query = pairs_of(viewer).add_columns(PairedRun.configuration, PairedRun.hints)
    found = connection.execute(query.where(PairedRun.id == pair_id)).one_or_none()
    row = None if found is None else dict(found._mapping)
    if row is None or not viewer.reads_names(row):
        return None
    configuration, hints = row.pop("configuration"), row.pop("hints")
    return PairSettings(marked(viewer, row), configuration, hints)


def pairs_of(viewer: Viewer) -> Select[Any]:
    """Begin a query about the pairs that a viewer sees."""
    columns: Sequence[Any] = _COLUMNS
    return (
        select(*columns)
        .outerjoin(Program, Program.id == PairedRun.program_id)
        .outerjoin(Person, Person.id == PairedRun.person_id)
        .outerjoin(Project, Project.id == PairedRun.project_id)
        .where(visible_pairs(viewer))
    )


def visible_pairs(viewer: Viewer) -> ColumnElement[bool]:
    """Return the condition that a viewer sees a pair: as for jobs.

    A pair that names no project belongs to the only one of its user, if there is only one.
    """
    if viewer.role is None:
        return PairedRun.id < 0
    if viewer.is_staff:
        return true()
    seen: list[ColumnElement[bool]] = [PairedRun.id < 0]
    if viewer.person_id is not None:
        seen.append(PairedRun.person_id == viewer.person_id)
    if viewer.managed:
        managed = sorted(viewer.managed)
        only = (
            select(Member.person_id)
            .group_by(Member.person_id)
            .having(func.count() == 1, func.max(Member.project_id).in_(managed))
        )
        seen.append(PairedRun.project_id.in_(managed))
        seen.append(and_(PairedRun.project_id.is_(None), PairedRun.person_id.in_(only)))
    return or_(*seen)


def marked(viewer: Viewer, row: Mapping[str, Any]) -> Row:
    """Return a row of a pair with `shows_settings`."""
    return {**row, "shows_settings": viewer.reads_names(row)}
