# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A hundred thousand damaged texts of job_stats: what is believed of them stands there."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import pytest

from support.amounts import share_of
from support.job_stats_fuzz import fuzz

pytestmark = [pytest.mark.long, pytest.mark.timeout(3000)]

CASES = 100_000
WORKERS = min(os.cpu_count() or 1, 8)


def test_damaged_texts() -> None:
    each = share_of(-(-CASES // WORKERS))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        runs = [pool.submit(fuzz, 10**6 + each * number, each) for number in range(WORKERS)]
        assert [line for run in runs for line in run.result()] == []
