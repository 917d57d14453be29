# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Takes the time in pipes, sockets and devices out of the I/O time of files.

docs/reference/profile.md ("Waiting") has the definition. The runtime library asks the system what
was opened and counts regular files only; logs of other tools have a name and counters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import ALL_RANKS, IoLayer

PIPE_BYTES = 65_536
"""Capacity of a pipe (pipe(7), documented): no call moves more through one."""
LEAST_CALL_SECONDS = 1.0
LEAST_RATIO = 1000.0
LEAST_OTHERS = 3
"""A call waits for another process if it takes at least a second and 1,000 times the usual call of
at least three other files of the run (assumed).
"""
_NOT_STORAGE = re.compile(
    r"/(proc|sys)/|/dev/(?!shm/|hugepages/)|(pipe|socket|anon_inode):|<STDIN>$"
)
_TIMES = ("outermost_seconds", "slowest_seconds", "fastest_seconds")


def with_waits_apart(rows: NDArray[Any], paths: Sequence[str]) -> NDArray[Any]:
    """Return counters in which the time of files that are not storage counts as waiting.

    Args:
        rows: (n,) `COUNTER_ROW` of a source that does not record what kind a file is.
        paths: Paths by index.
    """
    if not len(rows):
        return rows
    found = rows.copy()
    waits = _is_named(rows, paths) | _acts_as_pipe(rows)
    found["waiting_seconds"][waits] = rows["outermost_seconds"][waits]
    found["seconds"][waits] = 0.0
    for name in _TIMES:
        found[name][waits] = 0.0
    return found


def _is_named(rows: NDArray[Any], paths: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether the system's own name of a file tells that it is not storage."""
    named = np.array([bool(_NOT_STORAGE.match(path)) for path in paths] or [False])
    return np.where(rows["file"] >= 0, named[rows["file"]], False)


def _acts_as_pipe(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether the calls on a file wait much longer than all others, for next to nothing.

    A storage that is slow for all files, or for one that ranks share, does not look like this.
    """
    calls = rows["count"].sum(axis=1)
    mean = np.divide(rows["seconds"].sum(axis=1), calls, out=np.zeros(len(rows)), where=calls > 0)
    is_small = rows["maximum_offset"] < PIPE_BYTES
    is_small &= rows["bytes"].sum(axis=1) <= PIPE_BYTES * np.maximum(calls, 1)
    is_file = np.isin(rows["layer"], (IoLayer.POSIX, IoLayer.STDIO)) & (calls > 0)
    slow = is_file & (mean >= LEAST_CALL_SECONDS) & is_small & (rows["rank"] != ALL_RANKS)
    others = mean[is_file & ~slow]
    if len(others) < LEAST_OTHERS:
        return np.zeros(len(rows), np.bool_)
    users = np.bincount(rows["file"][is_file] + 1, minlength=int(rows["file"].max()) + 2)
    alone = users[rows["file"] + 1] <= 2  # POSIX and stdio of one process
    longer = mean >= LEAST_RATIO * float(np.median(others))
    return np.asarray(slow & alone & longer)
