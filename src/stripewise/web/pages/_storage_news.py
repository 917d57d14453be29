# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advice of the site, and what happened to its storage."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from stripewise.errors import StripewiseError
from stripewise.fleet.queries import (
    EventFilter,
    advice_now,
    kinds_of_events,
    list_events,
    view_names,
)
from stripewise.inputs import SITE_ADVICE, read_input
from stripewise.text import plural
from stripewise.web._urls import address
from stripewise.web.content import (
    Block,
    Column,
    Content,
    Field,
    Notice,
    Prose,
    Search,
    Table,
)
from stripewise.web.pages._base import Asked, Audience, Page
from stripewise.web.pages._storage_words import path_of

_LOG = logging.getLogger("stripewise.web")
_EVENTS = (
    Column("at", "Begin (UTC)", "moment"),
    Column("until", "End (UTC)", "moment"),
    Column("file_system", "File system", link="url"),
    Column("kind", "Kind"),
    Column("text", "What happened"),
)


class StorageAdvice(Page):
    """What the site advises: its page of advice, and events that are advice."""

    path = "/storage/advice"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, asked: Asked) -> Content:
        """Show it."""
        news = advice_now(asked.connection, asked.now)
        text, problem = _text(asked.advice)
        blocks: list[Block] = []
        if news:
            blocks.append(Notice("news", "Now", news))
        if problem:
            blocks.append(Notice("problem", "", [problem], "warn"))
        if text:
            blocks.append(Prose("advice", "", text))
        if not news and not text and not problem:
            lead = "This site has not published any advice."
        else:
            lead = "What this site advises for fast input and output on its storage."
        return Content("Advice of the site", lead, blocks)


def _text(path: Path | None) -> tuple[str, str]:
    """Return the site's page of advice, and why it cannot be shown."""
    if path is None:
        return "", ""
    try:
        return read_input(path, SITE_ADVICE).decode("utf-8", "replace"), ""
    except (OSError, StripewiseError) as error:
        _LOG.error("%s: %s", path, error)  # the page does not tell of files of the server
        return "", "The page of advice cannot be read at the moment; its administrators were told."


class StorageEvents(Page):
    """What happened to the storage, the newest first."""

    path = "/storage/events"
    section = "Storage"
    audience = Audience.PUBLIC

    def build(self, asked: Asked) -> Content:
        """List it."""
        wanted = EventFilter.parse(asked.words)
        listing = list_events(asked.connection, wanted, after=asked.words.get("after", ""))
        words = {
            name: asked.words.get(name, "") for name in ("file_system", "kind", "since", "until")
        }
        names = view_names(asked.connection)
        following = address(self.path, {**words, "after": listing.next}) if listing.next else ""
        found = len(listing.rows)
        lead = (
            f"{plural(found, 'event')} {'is' if found == 1 else 'are'} shown, the newest first."
            if found
            else "No event is known."
        )
        search = Search("search", "", self.path, [
            Field("file_system", "File system", words["file_system"],
                  [(name, name) for name in names]),
            Field("kind", "Kind", words["kind"],
                  [(kind, kind) for kind in kinds_of_events(asked.connection)]),
            Field("since", "From", words["since"], kind="date"),
            Field("until", "Before", words["until"], kind="date"),
        ])  # fmt: skip
        table = Table("events", "", _EVENTS, [_row(row) for row in listing.rows],
                      note="An event without an end has not ended.",
                      empty="No event matches.", next=following)  # fmt: skip
        return Content("Events", lead, [search, table])


def _row(row: Any) -> dict[str, Any]:
    name = row.file_system
    return {**row._mapping, "url": path_of(name) if name else ""}
