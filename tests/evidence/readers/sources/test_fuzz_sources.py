# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Some hundred damaged traces of each kind; tests/long has a hundred thousand."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest

from support.fuzz_sources import KINDS, fuzz


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_traces(kind: str) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(fuzz, kind, 0, 200).result() == []
