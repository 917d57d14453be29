# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which targets servers told of when: one that another server took over has a series at both."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, case, func, select

from stripewise.fleet._samples import DAY
from stripewise.fleet.queries._brief import briefly
from stripewise.fleet.tables import Rollup, Series

RETIRED_SECONDS = 7 * DAY
"""A series that has been silent for longer is taken to be out of service (chosen)."""


@dataclass(frozen=True)
class Moved:
    """Which series are of targets of which several servers have told, as after a failover.

    Attributes:
        is_within: Several of the series that are looked at are of one target and metric.
        elsewhere: Further series of their targets and metrics, at other servers.
        same: Series that are looked at -> a key that those of one target and metric share.
    """

    is_within: bool
    elsewhere: Sequence[int]
    same: Mapping[int, Any]

    @classmethod
    def read(cls, connection: Connection, ids: Sequence[int]) -> Moved:
        """Look which of some series are so."""
        return briefly(connection, ("moved", *ids), lambda: cls._read(connection, ids))

    @classmethod
    def _read(cls, connection: Connection, ids: Sequence[int]) -> Moved:
        mine = set(ids)
        kinds = select(Series.file_system_id, Series.metric).where(Series.id.in_(ids)).distinct()
        of = kinds.subquery()
        query = select(Series.id, Series.file_system_id, Series.target, Series.metric).join(
            of, and_(Series.file_system_id == of.c.file_system_id, Series.metric == of.c.metric)
        )
        every = {
            key: (place, target, metric) if target else key
            for key, place, target, metric in connection.execute(query)
        }
        same = {key: one for key, one in every.items() if key in mine}
        there = set(same.values())
        others = [key for key, one in every.items() if key not in mine and one in there]
        return cls(len(there) < len(same), others, same)

    def grouped(self, query: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return a query of roll-ups, and by what they are to be grouped."""
        if not self.is_within:
            return query, (Rollup.series_id,)
        own = case((Series.target == "", Series.server), else_="")
        place = (Series.file_system_id, Series.target, Series.metric, own)
        return query.join(Series, Series.id == Rollup.series_id), place

    def away(
        self, connection: Connection, since: int, until: int, resolution: int, width: int
    ) -> dict[int, int]:
        """Return how many targets other servers told of in each interval."""
        if not self.elsewhere:
            return {}
        begin = (Rollup.at - Rollup.at % width).label("begin")
        query = select(begin, Series.target, Series.metric).distinct()
        query = query.join(Series, Series.id == Rollup.series_id)
        each = query.where(*rollups_within(self.elsewhere, since, until, resolution)).subquery()
        count = select(each.c.begin, func.count()).group_by(each.c.begin)
        rows: Any = connection.execute(count)
        return {at: number for at, number in rows}


@dataclass(frozen=True)
class InService:
    """How many series, or targets, were in service when.

    Attributes:
        begins / ends: Of each, sorted.
    """

    begins: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def read(
        cls, connection: Connection, ids: Sequence[int], since: int, until: int, moved: Moved
    ) -> InService:
        """Read the days of the first and the last sample of each target within a time."""
        query = select(func.min(Rollup.at), func.max(Rollup.at))
        days, one = moved.grouped(
            query.where(*rollups_within(ids, since - since % DAY, until, DAY))
        )
        rows: Any = connection.execute(days.group_by(*one)).all()
        ends = [until if last + RETIRED_SECONDS > until else last + DAY for _, last in rows]
        return cls(sorted(first for first, _ in rows), sorted(ends))

    def at(self, moment: int) -> int:
        """Return the number at a moment."""
        return bisect_right(self.begins, moment) - bisect_right(self.ends, moment)


def rollups_within(ids: Sequence[int], since: int, until: int, resolution: int) -> tuple[Any, ...]:
    """Return the conditions that roll-ups are of some series, within a time, and known."""
    return (
        Rollup.series_id.in_(ids),
        Rollup.resolution_seconds == resolution,
        Rollup.at >= since,
        Rollup.at < until,
        Rollup.covered_seconds > 0,
    )
