# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Persistent burst buffers, which jobs name and do not make."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from stripewise.errors import UsageError
from stripewise.slurm._burst import BurstBuffers
from stripewise.text import printable


def nodes_of_persistent(name: str, plugin: str, known: Sequence[BurstBuffers]) -> int:
    """Return how many nodes a persistent burst buffer has; 1 where Slurm does not tell.

    Args:
        name: Of the burst buffer.
        plugin: Of Slurm, which has it.
        known: What Slurm tells.

    Raises:
        UsageError: Slurm tells of others, but not of this one.
    """
    plugins = [one for one in known if one.plugin == plugin]
    if not plugins:
        return 1
    there = {buffer.name: (one, buffer) for one in plugins for buffer in one.buffers}
    there.pop("", None)
    if name not in there:
        names = ", ".join(printable(each) for each in sorted(there)) or "none"
        raise UsageError(
            f"there is no persistent burst buffer {printable(name)!r} here; there are {names} "
            "(scontrol show burst): name one of these, or make it in a job of its own"
        )
    one, buffer = there[name]
    pool = one.pool(buffer.pool)
    return max(1, ceil(buffer.size_bytes / pool.granularity_bytes)) if pool else 1
