# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""SIGKILL in the midst: every completed call is in the trace."""

from __future__ import annotations

import random
import signal
import subprocess
import time

import numpy as np
import pytest
from capture_hosts import calls_of, rows_of_file, trace_of
from native_hosts import Host, Programs

from stripewise.evidence.trace import Op


def offset_of(k: int, at_random: bool) -> int:
    """As in programs/victim.c."""
    if not at_random:
        return k % 10 * 64 + k // 10 % 100 * 1000
    k = (k + 1) * 0x9E3779B97F4A7C15 % 2**64
    return (k ^ k >> 29) % 4096 * 64


def kill_victim(
    host: Host, programs: Programs, threads: int, at_random: bool, capture: str, seconds: float
) -> np.ndarray:
    """Completed calls of each thread, as the victim itself counted them."""
    counters = host.containers.parent / "counters"
    counters.write_bytes(bytes(4096))
    victim = subprocess.Popen(
        [programs.executable("victim"), counters, str(threads), str(int(at_random))],
        cwd=host.directory,
        env=host.environment(STRIPEWISE_CAPTURE=capture, STRIPEWISE_EXCLUDE=str(counters)),
    )
    while not np.fromfile(counters, np.uint64)[:1].any():
        assert victim.poll() is None
        time.sleep(0.001)
    time.sleep(seconds)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    return np.fromfile(counters, np.uint64)[: threads * 8 : 8].astype(np.int64)


def check_victim(host: Host, completed: np.ndarray, at_random: bool) -> None:
    """The trace has the completed calls of each thread, and at most the one that was ending."""
    trace = trace_of(host)
    for thread, done in enumerate(completed.tolist()):
        rows = rows_of_file(trace, f"victim-{thread}")
        told = calls_of(trace, rows[rows["op"] == Op.WRITE])
        assert done <= len(told) <= done + 1
        assert [offset for _, _, offset, _ in told] == [
            offset_of(k, at_random) for k in range(len(told))
        ]


@pytest.mark.parametrize(
    ("threads", "at_random", "capture"),
    [(1, False, "fold"), (1, True, "fold"), (3, True, "fold"), (2, True, "all")],
)
def test_killed_at_any_moment(
    host: Host, programs: Programs, threads: int, at_random: bool, capture: str
) -> None:
    seconds = random.Random(threads).uniform(0.01, 0.05)
    completed = kill_victim(host, programs, threads, at_random, capture, seconds)
    assert completed[0] > 0
    check_victim(host, completed, at_random)
