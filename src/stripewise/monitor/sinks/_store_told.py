# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What was cut by the clock of the sink, in the times that are told.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

from stripewise.monitor.sinks._store_clock import SetBack, SinkClock
from stripewise.monitor.sinks._store_pending import JobRow
from stripewise.monitor.sinks._store_queue import Batch
from stripewise.monitor.sinks._store_series import Told
from stripewise.text import duration_text, plural

_MOST_NAMES = 3
_Cut = TypeVar("_Cut", Told, JobRow)


def as_told(batch: Batch, clock: SinkClock) -> Batch:
    """Return a batch in the times that are told; it is the same unless a clock was set back."""
    return Batch(
        [_moved(one, clock) for one in batch.told], [_moved(one, clock) for one in batch.rows]
    )


def _moved(one: _Cut, clock: SinkClock) -> _Cut:
    return one._replace(at=one.at - clock.lead_of(one.at + one.seconds))


def set_back_words(server: str, one: SetBack) -> str:
    """Return what became of times when a clock was set back, in a sentence."""
    return (
        f"the clock of {server} was ahead by {duration_text(one.seconds)} and was set back: what "
        f"it counted before is told as of {_date(one.begin)} to {_date(one.end)} (UTC), up to "
        f"{duration_text(one.seconds)} too late"
    )


def twice_words(server: str, file_system: str, other: str, targets: Sequence[str]) -> str:
    """Return that another agent tells of the same targets, in a sentence with the remedy."""
    verb = "is" if len(targets) == 1 else "are"
    shown = ", ".join(targets[:_MOST_NAMES]) + (", ..." if len(targets) > _MOST_NAMES else "")
    number = plural(len(targets), "target")
    return (
        f"{number} of {file_system} ({shown}) {verb} told of by the agents of {server} and "
        f"of {other} at the same time, so all that is counted there is in the statistics twice: "
        "end one of both"
    )


def _date(at: float) -> str:
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f} s since 1970"
