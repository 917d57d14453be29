# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How much plain counters grew between two readings, for series of targets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from stripewise.monitor._packed import seal, unseal

_KIND, _VERSION = 2, 1


class CounterState(NamedTuple):
    """A counter as it was read.

    Attributes:
        value: Of it.
        monotonic: When, in seconds by the clock that never steps and begins with the host.
        start_at: When whoever counts began, by its clock; None: not told.
    """

    value: float
    monotonic: float
    start_at: int | None = None


class CounterGrowth(NamedTuple):
    """Growth of a counter.

    Attributes:
        amount: Of it.
        seconds: From one reading to the other; None: the host was started in between.
        is_reset: The counter began at zero in between; what it counted before that, and after the
            last reading, is not known.
    """

    amount: float
    seconds: float | None
    is_reset: bool = False


def grow_counter(last: CounterState | None, now: CounterState) -> CounterGrowth | None:
    """Return the growth from one reading to the next; None: there was none before.

    A value less than before, or another `start_at`, means that the counter began anew: all of the
    value is growth.
    """
    if last is None:
        return None
    passed = now.monotonic - last.monotonic
    seconds = passed if passed >= 0 else None
    is_another = None not in (last.start_at, now.start_at) and last.start_at != now.start_at
    if is_another or now.value < last.value:
        return CounterGrowth(now.value, seconds, is_reset=True)
    return CounterGrowth(now.value - last.value, seconds)


def encode_counters(states: Mapping[str, CounterState]) -> bytes:
    """Return counters by name as bytes; whole numbers stay exact."""
    return seal(_KIND, _VERSION, json.dumps({k: list(v) for k, v in states.items()}).encode())


def decode_counters(data: bytes) -> dict[str, CounterState]:
    """Return the counters that were encoded.

    Raises:
        ValueError: The bytes are damaged, or written by another version.
    """
    body = unseal(_KIND, _VERSION, data)
    try:
        return {name: CounterState(*parts) for name, parts in json.loads(body).items()}
    except (TypeError, AttributeError):
        raise ValueError("a stored state of counters is not one") from None
