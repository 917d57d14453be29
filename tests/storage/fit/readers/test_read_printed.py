# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the readers."""

from __future__ import annotations

from pathlib import Path
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.storage.results._ior_test import each_of, most_spread
from stripewise.storage.results._lines import (
    clock,
    half_digit,
    number,
    option_size,
    options_of,
    size,
)

DATA = Path(__file__).parent / "data"
RATES = st.lists(st.floats(1, 1e6), min_size=1, max_size=3)


@given(RATES)
def test_up_to_three_repeats_follow_from_their_mean(rates: list[float]) -> None:
    low, mean, high = min(rates), sum(rates) / len(rates), max(rates)
    found = each_of(low, mean, high, len(rates))
    assert found == pytest.approx(sorted(rates), rel=1e-6)


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=20))
def test_no_deviation_is_larger_than_the_most(rates: list[float]) -> None:
    mean = sum(rates) / len(rates)
    most = most_spread(min(rates), mean, max(rates), len(rates))
    assert stdev(rates) <= most * (1 + 1e-6) + 1e-6 * mean


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), ("7.7D-02", 0.077), ("1E3", 1000.0), (".5", 0.5), ("nan", None),
     ("inf", None), ("1e999", None), ("0x10", None), ("1_000", None), ("", None),
     ("\u0663", None)],
)  # fmt: skip
def test_numbers(text: str, value: float | None) -> None:
    assert number(text) == value


def test_digits_sizes_and_times() -> None:
    assert half_digit("0.003559") == pytest.approx(5e-7)
    assert half_digit("8124") == 0.5
    assert half_digit("9.1481590294070547E-002") == pytest.approx(5e-19)
    assert size("1.50 GiB") == (1610612736, False)
    assert size("262144 bytes") == (262144, True)
    assert (size("-"), size("1 QiB"), size("0 MiB")) == (None, None, None)
    assert (option_size("256k"), option_size("1g"), option_size("x")) == (262144, 1 << 30, None)
    assert clock("Wed Nov 25 21:57:24 2026") == 1795643844
    assert clock("-- started at 11/25/2026 21:57:24 --") == 1795643844
    assert (clock("Wed Foo 25 21:57:24 2026"), clock("99/99/2026 00:00:00")) == (0, 0)


def test_command_lines() -> None:
    found = options_of("ior -wre -b1m -t=2m -F --posix.odirect -o '/a/b' --x=1", "bto")
    assert found == {"w": "", "r": "", "e": "", "b": "1m", "t": "2m", "F": "",
                     "posix.odirect": "", "o": "/a/b", "x": "1"}  # fmt: skip
