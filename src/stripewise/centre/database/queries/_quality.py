# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares three sources for what jobs moved: profiles, the storage's counters, and Slurm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_

from stripewise.centre.database.queries._filters import Period, rows_of, total
from stripewise.centre.database.queries._job import Row
from stripewise.centre.database.queries._jobs import join_names
from stripewise.centre.database.queries._paging import Listing, Order, page
from stripewise.centre.database.queries._viewer import Viewer, jobs_of
from stripewise.centre.database.store._match import CLOCKS_SECONDS
from stripewise.centre.database.tables._jobs import Cluster, Job, JobSource, Person, Program

USUAL_RATIO = 2.0
MOST_ODD = 50
_WITNESSES = (
    ("profile", total(Job.read_bytes, Job.write_bytes)),
    ("server", total(Job.server_read_bytes, Job.server_write_bytes)),
    ("slurm", total(Job.slurm_read_bytes, Job.slurm_write_bytes)),
)
_JOB = (
    *(Job.id, Cluster.name.label("cluster"), Job.raw_id, Job.name, Job.start_at),
    *(Person.name.label("user"), Program.name.label("program")),
)


@dataclass(frozen=True)
class Agreement:
    """How far two sources agree on the bytes of jobs.

    Attributes:
        first / second: "profile", "server" or "slurm".
        job_count: Number of jobs that both report.
        close_count: Number of these for which both agree within a tenth.
        near_count: Number of these for which both agree within a factor of two.
        first_bytes / second_bytes: Sums over these jobs.
    """

    first: str
    second: str
    job_count: int
    close_count: int
    near_count: int
    first_bytes: int | None
    second_bytes: int | None


def agreements(connection: Connection, viewer: Viewer, period: Period) -> list[Agreement]:
    """Return how far each pair of the three sources agrees."""
    found = []
    for (first, one), (second, other) in _pairs():
        query = jobs_of(
            viewer,
            func.count(),
            func.sum(case((_within(one, other, 1.1), 1), else_=0)),
            func.sum(case((_within(one, other, 2.0), 1), else_=0)),
            func.sum(one),
            func.sum(other),
        ).where(*period.jobs, one.is_not(None), other.is_not(None))
        row = connection.execute(query).one()
        count, close, near = (int(number or 0) for number in row[:3])
        sums = [None if moved is None else int(moved) for moved in row[3:]]
        found.append(Agreement(first, second, count, close, near, *sums))
    return found


def disagreements(
    connection: Connection,
    viewer: Viewer,
    period: Period,
    *,
    least_ratio: float = USUAL_RATIO,
    after: str = "",
    limit: int = 50,
) -> Listing:
    """Return one page of jobs whose sources differ by more than a factor, latest first.

    Rows have the job, profile_bytes, server_bytes, slurm_bytes, and ratio: the largest by the
    smallest of the reported amounts, or None if one of them is zero.

    Raises:
        UsageError: The cursor cannot be used.
    """
    apart = [
        and_(one.is_not(None), other.is_not(None), ~_within(one, other, least_ratio))
        for (_, one), (_, other) in _pairs()
    ]
    sums = (witness.label(f"{name}_bytes") for name, witness in _WITNESSES)
    query = join_names(jobs_of(viewer, *_JOB, *sums)).where(*period.jobs, or_(*apart))
    found = page(connection, query, Order(Job.start_at, Job.id), after, limit)
    return Listing([_with_ratio(dict(row._mapping)) for row in found.rows], found.next)


def match_rules(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return how profiles found their jobs: rule, source_count, least_confidence; least first."""
    least = func.min(JobSource.confidence)
    query = (
        jobs_of(viewer, JobSource.match_rule.label("rule"), func.count().label("source_count"))
        .add_columns(least.label("least_confidence"))
        .join(JobSource, JobSource.job_id == Job.id)
        .where(*period.jobs)
        .group_by(JobSource.match_rule)
        .order_by(least, JobSource.match_rule)
    )
    return rows_of(connection.execute(query))


def unrecorded_jobs(connection: Connection, viewer: Viewer, period: Period) -> Sequence[Row]:
    """Return jobs that only profiles report, latest first, with their number as total."""
    query = join_names(jobs_of(viewer, *_JOB, func.count().over().label("total")))
    query = query.where(*period.jobs, Job.is_recorded.is_(False))
    return rows_of(connection.execute(query.order_by(Job.start_at.desc()).limit(MOST_ODD)))


def profiles_with_other_clocks(
    connection: Connection, viewer: Viewer, period: Period
) -> Sequence[Row]:
    """Return profiles that began before or after their job, by more than clocks may differ.

    Rows have the job, kind, apart_seconds (negative if the profile began too early) and total.
    """
    early = JobSource.start_at - Job.start_at
    late = JobSource.start_at - Job.end_at
    query = join_names(
        jobs_of(
            viewer, *_JOB, JobSource.kind, func.count().over().label("total"),
            case((early < 0, early), else_=late).label("apart_seconds"),
        )
    ).join(JobSource, JobSource.job_id == Job.id)  # fmt: skip
    query = query.where(*period.jobs, Job.is_recorded.is_(True))
    query = query.where(or_(early < -CLOCKS_SECONDS, late > CLOCKS_SECONDS))
    return rows_of(connection.execute(query.order_by(Job.start_at.desc()).limit(MOST_ODD)))


def _pairs() -> list[tuple[tuple[str, Any], tuple[str, Any]]]:
    profile, server, slurm = _WITNESSES
    return [(profile, server), (profile, slurm), (server, slurm)]


def _within(one: Any, other: Any, factor: float) -> ColumnElement[bool]:
    return and_(one <= other * factor, other <= one * factor)


def _with_ratio(row: dict[str, Any]) -> dict[str, Any]:
    names = [f"{name}_bytes" for name, _ in _WITNESSES]
    amounts = {name: int(row[name]) for name in names if row[name] is not None}
    least, most = min(amounts.values()), max(amounts.values())
    return {**row, **amounts, "ratio": most / least if least else None}


# Three sources for what a job moved: its profile, the storage's counters, and Slurm.

AGREE_SHARE = 0.1
AGREE_BYTES = 16 << 20
"""Two amounts agree if they differ by less than a tenth of the larger one, or 16 MiB (chosen:
programs, libraries and output of the job are read and written in addition to its data)."""
WITNESSES = {"profile": "", "server": "server_", "slurm": "slurm_"}
"""Prefix of the columns of `tables.Job` with the figures of each source."""


@dataclass(frozen=True)
class Statement:
    """Amounts that the sources report for one direction.

    Attributes:
        direction: "read" or "write".
        amounts: Bytes by source; None if it reports nothing.
        reasons: Why they may differ; () if they agree, or only one of them reports anything.
    """

    direction: str
    amounts: Mapping[str, int | None]
    reasons: tuple[str, ...] = ()

    @property
    def known(self) -> dict[str, int]:
        """The sources that report an amount."""
        return {name: value for name, value in self.amounts.items() if value is not None}

    @property
    def agree(self) -> bool | None:
        """Return whether all reported amounts agree, or None if there are fewer than two."""
        if len(self.known) < 2:
            return None
        return do_agree(min(self.known.values()), max(self.known.values()))


def do_agree(one: int, other: int) -> bool:
    """Return whether two amounts of bytes agree within the accuracy of their sources."""
    return abs(one - other) <= max(AGREE_SHARE * max(one, other), AGREE_BYTES)


def statements(job: Mapping[str, Any], *, is_partial: bool = False) -> list[Statement]:
    """Return what the sources report for a job's reads and writes.

    Args:
        job: Row with the columns of `tables.Job`.
        is_partial: Whether a profile of the job is incomplete.
    """
    found = []
    for direction in ("read", "write"):
        amounts = {name: job[f"{begin}{direction}_bytes"] for name, begin in WITNESSES.items()}
        reasons = _reasons(direction, amounts, is_partial)
        found.append(Statement(direction, amounts, reasons))
    return found


def _reasons(
    direction: str, amounts: Mapping[str, int | None], is_partial: bool
) -> tuple[str, ...]:
    profile, server, slurm = (amounts[name] for name in ("profile", "server", "slurm"))
    found: list[str] = []
    if profile is not None and server is not None and not do_agree(profile, server):
        found += (
            _server_more(direction, is_partial) if server > profile else _server_less(direction)
        )
    if slurm is not None:
        others = [one for one in (profile, server) if one is not None]
        if found:
            del others[1:]  # the reason why these two differ is given
        other = next((one for one in others if not do_agree(slurm, one)), None)
        if other is not None:
            found += _slurm_more() if slurm > other else _slurm_less()
    return tuple(found)


def _server_more(direction: str, is_partial: bool) -> list[str]:
    verb = "read" if direction == "read" else "written"
    found = [
        f"The servers saw more {verb} than the profile: the job may have run programs or ranks "
        "that were not profiled.",
    ]
    if is_partial:
        found[0] = (
            f"The servers saw more {verb} than the profile, which is not complete: it reached its "
            "size limit, or some of its processes are missing."
        )
    found.append(
        "The servers count all that runs under the job's id: also scripts, copies and compression "
        "around the program."
    )
    if direction == "read":
        found.append(
            "Reading ahead, and reading a block in order to change a part of it, add to what the "
            "servers saw."
        )
    else:
        found.append("Writing parts of pages or blocks adds to what the servers saw.")
    return found


def _server_less(direction: str) -> list[str]:
    kept = (
        "The servers saw less read than the profile: data that the job, or another job on its "
        "nodes, had read or written before came from the cache of the nodes."
        if direction == "read"
        else "The servers saw less written than the profile: data that is written again, or "
        "removed, before it leaves the cache of the nodes never reaches them."
    )
    return [
        kept,
        "Some files may lie on a file system whose servers are not sampled, such as a node's own "
        "disk or memory.",
        "Small files that lie on a metadata server (Data-on-MDT) are missing where only the "
        "counters of storage targets are sampled.",
        "Servers forget the counters of a job that has paused, or when they restart: what they "
        "counted after they were last read is missing.",
    ]


def _slurm_more() -> list[str]:
    return [
        "Slurm counts all that processes read and write: also programs and libraries, pipes and "
        "output to the terminal, and what comes from the cache."
    ]


def _slurm_less() -> list[str]:
    return [
        "Slurm samples processes at intervals: it misses what short ones did, files that are "
        "mapped into memory, and what a process did after the last sample."
    ]
