# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Many page loads at once by many users: made and timed by wrk."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Engine, func, select

from stripewise.centre.database.accounts import Accounts, Sessions
from stripewise.centre.database.tables import FileSystem, Job, Person

PAGES = ("/", "/jobs", "/jobs?sort=-io_seconds", "/programs", "/storage", "/patterns", "/savings",
         "/account", "/storage/events", "/api/v1/jobs?limit=20")  # fmt: skip
OF_JOBS = 3
"""A user opens so many jobs beside lists and pages of other kinds."""
_SCRIPT = Path(__file__).with_name("page_loads.lua")


def missing() -> str:
    """Return why no pages can be loaded here; "": they can."""
    return "" if shutil.which("wrk") else "no wrk on PATH (Debian: wrk)"


@dataclass(frozen=True)
class Loaded:
    """What wrk counted and timed.

    Attributes:
        p50 / p95 / longest / mean: Seconds until a page was there.
        unanswered: Connections that failed or were closed, and requests without an answer.
        statuses: How often each came.
    """

    requests: int
    seconds: float
    p50: float
    p95: float
    longest: float
    mean: float
    unanswered: int
    statuses: dict[str, int]

    @property
    def failed(self) -> int:
        """Requests that were not answered by a page: 5xx, or nothing."""
        bad = sum(count for code, count in self.statuses.items() if code >= "500")
        return bad + self.unanswered

    def __str__(self) -> str:
        """Return it in a line."""
        return (
            f"{self.requests} pages in {self.seconds:.1f} s, p50 {self.p50:.2f} s, p95 "
            f"{self.p95:.2f} s, longest {self.longest:.2f} s; {self.statuses}, "
            f"{self.unanswered} unanswered"
        )


def page_loads(engine: Engine, users: int, file: Path) -> None:
    """Write what users load, each with a session of their own; two of them are staff.

    Args:
        engine: Of a database with jobs of many.
        users: How many users there are.
        file: Is written: cookie and path in each line.
    """
    accounts, sessions = Accounts(engine), Sessions(engine)
    with engine.connect() as connection:
        ranked = (
            select(Person.name)
            .join(Job, Job.person_id == Person.id)
            .where(Job.source_count > 0)
            .group_by(Person.name)
            .order_by(func.count().desc())
        )
        people = list(connection.scalars(ranked.limit(users)))
        storages = [f"/storage/{name}" for name in connection.scalars(select(FileSystem.name))]
        jobs = {name: _jobs_of(connection, name) for name in people}
    lines = []
    known = {one.login for one in accounts.list()}
    for name, role in [*((name, "user") for name in people), ("s1", "support"), ("s2", "admin")]:
        if name not in known:
            accounts.make(name, by="test", role=role)
        account = accounts.find(name)
        assert account is not None
        secret = sessions.start(account, backend="test").secret
        for page in (*PAGES, *storages):
            lines.append(f"{secret} {page}")
        own = jobs.get(name) or jobs[people[0]]
        for number in range(OF_JOBS):
            lines.append(f"{secret} /jobs/{own[number % len(own)]}")
    random.Random(1).shuffle(lines)
    file.write_text("\n".join(lines) + "\n")


def _jobs_of(connection: Any, name: str) -> list[int]:
    query = select(Job.id).join(Person, Person.id == Job.person_id).where(Person.name == name)
    return list(connection.scalars(query.where(Job.source_count > 0).limit(50)))


def load(address: str, file: Path, at_once: int, seconds: int) -> Loaded:
    """Load pages for a time, so many at once, each user one after the other.

    Args:
        address: Of the portal.
        file: As `page_loads` wrote it.
        at_once: Connections; each has one request under way.
        seconds: How long.
    """
    parts = urlsplit(address)
    command = ["wrk", "-t", str(min(2, at_once)), "-c", str(at_once), "-d", f"{seconds}s"]
    command += ["--timeout", "90s", "-s", str(_SCRIPT), f"http://{parts.netloc}", "--", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 120)
    assert done.returncode == 0, done.stderr
    told = next(line for line in done.stdout.splitlines() if line.startswith("wrk {"))
    return Loaded(**json.loads(told.removeprefix("wrk ")))
