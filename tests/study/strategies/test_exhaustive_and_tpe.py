# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from stripewise.core.errors import RuntimeMissingError
from stripewise.settings.tunables import find_space, is_valid
from stripewise.study.strategies import _tpe, create
from support.strategy_suite import play, romio_facts

FACTS = romio_facts()
SPACE = find_space(FACTS)
WIDE = replace(
    FACTS, uses_hdf5=True, uses_parallel_hdf5=True, collective_bytes=1 << 25, n_ranks=64
)


@pytest.mark.parametrize("order", ["effect", "most", "random"])
def test_exhaustive_covers_every_valid_point_once(order):
    strategy = create("exhaustive", SPACE, FACTS, 3, {"order": order})
    proposals = play(strategy, lambda _: 1.0, 10_000)
    keys = {tuple(sorted((n, str(v)) for n, v in p.settings.items())) for p in proposals}
    assert len(keys) == len(proposals) == SPACE.size - 1
    assert all(is_valid(p.settings, FACTS) for p in proposals)
    assert strategy.finished_because == "every valid configuration has been tried"


def test_few_settings_come_first():
    proposals = play(create("exhaustive", SPACE, FACTS, 0), lambda _: 1.0, 10_000)
    sizes = [len(p.settings) for p in proposals]
    assert sizes == sorted(sizes)


def test_or_many_come_first():
    proposals = play(create("exhaustive", SPACE, FACTS, 0, {"order": "most"}), lambda _: 1.0, 10)
    sizes = [len(p.settings) for p in proposals]
    assert sizes == sorted(sizes, reverse=True)


def test_a_random_order_depends_on_the_seed():
    orders = [
        [p.settings for p in play(create("exhaustive", SPACE, FACTS, s, {"order": "random"}),
                                  lambda _: 1.0, 10)]
        for s in (1, 1, 2)
    ]  # fmt: skip
    assert orders[0] == orders[1] != orders[2]


def test_studies_do_not_cut_an_exhaustive_search_short():
    assert create("exhaustive", SPACE, FACTS, 0).least_patience == float("inf")


def test_tpe_goes_where_good_points_are():
    space = find_space(WIDE)

    def answer(settings):
        return 0.4 if settings.get("mpiio.cb_nodes") == 8 else 1.0

    proposals = play(create("tpe", space, WIDE, 1), answer, 60)
    late = sum(p.settings.get("mpiio.cb_nodes") == 8 for p in proposals[40:])
    assert late >= 10
    assert {p.reason for p in proposals[:9]} == {"drawn at random"}


def test_tpe_claims_that_all_is_tried_only_where_it_has_looked(monkeypatch):
    monkeypatch.setattr(_tpe, "_FRUITLESS_DRAWS", 1)
    strategy = create("tpe", SPACE, FACTS, 1)
    assert len(play(strategy, lambda _: 1.0, 10_000)) == SPACE.size - 1
    assert strategy.finished_because == "every valid configuration has been tried"
    monkeypatch.setattr(_tpe, "_SMALL_SPACE", 1)
    monkeypatch.setattr(_tpe, "is_valid", lambda settings, facts: False)
    strategy = create("tpe", SPACE, FACTS, 1)
    assert not play(strategy, lambda _: 1.0, 10_000)
    assert strategy.finished_because == (
        "no valid configuration was found in 1 draws; narrow the space with --only"
    )


def test_tpe_without_optuna_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(RuntimeMissingError, match=r"pip install 'stripewise\[tpe\]'"):
        create("tpe", SPACE, FACTS, 0)


def test_tpe_takes_its_options():
    strategy = create("tpe", find_space(WIDE), WIDE, 0, {"startup": "3"})
    reasons = [p.reason for p in play(strategy, lambda settings: 1 / (1 + len(settings)), 12)]
    assert reasons[:2] == ["drawn at random"] * 2
    assert reasons[2:].count("where good ones are likely") >= 8
