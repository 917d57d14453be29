# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import Connection

from stripewise.centre.database.queries import CaseHistory, benchmark_history
from stripewise.centre.database.store._writer import Writer
from support.storage_samples import DAY, NOW, campaign


def history_of(connection: Connection, rates: Sequence[float]) -> CaseHistory:
    Writer(connection).store(
        campaign(NOW + number * DAY, {"a": rate}) for number, rate in enumerate(rates)
    )
    (found,) = benchmark_history(connection, "scratch")
    return found


@pytest.mark.parametrize(
    ("rates", "verdict", "change"),
    [
        ([100.0], "", None),
        ([100.0, 50.0], "", -0.5),
        ([100.0, 101.0, 99.0, 100.0, 102.0, 97.0], "usual", -0.03),
        ([100.0, 101.0, 99.0, 100.0, 102.0, 80.0], "lower", -0.2),
        ([100.0, 101.0, 99.0, 100.0, 102.0, 130.0], "higher", 0.3),
        ([100.0, 60.0, 140.0, 80.0, 120.0, 80.0], "usual", -0.2),
    ],
)
def test_the_latest_beside_those_before(
    connection: Connection, rates: Sequence[float], verdict: str, change: float | None
) -> None:
    found = history_of(connection, rates)
    assert (found.verdict, len(found.figures)) == (verdict, len(rates))
    assert found.change == (None if change is None else pytest.approx(change))
    assert found.latest.median == rates[-1]


def test_emulated_campaigns_are_a_history_of_their_own(connection: Connection) -> None:
    Writer(connection).store([
        campaign(NOW, {"a": 100.0}), campaign(NOW + 1, {"a": 1.0}, is_emulated=True),
        campaign(NOW + 2, {"a": 5.0}, storage="scratch (synthetic)"),
        campaign(NOW + 3, {"a": 7.0}, storage="scratch2"),
    ])  # fmt: skip
    found = benchmark_history(connection, "scratch")
    assert [(one.is_emulated, [f.median for f in one.figures]) for one in found] == [
        (False, [100.0, 5.0]), (True, [1.0])
    ]  # fmt: skip


def test_what_became_slower_comes_first(connection: Connection) -> None:
    Writer(connection).store(
        campaign(NOW + number * DAY, {"a": 100.0, "b": 50.0 if number == 6 else 100.0})
        for number in range(7)
    )
    assert [(one.case, one.verdict) for one in benchmark_history(connection, "scratch")] == [
        ("b", "lower"), ("a", "usual")
    ]  # fmt: skip
