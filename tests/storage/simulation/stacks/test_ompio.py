# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""OMPIO: who aggregates, what each writes and reads, and the same in classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.core.errors import UsageError
from stripewise.storage.stacks import Layout, Setup, Workload, find_stack
from support.stack_workloads import (
    pattern_of,
    patterns,
    sums_of_phases,
    sums_of_requests,
)
from support.work import calls_and_peak

LAYOUT = Layout(stripe_count=4, stripe_size=1 << 16, targets=8)
CUBE = pattern_of((8, 8, 8), (2, 2, 1), collective=1.0)
UNSIEVED = {"mca.fbtl_posix_write_datasieving": False, "mca.fbtl_posix_read_datasieving": False}


def _requests(pattern, stack="ompio", **given):
    setup = Setup(LAYOUT, {f"mca.{name}": value for name, value in given.items()})
    work = Workload((pattern,), 1, pattern.n_ranks)
    found = find_stack(stack).requests(work, setup)
    return [tuple(int(row[name]) for name in ("rank", "phase", "offset", "size")) for row in found]


def test_one_rank_of_eight_aggregates_and_small_jobs_go_by_themselves():
    assert _requests(CUBE) == [(0, 0, 0, 4096)]
    pair = pattern_of((8, 8, 8), (1, 2, 1), collective=1.0)
    assert len(_requests(pair)) == 16
    assert _requests(pair, fcoll="vulcan") == [(0, 0, 0, 4096)]


def test_a_cycle_is_half_of_bytes_per_agg_for_writes_and_all_of_it_for_reads():
    given = {"io_ompio_num_aggregators": 2, "io_ompio_bytes_per_agg": 2048}
    assert _requests(CUBE, **given) == [
        (0, 0, 0, 1024), (0, 1, 1024, 1024), (2, 0, 2048, 1024), (2, 1, 3072, 1024)
    ]  # fmt: skip
    read = pattern_of((8, 8, 8), (2, 2, 1), collective=1.0, writing=False)
    assert _requests(read, **given) == [(0, 0, 0, 2048), (2, 0, 2048, 2048)]


def test_shares_are_counted_from_byte_0_so_a_later_step_has_other_owners():
    pattern = pattern_of((10,), (5,), element_bytes=2000, collective=1.0, file_offset=16000)
    assert _requests(pattern, io_ompio_num_aggregators=2) == [
        (0, 0, 20000, 10000), (3, 0, 16000, 4000), (3, 0, 30000, 6000)
    ]  # fmt: skip


def test_holes_are_sieved_by_a_read_and_a_write():
    pattern = pattern_of((32,), (4,), collective=1.0, span=((0, 32),))
    holes = [part.__class__("BLOCK", lattice=(4, 2)) for part in pattern.distributions]
    pattern = pattern.__class__(**{**pattern.__dict__, "distributions": tuple(holes)})
    found = find_stack("ompio").requests(Workload((pattern,), 1, 4), Setup(LAYOUT))
    assert [(bool(row["writing"]), int(row["size"])) for row in found] == [
        (False, 240), (True, 240)
    ]  # fmt: skip
    assert len(_requests(pattern, fbtl_posix_write_datasieving=False)) == 8
    assert len(_requests(pattern, fbtl_posix_max_gap_size=16)) == 8


def test_on_lustre_each_stripe_is_a_call_and_has_one_writer():
    pattern = pattern_of((64, 1024), (8, 1), collective=1.0)
    found = _requests(pattern, stack="ompio-lustre")
    assert {(rank, offset >> 16) for rank, _, offset, _ in found} == {
        (2 * (stripe % 4), stripe) for stripe in range(8)
    }
    assert all(size == 1 << 16 for *_, size in found)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mca.fcoll", "static", "static"),
        ("mca.io_ompio_grouping_option", 2, "grouping"),
        ("mpiio.cb_nodes", "many", "many"),
    ],
)
def test_what_is_not_modelled_is_said(name, value, said):
    with pytest.raises(UsageError, match=said):
        find_stack("ompio").requests(Workload((CUBE,), 1, 4), Setup(LAYOUT, {name: value}))


@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_classes_have_the_sums_of_the_requests(data):
    work = Workload((data.draw(patterns(6, file="a")),), 2, 3)
    fcoll = data.draw(st.sampled_from(["vulcan", "dynamic", "dynamic_gen2", "individual"]))
    setup = Setup(LAYOUT, UNSIEVED | {
        "mca.fcoll": fcoll,
        "mca.io_ompio_num_aggregators": data.draw(st.integers(1, 6)),
        "mca.io_ompio_bytes_per_agg": data.draw(st.sampled_from([64, 1000, 4096, 1 << 20])),
    })  # fmt: skip
    stack, writing = find_stack("ompio"), work.patterns[0].writing
    phases = stack.phases(work, setup)
    calls, size = sums_of_phases(phases)[writing]
    true_calls, true_size = sums_of_requests(stack.requests(work, setup))[writing]
    assert size == pytest.approx(true_size)
    # Where pieces differ in length, an end of a round may be the end of a piece or not.
    ends = sum(one.repeats * flow.processes for one in phases for flow in one.flows)
    grouped = fcoll == "dynamic" or not writing
    assert calls == pytest.approx(true_calls, rel=0.01, abs=max(4, ends * grouped))


@pytest.mark.parametrize("grid", [(24, 1, 1), (4, 3, 2), (2, 2, 6)])
@pytest.mark.parametrize("aggregators", [5, 7, 9, 16])
def test_groups_that_do_not_fill_the_grid_read_as_their_requests_say(grid, aggregators):
    pattern = pattern_of((48, 12, 12), grid, collective=1.0, writing=False)
    setup = Setup(LAYOUT, UNSIEVED | {"mca.io_ompio_num_aggregators": aggregators})
    work, stack = Workload((pattern,), 4, 6), find_stack("ompio")
    classes = sums_of_phases(stack.phases(work, setup))[False]
    assert classes == pytest.approx(sums_of_requests(stack.requests(work, setup))[False])


@pytest.mark.parametrize(("grid", "aggregators"), [((4, 2, 2), 4), ((4, 4, 1), 2), ((2, 4, 2), 8)])
def test_groups_that_fill_the_grid_read_as_their_requests_say(grid, aggregators):
    pattern = pattern_of((16, 16, 16), grid, collective=1.0, writing=False)
    setup = Setup(LAYOUT, UNSIEVED | {
        "mca.io_ompio_num_aggregators": aggregators, "mca.io_ompio_bytes_per_agg": 3000,
    })  # fmt: skip
    work, stack = Workload((pattern,), 4, 4), find_stack("ompio")
    classes = sums_of_phases(stack.phases(work, setup))[False]
    assert classes == pytest.approx(sums_of_requests(stack.requests(work, setup))[False])


def test_automatic_aggregators_are_the_same_in_both_answers():
    pattern = pattern_of((64, 64, 512), (64, 1, 1), collective=1.0)
    work = Workload((pattern,), 4, 16)
    ranks = find_stack("ompio").requests(work, Setup(LAYOUT))["rank"]
    (flow,) = find_stack("ompio").phases(work, Setup(LAYOUT))[-1].flows
    assert flow.processes == np.unique(ranks).size == 8


@pytest.mark.parametrize("stack", ["ompio", "ompio-lustre"])
@pytest.mark.parametrize("writing", [True, False])
def test_100000_ranks_cost_what_1000_do(stack, writing):
    def price(nodes):
        pattern = pattern_of(
            (2048 * nodes, 1024, 1024), (8 * nodes, 4, 4), collective=1.0, writing=writing
        )
        work, setup = Workload((pattern,), nodes, 128), Setup(LAYOUT)
        return calls_and_peak(lambda: find_stack(stack).phases(work, setup))

    calls, peak = price(800)
    few, little = price(8)
    assert calls < 2 * few
    assert peak < 2 * little + 10_000
