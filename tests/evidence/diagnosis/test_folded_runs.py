# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of folded runs are those of the single calls that the runs stand for."""

import math
import tracemalloc
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import MIB, RunBuilder

from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.figures._folded_calls import (
    ExpansionBudget,
    Gaps,
    boxes_of,
    count_aligned,
    find_gaps,
)
from stripewise.evidence.replay._plan import fold
from stripewise.evidence.replay._verbs import CALL
from stripewise.evidence.trace import TRACE_ROW, IoLayer, Op, Trace, expand

FILE, OTHER = "/scratch/out.h5", "/scratch/other.h5"
SYSTEM = {True: ("pwrite64", Op.WRITE), False: ("pread64", Op.READ)}
ASKED = {
    (True, True): ("MPI_File_write_at_all", Op.WRITE_COLLECTIVE),
    (True, False): ("MPI_File_write_at", Op.WRITE),
    (False, True): ("MPI_File_read_at_all", Op.READ_COLLECTIVE),
    (False, False): ("MPI_File_read_at", Op.READ),
}
NO_CALLS = ExpansionBudget(0)


def random_rows(seed, n):
    """Runs as any source may give them, also such as no program makes."""
    source = np.random.default_rng(seed)
    rows = np.zeros(n, TRACE_ROW)
    rows["process"], rows["thread"] = source.integers(0, 2, (2, n))
    rows["count"] = source.choice([1, 2, 7, 60], n)
    rows["inner"] = source.choice([0, 1, 2, 5, 100], (n, 2))
    rows["bytes"] = source.choice([0, 8, 64, 100], n)
    rows["offset"] = source.integers(0, 50, n) * 8
    rows["stride"] = source.choice([-64, 0, 7, 8, 64, 100, 640, 1000], (n, 3))
    rows["sequence"] = source.permutation(n) * source.choice([1, 10_000])
    steps = [(n, 8 * n, 80 * n), (17 * n, 1, 8), (n, 60 * n, 0), (-n, 80 * n, 5)]
    rows["sequence_stride"] = np.array(steps)[source.integers(0, len(steps), n)]
    rows["parent"] = -1
    return rows[np.lexsort((rows["sequence"], rows["thread"], rows["process"]))]


def single(rows):
    """(process, thread, sequence, offset, bytes) of each call, in order; None: it is not told."""
    calls = expand(Trace("synthetic", rows), rows)
    names = ("process", "thread", "sequence", "offset", "bytes")
    found = list(zip(*(calls[name].tolist() for name in names), strict=True))
    return found if len({call[:3] for call in found}) == len(found) else None


def gaps_of(calls):
    last, found = {}, []
    for process, _, _, offset, size in calls:
        distance = abs(offset - last.get(process, offset))
        found += [distance] if distance else []
        last[process] = offset + size
    return Gaps(len(found), sum(found) / len(found) if found else None)


def close(one, other):
    return one.count == other.count and one.mean_bytes == pytest.approx(other.mean_bytes, 1e-12)


seeds = st.integers(0, 2**32)


@settings(max_examples=300, deadline=None)
@given(seeds, st.integers(1, 6))
def test_boxes_hold_the_calls_of_their_runs(seed, n):
    rows = random_rows(seed, n)
    boxes = boxes_of(rows)
    assert boxes.calls.sum() == rows["count"].sum()
    calls = expand(Trace("synthetic", rows), rows)
    box, offset, sequence = boxes.expanded(np.ones(len(boxes.row), bool))
    found = zip(boxes.row[box].tolist(), offset.tolist(), sequence.tolist(), strict=True)
    names = ("row", "offset", "sequence")
    assert sorted(found) == sorted(zip(*(calls[k].tolist() for k in names), strict=True))


@settings(max_examples=300, deadline=None)
@given(seeds, st.integers(1, 6), st.sampled_from([1, 3, 8, 12, 64, 1000, 2**32 - 5]))
def test_aligned_calls_are_counted(seed, n, unit):
    rows = random_rows(seed, n)
    calls = expand(Trace("synthetic", rows), rows)
    assert count_aligned(rows, unit, ExpansionBudget()) == (calls["offset"] % unit == 0).sum()


@settings(max_examples=500, deadline=None)
@given(seeds, st.integers(1, 6))
def test_gaps_are_found(seed, n):
    rows = random_rows(seed, n)
    if (calls := single(rows)) is not None:
        assert close(find_gaps(rows, ExpansionBudget()), gaps_of(calls))


@settings(max_examples=300, deadline=None)
@given(seeds, st.integers(1, 4), st.integers(1, 100))
def test_loops_need_no_expansion(seed, n, count):
    """Runs whose calls take turns: a header, then its data, ..., as one run or in nested loops."""
    source = np.random.default_rng(seed)
    rows = random_rows(seed, n)
    rows["count"], rows["inner"] = count, source.integers(0, 9, 2)
    for name in ("process", "thread", "stride"):
        rows[name] = rows[name][0]
    rows["sequence"] = source.permutation(n)
    rows["sequence_stride"] = (n, 10 * n, 1000 * n)
    rows = rows[np.argsort(rows["sequence"])]
    assert close(find_gaps(rows, NO_CALLS), gaps_of(single(rows)))


def test_what_would_need_too_many_calls_is_not_known():
    rows = random_rows(0, 2)
    rows["process"] = rows["thread"] = 0
    rows["count"], rows["inner"], rows["sequence"] = 60, 0, (0, 30)
    rows["sequence_stride"][:, 0] = (7, 11)
    assert find_gaps(rows, ExpansionBudget(120)).count is not None
    assert find_gaps(rows, ExpansionBudget(119)) == Gaps(None, None)
    rows["inner"] = (4, 5)
    assert count_aligned(rows, 8, NO_CALLS) is None
    rows["count"] = 2**62  # of a damaged trace
    assert find_gaps(rows, ExpansionBudget()) == Gaps(None, None)


def program(seed):
    """Loops of every process: (path, writing, collective, pieces, reads, size) of each call."""
    source = np.random.default_rng(seed)
    return [
        [
            (
                (FILE, OTHER)[source.integers(0, 2)],
                bool(source.integers(0, 2)),
                bool(source.integers(0, 2)),
                int(source.choice([0, 1, 1, 3])),
                bool(source.integers(0, 2)),
                int(source.choice([MIB, MIB // 2, 100])),
            )
            for _ in range(source.integers(1, 4))
        ]
        * int(source.choice([1, 2, 30]))
        for _ in range(source.integers(1, 4))
    ]


def calls_of(loops, idle):
    """Every call of a process: (path, layer, op, name, parent, depth, size), offset."""
    place = defaultdict(int)
    for loop in loops:
        for path, writing, collective, pieces, reads, size in loop:
            asked, op = ASKED[writing, collective]
            at = place[path]
            yield (path, IoLayer.MPIIO, op, asked, "", 0, size * pieces), at
            for piece in range(0 if idle and collective else pieces):
                start = at + piece * size
                if reads and writing:
                    yield (path, IoLayer.POSIX, Op.READ, "pread64", asked, 1, size), start
                low, low_op = SYSTEM[writing][0], SYSTEM[writing][1]
                yield (path, IoLayer.POSIX, low_op, low, asked, 1, size), start
            place[path] = at + pieces * size * (2 if size == 100 else 1)


def run_of(seed):
    run = RunBuilder(n_ranks=3)
    run.layouts[FILE] = (MIB, 2)
    loops = program(seed)
    for process in range(3):
        calls = list(calls_of(loops, idle=process == seed % 4))
        keys = {call: number for number, call in enumerate(dict.fromkeys(c for c, _ in calls))}
        made = np.zeros(len(calls), CALL)
        made["key"] = [keys[call] for call, _ in calls]
        made["offset"] = [offset for _, offset in calls]
        runs, _ = fold(made)
        for path in {call[0] for call in keys}:
            run.add(path, IoLayer.MPIIO, process, {Op.WRITE: (1, 1, 1.0)})
        for folded in runs:
            first = int(folded["place"])
            (path, layer, op, name, parent, depth, size), offset = calls[first]
            row = run.call(
                path, layer, op, name, process, first, offset, size, parent=parent, depth=depth
            )
            row["count"], row["inner"], row["stride"] = (
                folded["count"],
                folded["inner"],
                folded["stride"],
            )
            row["sequence_stride"] = folded["place_stride"]
            row["busy_ns"] = 1000 * folded["count"]
    return run


def expected(trace, path, writing):
    """The figures of one direction, call by call."""
    calls = expand(trace)
    file = trace.paths.index(path)
    kinds = {name: key for key, (name, _) in ASKED.items()}
    turn, found = defaultdict(int), defaultdict(list)
    for call in calls:
        if call["file"] != file:
            continue
        name, process = trace.names[call["name"]], int(call["process"])
        served = call["parent_index"]
        above = name if served < 0 else trace.names[calls["name"][served]]
        if kinds[above][0] != writing:
            continue
        if above == name:
            turn[process] += kinds[name][1]
            found["asked"].append((process, int(call["bytes"]), kinds[name][1]))
        elif name != SYSTEM[writing][0]:
            found["modify"].append((process, int(call["bytes"])))
        else:
            place = (process, 0, 0, int(call["offset"]), int(call["bytes"]))
            found["system"].append(place)
            if kinds[above][1]:
                found["served"].append((turn[process], process))
    return found


@pytest.mark.extended
@settings(max_examples=150, deadline=None)
@given(seeds)
def test_every_figure_is_that_of_single_calls(seed):
    evidence = run_of(seed).evidence()
    diagnosis = diagnose(evidence)
    blocks = {block.path: block for block in diagnosis.mpiio_stats}
    rows = {(row.path, row.writing): row for row in diagnosis.requests}
    for path in blocks:
        for writing in (True, False):
            told = expected(evidence.trace, path, writing)
            side = blocks[path].write if writing else blocks[path].read
            if not told["asked"]:
                assert side is None
                assert (path, writing) not in rows
                continue
            check_row(rows[path, writing], told)
            check_side(side, told, MIB if path == FILE else None)


def check_row(row, told):
    asked, system, modify = told["asked"], told["system"], told["modify"]
    gaps = gaps_of(system)
    assert row.exact
    assert (row.program_calls, row.program_bytes) == (len(asked), sum(c[1] for c in asked))
    assert row.collective_calls == sum(c[2] for c in asked)
    assert row.program_ranks == len({c[0] for c in asked})
    assert (row.system_calls, row.system_bytes) == (len(system), sum(c[4] for c in system))
    assert row.system_ranks == len({c[0] for c in system})
    assert (row.modify_reads, row.modify_bytes) == (len(modify), sum(c[1] for c in modify))
    assert close(Gaps(row.gaps, row.mean_gap_bytes), gaps)
    aligned = sum(c[3] % MIB == 0 for c in system)
    sized = sum(c[4] == MIB for c in system)
    times = [c[0] for c in (*system, *modify)]
    slowest = max((times.count(p) for p in set(times)), default=0)
    assert row.system_seconds == pytest.approx(slowest * 1e-6)
    assert row.program_mean_bytes == row.program_bytes / row.program_calls
    if system:
        assert (row.aligned, row.unit_sized) == (aligned / len(system), sized / len(system))
        assert row.system_mean_bytes == row.system_bytes / len(system)
    else:
        assert all(map(math.isnan, (row.aligned, row.unit_sized, row.system_mean_bytes)))


def check_side(side, told, stripe):
    asked, system, modify = told["asked"], told["system"], told["modify"]
    alone = [c[0] for c in asked if not c[2]]
    assert (side.independent, side.independent_ranks) == (len(alone), len(set(alone)))
    assert side.collective == len(asked) - len(alone)
    n = len({process for _, process in told["served"]})
    assert side.aggregators == n
    count = np.unique([turn for turn, _ in set(told["served"])], return_counts=True)[1].tolist()
    active = [
        sum(c == 1 for c in count),
        sum(1 < c <= n / 2 for c in count),
        sum(max(n / 2, 1) < c < n for c in count),
        sum(c == n > 1 for c in count),
    ]
    assert side.active == (tuple(active) if n else None)
    total = sum(c[4] for c in system)
    assert (side.system_calls, side.total_bytes) == (len(system), total)
    assert side.average_bytes == (total // len(system) if system else None)
    assert side.stripe_sized == (None if stripe is None else sum(c[4] == stripe for c in system))
    assert (side.modify_reads, side.modify_bytes) == (len(modify), sum(c[1] for c in modify))
    gaps = gaps_of(system)
    mean = None if gaps.mean_bytes is None else int(gaps.mean_bytes)
    assert (side.gaps, side.average_gap_bytes) == (gaps.count, mean)


def test_millions_of_calls_cost_as_much_as_their_runs():
    run = RunBuilder(n_ranks=4)
    n = 4_000_000_000
    for rank in range(4):
        run.add(FILE, IoLayer.MPIIO, rank, {Op.WRITE: (n, n * 100, 1.0)})
        name, op = ASKED[True, False]
        start = rank * n * 100
        run.call(FILE, IoLayer.MPIIO, op, name, rank, 0, start, 100, count=n, stride=100, step=2)
        low = run.call(
            FILE, IoLayer.POSIX, Op.WRITE, "pwrite64", rank, 1, start, 100, parent=name, depth=1
        )
        low["count"], low["stride"][0], low["sequence_stride"][0] = n, 100, 2
    tracemalloc.start()
    (row,) = diagnose(run.evidence()).requests
    assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    tracemalloc.stop()
    assert (row.exact, row.program_calls, row.system_calls) == (True, 4 * n, 4 * n)
    assert (row.gaps, row.mean_gap_bytes) == (0, None)
    multiples = sum(-(-(r + 1) * n // 262144) - -(-r * n // 262144) for r in range(4))
    assert row.aligned == multiples / (4 * n)
