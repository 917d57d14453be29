# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of several users for tests of queries and pages over many jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from stripewise.centre.database._records import PairRecord, Record
from stripewise.centre.database.queries import Role, Viewer
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Person, Project
from support.fleet_records import figures, job, source

NOW = 1_780_000_000.0
"""2026-05-28 20:26:40 UTC."""
DAY = 86400
CONFIGURATION = 'version = 1\n\n[[file]]\nmatch = "*.h5"\nmpiio = { cb_nodes = 4 }\n'


def ran(
    raw_id: int,
    *,
    user: str = "ann",
    program: str = "ocean",
    project: str = "p1",
    days: float = 10.0,
    seconds: int = 100,
    nodes: int = 2,
    cluster: str = "a",
    findings: Sequence[tuple[str, float | None]] = (),
    patterns: Sequence[tuple[str, bool, float | None]] = (),
    settings: Sequence[tuple[str, str]] = (),
    columns: dict[str, Any] | None = None,
    is_profiled: bool = True,
    **told: Any,
) -> list[Record]:
    """Return the records of a job that started some days before `NOW`.

    Args:
        raw_id: Its job id.
        user: Whose it is.
        program: That it ran.
        project: For whom.
        days: Before now.
        seconds: That it ran.
        nodes: Of the job.
        cluster: On which it ran.
        findings: (code, expected gain).
        patterns: (form, is_write, lost seconds).
        settings: (name, applied value), of *.h5.
        columns: Further columns of the job.
        is_profiled: A profile tells of it.
        **told: Figures of the profile.
    """
    start = int(NOW - days * DAY)
    uid = sum(map(ord, user))
    record = job(
        raw_id, start - 10, cluster=cluster, user=user, uid=uid, account=project, start_at=start,
        end_at=start + seconds,
        columns={"name": "run", "state": "COMPLETED", "run_seconds": float(seconds),
                 "node_count": nodes, "partition": "main", **(columns or {})},
    )  # fmt: skip
    if not is_profiled:
        return [record]
    profile = source(
        f"digest {cluster} {raw_id}", raw_id, cluster=cluster, program=program, user=user, uid=uid,
        start_at=float(start + 1), end_at=float(start + seconds),
        told=figures(run_seconds=float(seconds), **told),
        findings=tuple(map(_finding, findings)), patterns=tuple(map(_pattern, patterns)),
        settings=tuple(
            {"file_class": "out*.h5", "name": name, "requested": None, "applied": value,
             "effective": value}
            for name, value in settings
        ),
    )  # fmt: skip
    return [record, profile]


def proved(
    digest: str = "study", *, user: str = "ann", program: str = "ocean", days: float = 20.0,
    saved: float = 30.0, configuration: str = CONFIGURATION, **given: Any,
) -> PairRecord:  # fmt: skip
    """Return a proof some days before `NOW`."""
    columns = {
        "made_at": int(NOW - days * DAY), "speedup": 2.5, "low": 2.0, "high": 3.0, "pair_count": 7,
        "elapsed_speedup": 1.2, "saved_seconds": saved, "node_count": 2, "rank_count": 4,
        "pattern": "<1D, (BLOCK)>", "verification": "identical", "configuration": configuration,
        "hints": "export A=1",
    }  # fmt: skip
    return PairRecord(digest, program, user, {**columns, **given})


def store(connection: Connection, jobs: Iterable[Sequence[Record]]) -> None:
    """Store the records of jobs."""
    Writer(connection).store([record for records in jobs for record in records])


def user(connection: Connection, name: str, *managed: str) -> Viewer:
    """Return a user, who manages projects."""
    key = connection.scalar(select(Person.id).where(Person.name == name))
    projects = connection.scalars(select(Project.id).where(Project.name.in_(managed)))
    return Viewer(name, Role.USER, key, frozenset(projects))


def staff(role: Role = Role.SUPPORT) -> Viewer:
    """Return somebody who sees all jobs."""
    return Viewer("staff", role)


def _finding(one: tuple[str, float | None]) -> dict[str, Any]:
    code, cost = one
    return {
        "code": code, "severity": "high", "phrase": "secret.h5", "cost_seconds": cost,
        "least_seconds": cost, "most_seconds": cost, "is_measured": False, "file_count": 1,
    }  # fmt: skip


def _pattern(one: tuple[str, bool, float | None]) -> dict[str, Any]:
    form, is_write, lost = one
    return {
        "file_class": "secret*.h5", "dataset": "/secret", "is_write": is_write, "form": form,
        "notation": form, "element_bytes": 8, "moved_bytes": 1000, "lost_seconds": lost,
    }  # fmt: skip
