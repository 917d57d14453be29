# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Time bins: exact sums, and each call's share where it passed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from capture_hosts import play, trace_of, write_script
from native_hosts import NATIVE, Host, Programs

from stripewise.evidence.trace import Op, expand

INCLUDES = (f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'runtime'}")
WIDTH = 1 << 24


def test_a_day_of_bins(host: Host, programs: Programs) -> None:
    made = int(host.check(programs.executable("binned", *INCLUDES), LD_PRELOAD=""))
    assert 500 < made < 5000


def test_slow_calls_are_split_where_they_passed(host: Host, programs: Programs) -> None:
    """The bins of four 40 ms calls, worked out again from their events."""
    slow = programs.shared("slow")
    script = write_script(
        host.containers.parent / "script", [("w", k * 5000, 1001 + k) for k in range(4)]
    )
    host.check(
        programs.executable("plays"),
        script,
        LD_PRELOAD=f"{host.library}:{slow}",
        STRIPEWISE_CAPTURE="all",
        STRIPEWISE_EXCLUDE=str(script),
    )
    trace = trace_of(host)
    wanted: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(3, np.int64))
    # Bins begin at multiples of their width since the process began; rows since the run did.
    shift = int(trace.bins["start_ns"][0]) % WIDTH
    for call in expand(trace):
        start, elapsed = int(call["start_ns"]) - shift, int(call["duration_ns"])
        size = int(call["bytes"]) if call["op"] == Op.WRITE else 0
        last, left = (start + elapsed) // WIDTH, size
        at = start
        for number in range(start // WIDTH, last):
            part = (number + 1) * WIDTH - at
            wanted[number] += (0, size * part // elapsed, part)
            left -= size * part // elapsed
            at += part
        wanted[last] += (1, left, start + elapsed - at)
    found: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(3, np.int64))
    for row in trace.bins:
        assert row["width_ns"] == WIDTH
        assert row["read_bytes"] == 0
        number = (int(row["start_ns"]) - shift) // WIDTH
        found[number] += [int(row[name]) for name in ("calls", "write_bytes", "busy_ns")]
    assert {k: v.tolist() for k, v in found.items()} == {k: v.tolist() for k, v in wanted.items()}
    assert len(found) > 8


def test_bins_of_a_file_that_is_used_for_long(host: Host, programs: Programs) -> None:
    calls = [("w", k % 1000 * 64, 64) for k in range(100_000)]
    trace = play(host, programs, calls)
    assert int(trace.bins["calls"].sum()) == 100_002
    assert int(trace.bins["write_bytes"].sum()) == 6_400_000
    assert int(trace.bins["busy_ns"].sum()) == int(trace.rows["busy_ns"].sum())
    assert (trace.bins["busy_ns"] <= trace.bins["width_ns"]).all()
