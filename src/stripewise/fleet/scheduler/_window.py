# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which time to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

DAY_SECONDS = 86400
OVERLAP_SECONDS = 2 * DAY_SECONDS
"""How much is read again: slurmctld keeps records back while slurmdbd is away (assumed)."""
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
    start = now - FIRST_SECONDS if last_end is None else last_end - OVERLAP_SECONDS
    return Window(max(min(start, now), 0), now)
