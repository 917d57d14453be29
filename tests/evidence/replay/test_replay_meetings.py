# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Barriers of the program, found in the times of its calls."""

from __future__ import annotations

import numpy as np
import pytest
from scripted import Script

from stripewise.evidence.replay import Plan, build_plan
from stripewise.evidence.trace import IoLayer, Op

M = IoLayer.MPIIO
MS = 1_000_000


def made(plan: Plan, rank: int) -> list[tuple[str, int, int]]:
    """(verb, count, gap) of the runs of a rank, in order."""
    one = plan.ranks[rank]
    rows = plan.sections[one.section]
    gaps = one.columns["gap"].tolist()
    return [
        (plan.verbs[row["verb"]].partition(".")[2], int(row["count"]), gap)
        for row, gap in zip(rows, gaps, strict=True)
    ]


def written(script: Script, *ends_ms: float) -> None:
    """Open together; rank r writes until ends_ms[r]."""
    script.everywhere(M, Op.OPEN, "MPI_File_open", "/f", offset=6)
    for rank, end in enumerate(ends_ms):
        script.call(rank, M, Op.WRITE, "MPI_File_write_at", "/f", bytes=64, start_ns=MS,
                    end_ns=int(end * MS), busy_ns=int((end - 1) * MS))  # fmt: skip


def closed(script: Script, *starts_ms: float) -> None:
    for rank, start in enumerate(starts_ms):
        script.call(rank, M, Op.CLOSE, "MPI_File_close", "/f", start_ns=int(start * MS))


def test_the_early_one_waited_for_the_late_one() -> None:
    script = Script(2)
    written(script, 20, 5)
    closed(script, 20.04, 20.05)
    plan = build_plan(script.trace())
    end = [("barrier", 1, 40_000), ("close", 1, 0)]
    assert made(plan, 0)[-2:] == made(plan, 1)[-2:] == end
    assert {int(plan.ranks[rank].columns["group"][-2]) for rank in (0, 1)} == {0}


@pytest.mark.parametrize(
    ("ends", "starts"),
    [
        ((20, 5), (20.04, 5.04)),  # each goes on at once
        ((20, 5), (20.04, 28.0)),  # later than the other, and not at the same time
        ((20, 20.01), (30.0, 30.02)),  # nobody waited for long
    ],
)
def test_no_barrier(ends: tuple[float, ...], starts: tuple[float, ...]) -> None:
    script = Script(2)
    written(script, *ends)
    closed(script, *starts)
    plan = build_plan(script.trace())
    assert "barrier" not in {verb for rank in (0, 1) for verb, *_ in made(plan, rank)}


def test_hosts_have_clocks_of_their_own() -> None:
    script = Script(2)
    written(script, 20, 5)
    closed(script, 20.04, 20.05)
    trace = script.trace()
    object.__setattr__(trace, "hosts", ("a", "b"))
    object.__setattr__(trace, "process_host", np.array([0, 1]))
    plan = build_plan(trace)
    assert [verb for verb, *_ in made(plan, 0)] == ["open", "write_at", "close"]


def test_some_of_the_ranks_meet() -> None:
    script = Script(3)
    for rank in (0, 2):
        script.call(rank, M, Op.OPEN, "MPI_File_open", "/f", offset=6)
        end = 9 * MS if rank else 2 * MS
        script.call(rank, M, Op.WRITE, "MPI_File_write_at", "/f", bytes=64, start_ns=MS,
                    end_ns=end, busy_ns=end - MS)  # fmt: skip
    for rank in (0, 2):
        script.call(rank, M, Op.CLOSE, "MPI_File_close", "/f", start_ns=int(9.1 * MS))
    plan = build_plan(script.trace())
    assert plan.groups == ((0, 2),)
    assert [verb for verb, *_ in made(plan, 2)] == ["open", "write_at", "barrier", "close"]
    assert made(plan, 1) == []


def test_calls_in_the_middle_of_a_folded_run_do_as_its_ends() -> None:
    script = Script(2)
    script.everywhere(M, Op.OPEN, "MPI_File_open", "/f", offset=6)
    for rank in (0, 1):
        busy = (1 + 3 * rank) * MS  # rank 1 takes longer, rank 0 waits for it each time
        first, last = 2 * MS, 52 * MS
        common = {"count": 11, "bytes": 64, "stride": (64, 0, 0), "sequence_stride": (2, 0, 0)}
        script.call(rank, M, Op.WRITE, "MPI_File_write_at", "/f", sequence=1, start_ns=first,
                    last_start_ns=last, end_ns=last + busy, busy_ns=11 * busy,
                    **common)  # fmt: skip
        script.call(rank, M, Op.WRITE_COLLECTIVE, "MPI_File_write_at_all", "/f", sequence=2,
                    start_ns=first + int(4.1 * MS), last_start_ns=last + int(4.1 * MS),
                    end_ns=last + int(4.3 * MS), busy_ns=11 * 200_000, **common)  # fmt: skip
    closed(script, 60, 60)
    plan = build_plan(script.trace())
    for rank in (0, 1):
        found = {verb: (count, gap) for verb, count, gap in made(plan, rank)}
        count, gap = found["barrier"]
        assert count == 11
        assert abs(gap - 100_000) <= 1
        assert found["write_at_all"] == (11, 0)


def test_a_rank_that_comes_much_later_does_so_again() -> None:
    script = Script(2)
    script.call(0, M, Op.OPEN, "MPI_File_open", "/f", offset=6, end_ns=80 * MS)
    script.call(1, M, Op.OPEN, "MPI_File_open", "/f", offset=6, start_ns=70 * MS)
    closed(script, 90, 90)
    plan = build_plan(script.trace())
    assert made(plan, 0)[0] == ("open", 1, 0)
    assert made(plan, 1)[0] == ("open", 1, 70 * MS)
