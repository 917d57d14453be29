# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from stripewise.centre.database.queries import NOBODY, own_summary
from stripewise.centre.database.store._writer import Writer
from support.fleet_records import figures, job, source
from support.storage_samples import DAY, NOW, STAFF, viewer_named


def finding(code: str, cost: float | None) -> dict[str, Any]:
    unknown = dict.fromkeys(("least_seconds", "most_seconds"))
    return {"number": 0, "code": code, "severity": "high", "phrase": "", "cost_seconds": cost,
            "is_measured": False, "file_count": 1, **unknown}  # fmt: skip


def ran(
    connection: Connection, number: int, at: int, user: str, code: str = "", cost: float = 0.0,
    io: float = 3.5,
) -> None:  # fmt: skip
    made = job(number, at, user=user, uid=sum(map(ord, user)))
    profile = source(
        f"d{number}", number, user=user, told=figures(io_seconds=io), start_at=at + 10.0,
        end_at=at + 100.0, findings=(finding(code, cost),) if code else (),
    )  # fmt: skip
    Writer(connection).store([made, profile])


def test_own_jobs_of_thirty_days(connection: Connection) -> None:
    ran(connection, 1, NOW - DAY, "ann", "small-requests", 2.0)
    ran(connection, 2, NOW - 2 * DAY, "ann", "metadata", 9.0, io=20.0)
    ran(connection, 3, NOW - 60 * DAY, "ann", "metadata", 99.0)
    ran(connection, 4, NOW - DAY, "bob", "alignment", 1000.0)
    Writer(connection).store([job(5, NOW - DAY, user="ann", uid=sum(map(ord, "ann")))])
    found = own_summary(connection, viewer_named(connection, "ann", "p"), NOW)
    assert found is not None
    assert (found.jobs, found.profiled, found.io_seconds) == (3, 2, 23.5)
    assert found.avoidable_seconds == 11.0
    assert found.worst is not None
    assert found.worst["raw_id"] == 2
    assert found.new_findings == [("small-requests", 1)]


def test_somebody_without_jobs(connection: Connection) -> None:
    ran(connection, 4, NOW - 60 * DAY, "ann")
    found = own_summary(connection, viewer_named(connection, "ann"), NOW)
    assert found is not None
    assert (found.jobs, found.io_seconds, found.avoidable_seconds, found.worst) == (
        0, None, None, None
    )  # fmt: skip
    assert own_summary(connection, NOBODY, NOW) is None
    assert own_summary(connection, STAFF, NOW) is None
