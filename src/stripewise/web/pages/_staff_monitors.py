# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the monitoring is well: what delivers, what is silent, what nobody counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stripewise.fleet.queries import Monitor, uncounted, view_monitors
from stripewise.text import plural, printable
from stripewise.web._words import moment
from stripewise.web.content import Block, Column, Notice, Table
from stripewise.web.pages._base import Asked
from stripewise.web.pages._storage_words import age_text, names_text

MOST_AGENTS = 100
_COLUMNS = (
    Column("agent", "Agent"),
    Column("newest_at", "Last delivery (UTC)", "moment"),
    Column("state", "State"),
)


def monitoring(asked: Asked) -> list[Block]:
    """Return the health of the monitoring: in words, then the agents, the silent ones first."""
    found = view_monitors(asked.connection, asked.now)
    missing = uncounted(asked.connection, asked.now)
    words = [*_agents_words(found), *_missing_words(missing)]
    is_bad = bool(missing) or any(one.is_silent for one in found)
    return [
        Notice("monitoring", "Monitoring", words, "warn" if is_bad else "good"),
        Table("agents", "Agents of the monitoring", _COLUMNS,
              [_row(one, asked.now) for one in found[:MOST_AGENTS]],
              total=plural(len(found), "agent"), empty="No agent has delivered anything yet."),
    ]  # fmt: skip


def _agents_words(found: Sequence[Monitor]) -> list[str]:
    if not found:
        return ["No agent of `stripewise monitor` has delivered anything yet."]
    silent = [one.agent for one in found if one.is_silent]
    if not silent:
        return [f"{plural(len(found), 'agent')} of the monitoring: all deliver."]
    verb = "is" if len(silent) == 1 else "are"
    return [f"{len(silent)} of {plural(len(found), 'agent')} {verb} silent: {names_text(silent)}."]


def _missing_words(missing: Sequence[tuple[str, float | None]]) -> list[str]:
    said = []
    never = [name for name, at in missing if at is None]
    if never:
        said.append(f"There are no counters of {names_text(never)}.")
    for name, at in [one for one in missing if one[1] is not None][:5]:
        assert at is not None
        said.append(f"The newest counters of {printable(name)} are of {moment(at)}.")
    return said


def _row(one: Monitor, now: float) -> dict[str, Any]:
    age = now - one.newest_at
    state = "delivers"
    if one.is_silent:
        state = (
            f"silent for {age_text(age)}" if age > 0 else f"its clock is {age_text(-age)} ahead"
        )
    return {"agent": one.agent, "newest_at": one.newest_at, "state": state}
