# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the monitoring itself is well: agents, and file systems that nobody counts."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from stripewise.fleet.queries._series import newest, parts_of
from stripewise.fleet.queries._storage import STALE_SECONDS
from stripewise.fleet.tables import FileSystem, MonitorState


@dataclass(frozen=True)
class Monitor:
    """A monitoring agent.

    Attributes:
        agent: Name of its server.
        newest_at: When it last delivered, by its clock.
        is_silent: That is too long ago, or its clock is wrong.
    """

    agent: str
    newest_at: float
    is_silent: bool


def view_monitors(connection: Connection, now: float) -> list[Monitor]:
    """Return the agents that have ever delivered, the silent ones first."""
    query = select(MonitorState.agent, func.max(MonitorState.at)).group_by(MonitorState.agent)
    found = [
        Monitor(agent, at, abs(now - at) > STALE_SECONDS)
        for agent, at in connection.execute(query)
        if at is not None
    ]
    return sorted(found, key=lambda one: (not one.is_silent, one.newest_at, one.agent))


def uncounted(connection: Connection, now: float) -> list[tuple[str, float | None]]:
    """Return file systems without fresh counters, and when the newest sample ended, if any."""
    found = []
    for key, name in connection.execute(
        select(FileSystem.id, FileSystem.name).order_by(FileSystem.name)
    ).all():
        last = newest(connection, [one.id for one in parts_of(connection, key)])
        at = max((one.end for one in last.values()), default=None)
        if at is None or now - at > STALE_SECONDS:
            found.append((name, at))
    return found
