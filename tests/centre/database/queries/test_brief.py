# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What many ask for at one moment is found once, and again after something was written."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy import Engine, insert

from stripewise.centre.database._engine import transaction
from stripewise.centre.database.queries import _patterns as _brief
from stripewise.centre.database.queries._patterns import SECONDS, briefly
from stripewise.centre.database.tables import Audit, FileSystem


class PageRequest:
    """Counts how often it is looked for."""

    def __init__(self) -> None:
        self.times = 0

    def find(self) -> int:
        self.times += 1
        return self.times


def ask(engine: Engine, request: PageRequest, name: Any = "it") -> int:
    with engine.connect() as connection:
        return briefly(connection, name, request.find)


def test_it_stands_for_a_moment(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(_brief, "_now", lambda: now[0])
    request = PageRequest()
    assert [ask(engine, request) for _ in range(3)] == [1, 1, 1]
    assert ask(engine, request, "other") == 2
    now[0] += SECONDS
    assert ask(engine, request) == 3


def test_what_is_written_is_seen_at_once_but_for_accounts(engine: Engine) -> None:
    request = PageRequest()
    assert ask(engine, request) == 1
    line = {"at": 1, "login": "ada", "action": "looked", "target": "job 1"}
    with transaction(engine, writing=True) as connection:
        connection.execute(insert(Audit).values(**line))
    assert ask(engine, request) == 1
    with engine.execution_options(writing=True).begin() as connection:
        connection.execute(insert(FileSystem).values(name="scratch", mount=""))
    assert ask(engine, request) == 2


def test_many_who_ask_at_once_wait_for_one_answer(engine: Engine) -> None:
    request, together, found = PageRequest(), threading.Barrier(4), []

    def go() -> None:
        together.wait(60)
        found.append(ask(engine, request))

    threads = [threading.Thread(target=go) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert found == [1, 1, 1, 1]


def test_questions_without_end_take_no_memory_without_end(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_brief, "_MOST", 10)
    for number in range(100):
        ask(engine, PageRequest(), number)
    assert len(_brief._FOUND[engine]) <= 11
