# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What many requests need at one moment, and is the same for all viewers: found once."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, event

from stripewise.fleet._engine import ACCOUNTS

SECONDS = 5.0
"""For so long an answer stands: samples are taken every few seconds at the most often."""
_MOST = 1000
_now = time.monotonic
T = TypeVar("T")


class Place:
    """An answer, or the place for it while somebody looks for it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.value: Any = None
        self.until = -1.0


_FOUND: WeakKeyDictionary[Engine, dict[Hashable, Place]] = WeakKeyDictionary()


def briefly(connection: Connection, name: Hashable, find: Callable[[], T]) -> T:
    """Return what `find` finds, or found a moment ago for another request.

    Whoever asks while another looks for it waits for that answer: a hundred pages at once ask the
    database once.  What this process writes itself, but for accounts and their audit, is seen at
    once.

    Args:
        connection: To the database.
        name: Of what is asked, with all that it depends on but the moment.
        find: Finds it.  Nobody changes what it returns.
    """
    one = place_of(connection, name)
    with one.lock:
        if one.until <= _now():
            one.value = find()
            one.until = _now() + SECONDS
        answer: T = one.value
        return answer


def place_of(connection: Connection, name: Hashable) -> Place:
    """Return where the answer to a question stands."""
    engine = connection.engine
    answers = _FOUND.get(engine)
    if answers is None:
        answers = _FOUND.setdefault(engine, {})
        event.listen(engine, "commit", _forget)
    if len(answers) > _MOST:
        answers.clear()
    return answers.setdefault(name, Place())


def _forget(connection: Connection) -> None:
    """Forget what was found, after something was written."""
    if connection.get_execution_options().get("writing") not in (None, False, ACCOUNTS):
        for answers in list(_FOUND.values()):
            answers.clear()
