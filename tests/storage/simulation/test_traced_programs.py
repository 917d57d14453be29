# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a traced program asks by itself: requests, classes, stretches, and their time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stripewise.evidence.trace import IoLayer, Op, OpenBit
from stripewise.storage.simulation import simulate, traced_program
from stripewise.storage.stacks import Workload
from support.containers import FakeFile
from support.player import play
from support.storages import GIB, MIB, described
from support.trace_samples import evidence, one_thread, rank
from support.traces import FakeCall

MADE = OpenBit.WRITE | OpenBit.CREATE
KIB = 1024


def opened(path, sequence, flags=MADE, **more):
    return FakeCall(path, "open", Op.OPEN, offset=int(flags), sequence=sequence, **more)


def moved(path, sequence, size, count=1, op=Op.WRITE, offset=0, **more):
    return FakeCall(
        path, op.name.lower(), op, offset=offset, bytes=size, count=count, stride=(size, 0, 0),
        sequence=sequence, start_ns=sequence * 1000, **more
    )  # fmt: skip


def traced(calls_of, n_ranks=4, ranks_per_node=1):
    every = []
    for number in range(n_ranks):
        calls = calls_of(number)
        files = [FakeFile(path) for path in dict.fromkeys(call.file for call in calls)]
        every.append(replace(rank(number, n_ranks, one_thread(*calls)), files=files))
    return traced_program(evidence(*every), ranks_per_node)


def own(program, storage, nodes=4, per_node=1, **settings):
    return simulate(
        storage, Workload((), nodes, per_node, own=program.stretches), "romio", settings
    )


def test_requests_have_the_sizes_and_numbers_of_the_calls():
    program = traced(lambda n: (opened(f"/d/{n}", 1), moved(f"/d/{n}", 2, 4 * KIB, 256)))
    found = own(program, described({"client.process_write": GIB, "client.request": 1e-3}))
    assert (found.requests.requests, found.requests.size_bytes) == (1024, 4096)
    assert found.requests.processes == found.requests.files == 4
    assert found.bytes == 4 * MIB
    assert found.seconds == pytest.approx(256 * (1e-3 + 4096 / GIB))
    assert found.phases[0].phase.metadata == {"create": 4}
    assert found.stack == "posix"


def test_cost_does_not_grow_with_equal_ranks():
    calls = lambda n: (opened(f"/d/{n}", 1), moved(f"/d/{n}", 2, 4 * KIB, 256))  # noqa: E731
    few, many = (traced(calls, n, 4).stretches for n in (4, 64))
    assert [len(one.turns) for one in few] == [len(one.turns) for one in many] == [1]
    assert many[0].turns[0].processes == 64


def test_a_program_goes_on_to_its_next_stretch():
    """As IOR: open, write, close, stat; open, read, close.  Capture folds the two opens."""

    def calls(n):
        path = f"/d/{n}"
        return (
            FakeCall(path, "open", Op.OPEN, offset=7, stride=(-6, 0, 0), sequence=1, count=2,
                     sequence_stride=(22, 0, 0), start_ns=1000, step_ns=22000),
            moved(path, 2, MIB, 10),
            FakeCall(path, "stat", Op.META, sequence=13, start_ns=13000),
            moved(path, 24, MIB, 10, Op.READ),
        )  # fmt: skip

    first, second = traced(calls).stretches
    assert [call.writing for call in first.calls] == [True]
    assert [call.writing for call in second.calls] == [False]
    assert first.turns[0].metadata == {"create": 1}
    assert second.turns[0].metadata == {"open": 1, "stat": 1}


def test_many_small_files_wait_for_the_metadata_server():
    def calls(n):
        return [
            call
            for i in range(50)
            for call in (
                opened(f"/d/{n}.{i}", 4 * i + 1, start_ns=4000 * i),
                moved(f"/d/{n}.{i}", 4 * i + 2, 1000),
                FakeCall(f"/d/{n}.{i}", "fsync", Op.SYNC, sequence=4 * i + 3),
                FakeCall(f"/d/{n}.{i}", "stat", Op.META, sequence=4 * i + 4),
            )
        ]

    program = traced(calls)
    (stretch,) = program.stretches
    assert stretch.turns[0].metadata == {"create": 50, "sync": 50, "stat": 50}
    assert stretch.calls[0].files == 50
    times = {"metadata.create": 2e-3, "metadata.stat": 1e-3, "metadata.latency": 1e-4}
    alone, busy = (
        own(program, described(times | {"metadata.create": create})).seconds
        for create in (1e-5, 2e-3)
    )
    assert alone == pytest.approx(200 * 1e-3, rel=0.05)  # the server: 200 stats
    assert busy == pytest.approx(200 * 3e-3, rel=0.05)
    slow = own(program, described({"metadata.latency": 1e-2})).seconds
    assert slow == pytest.approx(50 * 3e-2)  # each process waits for itself


def test_a_shared_file_changes_hands():
    def calls(n):
        return opened("/d/one", 1), moved("/d/one", 2, 64 * KIB, 64, offset=n * 4 * MIB)

    figures = {"locks.revoke": 1e-3, "client.process_write": GIB, "servers.target_write": 8 * GIB}
    found = own(traced(calls), described(figures))
    assert found.seconds == pytest.approx(4 * 64 * 1e-3, rel=0.1)
    together = own(traced(calls, ranks_per_node=4), described(figures), nodes=1, per_node=4)
    assert together.seconds < 0.1 * found.seconds


def test_time_is_that_of_the_player():
    """Of the laws request by request, which the emulator follows."""
    import numpy as np

    from stripewise.storage.stacks import REQUEST_DTYPE, Layout

    figures = {
        "client.process_write": GIB, "servers.target_write": GIB, "servers.target_request": 5e-5,
        "client.request": 5e-5,
    }  # fmt: skip
    n_ranks, count, size = 24, 40, 16 * KIB
    program = traced(lambda n: (moved(f"/d/{n}", 2, size, count),), n_ranks)
    found = own(program, described(figures), nodes=n_ranks)
    rows = np.zeros(n_ranks * count, REQUEST_DTYPE)
    rows["rank"] = rows["file"] = np.repeat(np.arange(n_ranks), count)
    rows["order"] = np.tile(np.arange(count), n_ranks)
    rows["offset"], rows["size"], rows["writing"] = rows["order"] * size, size, True
    played = play(rows, described(figures), Layout(1, MIB, 12), np.arange(n_ranks))
    assert found.seconds == pytest.approx(played.ends.max(), rel=0.05)


def test_files_of_mpi_io_are_not_the_programs_own():
    out = FakeCall("/d/out", "MPI_File_write", Op.WRITE, IoLayer.MPIIO, bytes=100, sequence=1)

    def calls(n):
        below = moved("/d/out", 2, 100, depth=1, parent="MPI_File_write")
        lock = opened(f"/d/lock{n}", 3, depth=1, parent="MPI_File_write")
        return out, below, lock, moved(f"/d/log{n}", 5, 50)

    program = traced(calls)
    (stretch,) = program.stretches
    assert stretch.bytes == 4 * 50
    assert not stretch.first
    assert program.files == {f"/d/log{n}" for n in range(4)}


def test_streams_make_requests_of_their_buffer():
    def calls(n):
        return (
            FakeCall(f"/d/{n}", "fprintf", Op.WRITE, IoLayer.STDIO, bytes=10, count=4096,
                     stride=(10, 0, 0), sequence=2),
        )  # fmt: skip

    (stretch,) = traced(calls).stretches
    (call,) = stretch.calls
    assert (call.count, call.size) == (10, 4096)


def test_files_elsewhere_are_left_out():
    def calls(n):
        return moved("/home/settings", 1, 100, op=Op.READ), moved(f"/d/{n}", 2, 200)

    program = traced(calls)
    assert sum(one.bytes for one in program.stretches) == 4 * 200
    assert program.left_out == 1


def test_ranks_that_do_more_than_others_do_it_beside_them():
    def calls(n):
        header = (moved("/d/header", 1, KIB, 100),) if n == 0 else ()
        return *header, moved(f"/d/{n}", 200, MIB, 20)

    program = traced(calls)
    first, second = program.stretches
    assert [turns.processes for turns in first.turns] == [1]
    assert sorted(turns.processes for turns in second.turns) == [1, 3]
    found = own(program, described({"client.process_write": GIB}))
    assert found.requests.processes == 4
    assert found.seconds == pytest.approx((100 * KIB + 20 * MIB) / GIB)
