# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How long targets take for an operation, and which of them are slow.

Means of a time are all seconds by all operations, over the roll-ups that have both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from stripewise.fleet._samples import DAY, RESOLUTIONS
from stripewise.fleet.queries._metrics import SERVICE_OPERATIONS, SERVICE_SECONDS
from stripewise.fleet.tables import Rollup, Series

SLOW_FACTOR = 3.0
"""So many times the usual is slow (chosen)."""
SLOW_LEAST_SECONDS = 0.001
"""Nothing is slow that takes no longer than this beyond the usual (chosen)."""
FEWEST_OPERATIONS = 100
"""A mean over fewer operations says nothing (chosen)."""
FEWEST_OF_KIND = 4
"""With fewer targets of a kind, none of them is compared with the others (chosen)."""
_KIND = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class Service:
    """Seconds that operations took, and how many they were."""

    seconds: float = 0.0
    operations: float = 0.0

    @property
    def mean(self) -> float | None:
        """Seconds of an operation; None: there are too few to say."""
        enough = self.operations >= FEWEST_OPERATIONS
        return max(self.seconds, 0.0) / self.operations if enough else None

    def __add__(self, other: Service) -> Service:
        """Return both together."""
        return Service(self.seconds + other.seconds, self.operations + other.operations)


@dataclass(frozen=True)
class SlowTarget:
    """A target that takes long.

    Attributes:
        target: Its name.
        seconds: Mean time of an operation.
        usual_seconds: What it is compared with.
        is_own: That is its own past; otherwise the others of its kind.
    """

    target: str
    seconds: float
    usual_seconds: float
    is_own: bool = False


def kind_of(target: str) -> str:
    """Return the kind of a target, by the letters that its name begins with: "OST", "MDT"."""
    found = _KIND.match(target.rpartition("-")[2])
    return found.group().upper() if found else ""


def is_slow(seconds: float | None, usual: float | None) -> bool:
    """Whether an operation takes far longer than usual; False where one of them is not known."""
    if seconds is None or usual is None:
        return False
    return seconds > SLOW_FACTOR * usual and seconds - usual > SLOW_LEAST_SECONDS


def services(
    connection: Connection,
    file_system_id: int,
    since: int,
    until: int,
    resolution: int,
    hours: Sequence[int] = (),
) -> dict[str, Service]:
    """Return the service of each target of a file system in a time.

    Args:
        connection: To the database.
        file_system_id: Its key.
        since: Begin of the time.
        until: End of it.
        resolution: Of the roll-ups that are read, in seconds.
        hours: Of the day (UTC), the others are left out; (): all.
    """
    every = range(since + -since % resolution, until, resolution)
    wanted = set(hours)
    moments = [at for at in every if at % DAY // 3600 in wanted]
    if hours and not moments:
        return {}
    query, seconds, operations = _both(file_system_id, since, until, resolution, moments)
    columns = (func.sum(seconds.total), func.sum(operations.total))
    query = query.add_columns(Series.target, *columns).group_by(Series.target)
    rows: Any = connection.execute(query)
    return {target: Service(spent, number) for target, spent, number in rows}


def services_by_hour(
    connection: Connection, file_system_id: int, since: int, until: int
) -> dict[tuple[str, str], dict[int, Service]]:
    """Return the service in each hour of a time, by server and kind of its targets."""
    query, seconds, operations = _both(file_system_id, since, until, 3600)
    query = query.add_columns(
        *(Series.server, Series.target, seconds.at, seconds.total, operations.total)
    )
    found: dict[tuple[str, str], dict[int, Service]] = {}
    rows: Any = connection.execute(query)
    for server, target, at, spent, number in rows:
        hours = found.setdefault((server, kind_of(target)), {})
        hours[at] = hours.get(at, Service()) + Service(spent, number)
    return found


def _both(
    file_system_id: int, since: int, until: int, resolution: int, moments: Sequence[int] = ()
) -> tuple[Any, Any, Any]:
    """Begin a query of roll-ups of seconds and operations of the same target and moment.

    With `moments`, of these alone: each is one step of the index, instead of a walk along it.
    """
    other = aliased(Series)
    seconds, operations = aliased(Rollup), aliased(Rollup)
    query = (
        select()
        .select_from(Series)
        .join(
            other,
            (other.file_system_id == Series.file_system_id)
            & (other.server == Series.server)
            & (other.target == Series.target)
            & (other.metric == SERVICE_OPERATIONS),
        )
        .join(seconds, seconds.series_id == Series.id)
        .join(
            operations,
            (operations.series_id == other.id)
            & (operations.resolution_seconds == resolution)
            & (operations.at == seconds.at),
        )
        .where(
            Series.file_system_id == file_system_id,
            Series.metric == SERVICE_SECONDS,
            Series.target != "",
            seconds.resolution_seconds == resolution,
            *(
                (seconds.at.in_(moments), operations.at.in_(moments))
                if moments
                else (seconds.at >= since, seconds.at < until)
            ),
            func.abs(seconds.covered_seconds - operations.covered_seconds) < 1.0,
        )
    )
    return query, seconds, operations


def finest_times(connection: Connection, file_system_id: int, since: int, until: int) -> int:
    """Return the finest resolution of roll-ups of services that there is for a time."""
    of_times = select(Series.id).where(
        Series.file_system_id == file_system_id, Series.metric == SERVICE_SECONDS
    )
    for resolution in RESOLUTIONS[:-1]:
        begin = since - since % resolution
        there = select(Rollup.at).where(
            Rollup.series_id.in_(of_times), Rollup.resolution_seconds == resolution,
            Rollup.at >= begin, Rollup.at < until,
        )  # fmt: skip
        if connection.execute(there.limit(1)).first():
            return resolution
    return RESOLUTIONS[-1]


def slow_among(found: Mapping[str, Service]) -> list[SlowTarget]:
    """Return the targets that take far longer than the median of their kind, slowest first."""
    kinds: dict[str, dict[str, float]] = {}
    for target, one in found.items():
        if one.mean is not None:
            kinds.setdefault(kind_of(target), {})[target] = one.mean
    slow = [
        SlowTarget(target, seconds, middle)
        for means in kinds.values()
        if len(means) >= FEWEST_OF_KIND
        for middle in (median(means.values()),)
        for target, seconds in means.items()
        if is_slow(seconds, middle)
    ]
    return sorted(slow, key=lambda one: (-one.seconds, one.target))


def can_compare(found: Mapping[str, Service]) -> bool:
    """Whether enough targets of one kind tell their times to say which is slow."""
    kinds = [kind_of(target) for target, one in found.items() if one.mean is not None]
    return any(kinds.count(kind) >= FEWEST_OF_KIND for kind in set(kinds))
