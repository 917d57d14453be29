# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is left out, and how far it lets a model reach."""

import pytest

from stripewise.learning.performance._features import program_features, setting_features
from stripewise.learning.performance._fit import _range
from stripewise.learning.performance._judge import holds_the_best, rank_correlation
from stripewise.learning.performance._records import Score
from stripewise.learning.performance._rows import Row
from support.trained import facts_of


def row(ranks, f):
    return Row({"ranks": ranks, "f": f}, 1.0, 1.0, None, "vpic", True)


def score(rho, error=0.5):
    return Score("scale", "one", 10, error, rho, 1.0)


ROWS = [row(8.0, 1.0), row(16.0, 2.0), row(64.0, 8.0)]


@pytest.mark.parametrize(
    ("left_out", "reach"),
    [
        ([(score(0.95), ROWS[:2])], 4.0),  # 64 ranks were predicted well from 16
        ([(score(0.30), ROWS[:2])], 1.0),  # and badly: nothing beyond
        ([(score(0.30, error=0.1), ROWS[:2])], 4.0),  # ranks are noise: the times were right
        ([(score(0.95), ROWS[1:]), (score(0.3), ROWS[:2])], 2.0),
        ([], 2.0),
    ],
)
def test_a_feature_reaches_as_far_as_left_out_groups_were_predicted_well(left_out, reach):
    found = _range("ranks", ROWS, left_out, 32.0)
    assert (found.low, found.high, found.reach) == (8.0, 64.0, reach)


def test_ranks_and_the_best_five():
    assert rank_correlation([(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)]) == pytest.approx(1.0)
    assert rank_correlation([(1.0, 30.0), (2.0, 20.0), (3.0, 10.0)]) == pytest.approx(-1.0)
    assert rank_correlation([(1.0, 5.0), (2.0, 5.0)]) == 0.0
    pairs = [(1.0 + n, float(n)) for n in range(10)]
    assert holds_the_best(pairs)
    assert not holds_the_best([(measured, -predicted) for measured, predicted in pairs])


def test_settings_count_as_they_act():
    facts = facts_of("vpic", 96, "stampede")
    stack, hosts = "romio-lustre", 4
    usual = setting_features(facts, stack, {})
    assert (usual["c"], usual["s"], usual["a"]) == (2.0, 1.0, 2.0)
    only_size = setting_features(facts, stack, {"mpiio.striping_unit": 4 << 20})
    assert (only_size["c"], only_size["a"]) == (160.0, float(hosts))
    many = {"mpiio.striping_factor": 2, "mpiio.cb_nodes": 8}
    assert setting_features(facts, stack, many)["a"] == 2.0
    assert setting_features(facts, stack, {**many, "mpiio.romio_lustre_co_ratio": 4})["a"] == 8.0
    assert setting_features(facts, "cray", {"mpiio.striping_factor": 8})["a"] == 8.0
    assert setting_features(facts, stack, {"mpiio.romio_cb_write": "disable"})["a"] == 96.0


def test_what_a_program_moves():
    found = program_features(facts_of("vorpal --steps 2", 96))
    assert found["piece"] == 300 * 8
    assert found["block"] == 60 * 100 * 300 * 8
    assert found["f"] == pytest.approx(2 * 96 * found["block"] / 1e9)
