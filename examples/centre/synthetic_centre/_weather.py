# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How busy the demo's storage is, and what happened to it (all assumed)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MINUTE, HOUR, DAY = 60, 3600, 86400
DAYS = 365
SCRATCH, HOME = "demo-scratch", "demo-home"
MOUNTS = (("/scratch", SCRATCH), ("/home", HOME))
SLOW_TARGET = 11
SLOW_DAYS_AGO = 9
FAILOVER_DAY = 240


@dataclass(frozen=True)
class Incident:
    """Something that happened.

    Attributes:
        at / until: Seconds since 1970.
        kind / text: As the portal shows it.
        factor: By which requests take longer meanwhile.
        stops_jobs: Whether no job starts.
    """

    at: int
    until: int
    kind: str
    text: str
    factor: float = 1.0
    stops_jobs: bool = False


class Weather:
    """The state of the storage over the year.

    Attributes:
        start: Of the year, seconds since 1970; on a full hour.
        until: Its end.
        incidents: In the order of time.
    """

    def __init__(self, seed: int, until: int) -> None:
        self.until = until
        self.start = (until - DAYS * DAY) // HOUR * HOUR
        random = np.random.default_rng([seed, 1])
        self._noise = np.exp(random.normal(0.0, 0.12, DAYS * 24 + 48))
        self.incidents = tuple(sorted(self._happened(), key=lambda one: one.at))

    def load(self, at: float) -> float:
        """Return by how much requests take longer than on an idle storage."""
        found = self.business(int(at)) * float(self._noise[self.hour(at)])
        for one in self.incidents:
            if one.at <= at < one.until:
                found *= one.factor
        return found

    def hour(self, at: float) -> int:
        """Return the number of an hour in the year."""
        return min(max(int(at - self.start) // HOUR, 0), len(self._noise) - 1)

    def business(self, at: int) -> float:
        """Return the load of working hours and weekends: 1970 began on a Thursday, UTC."""
        weekday, hour = (at // DAY + 3) % 7, at % DAY // HOUR
        return (1.0 if weekday < 5 else 0.7) * (1.25 if 8 <= hour < 19 else 0.95)

    def is_down(self, at: float) -> bool:
        """Whether no job starts at a moment."""
        return any(one.stops_jobs and one.at <= at < one.until for one in self.incidents)

    def hours(self) -> NDArray[np.int64]:
        """(n,) beginnings of all hours of the year; the last one may not be over yet."""
        return np.arange(self.start, self.until // MINUTE * MINUTE, HOUR)

    def _happened(self) -> list[Incident]:
        found = [
            Incident(self._day(day) + 8 * HOUR, self._day(day) + 16 * HOUR, "maintenance",
                     "Maintenance of the storage: no jobs run. (synthetic)", 1.0, True)
            for day in range(20, DAYS - 15, 61)
        ]  # fmt: skip
        failover = self._day(FAILOVER_DAY) + 10 * HOUR
        slow = self._day(DAYS - SLOW_DAYS_AGO) + 7 * HOUR
        found += [
            Incident(failover, failover + 3 * HOUR, "failover",
                     "Server oss2 failed over to oss1; requests waited for its recovery. "
                     "(synthetic)", 5.0),
            Incident(slow, slow + 12 * HOUR, "target slow",
                     f"Target OST{SLOW_TARGET:04d} rebuilt a disk and was slow. (synthetic)", 2.5),
        ]  # fmt: skip
        return found

    def _day(self, number: int) -> int:
        return self.start + number * DAY
