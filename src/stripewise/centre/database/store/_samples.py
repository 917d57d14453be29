# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores samples of servers' counters with their roll-ups, and thins them out as they age.

A sample counts in the minute, the hour and the day in which it begins. Days whose samples are not
kept any more are closed: samples that arrive late for them are ignored.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    any_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql

from stripewise.centre.database._records import EventRecord, SampleRecord
from stripewise.centre.database.store._jobs import INSERTS, fitted, put
from stripewise.centre.database.tables._storage import Event, FileSystem, Rollup, Sample, Series

RESOLUTIONS = (60, 3600, 86400)
DAY = 86400
KEPT_DAYS = {0: 14, 60: 90, 3600: 730}
"""Days for which each resolution is kept (0: raw samples); daily roll-ups are kept for ever."""

Part = tuple[float, float, float, float]
"""Covered seconds, total, smallest and largest rate or level."""


_COLUMNS = (
    "series_id", "resolution_seconds", "at", "covered_seconds", "total", "low", "high"
)  # fmt: skip


class _Fresh(NamedTuple):
    series_id: int
    at: int
    seconds: float
    value: float


def store_samples(connection: Connection, record: SampleRecord) -> None:
    """Store new samples of one series, and add them to its roll-ups.

    They may cover many intervals: what a roll-up gains is summed here, and is one row.
    """
    parts: dict[tuple[int, int, int], list[Part]] = defaultdict(list)
    for one in _store_new(connection, [record])[record.is_counter]:
        part = part_of(one.seconds, one.value, record.is_counter)
        for resolution in RESOLUTIONS:
            parts[one.series_id, resolution, one.at - one.at % resolution].append(part)
    if parts:
        rows = [dict(zip(_COLUMNS, (*key, *_sums(some)), strict=True))
                for key, some in sorted(parts.items())]  # fmt: skip
        connection.execute(_added(INSERTS[connection.dialect.name](Rollup)), rows)


def part_of(seconds: float, value: float, counter: bool) -> Part:
    """Return what one sample adds to a roll-up."""
    if not counter:
        return seconds, value * seconds, value, value
    rate = value / seconds if seconds else value
    return seconds, value, rate, rate


def _sums(parts: Sequence[Part]) -> Iterable[float]:
    covered, totals, lows, highs = zip(*parts, strict=True)
    found = (sum(covered), sum(totals), min(lows), max(highs))
    return fitted(Rollup, dict(zip(_COLUMNS[3:], found, strict=True))).values()


def _added(line: Any) -> Any:
    """Return an insert statement for roll-ups that adds to existing rows."""
    new = line.excluded
    return line.on_conflict_do_update(
        index_elements=_COLUMNS[:3],
        set_={
            "covered_seconds": Rollup.covered_seconds + new.covered_seconds,
            "total": Rollup.total + new.total,
            "low": case((new.low < Rollup.low, new.low), else_=Rollup.low),
            "high": case((new.high > Rollup.high, new.high), else_=Rollup.high),
        },
    )


def usable(values: Iterable[tuple[int, float, float]]) -> dict[int, tuple[float, float]]:
    """Return samples by their moment, without impossible ones."""
    found: dict[int, tuple[float, float]] = {}
    for at, seconds, value in values:
        if 0 <= at < LAST and math.isfinite(seconds) and seconds >= 0 and math.isfinite(value):
            found.setdefault(int(at), (float(seconds), float(value)))
    return found


def file_system_key(connection: Connection, name: str) -> int:
    """Return the key of a file system, creating it if it is new."""
    key = fitted(FileSystem, {"name": name})
    put(connection, FileSystem, key, {}, {"mount": ""})
    query = select(FileSystem.id).filter_by(**key)
    return int(connection.execute(query).scalar_one())


def prune_samples(connection: Connection, now: int, kept_days: Mapping[int, int]) -> int:
    """Delete samples and roll-ups past their retention period, and return how many.

    Whole days are deleted, and on PostgreSQL whole months first, as partitions.

    Args:
        connection: Connection within a transaction.
        now: Current time, in seconds since 1970.
        kept_days: Retention as in `KEPT_DAYS`; a resolution without a number is kept for ever.
    """
    gone = 0
    if 0 in kept_days:
        before = _day_before(now, kept_days[0])
        gone += drop_months(connection, before)
        gone += connection.execute(delete(Sample).where(Sample.at < before)).rowcount
    for resolution in RESOLUTIONS:
        if resolution in kept_days:
            line = delete(Rollup).where(
                Rollup.resolution_seconds == resolution,
                Rollup.at < _day_before(now, kept_days[resolution]),
            )
            gone += connection.execute(line).rowcount
    return gone


def _day_before(now: int, days: int) -> int:
    before = now - days * DAY
    return before - before % DAY


def store_event(connection: Connection, record: EventRecord) -> None:
    """Store an event if it is new, or its end if that was unknown."""
    name = record.file_system
    key = fitted(Event, {
        "at": record.at,
        "kind": record.kind,
        "text": record.text,
        "file_system_id": file_system_key(connection, name) if name else None,
        "until": record.until,
    })  # fmt: skip
    until = key.pop("until")
    known = connection.execute(select(Event.id, Event.until).filter_by(**key)).first()
    if known is None:
        connection.execute(insert(Event).values(**key, until=until))
    elif until is not None and (known.until is None or until > known.until):
        connection.execute(update(Event).where(Event.id == known.id).values(until=until))


# Partitions of samples, one per month, on PostgreSQL; other databases have none.

LAST = 4_102_444_800
"""Samples from 2100 on are impossible."""
_NAME = re.compile(r"sample_(\d{4})_(\d{2})")


class _Month(NamedTuple):
    year: int
    month: int

    @property
    def name(self) -> str:
        return f"sample_{self.year:04}_{self.month:02}"

    @property
    def start(self) -> int:
        return int(datetime(self.year, self.month, 1, tzinfo=UTC).timestamp())

    @property
    def next(self) -> _Month:
        return _Month(self.year + self.month // 12, self.month % 12 + 1)


def make_months(connection: Connection, moments: Iterable[int]) -> None:
    """Create the partitions of the months that contain some moments."""
    if connection.dialect.name != "postgresql":
        return
    found = (datetime.fromtimestamp(day * 86400, UTC) for day in {at // 86400 for at in moments})
    for month in sorted({_Month(one.year, one.month) for one in found} - set(_months(connection))):
        connection.execute(text(
            f"CREATE TABLE {month.name} PARTITION OF sample "
            f"FOR VALUES FROM ({month.start}) TO ({month.next.start})"
        ))  # fmt: skip


def drop_months(connection: Connection, before: int) -> int:
    """Drop the partitions that end before a moment, and return how many rows they had."""
    if connection.dialect.name != "postgresql":
        return 0
    gone = 0
    for month in _months(connection):
        if month.next.start <= before:
            gone += connection.scalar(text(f"SELECT count(*) FROM {month.name}")) or 0
            connection.execute(text(f"DROP TABLE {month.name}"))
    return gone


def _months(connection: Connection) -> list[_Month]:
    query = text(
        "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid "
        "WHERE inhparent = 'sample'::regclass"
    )
    names = (_NAME.fullmatch(name) for name in connection.scalars(query))
    return [_Month(int(found[1]), int(found[2])) for found in names if found]


# Storage of one interval of many series at a time; `store_samples` stores many intervals of one.


def store_growth(connection: Connection, records: Iterable[SampleRecord]) -> int:
    """Store new samples of many series, and add them to their roll-ups.

    It is made for one interval of each series: each statement handles all series at once.

    Args:
        connection: Connection within a transaction in which `write_alone` was called.
        records: Samples; those of one series may be in several records.

    Returns:
        The number of new samples.
    """
    found = _store_new(connection, list(records))
    for is_counter, fresh in found.items():
        if fresh:
            _roll_up_growth(connection, fresh, is_counter)
    return sum(map(len, found.values()))


def _store_new(
    connection: Connection, records: Sequence[SampleRecord]
) -> dict[bool, list[_Fresh]]:
    """Store the new samples of counters (True) or levels (False), and return them."""
    keys = series_keys(connection, records)
    given: dict[bool, dict[tuple[int, int], _Fresh]] = {True: {}, False: {}}
    for record in records:
        series_id = keys[_key(record)]
        for at, (seconds, value) in usable(record.values).items():
            one = _Fresh(series_id, at, seconds, value)
            given[record.is_counter].setdefault((series_id, at), one)
    found = {
        is_counter: _not_there(connection, [*rows.values()]) if rows else []
        for is_counter, rows in given.items()
    }
    for fresh in filter(None, found.values()):
        make_months(connection, (one.at for one in fresh))
        connection.execute(insert(Sample), [one._asdict() for one in fresh])
    return found


def _key(record: SampleRecord) -> tuple[str, str, str, str]:
    return record.file_system, record.server, record.target, record.metric


def series_keys(
    connection: Connection, records: Sequence[SampleRecord]
) -> dict[tuple[str, str, str, str], int]:
    """Return the keys of series, creating new ones."""
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
        line: Any = INSERTS[connection.dialect.name](Series)
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


def _not_there(connection: Connection, rows: Sequence[_Fresh]) -> list[_Fresh]:
    """Return rows that are not stored yet, without those of closed days."""
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


def _roll_up_growth(connection: Connection, fresh: Iterable[_Fresh], is_counter: bool) -> None:
    """Add new samples to the roll-ups that contain them, within the database."""
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
    return _added(INSERTS[dialect](Rollup).from_select(_COLUMNS, parts))


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
