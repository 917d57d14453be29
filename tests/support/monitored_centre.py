# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A monitored file system of now whose every name is an attack: slow target, hurting job, days.

Names come from servers and from users' jobs: whoever gives them may write what they like.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, select

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database.accounts import Accounts
from stripewise.centre.database.store import Template, settle, store_job_loads, write_parts
from stripewise.centre.database.tables import Job
from support.fleet_records import job
from support.portal_jobs import document, profile
from support.portal_server import serving
from support.served_jobs import load, service
from support.storage_pages import stored
from support.storage_samples import DAY, series

PASSWORD = "correct horse battery"
OWNER, STAFF = "owner", "support"


def hostile(what: str) -> str:
    """Return a name that would run a script, were it taken for an element."""
    return f'{what}"><img src=x onerror=window.evil=1>'


FS = hostile("scratch")
SLOW, SERVER, AGENT = hostile("OST0004"), hostile("oss9"), hostile("agent")
USER, PROGRAM, JOB_NAME = hostile("ann"), hostile("solver"), hostile("run") + "_without_end" * 8
TAG = hostile("tool")[:27] + ".1"
"""A job's id as servers have it: at most 31 bytes, of the user with the number 1."""


@dataclass(frozen=True)
class MonitoredCentre:
    """A portal that shows it.

    Attributes:
        address: Of the portal.
        job: Path of the job that hurts others.
    """

    address: str
    job: str

    @property
    def storage(self) -> str:
        """Path of the file system's page."""
        return f"/storage/{quote(FS, safe='')}"


@contextmanager
def monitored_centre(database: Path) -> Iterator[MonitoredCentre]:
    """Make it, and serve it."""
    engine = create_engine(str(database))
    initialise(engine)
    now = int(time.time())
    _jobs(engine, now)
    _rates(engine, now)
    _loads(engine, now)
    accounts = Accounts(engine)
    accounts.make(OWNER, by="test", person=USER, password=PASSWORD)
    accounts.make(STAFF, by="test", role="support", person="", password=PASSWORD)
    with engine.connect() as connection:
        key = connection.scalar(select(Job.id).where(Job.raw_id == 1))
    engine.dispose()
    with serving(database) as address:
        yield MonitoredCentre(address, f"/jobs/{key}")


def _begin(now: int) -> int:
    """Return from when on the target is slow: an hour of the day that is over, and this one."""
    return now - now % 3600 - 3600


def _jobs(engine: Engine, now: int) -> None:
    """A job with a profile that ran while the target was slow, and a longer one of another."""
    start = _begin(now)
    records: list[Any] = [
        job(number, at - 10, cluster="alpha", user=user, uid=number, start_at=at, end_at=now,
            columns={"name": JOB_NAME, "state": "COMPLETED", "run_seconds": float(now - at),
                     "node_count": 2})
        for number, user, at in ((1, USER, start), (2, "bob", now - DAY))
    ]  # fmt: skip
    made = document(1)
    made["command"] = f"./{PROGRAM}"
    for one in made["files"]:
        one["path"] = hostile(f"/{FS}/data")
    stored(engine, *records, profile(1, user=USER, start=start, made=made))


def _rates(engine: Engine, now: int) -> None:
    """Days with a rhythm; times of targets, one of which is slow now and was not before."""

    def daily(at: int) -> float:
        return 5e9 + 4e9 * math.sin(2 * math.pi * at / DAY)

    begin = _begin(now)
    times = service(SLOW, 0.005, first=begin - 5 * DAY, number=5 * 24, step=3600,
                    server=SERVER, file_system=FS)  # fmt: skip
    times += service(SLOW, 0.05, first=begin, number=(now - begin) // 60, server=SERVER,
                     file_system=FS)  # fmt: skip
    for place in range(4):
        times += service(f"OST{place:04d}", 0.006, first=now - 1800, number=30, file_system=FS)
    stored(
        engine, *times,
        series("read_bytes", daily, number=10 * 24, step=3600, until=now - 7200, file_system=FS),
        series("read_bytes", daily, number=120, until=now, file_system=FS),
        series("write_bytes", lambda at: 9e9 if at % 1800 < 120 else 1e8, number=2 * 1440,
               until=now, file_system=FS),
        series("write_bytes", 1e6, target=SLOW, server=SERVER, number=120, until=now,
               file_system=FS),
        series("is_failed", 0.0, target=SLOW, server=SERVER, until=now, file_system=FS),
    )  # fmt: skip


def _loads(engine: Engine, now: int) -> None:
    """What servers counted: nearly all of the slow server's data is of one job."""
    moved = load("1", now, moved_bytes=50_000_000, file_system=FS)
    rows = [
        load("2", now - DAY, moved_bytes=1, file_system=FS),
        *(moved._replace(at=at) for at in range(_begin(now), now - 60, 60)),
        load("1", now - 600, "metadata", file_system=FS),
        load(TAG, now - 600, moved_bytes=1000, file_system=FS),
    ]
    with engine.execution_options(writing=True).begin() as connection:
        found = store_job_loads(connection, "alpha", SERVER, rows, (Template("%e.%u"),))
        settle(connection, found)
        write_parts(connection, AGENT, float(now - 7200), {"agent": b"x"})
