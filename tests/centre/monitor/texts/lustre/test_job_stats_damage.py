# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts of job_stats: a few each time, a hundred thousand in the long tests."""

from __future__ import annotations

import pytest

from support.amounts import share_of
from support.job_stats_fuzz import fuzz

CASES = 600
MANY = 100_000


def test_damaged_texts() -> None:
    assert fuzz(0, CASES) == []


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_many_damaged_texts() -> None:
    assert fuzz(CASES, share_of(MANY)) == []
