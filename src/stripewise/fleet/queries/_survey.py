# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The survey of applications: each program in figures, over the jobs that a viewer sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, select

from stripewise.fleet.queries._period import Period
from stripewise.fleet.queries._spread import Spread, at_once, spread
from stripewise.fleet.queries._viewer import Viewer, jobs_of
from stripewise.fleet.tables import Job, Program

_CHUNK = 50_000
_COUNTED = (
    *("program_id", "person_id", "start_at", "end_at", "run_seconds", "node_count"),
    *("source_count", "avoidable_node_seconds"),
)
_OF_PROFILE = (
    *("io_seconds", "io_share", "bytes_per_second", "file_count", "meta_operations"),
    *("read_bytes", "write_bytes", "cumulated_read_seconds", "cumulated_write_seconds"),
    *("cumulated_meta_seconds", "read_only_count", "write_only_count", "rank_count"),
)
FIGURES = (*_OF_PROFILE, "run_seconds", "io_bytes", "meta_share")
"""Figures of which there is a spread; all are of jobs with a profile."""


@dataclass(frozen=True)
class ProgramSurvey:
    """A program in figures.

    Attributes:
        program / area: Name, and field of research; None: not told.
        is_everybody: Over the jobs of all users, rounded; otherwise over those that the viewer
            sees, exact.
        job_count: Jobs; `profiled_count` of these have a profile.
        user_count: Users whose jobs they are.
        figures: By name, see `FIGURES`; those that are not known of any job are left out.
        typical_at_once / most_at_once: Jobs that run at the same time; None: not known.
        node_seconds: Run time times nodes of all jobs; None: not known of any.
        avoidable_node_seconds: What findings expect to gain, of all jobs.
        not_estimated: Of how many jobs with a profile that is not known.
    """

    program: str
    area: str | None
    job_count: int
    profiled_count: int
    user_count: int
    figures: Mapping[str, Spread] = field(default_factory=dict)
    typical_at_once: int | None = None
    most_at_once: int | None = None
    node_seconds: float | None = None
    avoidable_node_seconds: float | None = None
    not_estimated: int = 0
    is_everybody: bool = False

    def median(self, name: str) -> float | None:
        """Return the median of a figure; None: not known."""
        found = self.figures.get(name)
        return None if found is None else found.median


def survey(
    connection: Connection, viewer: Viewer, period: Period, *, program_id: int | None = None
) -> list[ProgramSurvey]:
    """Return the programs of the jobs that a viewer sees, by name.

    Args:
        connection: To the database.
        viewer: Who asks.
        period: In which the jobs started.
        program_id: Only this program.
    """
    return survey_of(connection, jobs_of(viewer).where(*period.jobs), program_id)


def survey_of(
    connection: Connection,
    jobs: Select[Any],
    program_id: int | None = None,
    fewest_users: int = 0,
) -> list[ProgramSurvey]:
    """Return the programs of jobs, by name.

    Args:
        connection: To the database.
        jobs: Query from the table of jobs, with its conditions and without columns.
        program_id: Only this program.
        fewest_users: Figures that are known of the jobs of fewer users, or of which one user
            has more than half of the jobs, are left out; 0: none is.
    """
    is_one = Job.program_id.is_not(None) if program_id is None else Job.program_id == program_id
    names = (*_COUNTED, *_OF_PROFILE)
    query = jobs.with_only_columns(*(getattr(Job, name) for name in names)).where(is_one)
    table = _table(connection, query, len(names))
    order = np.argsort(table[:, 0], kind="stable")
    keys, firsts = np.unique(table[order, 0], return_index=True)
    told = _told(connection, [int(key) for key in keys])
    found = []
    for key, rows in zip(keys, np.split(order, firsts[1:]), strict=False):
        columns = dict(zip(names, table[rows].T, strict=True))
        found.append(_summary(*told[int(key)], columns, fewest_users))
    return sorted(found, key=lambda one: one.program)


def _table(connection: Connection, query: Select[Any], width: int) -> NDArray[np.float64]:
    """(n, width) float64: the rows of a query, NaN for what is not known."""
    result = connection.execute(query, execution_options={"yield_per": _CHUNK})
    parts = [np.array([tuple(row) for row in chunk], np.float64) for chunk in result.partitions()]
    return np.concatenate(parts) if parts else np.empty((0, width))


def _told(connection: Connection, keys: Sequence[int]) -> dict[int, tuple[str, str | None]]:
    query = select(Program.id, Program.name, Program.area)
    if len(keys) <= _CHUNK // 100:
        query = query.where(Program.id.in_(keys))
    return {row.id: (row.name, row.area) for row in connection.execute(query)}


def _summary(
    name: str, area: str | None, columns: Mapping[str, NDArray[np.float64]], fewest_users: int
) -> ProgramSurvey:
    profiled = columns["source_count"] > 0
    figures = {name: columns[name][profiled] for name in (*_OF_PROFILE, "run_seconds")}
    figures["io_bytes"] = figures["read_bytes"] + figures["write_bytes"]
    figures["meta_share"] = _meta_share(figures)
    persons = columns["person_id"]
    spreads = {
        name: spread(values)
        for name, values in figures.items()
        if not fewest_users or _is_of(fewest_users, persons[profiled][~np.isnan(values)])
    }
    running = at_once(columns["start_at"], columns["end_at"])
    return ProgramSurvey(
        name,
        area,
        len(profiled),
        int(profiled.sum()),
        _users(persons),
        {name: one for name, one in spreads.items() if one is not None},
        typical_at_once=running[0] if running else None,
        most_at_once=running[1] if running else None,
        node_seconds=_sum(columns["run_seconds"] * columns["node_count"]),
        avoidable_node_seconds=_sum(columns["avoidable_node_seconds"]),
        not_estimated=int((profiled & np.isnan(columns["avoidable_node_seconds"])).sum()),
    )


def _meta_share(figures: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """(n,) share of the metadata in the time that all ranks spend in I/O."""
    meta = figures["cumulated_meta_seconds"]
    every = meta + figures["cumulated_read_seconds"] + figures["cumulated_write_seconds"]
    found = np.full(len(meta), np.nan)
    np.divide(meta, every, out=found, where=every > 0)
    return found


def _is_of(fewest_users: int, persons: NDArray[np.float64]) -> bool:
    """Whether jobs are of enough users, none of whom has more than half of them."""
    _, numbers = np.unique(persons, return_counts=True)
    return len(numbers) >= fewest_users and bool(numbers.max() * 2 <= numbers.sum())


def _users(persons: NDArray[np.float64]) -> int:
    return len(np.unique(persons[~np.isnan(persons)]))


def _sum(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.sum()) if len(known) else None
