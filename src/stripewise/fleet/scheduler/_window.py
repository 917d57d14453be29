# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which time to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

DAY_SECONDS = 86400
OVERLAP_SECONDS = 3600
"""How much is read again each time: slurmctld keeps records back while slurmdbd is away, and
hands them over when it is there again (assumed)."""
DAILY_SECONDS = 2 * DAY_SECONDS
"""How much is read again once a day, for what took longer (assumed)."""
FIRST_SECONDS = 30 * DAY_SECONDS
"""How far back the first reading goes, unless more is asked for."""


@dataclass(frozen=True)
class Window:
    """A span of time.

    Attributes:
        start / end: Seconds since 1970.
    """

    start: int
    end: int

    def days(self) -> Iterator[Window]:
        """Divide it into spans of a day at most: each is one question that slurmdbd can bear."""
        start = self.start
        while start < self.end:
            end = min(start + DAY_SECONDS, self.end)
            yield Window(start, end)
            start = end


def window(last_end: int | None, now: int) -> Window:
    """Return which time to read next.

    Slurm lists every job that waited or ran at any moment of a span: one that ran when it was
    last asked has ended since, or runs still, and is in the new span either way.

    Args:
        last_end: End of what was read before; None: nothing was.
        now: Seconds since 1970.
    """
    if last_end is None:
        return Window(max(now - FIRST_SECONDS, 0), now)
    same_day = last_end // DAY_SECONDS == now // DAY_SECONDS
    start = last_end - (OVERLAP_SECONDS if same_day else DAILY_SECONDS)
    return Window(max(min(start, now), 0), now)
