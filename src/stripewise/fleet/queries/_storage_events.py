# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What happened to the storage, and advice of the site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, or_, select

from stripewise.fleet.queries._filters import JobFilter
from stripewise.fleet.queries._metrics import ADVICE
from stripewise.fleet.queries._paging import Listing, Order, page
from stripewise.fleet.tables import Event, FileSystem


@dataclass(frozen=True)
class EventFilter:
    """Conditions on events; what is "" or None is not asked.

    Attributes:
        file_system: Its name; events of all file systems are listed as well.
        kind: Such as "outage".
        since / until: Events that touch this time.
    """

    file_system: str = ""
    kind: str = ""
    since: int | None = None
    until: int | None = None

    @classmethod
    def parse(cls, words: Mapping[str, str]) -> EventFilter:
        """Return the filter that the words of a URL ask for.

        Raises:
            UsageError: A value cannot be used.
        """
        times = JobFilter.parse({key: words.get(key, "") for key in ("since", "until")})
        return cls(
            words.get("file_system", "").strip(), words.get("kind", "").strip(), times.since,
            times.until,
        )  # fmt: skip


def list_events(
    connection: Connection, asked: EventFilter, *, after: str = "", limit: int = 50
) -> Listing:
    """Return one page of events, the newest first.

    Raises:
        UsageError: The cursor cannot be used.
    """
    query = _events()
    if asked.file_system:
        query = query.where(
            or_(FileSystem.name == asked.file_system, Event.file_system_id.is_(None))
        )
    if asked.kind:
        query = query.where(Event.kind == asked.kind)
    if asked.since is not None:
        query = query.where(or_(Event.until.is_(None), Event.until >= asked.since))
    if asked.until is not None:
        query = query.where(Event.at < asked.until)
    return page(connection, query, Order(Event.at, Event.id), after, limit)


def kinds_of_events(connection: Connection) -> list[str]:
    """Return the kinds that events have."""
    return list(connection.scalars(select(Event.kind).distinct().order_by(Event.kind).limit(50)))


def advice_now(connection: Connection, now: float) -> list[str]:
    """Return the advice of the site that holds now; the newest first."""
    query = (
        select(Event.text)
        .where(
            Event.kind == ADVICE,
            Event.at <= now,
            or_(Event.until.is_(None), Event.until > now),
        )
        .order_by(Event.at.desc(), Event.id.desc())
        .limit(100)
    )
    return list(connection.scalars(query))


def _events() -> Any:
    return select(
        *(Event.id, Event.at, Event.until, Event.kind, Event.text),
        FileSystem.name.label("file_system"),
    ).outerjoin(FileSystem, FileSystem.id == Event.file_system_id)
