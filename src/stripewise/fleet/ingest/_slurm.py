# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that Slurm is asked for, into the database: what is new since it was last asked."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Engine, select

from stripewise.fleet._engine import refresh_statistics, refusals_said
from stripewise.fleet._schema import check
from stripewise.fleet._store import Writer
from stripewise.fleet.ingest._book import store
from stripewise.fleet.ingest._identity import identity
from stripewise.fleet.scheduler import Parsed, Window, window
from stripewise.fleet.tables import Ledger

KIND = "scheduler"
_ROWS = 2000


@dataclass
class Asked:
    """What asking Slurm gave.

    Attributes:
        jobs: Records that came; those of jobs that run for days come with each day.
        problems: What could not be read, a sentence each.
        span: Which time was asked for.
    """

    span: Window
    jobs: int = 0
    problems: tuple[str, ...] = ()


def next_window(engine: Engine, name: str, since: int | None = None) -> Window:
    """Return the time to ask for.

    Args:
        engine: Of the database.
        name: Of who is asked.
        since: From here on; None: from some time before it was last asked.

    Raises:
        StorageError: The database refuses.
    """
    check(engine)
    now = int(time.time())
    if since is not None:
        return Window(min(since, now), now)
    return window(_last(engine, name), now)


def _last(engine: Engine, name: str) -> int | None:
    """Return until when everything was asked for; None: nothing was."""
    query = select(Ledger.at).where(Ledger.digest == identity("asked", KIND, name))
    with refusals_said(engine), engine.connect() as connection:
        return connection.scalar(query)


def take_jobs(engine: Engine, name: str, span: Window, parts: Iterable[Parsed]) -> Asked:
    """Store the jobs of a time; that they were asked for is noted when all are stored.

    A time that begins only after what was asked for before leaves a gap: then it is not noted, and
    the gap is asked for the next time.

    Args:
        engine: Of the database.
        name: Of who is asked.
        span: For which time.
        parts: What it says, in parts.

    Raises:
        StorageError: The database refuses; what was stored before is whole.
    """
    began = int(time.time())
    asked = Asked(span)
    for part in parts:
        for first in range(0, len(part.records), _ROWS):
            records = part.records[first : first + _ROWS]
            with (
                refusals_said(engine),
                engine.execution_options(writing=True).begin() as connection,
            ):
                Writer(connection).store(records)
            asked.jobs += len(records)
        asked.problems += part.problems
    last = _last(engine, name)
    until = began if last is None or span.start <= last else last
    store(engine, KIND, name, (), asked.problems[:50], at=until)
    if asked.jobs >= _ROWS:
        with refusals_said(engine):
            refresh_statistics(engine)
    return asked
