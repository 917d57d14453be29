# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stacks over ROMIO: their classes of requests have the sums of the single requests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stripewise.core.errors import UsageError
from stripewise.evidence.patterns import PatternKind
from stripewise.settings.tunables import lustre_aggregators
from stripewise.storage.stacks import Layout, Setup, Workload, find_stack
from stripewise.storage.stacks._pieces import array_bytes
from support.stack_workloads import pattern_of, patterns, sums_of_phases, sums_of_requests
from support.work import calls_and_peak

CHOICES = ("enable", "disable", "automatic")


@st.composite
def works(draw):
    nodes, ranks_per_node = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    source = draw(st.sampled_from(["view", "hdf5"]))
    many = draw(st.integers(1, 2))
    ranks = nodes * ranks_per_node
    drawn = [draw(patterns(ranks, file="a", source=source)) for _ in range(many)]
    named = [replace(draw(varied(one)), dataset=str(i)) for i, one in enumerate(drawn)]
    return Workload(tuple(named), nodes, ranks_per_node)


@st.composite
def varied(draw, pattern):
    """Leave a margin of the dataset out, every other element, or let blocks overlap."""
    margins = [draw(st.tuples(st.integers(0, 3), st.integers(0, 3))) for _ in pattern.extents]
    spans = tuple(
        (low, low + extent) for (low, _), extent in zip(margins, pattern.extents, strict=True)
    )
    larger = tuple(
        sum(margin) + extent for margin, extent in zip(margins, pattern.extents, strict=True)
    )
    way = draw(st.sampled_from(["plain", "margin", "lattice", "ghost", "even"]))
    parts = list(pattern.distributions)
    last = parts[-1]
    if way == "lattice" and last.kind == "BLOCK":
        parts[-1] = replace(last, lattice=(3, 2))
        spans = (*((0, n) for n in pattern.extents[:-1]), (0, pattern.extents[-1] * 3))
        larger = (*pattern.extents[:-1], pattern.extents[-1] * 3)
    elif way == "ghost" and last.kind == "BLOCK" and not pattern.writing:
        parts[-1] = replace(last, ghost=(1, 1))
    elif way == "even" and last.kind == "BLOCK":
        parts[-1] = replace(last, rule=draw(st.sampled_from(["even", "rest-last", "spread"])))
    if way not in ("margin", "lattice"):
        return replace(pattern, distributions=tuple(parts))
    return replace(pattern, distributions=tuple(parts), span=spans, extents=larger)


@st.composite
def hints(draw):
    sizes = st.sampled_from([256, 700, 1000, 4096, 1 << 20])
    every = {
        "cb_nodes": st.integers(1, 12),
        "cb_config_list": st.sampled_from(["*:1", "*:2", "*:*"]),
        "cb_buffer_size": sizes,
        "ind_wr_buffer_size": sizes,
        "ind_rd_buffer_size": sizes,
        "romio_cb_write": st.sampled_from(CHOICES),
        "romio_cb_read": st.sampled_from(CHOICES),
        "romio_ds_write": st.sampled_from(CHOICES),
        "romio_ds_read": st.sampled_from(CHOICES),
        "romio_no_indep_rw": st.booleans(),
        "romio_min_fdomain_size": st.sampled_from([0, 300, 5000]),
        "striping_unit": st.sampled_from([0, 64, 200, 4096]),
        "romio_lustre_co_ratio": st.integers(1, 4),
        "romio_lustre_coll_threshold": st.sampled_from([0, 10, 1000]),
        "romio_lustre_ds_in_coll": st.sampled_from(["enable", "disable"]),
        "cray_cb_nodes_multiplier": st.integers(1, 4),
        "aggregator_placement_stride": st.sampled_from([-1, 1, 2]),
        "pnetcdf.nc_driver": st.sampled_from(["gio", "mpiio"]),
        "pnetcdf.nc_var_align_size": st.sampled_from([4, 512, 4096]),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(every)), max_size=6))
    return {name if "." in name else f"mpiio.{name}": draw(every[name]) for name in sorted(chosen)}


@st.composite
def setups(draw, nodes):
    count = draw(st.integers(1, 6))
    size = draw(st.sampled_from([256, 500, 4096, 65536]))
    targets = draw(st.sampled_from([count, 8]))
    return Setup(Layout(count, size, targets), draw(hints()), draw(st.sampled_from([1, nodes])))


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "name", ["romio", "romio-lustre", "cray", "pnetcdf", "pnetcdf-nonblocking"]
)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_classes_have_the_sums_of_the_requests(name, data):
    work = data.draw(works())
    if name == "pnetcdf-nonblocking":  # equal variables, which are moved as one
        first = replace(work.patterns[0], file_offset=0)
        work = replace(work, patterns=tuple(replace(first, dataset=str(i)) for i in range(3)))
        if first.span:  # margins are holes: each variable by itself
            return
    # Of more than 4096 windows, of at least 256 bytes, phases look at some that stand for all.
    assume(all(array_bytes(one) < 1_000_000 for one in work.patterns))
    setup = data.draw(setups(work.nodes))
    stack = find_stack(name)
    phases = stack.phases(work, setup)
    alone = any("independent" in phase.name for phase in phases)
    if alone and (name == "romio-lustre" or name.startswith("pnetcdf")):
        # Where windows end at stripes, it depends on the place of each rank how many it has.
        return
    classes = sums_of_phases(phases)
    singles = sums_of_requests(stack.requests(work, setup))
    for way in (True, False):
        assert classes[way] == pytest.approx(singles[way]), (way, classes, singles)


def blocks(ranks_per_node, nodes, *, kind="1d"):
    """Return 32 MiB a rank in one dimension, or 128 x 128 x 128 elements in three."""
    ranks = ranks_per_node * nodes
    if kind == "1d":
        pattern = pattern_of((ranks << 22,), (ranks,), source="view", collective=1.0)
    else:
        grid = (nodes, ranks_per_node // 8, 8)
        extents = tuple(128 * parts for parts in grid)
        pattern = pattern_of(extents, grid, source="view", collective=1.0)
    return Workload((pattern,), nodes, ranks_per_node)


HINTS = [
    {},
    {"mpiio.romio_cb_write": "enable", "mpiio.cb_config_list": "*:4"},
    {"mpiio.romio_cb_write": "disable"},
    {"mpiio.romio_cb_write": "disable", "mpiio.romio_ds_write": "disable"},
]


@pytest.mark.parametrize("name", ["romio", "romio-lustre", "cray"])
@pytest.mark.parametrize("kind", ["1d", "3d"])
def test_100000_ranks_cost_what_1000_do(name, kind):
    stack = find_stack(name)

    def price(nodes):
        work = blocks(16, nodes, kind=kind)
        layout = Layout(48, 1 << 20, 48)
        return calls_and_peak(
            lambda: [stack.phases(work, Setup(layout, hints, nodes)) for hints in HINTS]
        )

    calls, peak = price(6250)
    assert calls < 2 * price(63)[0]
    assert peak < 4 << 20


ALONE = {"mpiio.romio_cb_write": "disable"}


def test_sieved_writes_take_turns_where_ranges_overlap():
    """Each locks its range: 2 slabs of the array beside each other, 4 ranks in each of them."""
    work = Workload((pattern_of((64, 64, 64), (2, 2, 2), source="view", collective=1.0),), 4, 2)
    setup = Setup(Layout(4, 1 << 20, 8), ALONE, 4)
    single = find_stack("romio").requests(work, setup)
    assert [np.unique(single["phase"][single["rank"] == r]).tolist() for r in range(8)] == [
        [turn] for turn in (0, 1, 2, 3, 0, 1, 2, 3)
    ]
    *_, before, write = find_stack("romio").phases(work, setup)
    assert (before.repeats, write.repeats) == (4, 4)
    assert [flow.processes for flow in (*before.flows, *write.flows)] == [2, 2]
    assert not before.flows[0].writing


def test_blocks_in_one_piece_are_written_side_by_side():
    work = Workload((pattern_of((8 << 17,), (8,), source="view", collective=1.0),), 4, 2)
    for settings_ in (ALONE, {}):
        *_, write = find_stack("romio").phases(work, Setup(Layout(4, 1 << 20, 8), settings_, 4))
        assert (write.repeats, write.flows[0].processes, write.flows[0].count) == (1, 8, 1)


def test_a_share_of_each_stripe_for_every_aggregator_gives_locks_away():
    """Equal shares: every aggregator comes to every object.  By stripes: none meets another."""
    work = blocks(16, 4, kind="3d")
    setup = Setup(Layout(4, 1 << 20, 8), {}, 4)
    even = find_stack("romio").phases(work, setup)[-1].flows[0]
    by_stripe = find_stack("romio-lustre").phases(work, setup)[-1].flows[0]
    assert (even.writers, even.handovers) == (4, 1)
    assert (by_stripe.writers, by_stripe.handovers) == (1, 0)


def test_stripes_gathered_by_gio_are_exchanged_and_written_at_once():
    work = blocks(16, 4, kind="3d")
    hints_ = {"pnetcdf.nc_driver": "gio", "mpiio.cb_buffer_size": 16 << 20}
    setup = Setup(Layout(4, 1 << 20, 8), hints_, 4)
    flow = max(find_stack("pnetcdf").phases(work, setup), key=lambda one: one.repeats).flows[0]
    assert (flow.processes, flow.count, flow.size) == (4, 16, 1 << 20)
    shorter = Setup(setup.layout, {"pnetcdf.nc_driver": "mpiio"}, 4)
    rounds, gathered = (
        sum(one.repeats for one in find_stack("pnetcdf").phases(work, which) if one.ranks)
        for which in (shorter, setup)
    )
    assert rounds / gathered == pytest.approx(16, rel=0.15)  # first and last ones go alone


@pytest.mark.parametrize(
    ("wanted", "stripes", "ratio", "used"),
    [(8, 60, 1, 6), (42, 20, 3, 40), (4, 7, 1, 1), (100, 12, 1, 12), (3, 4, 2, 2), (1, 9, 1, 1)],
)
def test_the_lustre_driver_takes_a_multiple_or_a_divisor_of_the_stripes(
    wanted, stripes, ratio, used
):
    assert lustre_aggregators(wanted, stripes, ratio) == used


def test_variables_that_are_gathered_are_one_collective_call():
    """Blocks of one variable do not interleave, those of three do; so only these are buffered."""
    one = pattern_of((8 << 17,), (8,), collective=1.0)
    work = Workload(tuple(replace(one, dataset=name) for name in "xyz"), 4, 2)
    setup = Setup(Layout(1, 1 << 20, 1), {}, 4)
    *_, blocking = find_stack("pnetcdf").phases(work, setup)
    *_, gathered = find_stack("pnetcdf-nonblocking").phases(work, setup)
    assert (blocking.name, blocking.flows[0].processes) == ("independent write", 8)
    assert (gathered.name, gathered.flows[0].processes) == ("two-phase write", 4)


@pytest.mark.parametrize("name", ["romio", "romio-lustre", "cray"])
@pytest.mark.parametrize(
    "pattern",
    [
        replace(pattern_of((24, 24, 24, 5), (3, 3, 3, 1), ["BLOCK"] * 3 + ["*"]),
                kind=PatternKind.MULTIPARTITION, n_ranks=8, active_ranks=8, source="view"),
        replace(pattern_of((1000,), (1,), ["*"]), kind=PatternKind.REPLICATED, writing=False,
                n_ranks=8, active_ranks=8, steps=3),
        replace(pattern_of((100_000,), (1,), ["*"]), kind=PatternKind.SINGLE, n_ranks=8),
        replace(pattern_of((32, 16), (4, 2)), rank_order="F", rank_strides=(1, 4)),
    ],
    ids=lambda pattern: f"{pattern.kind}-{pattern.rank_order}",
)  # fmt: skip
@pytest.mark.parametrize("collective", [1.0, 0.0])
def test_other_kinds_of_patterns(name, pattern, collective):
    """Of cells that a rank has all over the array, sieved windows are counted about."""
    work = Workload((replace(pattern, collective=collective),), 4, 2)
    setup = Setup(Layout(3, 4096, 8), {"mpiio.cb_config_list": "*:*"}, 4)
    classes = sums_of_phases(find_stack(name).phases(work, setup))
    singles = sums_of_requests(find_stack(name).requests(work, setup))
    about = 0.3 if pattern.kind == PatternKind.MULTIPARTITION and not collective else 1e-6
    for way in (True, False):
        assert classes[way] == pytest.approx(singles[way], rel=about)


@pytest.mark.parametrize(
    ("settings_", "said"),
    [
        ({"mpiio.cb_config_list": "node1:2"}, "no host names"),
        ({"mpiio.cb_config_list": "*:0"}, "no aggregator"),
        ({"mpiio.cb_buffer_size": 0}, "at least 1 byte"),
        ({"mpiio.cb_nodes": "many"}, "give an integer"),
    ],
)
def test_hints_that_cannot_be_simulated_are_refused_in_one_line(settings_, said):
    setup = Setup(Layout(4, 1 << 20, 8), {**settings_, "mpiio.romio_cb_write": "enable"}, 4)
    for answer in (find_stack("romio").phases, find_stack("romio").requests):
        with pytest.raises(UsageError, match=said) as refused:
            answer(blocks(2, 4, kind="1d"), setup)
        assert "\n" not in str(refused.value)
