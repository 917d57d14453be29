# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that write in turns, bytes that nobody asked for, calls that move no data."""

import pytest
from runs import KIB, MIB, RunBuilder

from stripewise.diagnosis import Severity, diagnose
from stripewise.model import IoLayer, Op

FILE = "/scratch/out.dat"


def told_codes(run):
    return [found.code for found in diagnose(run.evidence()).findings]


def writers(start_end, n_rounds=4, period=8.0, n_ranks=4):
    """Each rank writes once a round; `start_end` gives the two times of a rank, in seconds."""
    run = RunBuilder(n_ranks=n_ranks, elapsed=60.0)
    spent = [start_end(rank)[1] - start_end(rank)[0] for rank in range(n_ranks)]
    for rank in range(n_ranks):
        ops = {Op.WRITE: (n_rounds, n_rounds * 16 * MIB, n_rounds * spent[rank])}
        run.add(FILE, IoLayer.POSIX, rank, ops)
        for place in range(n_rounds):
            begin, end = start_end(rank)
            row = run.call(
                FILE,
                IoLayer.POSIX,
                Op.WRITE,
                "pwrite",
                rank,
                place + 1,
                (place * n_ranks + rank) * 16 * MIB,
                16 * MIB,
                busy=end - begin,
            )
            row["start_ns"] = row["last_start_ns"] = (place * period + begin) * 1e9
            row["end_ns"] = (place * period + end) * 1e9
    return run


def in_turns(rank):
    return 2.0 * rank, 2.0 * rank + 1.95


def in_steps(rank):
    return 0.01 * rank, 2.0 * (rank + 1)


def at_once(rank):
    return 0.01 * rank, 2.0 + 0.1 * rank


def far_apart(rank):
    return 2.0 * rank, 2.0 * rank + 0.5


@pytest.mark.parametrize(("shape", "kind"), [(in_turns, "turns"), (in_steps, "steps")])
def test_ranks_that_write_one_after_the_other(shape, kind):
    found = diagnose(writers(shape).evidence()).findings[0]
    assert found.code == "serialised-writers"
    assert found.evidence["kind"] == kind
    assert found.phrase == "4 ranks writing out.dat one after the other"
    assert found.cost_seconds > 4.0
    assert "imbalance" not in told_codes(writers(shape))


@pytest.mark.parametrize("shape", [at_once, far_apart], ids=lambda shape: shape.__name__)
def test_ranks_that_write_at_once_or_now_and_then_do_not_wait(shape):
    assert "serialised-writers" not in told_codes(writers(shape))


def test_two_ranks_are_too_few_for_turns():
    assert "serialised-writers" not in told_codes(writers(in_steps, n_ranks=2))


def amplified(times, seconds, top=IoLayer.MPIIO, op=Op.WRITE):
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    run.everyone(FILE, top, {op: (10, 30 * MIB, seconds + 1.0)})
    run.everyone(
        FILE,
        IoLayer.POSIX,
        {Op.WRITE: (40, int(times * 30 * MIB), seconds)},
        own=False,
    )
    return run


def test_bytes_beyond_those_asked_for_are_told_even_if_they_cost_little():
    (found,) = diagnose(amplified(4.0, 0.1).evidence()).findings
    assert (found.code, found.severity) == ("amplification", Severity.INFO)
    assert found.evidence["times"] == pytest.approx(4.0)
    assert "asked for 60 MiB written" in found.text
    assert "240 MiB written arrived" in found.text
    told = diagnose(amplified(4.0, 0.1).evidence())
    assert "1 remark, no loss" in told.headline
    (found,) = diagnose(amplified(4.0, 20.0).evidence()).findings
    assert found.cost_seconds == pytest.approx(15.0)
    assert found.severity is Severity.HIGH


def test_bytes_as_asked_are_no_finding():
    assert told_codes(amplified(1.2, 20.0)) == []
    assert told_codes(amplified(0.5, 20.0)) == []  # compressed


def opening(seconds, opens=10, system=0.01, elapsed=20.0):
    run = RunBuilder(n_ranks=2, elapsed=elapsed)
    ops = {
        Op.OPEN: (opens, 0, seconds),
        Op.CLOSE: (opens, 0, seconds / 2),
        Op.WRITE_COLLECTIVE: (10, 64 * MIB, 1.0),
    }
    run.everyone(FILE, IoLayer.MPIIO, ops)
    run.everyone(FILE, IoLayer.POSIX, {Op.OPEN: (opens, 0, system)}, own=False)
    return run


def test_opening_and_closing_that_dominate_the_io():
    (found,) = diagnose(opening(4.0, opens=5).evidence()).findings
    assert found.code == "metadata-dominates"
    assert found.phrase == "calls to out.dat that move no data, mostly opens"
    assert "10 opens 4 s, 10 closes 2 s" in found.text
    assert "more ranks than cores" in found.text
    assert found.remedy.startswith("Open the file once")
    assert found.cost_seconds == pytest.approx(6.0 - 0.01)


def test_a_rank_that_opens_once_is_not_told_to_open_once():
    (found,) = diagnose(opening(4.0, opens=1).evidence()).findings
    assert not found.remedy.startswith("Open the file once")


def test_opening_beside_more_data_is_no_finding():
    assert told_codes(opening(0.3, opens=5)) == []
    assert told_codes(opening(4.0, opens=5, elapsed=1000.0)) == []


def test_metadata_that_a_library_writes_at_the_close_is_no_call_of_the_program():
    run = RunBuilder(n_ranks=2, elapsed=60.0)
    run.everyone("/d/f.h5", IoLayer.HDF5, {Op.WRITE: (24, 24 * 320 * KIB, 10.0)})
    run.everyone(
        "/d/f.h5",
        IoLayer.MPIIO,
        {Op.WRITE: (122_900, 24 * 320 * KIB + 30_000, 9.9)},
        own=False,
        outermost_seconds=0.01,
        outermost_write_bytes=30_000,
    )
    run.everyone(
        "/d/f.h5", IoLayer.POSIX, {Op.WRITE: (122_900, 24 * 320 * KIB + 30_000, 9.0)}, own=False
    )
    (found,) = diagnose(run.evidence()).findings
    assert found.code == "scattered-selection"
    assert found.evidence["calls"] == 48
    assert found.evidence["mean_bytes"] == 320 * KIB


def test_a_file_as_long_as_what_was_written_was_written_once():
    run = amplified(4.0, 20.0)
    for row in run.rows:
        row["maximum_offset"] = 240 * MIB
    (found,) = diagnose(run.evidence()).findings
    assert (found.code, found.cost_seconds, found.tune) == ("amplification", None, "")
    assert "the file has 240 MiB" in found.text
    assert "may have been written once" in found.text
