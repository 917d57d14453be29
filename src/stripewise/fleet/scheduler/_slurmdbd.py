# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of slurmdbd in MariaDB, read directly.

A fallback where neither sacct nor slurmrestd can be asked: the tables are internal to Slurm and
change between its versions.  Columns that a version lacks are not told.  Seen: 22.05.
"""

from __future__ import annotations

import grp
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, MetaData, Table, and_, create_engine, inspect, or_, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchTableError

from stripewise.errors import StorageError, UsageError
from stripewise.extras import require
from stripewise.fleet._records import JobRecord
from stripewise.fleet.scheduler._parsed import Parsed, job_record, not_started
from stripewise.fleet.scheduler._values import resource
from stripewise.fleet.scheduler._window import Window

_JOBS = "_job_table"
_STATES = (
    *("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT"),
    *("NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"),
)
"""By number.  Source: enum job_states of slurm.h."""
_BASE, _REQUEUED, _RESIZING = 0xFF, 0x400, 0x2000
_NO_VALUES = (2**32 - 2, 2**32 - 1)
"""NO_VAL and INFINITE.  Source: slurm.h."""
_CPU, _NODE, _DISK = "1", "4", "6"
"""Numbers of resources.  Source: enum of TRES_CPU ... in slurmdb.h; table tres_table."""
_AT_ONCE = 5000
_OF_JOBS = (
    *("job_db_inx", "deleted", "account", "array_task_str", "cpus_req", "exit_code", "job_name"),
    *("id_assoc", "id_array_job", "id_array_task", "id_group", "id_job", "id_qos", "id_user"),
    *(
        "het_job_id",
        "het_job_offset",
        "nodelist",
        "nodes_alloc",
        "partition",
        "state",
        "timelimit",
    ),
    *("time_submit", "time_eligible", "time_start", "time_end", "time_suspended", "tres_alloc"),
    "tres_req",
)
_OF_STEPS = ("job_db_inx", "tres_usage_in_tot", "tres_usage_out_tot")
_OTHERWISE = "this version of Slurm keeps its records in another way; read those of sacct instead"


def read_slurmdbd(url: str, window: Window, cluster: str = "") -> Iterator[Parsed]:
    """Read jobs that were in the queue or ran within a time; some thousands at a time.

    Args:
        url: mysql://USER:PASSWORD@HOST/slurm_acct_db; a user that may only read suffices.
        window: Within which time.
        cluster: Which; "": all.

    Raises:
        RuntimeMissingError: SQLAlchemy or PyMySQL is not installed.
        UsageError: It is no such URL, or there is no such cluster.
        StorageError: The database does not answer, or does not have these tables.
    """
    require("db", "reading slurmdbd's tables")
    require("slurmdbd", "reading slurmdbd's tables")
    try:
        made = make_url(url)
    except ArgumentError:
        raise UsageError(f"the URL of slurmdbd's database is none: {_FORM}") from None
    if made.get_backend_name() not in ("mysql", "mariadb"):
        raise UsageError(f"{made.get_backend_name()} is no database of slurmdbd: {_FORM}")
    engine = create_engine(made.set(drivername="mysql+pymysql"))
    try:
        with engine.connect() as connection:
            for name in _clusters(connection, cluster):
                yield from _Tables(connection, name).read(window)
    except DBAPIError as error:
        raise StorageError(
            f"slurmdbd's database {made.render_as_string()} cannot be read: {error.orig}; check "
            "the URL and that the user may select from its tables"
        ) from error
    finally:
        engine.dispose()


_FORM = "give mysql://USER:PASSWORD@HOST/slurm_acct_db"


def _clusters(connection: Connection, wanted: str) -> list[str]:
    tables = inspect(connection).get_table_names()
    names = sorted(name.removesuffix(_JOBS) for name in tables if name.endswith(_JOBS))
    if wanted and wanted not in names:
        there = ", ".join(names) or "none"
        raise UsageError(f"slurmdbd has no jobs of the cluster {wanted}; it has: {there}")
    if not names:
        raise StorageError("the database has no table of jobs: name that of slurmdbd in the URL")
    return [wanted] if wanted else names


def _table(connection: Connection, name: str, needed: Sequence[str]) -> Table:
    try:
        found = Table(name, MetaData(), autoload_with=connection, resolve_fks=False)
    except NoSuchTableError:
        raise StorageError(f"the table {name} is missing: {_OTHERWISE}") from None
    if lacking := [column for column in needed if column not in found.c]:
        raise StorageError(f"the table {name} lacks {', '.join(lacking)}: {_OTHERWISE}")
    return found


class _Tables:
    """The tables of one cluster."""

    def __init__(self, connection: Connection, cluster: str) -> None:
        self.connection = connection
        self.cluster = cluster
        self.jobs = _table(connection, f"{cluster}{_JOBS}", _OF_JOBS)
        self.steps = _table(connection, f"{cluster}_step_table", _OF_STEPS)
        self.associations = _table(connection, f"{cluster}_assoc_table", ("id_assoc", "user"))
        qos = _table(connection, "qos_table", ("id", "name")).c
        rows = connection.execute(select(qos.id, qos.name)).all()
        self.qos = {int(row.id): str(row.name) for row in rows}

    def read(self, window: Window) -> Iterator[Parsed]:
        """Read some thousands of jobs at a time."""
        jobs, owners, last = self.jobs.c, self.associations.c, 0
        query = (
            select(self.jobs, owners.user.label("user"))
            .outerjoin(self.associations, owners.id_assoc == jobs.id_assoc)
            .where(
                jobs.deleted == 0,
                or_(and_(jobs.time_eligible > 0, jobs.time_eligible < window.end),
                    and_(jobs.time_eligible == 0, jobs.time_submit < window.end)),
                or_(jobs.time_end == 0, jobs.time_end >= window.start),
            )
            .order_by(jobs.job_db_inx)
            .limit(_AT_ONCE)
        )  # fmt: skip
        while rows := self.connection.execute(query.where(jobs.job_db_inx > last)).all():
            last = rows[-1].job_db_inx
            yield self._parsed([dict(row._mapping) for row in rows])

    def _parsed(self, rows: list[dict[str, Any]]) -> Parsed:
        usage = self._usage([row["job_db_inx"] for row in rows])
        records, problems, rests = [], [], []
        for row in rows:
            if row["id_array_job"] and row["id_array_task"] in _NO_VALUES:
                rests.append(f"{row['id_array_job']}_[{(row['array_task_str'] or '')[:20]}]")
                continue
            try:
                records.append(self._record(row, usage.get(row["job_db_inx"], (None, None))))
            except ValueError as error:
                problems.append(f"the job {row['id_job']} of {self.cluster} is left out: {error}")
        return Parsed(tuple(records), (*problems, *not_started(rests)))

    def _record(self, row: dict[str, Any], usage: tuple[int | None, int | None]) -> JobRecord:
        task, offset = _value(row["id_array_task"]), _value(row["het_job_offset"])
        limit = _value(row["timelimit"])
        start, end = row["time_start"] or None, row["time_end"] or None
        columns = {
            "name": row["job_name"],
            "state": _state(row["state"]),
            # sacct takes 128 away from larger codes (seen in 22.05); here they are whole
            "exit_code": row["exit_code"] >> 8 & 0xFF,
            "exit_signal": row["exit_code"] & 0x7F,
            "partition": row["partition"],
            "qos": self.qos.get(row["id_qos"]),
            "unix_group": _group(row["id_group"]),
            "node_list": row["nodelist"] or "",
            "node_count": row["nodes_alloc"] or resource(row["tres_req"], _NODE),
            "cpu_count": resource(row["tres_alloc"], _CPU) or row["cpus_req"],
            "time_limit_seconds": None if limit is None else 60 * limit,
            "eligible_at": row["time_eligible"] or None,
            "run_seconds": _ran(start, end, row["time_suspended"]),
            "array_job_id": None if task is None else row["id_array_job"],
            "array_task_id": task,
            "het_job_id": None if offset is None else row["het_job_id"],
            "het_offset": offset,
            "slurm_read_bytes": usage[0],
            "slurm_write_bytes": usage[1],
        }
        if "restart_cnt" in row:
            columns["restart_count"] = row["restart_cnt"]
        return job_record(
            self.cluster, row["id_job"], row["time_submit"], user=row["user"] or "",
            uid=row["id_user"], account=row["account"] or "", start_at=start, end_at=end,
            columns=columns,
        )  # fmt: skip

    def _usage(self, keys: list[int]) -> dict[int, tuple[int | None, int | None]]:
        """Return what the steps of jobs read and wrote."""
        steps = self.steps.c
        query = select(steps.job_db_inx, steps.tres_usage_in_tot, steps.tres_usage_out_tot)
        found: dict[int, tuple[int | None, int | None]] = {}
        rows = self.connection.execute(query.where(steps.job_db_inx.in_(keys))).all()
        for row in rows:
            read, written = found.get(row.job_db_inx, (None, None))
            found[row.job_db_inx] = (
                _sum(read, row.tres_usage_in_tot), _sum(written, row.tres_usage_out_tot)
            )  # fmt: skip
        return found


def _sum(so_far: int | None, told: str) -> int | None:
    amount = resource(told, _DISK)
    return so_far if amount is None else (so_far or 0) + amount


@lru_cache(maxsize=65536)
def _group(number: int) -> str:
    """Return the name of a group on this host, as sacct does; without one its number."""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _value(number: int) -> int | None:
    return None if number in _NO_VALUES else number


def _state(number: int) -> str:
    if number & _REQUEUED:
        return "REQUEUED"
    if number & _RESIZING:
        return "RESIZING"
    base = number & _BASE
    return _STATES[base] if base < len(_STATES) else ""


def _ran(start: int | None, end: int | None, suspended: int) -> float | None:
    """Return for how long a job ran, if it has ended."""
    if start is None or end is None:
        return None
    return float(max(end - start - suspended, 0))
