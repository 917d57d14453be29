# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many processors we may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

from stripewise.text import text_of


def parse_cpu_max(text: str) -> float | None:
    """Processors that cgroup v2's `cpu.max` allows; None if unlimited."""
    quota, _, period = text.strip().partition(" ")
    if quota == "max" or not period.strip().isdigit() or not quota.isdigit():
        return None
    return int(quota) / int(period)


def cgroup_processors(root: Path = Path("/")) -> float | None:
    """Processors that the cgroups of this process allow; None if unlimited.

    Args:
        root: Where `proc` and `sys` are (for tests).
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    group = next((line[3:] for line in lines if line.startswith("0::")), "/").strip("/")
    limits = []
    base = root / "sys/fs/cgroup"
    for path in (base / group, *(base / group).parents):
        limit = parse_cpu_max(text_of(path / "cpu.max"))
        if limit is not None:
            limits.append(limit)
        if path == base:
            break
    quota, period = text_of(base / "cpu/cpu.cfs_quota_us"), text_of(base / "cpu/cpu.cfs_period_us")
    if quota.strip().isdigit() and period.strip().isdigit():
        limits.append(int(quota) / int(period))
    return min(limits) if limits else None


def usable_processors() -> int:
    """Processors that ranks on this machine can really have, at least 1."""
    count = len(os.sched_getaffinity(0))
    limit = cgroup_processors()
    return max(1, min(count, math.floor(limit) if limit else count))
