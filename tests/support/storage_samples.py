# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a small file system, and jobs that used it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select, update

from stripewise.centre.database._records import CampaignRecord, SampleRecord
from stripewise.centre.database.queries import Role, Viewer
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import FileSystem, Person, Project
from support.fleet_records import figures, job, source

DAY = 86400
NOW = 1_780_000_000 - 1_780_000_000 % DAY + DAY // 2
"""Noon of a day."""
LEVELS = ("used_bytes", "total_bytes", "used_files", "total_files", "is_failed", "is_slow", "load")


def series(
    metric: str,
    value: float | Callable[[int], float],
    *,
    target: str = "",
    server: str = "",
    file_system: str = "scratch",
    until: int = NOW,
    number: int = 60,
    step: int = 60,
    without: Sequence[int] = (),
) -> SampleRecord:
    """Return samples up to a moment: of a counter `value` is a rate, otherwise a level.

    Args:
        metric: Its name.
        value: The same for all, or by moment.
        target: Of the series.
        server: Of the series.
        file_system: Of the series.
        until: End of the last sample.
        number: Of samples.
        step: Seconds of each.
        without: Places of samples that are missing, the newest is 0.
    """
    counts = metric not in LEVELS
    rows = []
    for place in range(number):
        at = until - (place + 1) * step
        level = value(at) if callable(value) else value
        if place not in without:
            rows.append((at, float(step), level * step if counts else level))
    return SampleRecord(file_system, server, target, metric, "bytes", counts, tuple(rows))


def targets(metric: str, values: Sequence[float], **given: Any) -> list[SampleRecord]:
    """Return a series for each of some targets, on two servers."""
    return [
        series(metric, value, target=f"OST{place:04d}", server=f"oss{place % 2}", **given)
        for place, value in enumerate(values)
    ]


def used_by(
    connection: Connection,
    users: Mapping[str, tuple[int, int]],
    *,
    account: str = "p",
    group: str | None = None,
    start_at: int = NOW - 3600,
    seconds: int = 600,
    first: int = 1,
) -> None:
    """Store a job of each user with what it read and wrote on /scratch.

    Args:
        connection: For writing.
        users: Name -> bytes that were read and written.
        account: Project of all of them.
        group: Unix group of all of them.
        start_at: When they started.
        seconds: How long they ran.
        first: Job id of the first.
    """
    for number, (user, (read, written)) in enumerate(users.items(), start=first):
        made = job(number, start_at - 10, user=user, uid=number, account=account)
        made = replace(made, end_at=start_at + seconds,
                       columns={**made.columns, "unix_group": group})  # fmt: skip
        told = figures(read_bytes=read, write_bytes=written, run_seconds=float(seconds))
        io = {"read_bytes": read, "write_bytes": written, "cumulated_seconds": 1.0,
              "meta_operations": 30, "file_count": 3}  # fmt: skip
        profile = source(
            f"d{number}", number, told=told, user=user, start_at=float(start_at),
            end_at=float(start_at + seconds), io=({"file_system": "/scratch", **io},),
        )  # fmt: skip
        Writer(connection).store([made, profile])


def viewer_named(connection: Connection, name: str, *managed: str) -> Viewer:
    """Return a user of the portal by the name of their jobs, who may manage projects."""
    keys = connection.scalars(select(Project.id).where(Project.name.in_(managed)))
    person = connection.scalar(select(Person.id).where(Person.name == name))
    return Viewer(name, Role.USER, person, frozenset(keys))


STAFF = Viewer("help", Role.SUPPORT)


def key_of(connection: Connection, name: str = "scratch") -> int:
    """Return the key of a file system."""
    return int(connection.execute(
        select(FileSystem.id).where(FileSystem.name == name)).scalar_one())  # fmt: skip


def mounted(connection: Connection, *mounts: str) -> None:
    """Say where the file system scratch is mounted."""
    connection.execute(
        update(FileSystem).where(FileSystem.name == "scratch").values(mount="\n".join(mounts))
    )


def campaign(
    at: int,
    rates: Mapping[str, float],
    *,
    storage: str = "scratch",
    is_emulated: bool = False,
    spread: float = 0.01,
) -> CampaignRecord:
    """Return a campaign with a figure for each case."""
    columns = {"name": f"c{at}", "suite": "s", "storage": storage, "made_at": at,
               "is_emulated": is_emulated, "document": b""}  # fmt: skip
    rows = tuple(
        {"case": case, "operation": "write", "nodes": 1, "ranks": 4, "run_count": 5,
         "median": rate, "low": rate * (1 - spread), "high": rate * (1 + spread),
         "unit": "bytes/s"}
        for case, rate in rates.items()
    )  # fmt: skip
    return CampaignRecord(f"{storage}{at}{is_emulated}", columns, rows)
