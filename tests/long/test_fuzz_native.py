# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""10^5 damaged containers: no crash, no hang, no unbounded memory."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import pytest

from support.amounts import share_of
from support.trace_fuzz import run_inputs

PART = 1_000
N_INPUTS = PART * share_of(100, 2)
MOST_ACCEPTED = 0.02
"""Of the inputs; damaged where nothing is read, or where a count of checksums became 0."""


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_mutated_containers() -> None:
    context = multiprocessing.get_context("spawn")
    outcomes: Counter[str] = Counter()
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for found in pool.map(run_inputs, range(0, N_INPUTS, PART), [PART] * (N_INPUTS // PART)):
            outcomes.update(found)
    assert sum(outcomes.values()) == N_INPUTS
    assert set(outcomes) == {"error", "partial", "read", "same"}
    assert outcomes["read"] <= MOST_ACCEPTED * N_INPUTS
