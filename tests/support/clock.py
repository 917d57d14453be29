# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A clock that stands still until it is told."""

from __future__ import annotations


class Clock:
    """Seconds since 1970; an instance is called as time.time is."""

    def __init__(self, seconds: int = 1_800_000_000) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        """Return the time."""
        return float(self.seconds)

    def pass_by(self, seconds: int) -> None:
        """Let time go by."""
        self.seconds += seconds
