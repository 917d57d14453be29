# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What servers counted for jobs, and how long their operations took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Engine

from stripewise.centre.database._records import SampleRecord
from stripewise.centre.database.store import Load, settle, store_job_loads

MIB = 1 << 20


def load(tag: str, at: int, kind: str = "write", **given: Any) -> Load:
    """Return a minute of a job on scratch: 4 requests of 1 MiB, or 600 opens."""
    values: dict[str, Any] = {"file_system": "scratch", "seconds": 60.0}
    if kind == "metadata":
        values |= {"operations": 600, "busy_seconds": 0.6, "parts": {"open": 500, "close": 100}}
    else:
        values |= {"operations": 4, "busy_seconds": 0.02, "moved_bytes": 4 * MIB,
                   "parts": {str(MIB): 4}}  # fmt: skip
    return Load(tag=tag, at=at, kind=kind, **{**values, **given})


def store_loads(
    connection: Connection, loads: Sequence[Load], *, cluster: str = "alpha", server: str = "oss1"
) -> None:
    """Store what a server counted, and give it to the runs that it is of."""
    settle(connection, store_job_loads(connection, cluster, server, loads))


def served(engine: Engine, loads: Sequence[Load], **given: Any) -> None:
    """Do the same in a transaction of its own."""
    with engine.execution_options(writing=True).begin() as connection:
        store_loads(connection, loads, **given)


def service(
    target: str,
    seconds: float | Callable[[int], float],
    *,
    first: int,
    number: int,
    step: int = 60,
    server: str = "oss1",
    rate: float = 10.0,
    file_system: str = "scratch",
) -> list[SampleRecord]:
    """Return seconds and operations of a target.

    Args:
        target: Its name.
        seconds: Of an operation; or by moment.
        first: Begin of the first sample.
        number: Of samples.
        step: Seconds of each.
        server: Of the target.
        rate: Operations a second.
        file_system: Of the target.
    """
    rows, spent = [], []
    for place in range(number):
        at = first + place * step
        each = seconds(at) if callable(seconds) else seconds
        rows.append((at, float(step), rate * step))
        spent.append((at, float(step), rate * step * each))
    named = (file_system, server, target)
    return [
        SampleRecord(*named, "service_operations", "operations", True, tuple(rows)),
        SampleRecord(*named, "service_seconds", "seconds", True, tuple(spent)),
    ]
