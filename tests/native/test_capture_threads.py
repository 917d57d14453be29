# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Events and counters agree, whatever threads, forks and signals do."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest
from capture_hosts import Call, calls_of, play, rows_named, trace_of
from native_hosts import Host, Programs

from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import Op, Trace

SCALES = {"count": 1, "bytes": 1, "seconds": 1e9}


def counted(host: Host) -> dict[tuple[int, str, int], np.ndarray]:
    """(8 operations, 3: count, bytes, ns) by process, path and layer."""
    profile = host.profile
    return {
        (int(r["process"]), profile.paths[int(r["file"])], int(r["layer"])): np.array(
            [[round(r[name][op] * scale) for name, scale in SCALES.items()] for op in Op]
        )
        for r in profile.counters
        if sum(int(r["count"][op]) for op in range(len(Op)))
    }


def recorded(trace: Trace) -> dict[tuple[int, str, int], np.ndarray]:
    """The same from the events."""
    sums: dict[tuple[int, str, int], np.ndarray] = defaultdict(
        lambda: np.zeros((len(Op), 3), np.int64)
    )
    for row in trace.rows:
        where = (int(row["process"]), trace.paths[int(row["file"])], int(row["layer"]))
        count = int(row["count"])
        sums[where][int(row["op"])] += (count, count * int(row["bytes"]), int(row["busy_ns"]))
    return dict(sums)


def binned(trace: Trace) -> dict[tuple[int, str, int], tuple[int, ...]]:
    """Calls, bytes read and written, and time by process, path and layer."""
    sums: dict[tuple[int, str, int], np.ndarray] = defaultdict(lambda: np.zeros(4, np.int64))
    for row in trace.bins:
        where = (int(row["process"]), trace.paths[int(row["file"])], int(row["layer"]))
        sums[where] += [int(row[n]) for n in ("calls", "read_bytes", "write_bytes", "busy_ns")]
    return {where: tuple(values.tolist()) for where, values in sums.items()}


@pytest.mark.parametrize("capture", ["fold", "all"])
@pytest.mark.parametrize(
    "command",
    ["transfers", "streams", "threads", "forks", "vforks", "descriptors", "names", "syncs"],
)
def test_events_add_up_to_the_counters(
    host: Host, programs: Programs, command: str, capture: str
) -> None:
    host.check(programs.executable(command), STRIPEWISE_CAPTURE=capture)
    trace = trace_of(host)
    counters, events, bins = counted(host), recorded(trace), binned(trace)
    assert events.keys() == counters.keys()
    for where, ops in counters.items():
        if command == "syncs" and where[1].endswith("/stream"):
            ops[Op.WRITE, 1] -= 1  # a single character is counted, and no event
        np.testing.assert_array_equal(events[where], ops, str(where))
        read, write = ops[Op.READ, 1], ops[Op.WRITE, 1]
        assert bins[where] == (ops[:, 0].sum(), read, write, ops[:, 2].sum())


@pytest.mark.parametrize("capture", ["fold", "all"])
@pytest.mark.parametrize("command", ["signals", "jumps", "errno", "allocator"])
def test_hosts_that_interrupt_us(
    host: Host, programs: Programs, command: str, capture: str
) -> None:
    """A jump out of the middle of an event may cost that one event."""
    if command == "allocator":
        preload = f"{host.library}:{programs.shared(command, '-fno-builtin')}"
        host.check(programs.executable("plain"), LD_PRELOAD=preload, STRIPEWISE_CAPTURE=capture)
    else:
        host.check(programs.executable(command), STRIPEWISE_CAPTURE=capture)
    trace = trace_of(host)
    events = recorded(trace)
    for where, ops in counted(host).items():
        missing = ops[:, 0] - events[where][:, 0]
        assert (abs(missing) <= (200 if command == "jumps" else 0)).all()
    if command == "jumps":
        after = rows_named(trace, "pwrite")
        assert int(after["count"].sum()) == 1000


def test_threads_take_turns_with_one_recorder(host: Host, programs: Programs) -> None:
    host.check(programs.executable("many_threads"), STRIPEWISE_CAPTURE="fold")
    trace = trace_of(host)
    rows = rows_named(trace, "pwrite")
    assert len(np.unique(rows["thread"])) == 300
    assert int(rows["count"].sum()) == 900
    assert sorted(offset for _, _, offset, _ in calls_of(trace, rows)) == [
        thread * 100 + i * 8 for thread in range(300) for i in range(3)
    ]
    size = sum(path.stat().st_size for path in host.containers.glob("*.sw"))
    assert size < 1 << 18  # 300 recorders of their own would take 10 MiB


def test_each_thread_has_its_own_order(host: Host, programs: Programs) -> None:
    chance = random.Random(5)
    scripts: list[list[Call]] = [
        [("w", chance.randrange(1 << 16), 8) for _ in range(400)] for _ in range(3)
    ]
    trace = play(host, programs, *scripts)
    rows = rows_named(trace, "pwrite")
    threads = sorted(np.unique(rows["thread"]).tolist())
    for thread, script in zip(threads, scripts, strict=True):
        offsets = [call[2] for call in calls_of(trace, rows[rows["thread"] == thread])]
        assert offsets == [first for _, first, _ in script]


def test_exec_leaves_the_trace_of_what_was_before(host: Host, programs: Programs) -> None:
    assert (
        host.run(programs.executable("execs"), "execve", STRIPEWISE_CAPTURE="fold").returncode == 5
    )
    counters = counted(host)
    events = recorded(trace_of(host))
    assert {w: o[:, 0].tolist() for w, o in counters.items()} == {
        w: o[:, 0].tolist() for w, o in events.items()
    }


def test_nothing_is_recorded_unless_asked_for(host: Host, programs: Programs) -> None:
    host.check(programs.executable("plain"))
    trace = read_evidence(host.containers).trace
    assert trace is None or len(trace.rows) == 0


def test_unknown_mode_is_told(host: Host, programs: Programs) -> None:
    host.check(programs.executable("plain"), STRIPEWISE_CAPTURE="everything")
    assert len(trace_of(host).rows) > 0
    assert any("neither fold nor all" in note for note in host.profile.notes)


def test_containers_are_private(host: Host, programs: Programs) -> None:
    host.check("sh", "-c", f"umask 0; {programs.executable('plain')}", STRIPEWISE_CAPTURE="all")
    assert [path.stat().st_mode & 0o777 for path in host.containers.iterdir()] == [0o600]


def test_asynchronous_requests(host: Host, programs: Programs) -> None:
    host.check(programs.executable("asynchronous"), STRIPEWISE_CAPTURE="fold")
    trace = trace_of(host)
    counters = sum(counted(host).values(), np.zeros((len(Op), 3), np.int64))
    events = sum(recorded(trace).values(), np.zeros((len(Op), 3), np.int64))
    assert events[Op.READ, 1] == counters[Op.READ, 1]
    assert events[Op.WRITE, 1] == counters[Op.WRITE, 1]
