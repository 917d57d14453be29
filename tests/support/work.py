# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a piece of Python costs, counted: the same on any host, however busy."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any


def calls_and_peak(work: Callable[[], object]) -> tuple[int, int]:
    """Return how many functions the second round of some work calls, and its most bytes."""
    work()
    count = 0

    def seen(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return count, peak
