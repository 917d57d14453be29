# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database.queries._history import (
    NOT_SET,
    Change,
    RunFacts,
    are_close,
    changes,
    typical,
)

names = st.sampled_from(["cb_nodes", "romio_cb_write"])
amounts = st.none() | st.integers(0, 1 << 50)
runs = st.builds(
    RunFacts,
    io_seconds=st.none() | st.floats(0, 1e6),
    read_bytes=amounts,
    write_bytes=amounts,
    rank_count=st.none() | st.integers(1, 1 << 20),
    pattern=st.none() | st.sampled_from(["<1D, (BLOCK)>", "<2D, (BLOCK, *)>"]),
    settings=st.dictionaries(names, st.text("01", max_size=2)),
    load_bytes_per_second=st.none() | st.floats(0, 1e12),
)  # fmt: skip


def test_what_differs_is_named_with_both_values() -> None:
    before = [RunFacts(rank_count=32, stripes="1 x 1 MiB", pattern="<1D, (BLOCK)>",
                       settings={"cb_nodes": "4", "romio_cb_write": "enable"},
                       write_bytes=100, load_bytes_per_second=10.0)] * 3  # fmt: skip
    now = RunFacts(rank_count=64, stripes="8 x 1 MiB", pattern="<1D, (BLOCK)>",
                   settings={"cb_nodes": "4", "romio_cb_write": "disable"},
                   write_bytes=119, load_bytes_per_second=16.0)  # fmt: skip
    assert changes(now, before) == [
        Change("stripes", "1 x 1 MiB", "8 x 1 MiB"),
        Change("rank_count", 32, 64),
        Change("load_bytes_per_second", 10.0, 16.0),
        Change("setting romio_cb_write", "enable", "disable"),
    ]


def test_it_is_compared_with_the_median_of_the_earlier_runs() -> None:
    before = [RunFacts(write_bytes=value, node_count=nodes)
              for value, nodes in ((1, 1), (100, 2), (110, 2), (1 << 40, 4))]  # fmt: skip
    assert typical("write_bytes", before) == 105
    assert typical("node_count", before) == 2
    assert changes(RunFacts(write_bytes=125, node_count=2), before) == []
    assert changes(RunFacts(write_bytes=127), before) == [Change("write_bytes", 105, 127)]


def test_what_is_not_known_is_no_difference() -> None:
    assert changes(RunFacts(), [RunFacts(rank_count=4, write_bytes=7, settings={"a": "1"})]) == []
    assert changes(RunFacts(rank_count=4, settings={"a": "1"}), [RunFacts()]) == []
    assert changes(RunFacts(rank_count=4), []) == []


def test_zero_differs_from_anything_but_zero() -> None:
    assert changes(RunFacts(read_bytes=0), [RunFacts(read_bytes=1)]) == [
        Change("read_bytes", 1, 0)
    ]
    assert changes(RunFacts(read_bytes=0), [RunFacts(read_bytes=0)]) == []


def test_a_setting_that_is_gone_is_named() -> None:
    found = changes(RunFacts(settings={"b": "1"}), [RunFacts(settings={"a": "x", "b": "1"})])
    assert found == [Change("setting a", "x", NOT_SET)]


@given(run=runs, number=st.integers(1, 5))
def test_a_run_does_not_differ_from_equal_ones(run: RunFacts, number: int) -> None:
    assert changes(run, [run] * number) == []


@given(one=runs, other=runs)
def test_differences_are_the_same_both_ways_round(one: RunFacts, other: RunFacts) -> None:
    there = [(found.name, found.before, found.now) for found in changes(one, [other])]
    back = [(found.name, found.now, found.before) for found in changes(other, [one])]
    assert there == back


@given(one=st.floats(0, 1e300), other=st.floats(0, 1e300))
def test_close_is_symmetric(one: float, other: float) -> None:
    assert are_close(one, other) == are_close(other, one)
    assert are_close(one, one)
