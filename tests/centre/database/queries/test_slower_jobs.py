# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose I/O took longer than that of earlier runs."""

from __future__ import annotations

import pytest

from stripewise.core.regression import PastRun, slowdown

GIB = float(1 << 30)


def runs(*seconds: float, moved: float | None = GIB, ranks: int | None = 64) -> list[PastRun]:
    return [PastRun(one, moved, ranks) for one in seconds]


USUAL = (4.0, 4.2, 3.9, 4.1, 4.0, 4.3)


def test_a_run_that_takes_much_longer_than_its_history_is_slower() -> None:
    found = slowdown(PastRun(37.6, GIB, 64), runs(*USUAL))
    assert found is not None
    assert found.factor == pytest.approx(37.6 / 4.05)
    assert (found.usual_seconds, found.run_count) == (pytest.approx(4.05), 6)


@pytest.mark.parametrize(
    ("seconds", "history"),
    [
        (40.0, runs(4.0, 4.0, 4.0, 4.0)),  # too few
        (5.9, runs(*USUAL)),  # not half as much again
        (1.2, runs(0.4, 0.4, 0.4, 0.4, 0.4)),  # three times, but less than a second
        (20.0, runs(2, 4, 6, 8, 10, 12, 14, 30)),  # such a storage: it varies by as much
        (40.0, runs(*USUAL, moved=GIB / 3)),  # it moved less
        (40.0, runs(*USUAL, ranks=8)),  # other ranks
        (40.0, runs(*USUAL, moved=None)),  # how much is not known
        (None, runs(*USUAL)),
    ],
)
def test_what_is_no_regression(seconds: float | None, history: list[PastRun]) -> None:
    assert slowdown(PastRun(seconds, GIB, 64), history) is None


def test_only_the_last_runs_of_similar_size_count() -> None:
    old = runs(*[40.0] * 100)
    assert slowdown(PastRun(40.0, GIB, 64), old + runs(*[4.0] * 30)) is not None
    small = runs(*[1.0] * 50, moved=GIB / 100)
    assert slowdown(PastRun(40.0, GIB, 64), runs(*[4.0] * 5) + small) is not None


def test_half_of_the_history_may_be_slow_before_that_is_usual() -> None:
    seen = list(USUAL)
    marked = []
    for _ in range(12):
        marked.append(slowdown(PastRun(40.0, GIB, 64), runs(*seen)) is not None)
        seen.append(40.0)
    assert marked[:5] == [True] * 5
    assert not marked[-1]


def test_zero_as_usual_has_a_finite_factor() -> None:
    found = slowdown(PastRun(9.0, 0.0, None), runs(0, 0, 0, 0, 0, moved=0.0, ranks=None))
    assert found is not None
    assert found.factor == pytest.approx(9000)
