# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""System against system: factors, intervals, and no alarm where nothing differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.bench import Case
from stripewise.bench.comparison import compare, factor_tables
from stripewise.bench.comparison._cells import holm, pooled_noise, student
from stripewise.bench.report._compare import comparison_lines, headline_of
from stripewise.core.errors import UsageError
from support.campaigns import GIB, made_campaign, usual_cases, usual_rate


def test_a_difference_of_one_cell_is_found_and_nothing_else() -> None:
    def slower(case: Case, operation: str) -> float:
        lost = 0.8 if (case.series, case.nodes, operation) == ("MPI-IO", 4, "write") else 1.0
        return lost * usual_rate(case, operation)

    one = made_campaign(usual_cases(), usual_rate, seed=1)
    two = made_campaign(usual_cases(), slower, seed=2)
    found = compare([one, two])
    (cell,) = found.differing(1)
    assert (cell.case.series, cell.case.nodes, cell.operation) == ("MPI-IO", 4, "write")
    ratio = cell.ratios[1]
    assert ratio is not None
    assert ratio.verdict == "slower"
    assert ratio.low < 0.8 < ratio.high < 1


def test_campaigns_of_the_same_storage_seldom_differ() -> None:
    alarms = sum(
        bool(compare([_noise(2 * seed), _noise(2 * seed + 1)]).differing(1)) for seed in range(100)
    )
    assert alarms <= 9  # 5 % of 100, and what chance makes of it


def _noise(seed: int):
    return made_campaign(usual_cases(3), usual_rate, seed=seed, noise=0.08)


def test_intervals_cover_the_true_factor() -> None:
    inside = number = 0
    for seed in range(40):
        for cell in compare([_noise(2 * seed), _noise(2 * seed + 1)]).cells:
            ratio = cell.ratios[1]
            assert ratio is not None
            inside += ratio.low <= 1 <= ratio.high
            number += 1
    assert 0.93 <= inside / number <= 0.98


def test_cells_that_differ_in_size_are_shown_as_such() -> None:
    other = [replace(case, local="64,64,64", pattern="array3d") for case in usual_cases()]
    found = compare(
        [made_campaign(usual_cases(), usual_rate), made_campaign(other, usual_rate, seed=3)]
    )
    reasons = {cell.ratios[1].unlike for cell in found.cells if cell.ratios[1]}
    assert found.alike(1) == 0
    assert any("local the default against 64,64,64" in one for one in reasons)


def test_cells_that_only_one_has_stay_in_the_list() -> None:
    fewer = made_campaign(usual_cases()[:4], usual_rate)
    found = compare([fewer, made_campaign(usual_cases(), usual_rate)])
    assert [cell.cells[0] is None for cell in found.cells].count(True) == 24
    assert found.names == ("made", "made (2)")


def test_one_run_a_cell_has_no_interval_and_no_verdict() -> None:
    one = made_campaign(usual_cases(1), usual_rate)
    found = compare([one, made_campaign(usual_cases(1), lambda *a: 3 * usual_rate(*a))])
    assert {cell.ratios[1].verdict for cell in found.cells if cell.ratios[1]} == {"too few runs"}


def test_tables_have_one_node_and_the_most_with_factors() -> None:
    one = made_campaign(usual_cases(), usual_rate, noise=0.01)
    two = made_campaign(usual_cases(), lambda *a: 9 * usual_rate(*a), noise=0.01, seed=4)
    tables = factor_tables(compare([one, two]))
    assert [table.title for table in tables] == ["1 node", "8 nodes"]
    for table in tables:
        assert [row.operation for row in table.rows] == [
            "write", "read", "create", "stat", "read-file", "remove",
        ]  # fmt: skip
        for row in table.rows:
            assert row.factors[1].value == pytest.approx(9, rel=0.05)
    assert tables[1].rows[0].best[0].median == pytest.approx(4 * GIB, rel=0.05)


def test_campaigns_without_an_operation_in_common_are_refused() -> None:
    one = made_campaign([Case("shared file", operation="write")], usual_rate)
    other = made_campaign([Case("own directories", operation="metadata")], usual_rate)
    with pytest.raises(UsageError, match=r"no operation in common \(made has write; made \(2\)"):
        compare([one, other])
    with pytest.raises(UsageError, match="two campaigns"):
        compare([one])


def test_other_numbers_of_nodes_are_compared_by_their_best_and_per_node() -> None:
    def cases(*nodes: int) -> list[Case]:
        return [Case("shared file", operation="write", nodes=one) for one in nodes]

    one = made_campaign(cases(1, 2, 4), lambda case, _: 1e9 * case.nodes)
    other = made_campaign(cases(8, 16), lambda case, _: 1.5e9 * case.nodes, seed=2)
    found = compare([one, other])
    _, many, shares = factor_tables(found)
    assert (many.title, shares.title) == ("4 and 16 nodes", "4 and 16 nodes, per node")
    (factor,) = [row.factors[1] for row in many.rows]
    (share,) = [row.factors[1] for row in shares.rows]
    assert factor is not None
    assert share is not None
    assert factor.value == pytest.approx(6.0, rel=0.1)
    assert share.value == pytest.approx(1.5, rel=0.1)
    assert factor.unlike == "4 nodes against 16 nodes"
    assert found.alike(1) == 0
    text = "\n".join(comparison_lines(found))
    assert "made was measured on 1, 2, 4 nodes, made (2) on 8, 16 nodes" in text
    assert "no cell that is like for like" in headline_of(found)


def test_nodes_that_only_one_has_are_named() -> None:
    def campaign(*nodes: int):
        cases = [Case("shared file", operation="write", nodes=one) for one in nodes]
        return made_campaign(cases, lambda case, _: 1e9 * case.nodes)

    text = "\n".join(comparison_lines(compare([campaign(1, 4), campaign(4, 8)])))
    assert "not compared: 1 node of made, as made (2) has none of them" in text
    assert "not compared: 8 nodes of made (2), as made has none of them" in text


# ---- the statistics --------------------------------------------------------------------------


@pytest.mark.parametrize(("degrees", "t"), [(5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)])
def test_students_t_is_close_to_the_tables(degrees: float, t: float) -> None:
    assert student(1.959964, degrees) == pytest.approx(t, rel=0.005)


def test_pooled_noise_is_the_true_one() -> None:
    chance = np.random.default_rng(0)
    same = pooled_noise([chance.normal(0, 0.05, 5) for _ in range(300)])
    assert same.variance == pytest.approx(0.05**2, rel=0.1)
    own = [chance.normal(0, 0.05 * np.exp(chance.normal(0, 0.7)), 5) for _ in range(300)]
    assert pooled_noise(own).degrees < 8 < same.degrees


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_never_lowers_and_keeps_the_order(chances: list[float]) -> None:
    adjusted = holm(chances)
    assert all(a >= b for a, b in zip(adjusted, chances, strict=True))
    order = sorted(range(len(chances)), key=lambda one: chances[one])
    assert sorted(adjusted) == [adjusted[one] for one in order]
