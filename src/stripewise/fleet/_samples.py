# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What servers counted over time: stored with its roll-ups, and thinned out as it ages.

A sample counts in the minute, the hour and the day in which it begins.  Days of which the samples
are no longer kept are closed: what comes late for them is passed over.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, exists, insert, select, update

from stripewise.fleet._fitting import fitted
from stripewise.fleet._names import put, put_all
from stripewise.fleet._partitions import LAST, drop_months, make_months
from stripewise.fleet._records import EventRecord, Row, SampleRecord
from stripewise.fleet.tables import Event, FileSystem, Rollup, Sample, Series

RESOLUTIONS = (60, 3600, 86400)
DAY = 86400
KEPT_DAYS = {0: 14, 60: 90, 3600: 730}
"""Resolution (0: samples as they came) -> days for which it is kept; days are kept for ever."""

Part = tuple[float, float, float, float]
"""Seconds that are covered, total, least and greatest rate or level."""


def store_samples(connection: Connection, record: SampleRecord) -> None:
    """Store samples that are not there yet, and their roll-ups anew."""
    series_id = _series(connection, record)
    fresh = _fresh(connection, series_id, usable(record.values))
    if not fresh:
        return
    make_months(connection, fresh)
    connection.execute(insert(Sample), [
        {"series_id": series_id, "at": at, "seconds": seconds, "value": value}
        for at, (seconds, value) in fresh.items()
    ])  # fmt: skip
    parts: Iterable[tuple[int, Part]] = _of_samples(
        connection, series_id, fresh, record.is_counter
    )
    for resolution in RESOLUTIONS:
        starts = {at - at % resolution for at in fresh}
        if resolution != RESOLUTIONS[0]:
            finer = RESOLUTIONS[RESOLUTIONS.index(resolution) - 1]
            parts = _of_rollups(
                connection, series_id, finer, min(starts), max(starts) + resolution
            )
        _roll_up(connection, series_id, resolution, starts, parts)


def usable(values: Iterable[tuple[int, float, float]]) -> dict[int, tuple[float, float]]:
    """Return samples by their moment, without those that cannot be."""
    found: dict[int, tuple[float, float]] = {}
    for at, seconds, value in values:
        if 0 <= at < LAST and math.isfinite(seconds) and seconds >= 0 and math.isfinite(value):
            found.setdefault(int(at), (float(seconds), float(value)))
    return found


def _fresh(
    connection: Connection, series_id: int, given: Mapping[int, tuple[float, float]]
) -> dict[int, tuple[float, float]]:
    """Return samples that are not there yet, without those of days that are closed."""
    if not given:
        return {}
    known = set(connection.scalars(
        select(Sample.at).where(
            Sample.series_id == series_id, Sample.at.between(min(given), max(given))
        )
    ))  # fmt: skip
    days = {at - at % DAY for at in given if at not in known}
    closed = {day for day in days if _is_closed(connection, series_id, day)}
    return {
        at: one for at, one in given.items() if at not in known and at - at % DAY not in closed
    }


def _is_closed(connection: Connection, series_id: int, day: int) -> bool:
    key = {"series_id": series_id, "resolution_seconds": DAY, "at": day}
    rolled = exists(select(Rollup.at).filter_by(**key))
    raw = exists(
        select(Sample.at).where(
            Sample.series_id == series_id, Sample.at >= day, Sample.at < day + DAY
        )
    )
    return bool(connection.scalar(select(rolled & ~raw)))


def store_history(connection: Connection, record: SampleRecord, rollups: Sequence[Row]) -> None:
    """Store a series that is not there yet at once, with roll-ups that are made already.

    Args:
        connection: Within a transaction.
        record: Its samples.
        rollups: Rows of `tables.Rollup`, without their series.
    """
    series_id = _series(connection, record)
    if record.values:
        make_months(connection, (at for at, _, _ in record.values))
        connection.execute(insert(Sample), [
            {"series_id": series_id, "at": at, "seconds": seconds, "value": value}
            for at, seconds, value in record.values
        ])  # fmt: skip
    if rollups:
        connection.execute(insert(Rollup), [{"series_id": series_id, **row} for row in rollups])


def _series(connection: Connection, record: SampleRecord) -> int:
    key = {
        "file_system_id": file_system_key(connection, record.file_system),
        "server": record.server,
        "target": record.target,
        "metric": record.metric,
    }
    key = fitted(Series, key)
    values = fitted(Series, {"unit": record.unit, "is_counter": record.is_counter})
    put(connection, Series, key, {}, values)
    query = select(Series.id).filter_by(**key)
    return int(connection.execute(query).scalar_one())


def file_system_key(connection: Connection, name: str) -> int:
    """Return the key of a file system, which is made if it is new."""
    key = fitted(FileSystem, {"name": name})
    put(connection, FileSystem, key, {}, {"mount": ""})
    query = select(FileSystem.id).filter_by(**key)
    return int(connection.execute(query).scalar_one())


def _of_samples(
    connection: Connection, series_id: int, moments: Iterable[int], counter: bool
) -> list[tuple[int, Part]]:
    """Return all samples of the minutes that moments lie in."""
    minutes = {at - at % RESOLUTIONS[0] for at in moments}
    query = select(Sample.at, Sample.seconds, Sample.value).where(
        Sample.series_id == series_id,
        Sample.at >= min(minutes),
        Sample.at < max(minutes) + RESOLUTIONS[0],
    )
    return [
        (at, part_of(seconds, value, counter))
        for at, seconds, value in connection.execute(query.order_by(Sample.at))
    ]


def part_of(seconds: float, value: float, counter: bool) -> Part:
    """Return what one sample adds to a roll-up."""
    if not counter:
        return seconds, value * seconds, value, value
    rate = value / seconds if seconds else value
    return seconds, value, rate, rate


def _of_rollups(
    connection: Connection, series_id: int, resolution: int, first: int, after: int
) -> list[tuple[int, Part]]:
    columns = (Rollup.covered_seconds, Rollup.total, Rollup.low, Rollup.high)
    query = select(Rollup.at, *columns).where(
        Rollup.series_id == series_id,
        Rollup.resolution_seconds == resolution,
        Rollup.at >= first,
        Rollup.at < after,
    )
    found = connection.execute(query.order_by(Rollup.at)).all()
    return [(at, (covered, total, low, high)) for at, covered, total, low, high in found]


def _roll_up(
    connection: Connection,
    series_id: int,
    resolution: int,
    starts: set[int],
    parts: Iterable[tuple[int, Part]],
) -> None:
    """Make roll-ups anew from all parts of their intervals."""
    groups: dict[int, list[Part]] = defaultdict(list)
    for at, part in parts:
        groups[at - at % resolution].append(part)
    rows = [
        {"series_id": series_id, "resolution_seconds": resolution, "at": start,
         **_sums(groups[start])}
        for start in sorted(starts)
    ]  # fmt: skip
    put_all(connection, Rollup, ("series_id", "resolution_seconds", "at"), rows)


def _sums(parts: Sequence[Part]) -> dict[str, Any]:
    covered, totals, lows, highs = zip(*parts, strict=True)
    row = {"covered_seconds": sum(covered), "total": sum(totals), "low": min(lows),
           "high": max(highs)}  # fmt: skip
    return fitted(Rollup, row)


def prune_samples(connection: Connection, now: int, kept_days: Mapping[int, int]) -> int:
    """Delete samples and roll-ups that are older than they are kept; return how many.

    Whole days go, and on PostgreSQL whole months first, as partitions.

    Args:
        connection: Within a transaction.
        now: Seconds since 1970.
        kept_days: As `KEPT_DAYS`; a resolution without a number is kept for ever.
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
    """Store an event that is not there yet, or its end if that was not known."""
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
