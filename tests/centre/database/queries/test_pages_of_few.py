# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A page is the same whether few rows are gathered and sorted, or an index is followed."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from sqlalchemy import Connection

from stripewise.centre.database.queries import (
    SORTS,
    JobFilter,
    Role,
    Viewer,
    _paging,
    count_jobs,
    list_jobs,
)
from stripewise.centre.database.store._writer import Writer
from stripewise.core.errors import UsageError
from support.fleet_records import figures, job, source

VIEWERS = (
    Viewer("admin", Role.ADMIN),
    Viewer("x", Role.USER, 1),
    Viewer("m", Role.USER, 9, frozenset({1})),
)
ASKED = (JobFilter(state="COMPLETED"), JobFilter(source="none"), JobFilter(source="any"),
         JobFilter(q="run"), JobFilter(q="7"), JobFilter(least_io_seconds=2.0))  # fmt: skip


def all_pages(connection: Connection, viewer: Viewer, asked: JobFilter, sort: str) -> list[Any]:
    found, after = [], ""
    while True:
        listing = list_jobs(connection, viewer, asked, sort=sort, after=after, limit=7)
        found += [row._mapping["id"] for row in listing.rows]
        if listing.total is not None and listing.total <= _paging.COUNTED:
            assert listing.total == count_jobs(connection, viewer, asked)
        after = listing.next
        if not after:
            return found


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("viewer", VIEWERS, ids=lambda viewer: viewer.login)
@pytest.mark.parametrize("direction", ["", "-"])
def test_both_ways_give_the_same_pages(
    connection: Connection, direction: str, viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(5)
    names = ("run", "Run", "zwölf", None)
    for number in range(1, 25):
        columns = {"name": chance.choice(names), "state": "COMPLETED", "run_seconds": 5.0}
        records: list[Any] = [job(number, columns=columns, user=chance.choice("xy"))]
        if number % 3:
            told = figures(io_seconds=chance.choice((None, 1.5, 2.5)))
            records.append(source(f"d{number}", number, told=told))
        Writer(connection).store(records)
    for asked in ASKED:
        for sort in SORTS:
            few = all_pages(connection, viewer, asked, direction + sort)
            with monkeypatch.context() as patch:
                patch.setattr("stripewise.centre.database.queries._paging.COUNTED", 0)
                patch.setattr("stripewise.centre.database.queries._filters.RARE", 0)
                assert all_pages(connection, viewer, asked, direction + sort) == few
            assert len(few) == len(set(few)) == count_jobs(connection, viewer, asked)


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), "1", [1.0]], ids=["huge", "low", "text", "list"]
)
def test_a_cursor_with_a_value_that_no_row_has_is_refused(
    connection: Connection, value: object
) -> None:
    text = json.dumps(["-run_seconds", value, 1]).encode()
    after = base64.urlsafe_b64encode(text).decode()
    with pytest.raises(UsageError, match="after"):
        list_jobs(connection, VIEWERS[0], sort="-run_seconds", after=after)
