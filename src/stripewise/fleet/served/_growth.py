# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One interval of many series at a time, with roll-ups: what `store_samples` does for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, case, exists, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from stripewise.fleet._fitting import fitted
from stripewise.fleet._names import put_all
from stripewise.fleet._partitions import make_months
from stripewise.fleet._records import SampleRecord
from stripewise.fleet._samples import DAY, RESOLUTIONS, file_system_key, usable
from stripewise.fleet.tables import Rollup, Sample, Series

_AT_ONCE = 400
_INSERTS = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_PARTS = ("covered_seconds", "total", "low", "high")


class _Fresh(NamedTuple):
    series_id: int
    at: int
    seconds: float
    value: float


def store_growth(connection: Connection, records: Iterable[SampleRecord]) -> int:
    """Store samples of many series that are not there yet, and their roll-ups anew.

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
    return sum(_store(connection, rows, counter) for counter, rows in given.items())


def _key(record: SampleRecord) -> tuple[str, str, str, str]:
    return record.file_system, record.server, record.target, record.metric


def _series(
    connection: Connection, records: Sequence[SampleRecord]
) -> dict[tuple[str, str, str, str], int]:
    """Return the keys of series, which are made where they are new."""
    systems = {
        name: file_system_key(connection, name) for name in {x.file_system for x in records}
    }
    rows = {
        _key(one): fitted(Series, {
            "file_system_id": systems[one.file_system], "server": one.server,
            "target": one.target, "metric": one.metric, "unit": one.unit,
            "is_counter": one.is_counter,
        })
        for one in records
    }  # fmt: skip
    known = _known(connection, rows.values())
    fresh = {_place(row): row for row in rows.values() if _place(row) not in known}
    if fresh:
        line: Any = _INSERTS.get(connection.dialect.name, insert)(Series)
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


def _store(
    connection: Connection, given: Mapping[tuple[int, int], _Fresh], is_counter: bool
) -> int:
    number = 0
    for portion in _by_series(given.values()):
        fresh = _not_there(connection, portion)
        if not fresh:
            continue
        make_months(connection, (one.at for one in fresh))
        connection.execute(insert(Sample), [one._asdict() for one in fresh])
        for resolution in RESOLUTIONS:
            _roll_up(connection, fresh, resolution, is_counter)
        number += len(fresh)
    return number


def _by_series(rows: Iterable[_Fresh]) -> Iterable[list[_Fresh]]:
    """Give the rows of so many series at a time."""
    groups: dict[int, list[_Fresh]] = {}
    for one in rows:
        groups.setdefault(one.series_id, []).append(one)
    keys = sorted(groups)
    for start in range(0, len(keys), _AT_ONCE):
        yield [one for key in keys[start : start + _AT_ONCE] for one in groups[key]]


def _not_there(connection: Connection, rows: Sequence[_Fresh]) -> list[_Fresh]:
    """Return rows that are not there yet, without those of days that are closed."""
    ids = {one.series_id for one in rows}
    moments = [one.at for one in rows]
    query = select(Sample.series_id, Sample.at).where(
        Sample.series_id.in_(ids), Sample.at.between(min(moments), max(moments))
    )
    known = {tuple(row) for row in connection.execute(query)}
    raw = exists(
        select(Sample.at).where(
            Sample.series_id == Rollup.series_id,
            Sample.at >= Rollup.at,
            Sample.at < Rollup.at + DAY,
        )
    )
    query = select(Rollup.series_id, Rollup.at).where(
        Rollup.series_id.in_(ids),
        Rollup.resolution_seconds == DAY,
        Rollup.at.in_({at - at % DAY for at in moments}),
        ~raw,
    )
    closed = {tuple(row) for row in connection.execute(query)}
    return [
        one for one in rows
        if (one.series_id, one.at) not in known
        and (one.series_id, one.at - one.at % DAY) not in closed
    ]  # fmt: skip


def _roll_up(
    connection: Connection, fresh: Sequence[_Fresh], resolution: int, is_counter: bool
) -> None:
    """Make the roll-ups anew that samples lie in; the database adds up."""
    wanted = {(one.series_id, one.at - one.at % resolution) for one in fresh}
    starts = [start for _, start in wanted]
    source: Any = Sample if resolution == RESOLUTIONS[0] else Rollup
    columns = _of_samples(is_counter) if source is Sample else _of_rollups()
    start = (source.at - source.at % resolution).label("start")
    query = (
        select(source.series_id, start, *columns)
        .where(
            source.series_id.in_({key for key, _ in wanted}),
            source.at >= min(starts),
            source.at < max(starts) + resolution,
        )
        .group_by(source.series_id, start)
    )
    if source is Rollup:
        finer = RESOLUTIONS[RESOLUTIONS.index(resolution) - 1]
        query = query.where(Rollup.resolution_seconds == finer)
    rows = [
        fitted(Rollup, {"series_id": row[0], "resolution_seconds": resolution, "at": row[1],
                        **dict(zip(_PARTS, row[2:], strict=True))})
        for row in connection.execute(query)
        if (row[0], row[1]) in wanted
    ]  # fmt: skip
    put_all(connection, Rollup, ("series_id", "resolution_seconds", "at"), rows)


def _of_samples(is_counter: bool) -> tuple[Any, ...]:
    if not is_counter:
        total = func.sum(Sample.value * Sample.seconds)
        return func.sum(Sample.seconds), total, func.min(Sample.value), func.max(Sample.value)
    rate = case((Sample.seconds > 0, Sample.value / Sample.seconds), else_=Sample.value)
    return func.sum(Sample.seconds), func.sum(Sample.value), func.min(rate), func.max(rate)


def _of_rollups() -> tuple[Any, ...]:
    return (
        *(func.sum(Rollup.covered_seconds), func.sum(Rollup.total)),
        *(func.min(Rollup.low), func.max(Rollup.high)),
    )
