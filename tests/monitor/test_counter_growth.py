# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Growth of plain counters."""

from __future__ import annotations

import pytest

from stripewise.monitor._counter_growth import (
    CounterGrowth,
    CounterState,
    decode_counters,
    encode_counters,
    grow_counter,
)

LAST = CounterState(100, 10.0, 7)


@pytest.mark.parametrize(
    ("last", "now", "growth"),
    [
        (None, CounterState(5, 1.0), None),
        (LAST, CounterState(130, 25.0, 7), CounterGrowth(30, 15.0)),
        (LAST, CounterState(100, 25.0, None), CounterGrowth(0, 15.0)),
        (LAST, CounterState(40, 25.0, 7), CounterGrowth(40, 15.0, True)),
        (LAST, CounterState(140, 25.0, 8), CounterGrowth(140, 15.0, True)),
        (LAST, CounterState(130, 9.0, 7), CounterGrowth(30, None)),
        (CounterState(2**63, 0.0), CounterState(2**63 + 1, 1.0), CounterGrowth(1, 1.0)),
    ],
)
def test_growth(
    last: CounterState | None, now: CounterState, growth: CounterGrowth | None
) -> None:
    assert grow_counter(last, now) == growth


def test_states_as_bytes() -> None:
    states = {"a/b": LAST, "c": CounterState(2**64 - 1, 0.25), "d": CounterState(0.1, 1e9, 2)}
    assert decode_counters(encode_counters(states)) == states


@pytest.mark.parametrize("cut", range(1, 20))
def test_damaged_states_are_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="stored state"):
        decode_counters(encode_counters({"a": LAST})[:-cut])
