# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who opened a file together, and who has to wait for whom."""

from __future__ import annotations

from scripted import Script

from stripewise.evidence.replay import Plan, build_plan
from stripewise.evidence.trace import IoLayer, Op

M, P, H = IoLayer.MPIIO, IoLayer.POSIX, IoLayer.HDF5


def groups(plan: Plan, rank: int) -> list[int]:
    """Numbers of the communicators of a rank's opens."""
    found = zip(verbs(plan, rank), plan.ranks[rank].columns["group"], strict=True)
    return [int(group) for verb, group in found if group >= 0 and verb != "sync.barrier"]


def verbs(plan: Plan, rank: int) -> list[str]:
    one = plan.ranks[rank]
    return [plan.verbs[row["verb"]] for row in plan.sections[one.section]]


def opened(script: Script, ranks: list[int], path: str, at_ns: int = 0) -> None:
    for rank in ranks:
        script.call(rank, M, Op.OPEN, "MPI_File_open", path, offset=6, at_ns=at_ns)
    for rank in ranks:
        script.call(rank, M, Op.CLOSE, "MPI_File_close", path)


def test_all_one_and_some() -> None:
    script = Script(4)
    opened(script, [0, 1, 2, 3], "/all")
    opened(script, [2], "/one")
    opened(script, [1, 3], "/some")
    plan = build_plan(script.trace())
    assert groups(plan, 0) == [0]
    assert groups(plan, 1) == groups(plan, 3) == [0, 2]
    assert groups(plan, 2) == [0, 1]
    assert plan.groups == ((1, 3),)


def test_halves_of_the_ranks_that_open_the_same_file_in_turn() -> None:
    script = Script(4)
    opened(script, [0, 1], "/f", at_ns=0)
    opened(script, [2, 3], "/f", at_ns=10_000_000)
    plan = build_plan(script.trace())
    assert {plan.groups[groups(plan, rank)[0] - 2] for rank in (0, 1)} == {(0, 1)}
    assert {plan.groups[groups(plan, rank)[0] - 2] for rank in (2, 3)} == {(2, 3)}


def test_one_that_opens_it_once_more_does_so_alone() -> None:
    script = Script(2)
    opened(script, [0], "/f")
    opened(script, [0, 1], "/f", at_ns=10_000_000)
    plan = build_plan(script.trace())
    assert groups(plan, 0) == [1, 0]
    assert groups(plan, 1) == [0]


def test_the_first_of_two_folded_opens_may_have_taken_longer_than_the_second() -> None:
    script = Script(2)
    for rank in (0, 1):
        late = 6_000_000 * rank  # rank 0 waits for rank 1 in the first one
        first, last = 1_000_000 + late, 9_000_000
        script.call(rank, M, Op.OPEN, "MPI_File_open", "/f", offset=6, sequence=0, count=2,
                    sequence_stride=(2, 0, 0), start_ns=first, last_start_ns=last,
                    end_ns=last + 10_000, busy_ns=6_500_000 - late + 10_000)  # fmt: skip
        script.call(rank, M, Op.CLOSE, "MPI_File_close", "/f", sequence=1, count=2,
                    sequence_stride=(2, 0, 0), start_ns=8_000_000, last_start_ns=10_000_000,
                    end_ns=10_010_000, busy_ns=20_000)  # fmt: skip
    plan = build_plan(script.trace())
    assert set(groups(plan, 0)) == set(groups(plan, 1)) == {0}


def test_different_collective_calls_tell_that_they_were_alone() -> None:
    script = Script(2)
    script.everywhere(M, Op.OPEN, "MPI_File_open", "/f", offset=6)
    script.call(1, M, Op.WRITE_COLLECTIVE, "MPI_File_write_all", "/f", bytes=4)
    script.everywhere(M, Op.CLOSE, "MPI_File_close", "/f")
    plan = build_plan(script.trace())
    assert groups(plan, 0) == groups(plan, 1) == [1]
    assert "different collective calls" in plan.notes[0]


def test_hdf5_is_parallel_if_it_opened_the_file_by_mpi_io() -> None:
    for parallel in (False, True):
        script = Script(2)
        script.everywhere(H, Op.OPEN, "H5Fcreate", "/f.h5", offset=15)
        if parallel:
            script.everywhere(M, Op.OPEN, "MPI_File_open", "/f.h5", depth=1, parent=0, sequence=0)
        plan = build_plan(script.trace())
        assert groups(plan, 0) == ([0] if parallel else [])


def test_a_reader_waits_for_the_writer() -> None:
    script = Script(2)
    script.call(0, P, Op.OPEN, "open", "/f", offset=6)
    script.call(0, P, Op.WRITE, "pwrite", "/f", bytes=100)
    script.call(0, P, Op.CLOSE, "close", "/f")
    script.call(1, P, Op.OPEN, "open", "/f", offset=1, at_ns=10_000_000)
    script.call(1, P, Op.READ, "pread", "/f", bytes=100)
    script.call(1, P, Op.CLOSE, "close", "/f")
    plan = build_plan(script.trace())
    assert verbs(plan, 0)[-2:] == ["posix.close", "sync.signal"]
    assert verbs(plan, 1)[:2] == ["sync.wait", "posix.open"]
    assert plan.inputs == ()


def test_nobody_removes_a_file_that_others_still_need() -> None:
    script = Script(2)
    for rank in range(2):
        script.call(rank, P, Op.OPEN, "open", "/f", offset=6)
        script.call(rank, P, Op.CLOSE, "close", "/f")
    script.call(0, P, Op.META, "unlink", "/f", at_ns=10_000_000)
    plan = build_plan(script.trace())
    assert verbs(plan, 0)[-2:] == ["sync.wait", "posix.unlink"]
    assert verbs(plan, 1)[-1] == "sync.signal"


def test_those_that_closed_it_together_need_not_wait() -> None:
    script = Script(2)
    opened(script, [0, 1], "/f")
    for rank in range(2):
        script.call(rank, M, Op.OPEN, "MPI_File_open", "/f", offset=1, at_ns=10_000_000)
        script.call(rank, M, Op.CLOSE, "MPI_File_close", "/f")
    assert not any("sync" in verb for verb in verbs(build_plan(script.trace()), 0))
