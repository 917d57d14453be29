# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many processors we may use."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path

from stripewise.text import text_of


def parse_cpu_max(text: str) -> float | None:
    """Processors that a quota and a period, as in cgroup v2's `cpu.max`, allow; None: any."""
    words = text.split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return None
    return int(words[0]) / int(words[1])


def cgroup_processors(root: Path = Path("/")) -> float | None:
    """Processors that the cgroups of this process allow; None if unlimited.

    Args:
        root: Where `proc` and `sys` are (for tests).
    """
    lines = text_of(root / "proc/self/cgroup").splitlines()
    group = next((line[3:] for line in lines if line.startswith("0::")), "/").strip("/")
    base = root / "sys/fs/cgroup"
    groups = itertools.accumulate(Path(group).parts, Path.joinpath, initial=base)
    texts = [text_of(path / "cpu.max") for path in groups]
    first = base / "cpu"  # cgroup v1
    texts.append(f"{text_of(first / 'cpu.cfs_quota_us')} {text_of(first / 'cpu.cfs_period_us')}")
    limits = [limit for text in texts if (limit := parse_cpu_max(text)) is not None]
    return min(limits, default=None)


def usable_processors() -> int:
    """Processors that ranks on this machine can really have, at least 1."""
    count = len(os.sched_getaffinity(0))
    limit = cgroup_processors()
    return max(1, min(count, math.floor(limit) if limit else count))
