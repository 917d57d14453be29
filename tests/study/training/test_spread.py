# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections import Counter
from itertools import product

from stripewise.study.training import spread_points

LADDERS = {"count": (4, 8, 16, 32), "unit": (1, 2, 4, 8, 16), "way": ("disable",)}
POINTS = [
    {name: value for name, value in zip(LADDERS, point, strict=True) if value is not None}
    for point in product(*((None, *values) for values in LADDERS.values()))
]


def test_the_default_first_then_what_lies_far_away():
    chosen = spread_points(POINTS, LADDERS, 12)
    assert chosen[0] == {}
    assert chosen[1] == {"count": 32, "unit": 16, "way": "disable"}
    assert len({tuple(sorted(point.items())) for point in chosen}) == 12


def test_every_rung_is_met_as_often_give_or_take():
    chosen = spread_points(POINTS, LADDERS, 24, seed=3)
    for name, values in LADDERS.items():
        met = Counter(point.get(name) for point in chosen)
        assert set(met) == {None, *values}, name


def test_the_first_half_varies_only_what_matters_most():
    ladders = {**LADDERS, "other": (1, 2, 3), "further": ("on", "off")}
    points = [
        {name: value for name, value in zip(ladders, point, strict=True) if value is not None}
        for point in product(*((None, *values) for values in ladders.values()))
    ]
    chosen = spread_points(points, ladders, 40)
    simple = [point.keys() <= LADDERS.keys() for point in chosen]
    assert all(simple[:20])
    assert sum(simple) < 30
    few = spread_points([{}, {"count": 4}, *points[-30:]], ladders, 20)
    assert len({tuple(sorted(point.items())) for point in few}) == 20


def test_the_seed_decides_and_nothing_else():
    assert spread_points(POINTS, LADDERS, 20, 1) == spread_points(POINTS, LADDERS, 20, 1)
    assert spread_points(POINTS, LADDERS, 20, 1) != spread_points(POINTS, LADDERS, 20, 2)


def test_more_than_there_are_is_all_of_them():
    assert spread_points(POINTS, LADDERS, len(POINTS) + 5) == POINTS
