# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the trace has no room: the counters go on, and what is lost is told."""

from __future__ import annotations

import platform
import random

import pytest
from capture_hosts import Call, calls_of, play, rows_named, trace_of, write_script
from native_hosts import Host, Programs, operations

from stripewise.evidence.trace import Op, Trace

CALLS = 20_000


def noise(number: int = CALLS) -> list[Call]:
    chance = random.Random(2)
    return [("w", chance.randrange(1 << 16), 8) for _ in range(number)]


def lost_events(host: Host) -> int:
    """What the processes say."""
    return sum(int(process["lost_events"]) for process in host.profile.processes)


def check_loss(host: Host, trace: Trace) -> None:
    """Every call is recorded or counted as lost; the counters have them all."""
    recorded = int(trace.rows["count"].sum())
    assert operations(host.record("played"), Op.WRITE) == CALLS
    assert lost_events(host) > 0
    assert recorded + lost_events(host) == CALLS + 2  # open and close
    assert any("trace is full" in note for note in host.profile.notes)


@pytest.mark.parametrize("capture", ["fold", "all"])
def test_bound(host: Host, programs: Programs, capture: str) -> None:
    trace = play(host, programs, noise(), capture=capture, STRIPEWISE_CAPTURE_BYTES="200000")
    check_loss(host, trace)
    size = sum(path.stat().st_size for path in host.containers.glob("*.sw"))
    assert size < 200_000 + 100_000  # the counters' own blocks


def test_first_calls_and_open_runs_are_kept(host: Host, programs: Programs) -> None:
    calls = noise()
    trace = play(host, programs, calls, STRIPEWISE_CAPTURE_BYTES="200000")
    kept = [call[2] for call in calls_of(trace, rows_named(trace, "pwrite"))]
    assert kept[:1000] == [first for _, first, _ in calls[:1000]]
    assert kept[-1] == calls[-1][1]


def test_no_room_at_all(host: Host, programs: Programs) -> None:
    trace = play(host, programs, noise(), STRIPEWISE_CAPTURE_BYTES="4096")
    check_loss(host, trace)
    assert len(trace.rows) == 0


def test_file_size_limit(host: Host, programs: Programs) -> None:
    script = write_script(host.containers.parent / "script", noise())
    host.check(
        "bash",
        "-c",
        f"ulimit -f 300; exec {programs.executable('plays')} {script}",
        STRIPEWISE_CAPTURE="all",
        STRIPEWISE_EXCLUDE=str(script),
    )
    check_loss(host, trace_of(host))


def test_regular_calls_need_no_room(host: Host, programs: Programs) -> None:
    calls: list[Call] = [("w", k * 8 % 60000, 8) for k in range(CALLS)]
    play(host, programs, calls, STRIPEWISE_CAPTURE_BYTES="65536")
    assert lost_events(host) == 0


def test_a_container_that_was_replaced(host: Host, programs: Programs) -> None:
    """Nothing of ours goes into a file that is not ours, and the loss is told."""
    container = host.containers / f"{platform.node()}.sw"
    other = host.containers.parent / "other"
    other.write_bytes(b"not ours" * 100_000)
    program = programs.executable("moves")
    host.check(program, container, other, str(CALLS), STRIPEWISE_CAPTURE="all")
    assert container.read_bytes() == b"not ours" * 100_000
    container.with_suffix(".sw.moved").rename(container)
    trace = trace_of(host)
    assert operations(host.record("moves"), Op.WRITE) == CALLS
    recorded = len(rows_named(trace, "pwrite"))
    assert CALLS // 2 <= recorded < CALLS
    assert recorded + lost_events(host) >= CALLS
