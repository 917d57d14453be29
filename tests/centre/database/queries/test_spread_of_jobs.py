# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import math
import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database.queries._programs import at_once, spread

NAN = math.nan


def test_nothing_known_is_no_spread() -> None:
    assert spread(np.array([])) is None
    assert spread(np.array([NAN, NAN])) is None


@given(st.lists(st.one_of(st.just(NAN), st.floats(-1e12, 1e12)), min_size=1))
def test_unknown_values_do_not_count(values: list[float]) -> None:
    known = [value for value in values if not math.isnan(value)]
    found = spread(np.array(values))
    if not known:
        assert found is None
        return
    assert found is not None
    assert found.count == len(known)
    assert math.isclose(found.median, statistics.median(known), rel_tol=1e-9, abs_tol=1e-9)
    assert min(known) <= found.low <= found.median <= found.high <= max(known)


def test_a_job_that_ends_as_another_starts_does_not_run_beside_it() -> None:
    assert at_once(np.array([0.0, 10.0]), np.array([10.0, 20.0])) == (1, 1)
    assert at_once(np.array([0.0, 9.0]), np.array([10.0, 20.0])) == (1, 2)


def test_typical_is_the_median_over_busy_time() -> None:
    starts, ends = [0.0, 0.0, 0.0, 100.0], [60.0, 60.0, 50.0, 110.0]
    assert at_once(np.array(starts), np.array(ends)) == (3, 3)


def test_jobs_without_times_do_not_count() -> None:
    assert at_once(np.array([NAN, 5.0, 5.0]), np.array([3.0, NAN, 5.0])) is None


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), min_size=1, max_size=20))
def test_against_counting_each_second(jobs: list[tuple[int, int]]) -> None:
    starts = np.array([float(start) for start, _ in jobs])
    ends = np.array([float(start + length) for start, length in jobs])
    counts = [sum(s <= at < s + length for s, length in jobs) for at in range(50)]
    busy = sorted(count for count in counts if count)
    found = at_once(starts, ends)
    if not busy:
        assert found is None
        return
    assert found == (busy[(len(busy) - 1) // 2], busy[-1])
