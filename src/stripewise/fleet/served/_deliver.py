# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What an agent delivers: all of it in one transaction with how far it got, exactly once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine import make_url

from stripewise.errors import StorageError, UsageError
from stripewise.fleet._engine import create_engine, database_url, refusals_said
from stripewise.fleet._locking import write_alone
from stripewise.fleet._records import EventRecord, SampleRecord
from stripewise.fleet._samples import store_event
from stripewise.fleet.served._agents import read_part, write_parts
from stripewise.fleet.served._growth import store_growth
from stripewise.fleet.served._loads import Load, store_job_loads
from stripewise.fleet.served._settle import settle
from stripewise.fleet.served._template import Template
from stripewise.inputs import KEY, read_input

MARK = "agent"
"""Part of an agent's state that tells its deliveries apart."""
_WAIT_SECONDS = 20.0
_LEAN = ("cache_size = -2048", "mmap_size = 0")


class TakenError(StorageError):
    """Another agent delivers under the same name."""


@dataclass(frozen=True)
class Delivery:
    """What goes into one transaction.

    Attributes:
        agent: Name of the server that counted, and under which the state is kept.
        cluster: Of the clients; "": not told.
        at: When, in seconds since 1970.
        mark: Tells this delivery from all others.
        last_mark: Of the delivery before; None: there was none.
        parts: Of the agent's state, as it is after this delivery.
        samples / events / loads: What is new.
        templates: Of the names that clients give to jobs.
    """

    agent: str
    cluster: str
    at: float
    mark: bytes
    last_mark: bytes | None
    parts: Mapping[str, bytes]
    samples: Sequence[SampleRecord] = ()
    events: Sequence[EventRecord] = ()
    loads: Sequence[Load] = ()
    templates: Sequence[Template] = field(default_factory=tuple)


def open_store(database: str, password_file: str = "") -> Engine:
    """Return the engine of the database for an agent, which is to need little memory.

    Args:
        database: A URL, the path of a file of SQLite, or "": as for `stripewise db`.
        password_file: The first line of this file is the password; "": the URL has it, or none is
            needed, or ~/.pgpass or PGPASSWORD does.

    Raises:
        UsageError: The URL is none, or the file cannot be read.
    """
    url = database_url(database)
    if password_file:
        try:
            lines = read_input(Path(password_file), KEY).decode("utf-8").splitlines()
        except OSError as error:
            raise UsageError(
                f"{password_file} cannot be read ({error.strerror}): check its path"
            ) from error
        except ValueError as error:
            raise UsageError(f"{password_file} is not UTF-8: write one line into it") from error
        made = make_url(url).set(password=lines[0] if lines else "")
        url = made.render_as_string(hide_password=False)
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _make_lean)
    return engine


def deliver(engine: Engine, delivery: Delivery) -> bool:
    """Store a delivery with the state after it; return whether it was not there yet.

    Raises:
        TakenError: Another agent has delivered under this name: nothing is stored.
        StorageError: The database refuses.  It may have stored all of it nevertheless, if the
            connection broke at the end: the same delivery can be given again.
    """
    with refusals_said(engine), engine.execution_options(writing=True).begin() as connection:
        write_alone(connection, _WAIT_SECONDS)
        found = read_part(connection, delivery.agent, MARK)
        if found == delivery.mark:
            return False
        if found != delivery.last_mark:
            raise TakenError(
                f"another agent delivers as {delivery.agent!r}: end it, or give each of both a "
                "name of its own (`server` in the configuration) and start this one again"
            )
        store_growth(connection, delivery.samples)
        for one in delivery.events:
            store_event(connection, one)
        if delivery.loads:
            found_ids = store_job_loads(
                connection, delivery.cluster, delivery.agent, delivery.loads, delivery.templates
            )
            settle(connection, found_ids, min(one.at for one in delivery.loads))
        parts = {**delivery.parts, MARK: delivery.mark}
        write_parts(connection, delivery.agent, delivery.at, parts)
    return True


def _make_lean(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for line in _LEAN:
        cursor.execute(f"PRAGMA {line}")
    cursor.close()
