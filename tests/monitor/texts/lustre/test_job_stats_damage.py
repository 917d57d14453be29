# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts of job_stats: a few each time, a hundred thousand in the long tests."""

from __future__ import annotations

from support.job_stats_fuzz import fuzz

CASES = 600


def test_damaged_texts() -> None:
    assert fuzz(0, CASES) == []
