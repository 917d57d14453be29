# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that are hard on the recorder: nothing hangs, and what is not recorded is told."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest
from capture_hosts import rows_named, trace_of
from native_hosts import QUICK, Host, Programs, build_core, operations

from stripewise.evidence.trace import Op

THREAD_RECORD = struct.pack("<IHH", 64, 16, 1)


def written(host: Host, *names: str) -> tuple[int, int]:
    """Writes that were counted, and those that were recorded or told to be lost."""
    counted = sum(
        operations(record, op) for name in names for record in host.records(name) for op in Op
    )
    lost = sum(int(process["lost_events"]) for process in host.profile.processes)
    return counted, int(trace_of(host).rows["count"].sum()) + lost


@pytest.fixture(scope="module")
def small_core() -> Path:
    """The library with room for the numbers of 100 threads."""
    return build_core("small", QUICK, "-DCMAKE_C_FLAGS=-DSW_MOST_THREADS=100u")


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("capture", ["fold", "all"])
def test_handlers_that_write_much_on_a_stack_above(
    host: Host, programs: Programs, capture: str
) -> None:
    host.check(programs.executable("storms"), STRIPEWISE_CAPTURE=capture)
    counted, told = written(host, "storm", "other")
    assert counted > 1500
    assert told == counted


@pytest.mark.extended
def test_no_descriptor_for_a_while(host: Host, programs: Programs) -> None:
    command = f"ulimit -n 64; exec {programs.executable('exhausts')}"
    host.check("bash", "-c", command, STRIPEWISE_CAPTURE="all")
    rows = rows_named(trace_of(host), "pwrite")
    assert int((rows["offset"] >= 1 << 20).sum()) == 5000
    counted, told = written(host, "scribbled")
    assert told >= counted >= 10_001  # those of other files may be lost as well
    assert any("no file descriptor is left" in note for note in host.profile.notes)


def test_a_crowd_of_processes_grows_at_once(host: Host, programs: Programs) -> None:
    host.check(programs.executable("crowd"), STRIPEWISE_CAPTURE="all")
    rows = rows_named(trace_of(host), "pwrite")
    numbers, counts = np.unique(rows["process"], return_counts=True)
    assert (len(numbers), set(counts.tolist())) == (64, {2000})


@pytest.mark.parametrize("capture", ["fold", "all"])
def test_threads_that_are_cancelled(host: Host, programs: Programs, capture: str) -> None:
    host.check(programs.executable("cancels"), STRIPEWISE_CAPTURE=capture)
    counted, told = written(host, "cancelled")
    assert abs(counted - told) <= 60
    trace = trace_of(host)
    rows = rows_named(trace, "pwrite")
    assert int(rows["count"][rows["bytes"] == 1].sum()) == 60


def test_each_turn_of_a_recorder_is_told(host: Host, programs: Programs) -> None:
    """Also where the log was just full.  What was moved out of the log may still lie in it."""
    host.check(programs.executable("many_threads"), "3000", STRIPEWISE_CAPTURE="fold")
    container = next(host.containers.glob("*.sw")).read_bytes()
    places = (found.start() for found in re.finditer(re.escape(THREAD_RECORD), container))
    threads = {container[place + 8 : place + 16] for place in places}  # again in a larger block
    assert len(threads) == 3001
    assert int(rows_named(trace_of(host), "pwrite")["count"].sum()) == 9000


@pytest.mark.extended
def test_more_threads_than_events_can_tell_apart(
    host: Host, programs: Programs, small_core: Path
) -> None:
    host.library = small_core
    host.check(programs.executable("many_threads"), STRIPEWISE_CAPTURE="fold")
    rows = rows_named(trace_of(host), "pwrite")
    assert len(np.unique(rows["thread"])) == 99  # the first one opens and closes
    counted, told = written(host, "many")
    assert told == counted == 902
    assert any("more threads than a trace can tell apart" in note for note in host.profile.notes)


@pytest.mark.long
def test_more_threads_than_sixteen_bits(host: Host, programs: Programs) -> None:
    host.check(programs.executable("many_threads"), "70000", STRIPEWISE_CAPTURE="fold")
    rows = rows_named(trace_of(host), "pwrite")
    assert len(np.unique(rows["thread"])) == 70_000
    assert int(rows["count"].sum()) == 210_000
