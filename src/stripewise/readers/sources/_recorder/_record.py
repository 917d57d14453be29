# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""One call as Recorder writes it down, whatever the encoding."""

from __future__ import annotations

from typing import NamedTuple


class Record(NamedTuple):
    """A call of one rank.

    Attributes:
        start / end: Seconds since the trace began.
        name: Of the function.
        level: Nesting depth; 0 of all calls if Recorder did not store it.
        arguments: As texts; blanks inside were replaced by the writer.
        thread: 0 where it is not stored.
    """

    start: float
    end: float
    name: str
    level: int
    arguments: tuple[str, ...]
    thread: int = 0
