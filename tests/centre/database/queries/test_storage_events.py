# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from sqlalchemy import Connection

from stripewise.centre.database._records import EventRecord
from stripewise.centre.database.queries import (
    EventFilter,
    advice_now,
    kinds_of_events,
    list_events,
)
from stripewise.centre.database.store._writer import Writer
from stripewise.core.errors import UsageError
from support.storage_samples import NOW


@pytest.fixture(autouse=True)
def _events(connection: Connection) -> None:
    Writer(connection).store([
        *(EventRecord("scratch", NOW + number, NOW + number + 5, "outage", f"o{number}")
          for number in range(7)),
        EventRecord("home", NOW + 50, None, "outage", "of home"),
        EventRecord("", NOW + 60, None, "advice", "of all"),
        EventRecord("", NOW + 10, NOW + 20, "advice", "over"),
    ])  # fmt: skip


def texts(connection: Connection, limit: int = 50, **words: str) -> list[str]:
    found, after = [], ""
    while True:
        asked = EventFilter.parse(words)
        listing = list_events(connection, asked, after=after, limit=limit)
        found += [row.text for row in listing.rows]
        after = listing.next
        if not after:
            return found


@pytest.mark.extended(keep=1)
def test_pages_show_each_event_once(connection: Connection) -> None:
    assert texts(connection, limit=3) == texts(connection)
    assert len(texts(connection)) == 10


def test_filters(connection: Connection) -> None:
    assert texts(connection, file_system="home") == ["of all", "of home", "over"]
    assert texts(connection, kind="advice") == ["of all", "over"]
    assert texts(connection, since=str(NOW + 21)) == ["of all", "of home"]
    assert texts(connection, until=str(NOW + 1)) == ["o0"]
    assert texts(connection, file_system="' OR 1=1 --") == ["of all", "over"]
    with pytest.raises(UsageError):
        texts(connection, since="yesterday")


def test_kinds_and_advice(connection: Connection) -> None:
    assert kinds_of_events(connection) == ["advice", "outage"]
    assert advice_now(connection, NOW + 15) == ["over"]
    assert advice_now(connection, NOW + 100) == ["of all"]
