# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For staff: what was taken in, what was refused, and the audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from stripewise.fleet.queries._job import Row
from stripewise.fleet.queries._paging import Listing, Order, page
from stripewise.fleet.queries._period import Period, rows_of
from stripewise.fleet.queries._viewer import Viewer
from stripewise.fleet.tables import Audit, Ledger

HOUR = 3600


def intake_sums(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return what was taken in: kind, outcome, input_count, size_bytes, last_at."""
    if not viewer.is_staff:
        return ()
    query = (
        select(Ledger.kind, Ledger.outcome, func.count().label("input_count"))
        .add_columns(func.sum(Ledger.size_bytes).label("size_bytes"))
        .add_columns(func.max(Ledger.at).label("last_at"))
        .where(*_within(period))
        .group_by(Ledger.kind, Ledger.outcome)
        .order_by(Ledger.kind, Ledger.outcome)
    )
    return rows_of(connection.execute(query))


def intake_hours(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return inputs by the hour: at (its beginning), stored, refused; empty ones are left out."""
    if not viewer.is_staff:
        return ()
    hour = (Ledger.at - Ledger.at % HOUR).label("at")
    query = select(
        hour,
        func.count().filter(Ledger.outcome != "refused").label("stored"),
        func.count().filter(Ledger.outcome == "refused").label("refused"),
    ).where(*_within(period))
    return rows_of(connection.execute(query.group_by(hour).order_by(hour)))


def refused_inputs(
    connection: Connection, viewer: Viewer, *, after: str = "", limit: int = 50
) -> Listing:
    """Return one page of the inputs that were refused, the latest first.

    Raises:
        UsageError: The cursor cannot be used.
    """
    if not viewer.is_staff:
        return Listing(())
    columns: tuple[Any, ...] = (
        *(Ledger.digest, Ledger.at, Ledger.kind, Ledger.name, Ledger.size_bytes, Ledger.reason),
    )
    hidden = () if viewer.may_read_names else ("name", "reason")
    query: Select[Any] = select(*columns).where(Ledger.outcome == "refused")
    found = page(connection, query, Order(Ledger.at, Ledger.digest), after, limit)
    rows = [{**row._mapping, **dict.fromkeys(hidden)} for row in found.rows]
    return Listing(rows, found.next)


def audit_trail(
    connection: Connection, viewer: Viewer, *, login: str = "", after: str = "", limit: int = 50
) -> Listing:
    """Return one page of the audit trail, the latest first.

    Args:
        connection: To the database.
        viewer: Who asks; only admins see it.
        login: Only of this account; "": of all.
        after: Cursor of the page before.
        limit: Rows of the page.

    Raises:
        UsageError: The cursor cannot be used.
    """
    if not viewer.is_admin:
        return Listing(())
    columns: list[Any] = [Audit.id, Audit.at, Audit.login, Audit.action, Audit.target]
    query: Select[Any] = select(*columns)
    if login:
        query = query.where(Audit.login == login)
    found = page(connection, query, Order(Audit.at, Audit.id), after, limit)
    return Listing([dict(row._mapping) for row in found.rows], found.next)


def _within(period: Period) -> tuple[ColumnElement[bool], ...]:
    return (Ledger.at >= period.since, Ledger.at < period.until)
