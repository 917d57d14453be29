# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The bounds on requests hold whatever is asked."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from stripewise.run.slurm import RateLimiter


class Clock:
    def __init__(self):
        self.now = 0.0

    def sleep(self, seconds):
        self.now += seconds


def limiter(clock, **bounds):
    return RateLimiter(clock=lambda: clock.now, sleep=clock.sleep, **bounds)


@given(st.lists(st.tuples(st.floats(0, 30), st.booleans()), max_size=80))
@example([(4.917596143334839, False), (1.0, False), *[(0.0, False)] * 6])
def test_no_minute_has_too_many(gaps):
    clock = Clock()
    bounded = limiter(clock, actions_per_minute=7)
    times = {True: [], False: []}
    for gap, action in gaps:
        clock.now += gap
        bounded.take(action=action)
        times[action].append(clock.now)
    for action, most in ((False, 6), (True, 7)):
        for first in times[action]:
            assert sum(first <= other < first + 60 for other in times[action]) <= most
    assert bounded.n_requests == len(gaps)


def test_the_queue_is_looked_at_each_10_s():
    clock = Clock()
    bounded = limiter(clock)
    assert bounded.ready()
    bounded.take()
    clock.now = 9.9
    assert not bounded.ready()
    assert bounded.ready(action=True)
    clock.now = 10.0
    assert bounded.ready()
