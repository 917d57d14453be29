# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rates of metadata operations: of a rank alone, of a busy server, and between them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.core.errors import UsageError
from stripewise.storage.simulation import (
    Rates,
    layout_of,
    metadata_rate,
    operation_figure,
    phase_times,
)
from stripewise.storage.stacks import Phase, Turns
from support.storages import described

FIGURES = {
    "metadata.open": 30e-6,
    "metadata.create": 100e-6,
    "metadata.stat": 10e-6,
    "metadata.remove": 50e-6,
    "metadata.object": 5e-6,
    "metadata.latency": 400e-6,
    "metadata.growth": 0.5,
    "layout.stripe_count": 4.0,
}
STORAGE = described(FIGURES)
SECONDS = {"create": 220e-6, "stat": 20e-6, "read-file": 80e-6, "remove": 100e-6,
           "create-directory": 50e-6, "stat-directory": 10e-6}  # fmt: skip


@pytest.mark.parametrize(("operation", "seconds"), SECONDS.items())
def test_one_rank_waits_and_many_load_the_server(operation: str, seconds: float) -> None:
    assert metadata_rate(STORAGE, operation, 1) == pytest.approx(1 / (seconds + 400e-6))
    assert metadata_rate(STORAGE, operation, 1000) == pytest.approx(1 / seconds)


def test_stripes_can_be_given() -> None:
    assert metadata_rate(STORAGE, "create", 1000, 1) == pytest.approx(1 / 105e-6)
    assert metadata_rate(STORAGE, "create", 1000, -1) == pytest.approx(
        1 / (100e-6 * 12**0.5 + 60e-6)
    )


def test_what_is_not_described_costs_nothing() -> None:
    assert metadata_rate(described(), "create", 1) == float("inf")


def test_an_unknown_operation_is_refused() -> None:
    with pytest.raises(UsageError, match="read-file"):
        metadata_rate(STORAGE, "open", 1)


@given(st.sampled_from([("create", "create"), ("read-file", "open"), ("stat", "stat")]))
def test_a_rate_gives_its_figure_back(operation: tuple[str, str]) -> None:
    rate = metadata_rate(STORAGE, operation[0], 10**6)
    figure = operation_figure(STORAGE, operation[1], 1 / rate)
    assert figure == pytest.approx(FIGURES[f"metadata.{operation[1]}"])


@given(st.integers(1, 64))
def test_turns_of_traced_programs_take_as_long(ranks: int) -> None:
    """The same law, as simulations of traced programs have it."""
    storage = described({**FIGURES, "layout.stripe_count": 1.0})
    each = 1000
    turns = Turns(ranks, (), {"create": float(each)})
    (found,) = phase_times(
        [Phase("create", turns=(turns,))], Rates.of(storage), layout_of(storage, {})
    )
    assert ranks * each / found.seconds == pytest.approx(
        metadata_rate(storage, "create", ranks), rel=0.01
    )
