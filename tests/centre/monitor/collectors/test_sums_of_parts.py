# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of counters over parts that come, go and start again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.monitor.collectors._base import Sums

STEP = st.tuples(
    st.sampled_from("pq"),
    st.sampled_from(["grow", "restart", "vanish", "unread"]),
    st.integers(0, 100),
)


@given(st.lists(STEP, max_size=30))
def test_sums_are_all_that_was_counted(steps: list[tuple[str, str, int]]) -> None:
    """A restart is seen if the counter is smaller then, or the part was away in between."""
    sums: Sums[str] = Sums(10)
    now: dict[str, int] = {}
    known: dict[str, int] = {}
    total = before = 0
    for part, what, amount in steps:
        if what == "grow":
            now[part] = now.get(part, 0) + amount
        elif what == "restart":
            now[part] = min(amount, max(0, known.get(part, 0) - 1))
        elif what == "vanish":
            now.pop(part, None)
            known[part] = 0
            sums.forget(part, ["k"])
        if what != "unread" and part in now:
            last = known.get(part, 0)
            total += now[part] - (last if now[part] >= last else 0)
            known[part] = now[part]
            sums.add(part, "k", now[part])
        value = dict(sums.items()).get("k", 0)
        assert value == total >= before
        before = value


def test_keys_are_bounded() -> None:
    sums: Sums[int] = Sums(3)
    for key in range(10):
        sums.add("p", key, 5)
    assert dict(sums.items()) == {0: 5, 1: 5, 2: 5}
    assert sums.left_out == 7
    assert sums.known("p") == [0, 1, 2]
    assert sums.known("q") == []
