# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How much of the long tests is done: all of it, or the share that STRIPEWISE_TEST_SHARE names."""

from __future__ import annotations

import os

SHARE = float(os.environ.get("STRIPEWISE_TEST_SHARE", "1"))


def share_of(number: int, least: int = 1) -> int:
    """Return that share of a number of cases, at least so many."""
    return max(least, round(number * SHARE))
