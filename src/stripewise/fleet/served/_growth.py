# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One interval of many series at a time, with roll-ups: what `store_samples` does for one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    any_,
    bindparam,
    case,
    exists,
    func,
    insert,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from stripewise.fleet._fitting import fitted
from stripewise.fleet._partitions import make_months
from stripewise.fleet._records import SampleRecord
from stripewise.fleet._samples import DAY, RESOLUTIONS, file_system_key, usable
from stripewise.fleet.tables import Rollup, Sample, Series

_INSERTS = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_COLUMNS = (
    "series_id", "resolution_seconds", "at", "covered_seconds", "total", "low", "high"
)  # fmt: skip


class _Fresh(NamedTuple):
    series_id: int
    at: int
    seconds: float
    value: float


def store_growth(connection: Connection, records: Iterable[SampleRecord]) -> int:
    """Store samples of many series that are not there yet, and add them to their roll-ups.

    It is made for one interval of each: statements go by all series, not by each.

    Args:
        connection: Within a transaction of which `write_alone` is true.
        records: Samples; those of one series may come in several records.

    Returns:
        How many samples are new.
    """
    records = list(records)
    keys = _series(connection, records)
    given: dict[bool, dict[tuple[int, int], _Fresh]] = {True: {}, False: {}}
    for record in records:
        series_id = keys[_key(record)]
        for at, (seconds, value) in usable(record.values).items():
            one = _Fresh(series_id, at, seconds, value)
            given[record.is_counter].setdefault((series_id, at), one)
    return sum(_store(connection, [*rows.values()], counter) for counter, rows in given.items())


def _key(record: SampleRecord) -> tuple[str, str, str, str]:
    return record.file_system, record.server, record.target, record.metric


def _series(
    connection: Connection, records: Sequence[SampleRecord]
) -> dict[tuple[str, str, str, str], int]:
    """Return the keys of series, which are made where they are new."""
    systems = {
        name: file_system_key(connection, name) for name in {x.file_system for x in records}
    }
    servers = {name: fitted(Series, {"server": name})["server"] for name in
               {x.server for x in records}}  # fmt: skip
    rows: dict[tuple[str, str, str, str], dict[str, Any]] = {
        _key(one): {
            "file_system_id": systems[one.file_system], "server": servers[one.server],
            "target": one.target, "metric": one.metric, "unit": one.unit,
            "is_counter": one.is_counter,
        }
        for one in records
    }  # fmt: skip
    known = _known(connection, rows.values())
    for key, row in rows.items():
        if _place(row) not in known:  # or not under this name
            rows[key] = fitted(Series, row)
    fresh = {_place(row): row for row in rows.values() if _place(row) not in known}
    if fresh:
        line: Any = _INSERTS[connection.dialect.name](Series)
        names = ("file_system_id", "server", "target", "metric")
        connection.execute(line.on_conflict_do_nothing(index_elements=names), [*fresh.values()])
        known |= _known(connection, fresh.values())
    return {key: known[_place(row)] for key, row in rows.items()}


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["file_system_id"], row["server"], row["target"], row["metric"]


def _known(
    connection: Connection, rows: Iterable[Mapping[str, Any]]
) -> dict[tuple[Any, ...], int]:
    found: dict[tuple[Any, ...], int] = {}
    for file_system_id, server in {(row["file_system_id"], row["server"]) for row in rows}:
        query = select(Series.id, Series.target, Series.metric).filter_by(
            file_system_id=file_system_id, server=server
        )
        for key, target, metric in connection.execute(query):
            found[file_system_id, server, target, metric] = key
    return found


def _store(connection: Connection, given: Sequence[_Fresh], is_counter: bool) -> int:
    fresh = _not_there(connection, given) if given else []
    if fresh:
        make_months(connection, (one.at for one in fresh))
        connection.execute(insert(Sample), [one._asdict() for one in fresh])
        _roll_up(connection, fresh, is_counter)
    return len(fresh)


def _not_there(connection: Connection, rows: Sequence[_Fresh]) -> list[_Fresh]:
    """Return rows that are not there yet, without those of days that are closed."""
    dialect = connection.dialect.name
    ids = {"ids": _many(connection, {one.series_id for one in rows})}
    moments = [one.at for one in rows]
    query = select(Sample.series_id, Sample.at).where(
        _among(dialect, Sample.series_id), Sample.at.between(min(moments), max(moments))
    )
    known = {tuple(row) for row in connection.execute(query, ids)}
    raw = exists(
        select(Sample.at).where(
            Sample.series_id == Rollup.series_id,
            Sample.at >= Rollup.at,
            Sample.at < Rollup.at + DAY,
        )
    )
    query = select(Rollup.series_id, Rollup.at).where(
        _among(dialect, Rollup.series_id),
        Rollup.resolution_seconds == DAY,
        Rollup.at.in_({at - at % DAY for at in moments}),
        ~raw,
    )
    closed = {tuple(row) for row in connection.execute(query, ids)}
    return [
        one for one in rows
        if (one.series_id, one.at) not in known
        and (one.series_id, one.at - one.at % DAY) not in closed
    ]  # fmt: skip


def _roll_up(connection: Connection, fresh: Iterable[_Fresh], is_counter: bool) -> None:
    """Add samples that were not there to the roll-ups in which they lie; the database does it."""
    moments: dict[int, list[int]] = {}
    for one in fresh:
        moments.setdefault(one.at, []).append(one.series_id)
    connection.execute(_adding(connection.dialect.name, is_counter), [
        {"ids": _many(connection, ids), "moment": at, "resolution": resolution,
         "begin": at - at % resolution}
        for at, ids in moments.items() for resolution in RESOLUTIONS
    ])  # fmt: skip


@cache
def _adding(dialect: str, is_counter: bool) -> Any:
    """Return the statement that adds the samples of one moment to roll-ups."""
    value, seconds = Sample.value, Sample.seconds
    rate: Any = value
    if is_counter:
        rate = case((seconds > 0, value / seconds), else_=value)
    place = (
        Sample.series_id,
        bindparam("resolution", type_=Integer),
        bindparam("begin", type_=BigInteger),
    )
    total = value if is_counter else value * seconds
    parts = select(*place, seconds, total, rate, rate).where(
        _among(dialect, Sample.series_id), Sample.at == bindparam("moment")
    )
    line: Any = _INSERTS[dialect](Rollup)
    new = line.excluded
    return line.from_select(_COLUMNS, parts).on_conflict_do_update(
        index_elements=_COLUMNS[:3],
        set_={
            "covered_seconds": Rollup.covered_seconds + new.covered_seconds,
            "total": Rollup.total + new.total,
            "low": case((new.low < Rollup.low, new.low), else_=Rollup.low),
            "high": case((new.high > Rollup.high, new.high), else_=Rollup.high),
        },
    )


def _among(dialect: str, column: Any) -> Any:
    """Return the condition that a number is one of `_many`."""
    if dialect == "postgresql":
        return column == any_(bindparam("ids", type_=postgresql.ARRAY(Integer)))
    each = func.json_each(bindparam("ids")).table_valued("value")
    return column.in_(select(each.c.value))


def _many(connection: Connection, numbers: Iterable[int]) -> Any:
    """Return many numbers as one parameter."""
    found = [*numbers]
    return found if connection.dialect.name == "postgresql" else json.dumps(found)
