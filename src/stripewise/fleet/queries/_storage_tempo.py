# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How the load of a file system runs over days: periodic, bursty, steady or random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from stripewise.fleet._samples import DAY
from stripewise.fleet.queries._everybody import kept
from stripewise.fleet.queries._metrics import METADATA, READ, WRITE
from stripewise.fleet.queries._series import Curve, curve, for_whole, parts_of, width_for
from stripewise.fleet.queries._temporal import TemporalPattern, temporal_pattern

TEMPO_DAYS = (7, 28)
TEMPO_METRICS = (READ, WRITE, METADATA)
_HOUR = 3600
_MOST_MINUTES = 3_000_000
"""Roll-ups of minutes that are read for one page, which is kept for an hour (chosen)."""


@dataclass(frozen=True)
class DayTempo:
    """One day (UTC), or the part of it that is over.

    Attributes:
        at: Its begin.
        patterns: By metric, of its minutes.
    """

    at: int
    patterns: Mapping[str, TemporalPattern]


@dataclass(frozen=True)
class StorageTempo:
    """A file system over some days.

    Attributes:
        moments: Begins of the hours.
        curves: Means of hours, by metric.
        patterns: Of the hours of all days together, by metric.
        days: The newest first; (): there are too many series to look at their minutes.
    """

    moments: Sequence[int]
    curves: Mapping[str, Curve]
    patterns: Mapping[str, TemporalPattern]
    days: Sequence[DayTempo]


def storage_tempo(
    connection: Connection, file_system_id: int, days: int, now: float
) -> StorageTempo:
    """Return how the whole load of a file system runs; the same for all viewers, once an hour.

    Args:
        connection: To the database.
        file_system_id: Key of the file system.
        days: Up to now.
        now: Seconds since 1970.
    """
    name = ("tempo", file_system_id, days)
    return kept(connection, name, now, lambda: _tempo(connection, file_system_id, days, int(now)))


def _tempo(connection: Connection, file_system_id: int, days: int, now: int) -> StorageTempo:
    parts = parts_of(connection, file_system_id)
    ids = {metric: for_whole(parts, metric) for metric in TEMPO_METRICS}
    until = now - now % _HOUR
    moments = range(until - days * DAY, until, _HOUR)
    curves = {
        metric: curve(connection, some, moments[0], until, _HOUR) for metric, some in ids.items()
    }
    patterns = {metric: temporal_pattern(one.at(moments), _HOUR) for metric, one in curves.items()}
    minutes = sum(map(len, ids.values())) * days * DAY // 60
    found = _days(connection, ids, days, now) if minutes <= _MOST_MINUTES else []
    return StorageTempo(moments, curves, patterns, found)


def _days(
    connection: Connection, ids: Mapping[str, Sequence[int]], days: int, now: int
) -> list[DayTempo]:
    widths = {metric: width_for(connection, some, 60) for metric, some in ids.items()}
    today = now - now % DAY
    return [
        DayTempo(at, {
            metric: _of_day(connection, some, (at, min(at + DAY, now)), widths[metric])
            for metric, some in ids.items()
        })
        for at in range(today, today - days * DAY, -DAY)
    ]  # fmt: skip


def _of_day(
    connection: Connection, ids: Sequence[int], span: tuple[int, int], width: int
) -> TemporalPattern:
    begin = span[0] - span[0] % width
    moments = range(begin, span[1] - width + 1, width)
    found = curve(connection, ids, begin, span[1], 60, width=width)
    return temporal_pattern(found.at(moments), width)
