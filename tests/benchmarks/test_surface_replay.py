# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from itertools import permutations
from statistics import mean

import pytest
from surfaces import Landscape

from stripewise.study.strategies import strategy_names
from support.random_draws import expected_regret, expected_runs, quantile_runs, regret_of
from support.replay import Replay, replay_study, surface_space
from support.study_fakes import lognormal
from support.surfaces import synthetic_surface

DS, BUFFER = "mpiio.romio_ds_write", "mpiio.ind_wr_buffer_size"
VARY = {BUFFER: (1 << 20, 4 << 20, 16 << 20), DS: ("enable", "disable")}


def truth(settings) -> float:
    factor = {"enable": 1.5, "disable": 0.5}.get(settings.get(DS), 1.0)
    return 2.0 * factor * {1 << 20: 0.9, 4 << 20: 0.8}.get(settings.get(BUFFER), 1.0)


SURFACE = synthetic_surface(truth, VARY, noise=lognormal(0.02))
SCENE = Landscape(SURFACE)


def test_the_space_is_what_was_measured_in_the_order_of_effect():
    space = surface_space(SURFACE)
    assert [d.tunable.name for d in space.dimensions] == [DS, BUFFER]
    assert space.size == 12


# expbb varies burst buffers, aggregators, striping unit and buffer alone: its surfaces are others.
@pytest.mark.parametrize("name", [name for name in strategy_names() if name != "expbb"])
def test_every_strategy_finds_the_optimum_of_a_small_surface(name):
    replay = replay_study(SURFACE, name, 1, runs=80)
    assert regret_of(SCENE, replay.winner) <= 0.05
    assert regret_of(SCENE, replay.choice_after(10**6)) <= 0.05
    assert replay.unknown == 0


def test_every_run_counts():
    replay = replay_study(SURFACE, "random", 1, runs=60)
    assert replay.choice_after(0) == {}
    first = replay.choices[1][0]
    assert first >= 1 + 3 + 2  # warm-up, three baselines, a trial and the baseline beside it
    assert replay.runs < replay.all_runs <= 60
    assert replay.choices[-1][0] == replay.runs


def test_what_the_pairs_confirm_is_no_choice_of_the_search():
    slight = synthetic_surface(
        lambda s: 0.93 if s.get(DS) == "disable" else 1.0,
        {DS: ("disable",)},
        noise=lognormal(0.1),
    )
    replays = [replay_study(slight, "exhaustive", seed, runs=40) for seed in range(20)]
    unconfirmed = [r for r in replays if r.choice_after(10**6) and not r.winner]
    assert unconfirmed  # chosen, and not significant
    assert all(r.choices[-1][0] == r.runs < r.all_runs for r in unconfirmed)


def test_the_same_seed_gives_the_same_study():
    first, again = (replay_study(SURFACE, "genetic", 5, runs=50) for _ in range(2))
    assert first == again
    assert first != replay_study(SURFACE, "genetic", 6, runs=50)


def test_users_options_end_a_study_by_themselves():
    replay = replay_study(SURFACE, "auto", 1)
    assert replay.all_runs < 70


def test_a_point_that_was_not_measured_is_a_failed_run():
    holed = synthetic_surface(truth, VARY)
    missing = {DS: "disable", BUFFER: 4 << 20}
    runs = tuple(run for run in holed.runs if dict(run.settings) != missing)
    replay = replay_study(type(holed)(holed.command, holed.facts, {}, holed.tunables, runs),
                          "exhaustive", 1, runs=80)  # fmt: skip
    assert replay.unknown >= 1
    assert replay.winner != missing


def test_choices_are_steps():
    replay = Replay(choices=[(0, {}), (7, {"a": 1}), (9, {"b": 1})])
    assert [dict(replay.choice_after(n)) for n in (6, 7, 8, 9)] == [
        {}, {"a": 1}, {"a": 1}, {"b": 1},
    ]  # fmt: skip


def test_luck_is_what_counting_all_orders_gives():
    small = Landscape(synthetic_surface(truth, {BUFFER: VARY[BUFFER], DS: ("disable",)}))
    others = [spot for spot in small.spots if spot is not small.default]
    orders = list(permutations(others))
    near = small.near()
    hits = [next(n for n, spot in enumerate(order, 1) if spot in near) for order in orders]
    assert expected_runs(small) == pytest.approx(mean(hits))
    quantile = quantile_runs(small)
    assert mean(hit <= quantile for hit in hits) >= 0.9
    assert mean(hit <= quantile - 1 for hit in hits) < 0.9
    for n in (0, 1, 3, 99):
        regrets = [
            min([small.default.io_seconds, *(s.io_seconds for s in order[:n])])
            / small.best.io_seconds - 1
            for order in orders
        ]  # fmt: skip
        assert expected_regret(small, n) == pytest.approx(mean(regrets))


def test_luck_where_the_default_is_near():
    flat = Landscape(synthetic_surface(lambda s: 1.0, VARY))
    assert expected_runs(flat) == quantile_runs(flat) == 0
