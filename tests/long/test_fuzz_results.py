# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A hundred thousand damaged outputs of IOR, mdtest and benchio: read, or refused in one line."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import pytest

from support.amounts import share_of
from support.result_fuzz import fuzz, samples

pytestmark = [pytest.mark.long, pytest.mark.timeout(3000)]

CASES = 100_000
WORKERS = min(os.cpu_count() or 1, 8)


def test_damaged_results() -> None:
    names = sorted(samples())
    each = share_of(-(-CASES // len(names)), 1)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        runs = [pool.submit(fuzz, name, 0, each) for name in names]
        assert [line for run in runs for line in run.result()[0]] == []
