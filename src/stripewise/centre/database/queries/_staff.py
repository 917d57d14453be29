# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports to staff where time is spent, which jobs have profiles, and how monitoring works."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CTE, ColumnElement, Connection, Select, case, distinct, func, select

from stripewise.centre.database.queries._filters import (
    DAY,
    Period,
    count_unknown,
    rows_of,
    with_missing,
)
from stripewise.centre.database.queries._job import Row
from stripewise.centre.database.queries._paging import Listing, Order, page
from stripewise.centre.database.queries._series import newest, parts_of
from stripewise.centre.database.queries._storage import STALE_SECONDS
from stripewise.centre.database.queries._viewer import Viewer, is_not_all_known, jobs_of
from stripewise.centre.database.tables._access import Audit, Ledger
from stripewise.centre.database.tables._jobs import (
    Cluster,
    FindingRow,
    Job,
    JobSource,
    Person,
    Program,
)
from stripewise.centre.database.tables._storage import FileSystem, MonitorState
from stripewise.core.errors import UsageError

FEWEST_RUNS = 3
"""Minimum number of successive profiled jobs with a finding that count as ignored advice."""
LEAST_SECONDS = 10.0
"""Default of the minimum predicted saving in each of them."""
MOST_COSTS = 500


def costly_programs(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return programs by avoidable node-seconds.

    Rows have program, area, user_count, job_count, profiled_count, node_seconds,
    profiled_node_seconds, avoidable_node_seconds, top_finding (the one that costs most),
    not_estimated (number of jobs whose avoidable time is unknown or incomplete).
    """
    spent = Job.run_seconds * Job.node_count
    avoidable = func.sum(Job.avoidable_node_seconds)
    query = (
        jobs_of(viewer, Job.program_id, Program.name.label("program"), Program.area)
        .add_columns(
            func.count(distinct(Job.person_id)).label("user_count"),
            func.count().label("job_count"),
            func.sum(case((Job.source_count > 0, 1), else_=0)).label("profiled_count"),
            func.sum(spent).label("node_seconds"),
            func.sum(case((Job.source_count > 0, spent))).label("profiled_node_seconds"),
            avoidable.label("avoidable_node_seconds"),
            func.count(case((is_not_all_known(Job.avoidable_node_seconds), 1))).label(
                "not_estimated"
            ),
        )
        .join(Program, Program.id == Job.program_id)
        .where(*period.jobs)
        .group_by(Job.program_id, Program.name, Program.area)
        .order_by(avoidable.desc().nulls_last(), Program.name)
        .limit(MOST_COSTS)
    )
    rows = rows_of(connection.execute(query))
    top = _top_findings(connection, viewer, period)
    for row in rows:
        row["top_finding"] = top.get(row.pop("program_id"))
    return rows


def _top_findings(connection: Connection, viewer: Viewer, period: Period) -> dict[int, str]:
    """Return, for each program, the finding that costs most over its jobs."""
    cost = func.coalesce(func.sum(Job.avoidable_node_seconds), 0.0)
    query = (
        jobs_of(viewer, Job.program_id, Job.top_finding)
        .where(*period.jobs, Job.program_id.is_not(None), Job.top_finding.is_not(None))
        .group_by(Job.program_id, Job.top_finding)
        .order_by(cost, func.count(), Job.top_finding)
    )
    return {row.program_id: row.top_finding for row in connection.execute(query)}


def ignored_advice(
    connection: Connection, viewer: Viewer, period: Period, *, least_seconds: float = LEAST_SECONDS
) -> Sequence[Row]:
    """Return findings that nobody acts on, by the node-seconds that they have cost.

    These are findings that the latest jobs of a user with a program have, at least `FEWEST_RUNS`
    in a row up to the last one with a profile. Rows have program, user, code, job_count, since_at,
    last_at, lost_seconds, lost_node_seconds.

    Args:
        connection: Connection to the database.
        viewer: The viewer who asks.
        period: Period in which the jobs started.
        least_seconds: Minimum saving that is predicted for each of them.
    """
    profiled = _profiled(viewer, period)
    found = (
        select(JobSource.job_id, FindingRow.code)
        .add_columns(func.max(FindingRow.cost_seconds).label("cost"))
        .join(FindingRow, FindingRow.source_id == JobSource.id)
        .where(FindingRow.cost_seconds >= least_seconds)
        .where(JobSource.job_id.in_(select(profiled.c.id)))
        .group_by(JobSource.job_id, FindingRow.code)
        .subquery()
    )
    series = (profiled.c.person_id, profiled.c.program_id, found.c.code)
    place = func.row_number().over(partition_by=series, order_by=profiled.c.n.desc())
    runs = (
        select(*series, profiled.c.start_at, profiled.c.node_count, found.c.cost)
        .add_columns((profiled.c.count - profiled.c.n + 1).label("from_last"))
        .add_columns(place.label("place"))
        .join(found, found.c.job_id == profiled.c.id)
        .subquery()
    )
    lost = func.sum(runs.c.cost * runs.c.node_count)
    query = (
        select(Program.name.label("program"), Person.name.label("user"), runs.c.code)
        .add_columns(
            func.count().label("job_count"),
            func.min(runs.c.start_at).label("since_at"),
            func.max(runs.c.start_at).label("last_at"),
            func.sum(runs.c.cost).label("lost_seconds"),
            lost.label("lost_node_seconds"),
            count_unknown(runs.c.node_count, "lost_node_seconds"),
        )
        .join(Program, Program.id == runs.c.program_id)
        .join(Person, Person.id == runs.c.person_id)
        .where(runs.c.place == runs.c.from_last)
        .group_by(Program.name, Person.name, runs.c.code)
        .having(func.count() >= FEWEST_RUNS)
        .order_by(lost.desc().nulls_last(), Program.name, Person.name)
        .limit(MOST_COSTS)
    )
    return list(map(with_missing, rows_of(connection.execute(query))))


def _profiled(viewer: Viewer, period: Period) -> CTE:
    """Return the jobs with a profile, each with its rank among those of its user and program."""
    whose = (Job.person_id, Job.program_id)
    return (
        jobs_of(viewer, Job.id, *whose, Job.start_at, Job.node_count)
        .add_columns(
            func.row_number().over(partition_by=whose, order_by=(Job.start_at, Job.id)).label("n"),
            func.count().over(partition_by=whose).label("count"),
        )
        .where(*period.jobs, Job.source_count > 0)
        .where(Job.person_id.is_not(None), Job.program_id.is_not(None))
        .cte("profiled")
    )


# For staff: which jobs are profiled, and by which sources.

GROUPS = ("day", "partition", "cluster")
MOST_GROUPS = 400
_SPENT = Job.run_seconds * Job.node_count


def coverage(
    connection: Connection, viewer: Viewer, period: Period, by: str = "day"
) -> Sequence[Row]:
    """Return how many jobs have a profile, in groups.

    Rows have group (for days, their start), job_count, profiled_count, node_seconds,
    profiled_node_seconds, and the number of jobs for each kind of source: {kind: count}.

    Raises:
        UsageError: There are no such groups.
    """
    if by not in GROUPS:
        raise UsageError(f"by={by[:40]!r}: coverage can be shown by {', '.join(GROUPS)}")
    group = _group(by)
    is_seen = Job.source_count > 0
    columns = (
        func.count().label("job_count"),
        func.sum(case((is_seen, 1), else_=0)).label("profiled_count"),
        func.sum(_SPENT).label("node_seconds"),
        func.sum(case((is_seen, _SPENT))).label("profiled_node_seconds"),
    )
    jobs = jobs_of(viewer).join(Cluster, Cluster.id == Job.cluster_id).where(*period.jobs)
    query = jobs.with_only_columns(group.label("group"), *columns)
    rows = rows_of(connection.execute(query.group_by(group).order_by(group).limit(MOST_GROUPS)))
    kinds = _kinds(connection, jobs, group)
    return [{**row, "kinds": kinds[row["group"]]} for row in rows]


def reasons(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return why jobs have no figures: reason, job_count, node_seconds; most jobs first."""
    number = func.count()
    query = (
        jobs_of(viewer, Job.no_data_reason.label("reason"), number.label("job_count"))
        .add_columns(func.sum(_SPENT).label("node_seconds"))
        .where(*period.jobs, Job.no_data_reason.is_not(None))
        .group_by(Job.no_data_reason)
        .order_by(number.desc(), Job.no_data_reason)
    )
    return rows_of(connection.execute(query))


def _group(by: str) -> Any:
    if by == "day":
        return Job.start_at - Job.start_at % DAY
    return Job.partition if by == "partition" else Cluster.name


def _kinds(connection: Connection, jobs: Any, group: Any) -> dict[Any, dict[str, int]]:
    """Return the number of jobs in each group that have a source of each kind."""
    query = (
        jobs.with_only_columns(
            group.label("group"), JobSource.kind, func.count(distinct(Job.id)).label("number")
        )
        .join(JobSource, JobSource.job_id == Job.id)
        .group_by(group, JobSource.kind)
    )
    found: dict[Any, dict[str, int]] = defaultdict(dict)
    for row in connection.execute(query):
        found[row.group][row.kind] = row.number
    return found


# For staff: what was stored, what was refused, and the audit trail.

HOUR = 3600


def intake_sums(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return what was ingested: kind, outcome, input_count, size_bytes, last_at."""
    if not viewer.is_staff:
        return ()
    query = (
        select(Ledger.kind, Ledger.outcome, func.count().label("input_count"))
        .add_columns(func.sum(Ledger.size_bytes).label("size_bytes"))
        .add_columns(func.max(Ledger.at).label("last_at"))
        .where(*_within(period))
        .group_by(Ledger.kind, Ledger.outcome)
        .order_by(Ledger.kind, Ledger.outcome)
    )
    return rows_of(connection.execute(query))


def intake_hours(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return inputs by hour: at (its start), stored, refused; hours without inputs are omitted."""
    if not viewer.is_staff:
        return ()
    hour = (Ledger.at - Ledger.at % HOUR).label("at")
    query = select(
        hour,
        func.count().filter(Ledger.outcome != "refused").label("stored"),
        func.count().filter(Ledger.outcome == "refused").label("refused"),
    ).where(*_within(period))
    return rows_of(connection.execute(query.group_by(hour).order_by(hour)))


def refused_inputs(
    connection: Connection, viewer: Viewer, *, after: str = "", limit: int = 50
) -> Listing:
    """Return one page of the inputs that were refused, latest first.

    Raises:
        UsageError: The cursor cannot be used.
    """
    if not viewer.is_staff:
        return Listing(())
    columns: tuple[Any, ...] = (
        *(Ledger.digest, Ledger.at, Ledger.kind, Ledger.name, Ledger.size_bytes, Ledger.reason),
    )
    hidden = () if viewer.may_read_names else ("name", "reason")
    query: Select[Any] = select(*columns).where(Ledger.outcome == "refused")
    found = page(connection, query, Order(Ledger.at, Ledger.digest), after, limit)
    rows = [{**row._mapping, **dict.fromkeys(hidden)} for row in found.rows]
    return Listing(rows, found.next)


def audit_trail(
    connection: Connection, viewer: Viewer, *, login: str = "", after: str = "", limit: int = 50
) -> Listing:
    """Return one page of the audit trail, latest first.

    Args:
        connection: Connection to the database.
        viewer: The viewer who asks; only admins see the trail.
        login: Account whose entries are returned; "" for all.
        after: Cursor that the page before returned.
        limit: Number of rows in the page.

    Raises:
        UsageError: The cursor cannot be used.
    """
    if not viewer.is_admin:
        return Listing(())
    columns: list[Any] = [Audit.id, Audit.at, Audit.login, Audit.action, Audit.target]
    query: Select[Any] = select(*columns)
    if login:
        query = query.where(Audit.login == login)
    found = page(connection, query, Order(Audit.at, Audit.id), after, limit)
    return Listing([dict(row._mapping) for row in found.rows], found.next)


def _within(period: Period) -> tuple[ColumnElement[bool], ...]:
    return (Ledger.at >= period.since, Ledger.at < period.until)


# State of the monitoring itself: agents, and file systems without counters.


@dataclass(frozen=True)
class Monitor:
    """A monitoring agent.

    Attributes:
        agent: Name of the server on which it runs.
        newest_at: Time of its last delivery, by its own clock.
        is_silent: Whether that is too long ago, or its clock is wrong.
    """

    agent: str
    newest_at: float
    is_silent: bool


def view_monitors(connection: Connection, now: float) -> list[Monitor]:
    """Return the agents that have ever delivered, silent ones first."""
    query = select(MonitorState.agent, func.max(MonitorState.at)).group_by(MonitorState.agent)
    found = [
        Monitor(agent, at, abs(now - at) > STALE_SECONDS)
        for agent, at in connection.execute(query)
        if at is not None
    ]
    return sorted(found, key=lambda one: (not one.is_silent, one.newest_at, one.agent))


def uncounted(connection: Connection, now: float) -> list[tuple[str, float | None]]:
    """Return file systems without fresh counters, and the end of their newest sample, if any."""
    found = []
    for key, name in connection.execute(
        select(FileSystem.id, FileSystem.name).order_by(FileSystem.name)
    ).all():
        last = newest(connection, [one.id for one in parts_of(connection, key)])
        at = max((one.end for one in last.values()), default=None)
        if at is None or now - at > STALE_SECONDS:
            found.append((name, at))
    return found
