# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Growth of counters that come packed is that of the same counters unpacked."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.monitor._records import JobEntry, OperationCount, TargetJobs
from stripewise.centre.monitor.collectors.lustre._job_rows import PackedCounts
from stripewise.centre.monitor.sinks._store_growth import (
    EntryState,
    JobGrowth,
    KeptCounts,
    decode,
    encode,
    grow_entries,
)

NAMES = ("read_bytes", "write_bytes", "read", "open", "odd_operation")
SIZES = ("4K", "64K", "1M", "512", "2G")
row = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from(("bytes", "usecs", "reqs", "")),
    st.integers(1, 40),
    st.integers(0, 300),
    st.none() | st.lists(st.integers(0, 9), min_size=1, max_size=len(SIZES)),
)
entry = st.tuples(
    st.sampled_from((None, 100, 160)), st.lists(row, max_size=4, unique_by=lambda one: one[0])
)
Given = tuple[int | None, list[tuple[str, str, int, int, list[int] | None]]]


def packed(said: Given, growth: int) -> JobEntry:
    """An entry as the reader of job_stats gives it; all counters are larger by `growth`."""
    rows = []
    for name, unit, samples, total, counts in said[1]:
        bins = "-"
        if counts is not None:
            pairs = zip(SIZES[:3], counts, strict=False)
            bins = ", ".join(f"{size}: {number + growth}" for size, number in pairs)
        rows.append(f"{name};{unit};{samples + growth};{total + growth};{bins}")
    return JobEntry("7", 200, said[0], PackedCounts("\n".join(rows).encode()))


def plain(one: JobEntry) -> JobEntry:
    return one._replace(operations=dict(one.operations.items()))


def grown(entries: Sequence[JobEntry]) -> tuple[list[list[JobGrowth]], dict[str, object]]:
    """Return the growth of each reading, and the counters at the end; states go through bytes."""
    state, found = EntryState(50.0), []
    for number, one in enumerate(entries):
        jobs = TargetJobs("scratch", "OST0000", (one,), (), 1, is_first=not number)
        growth, state = grow_entries(decode(encode(state)), jobs)
        found.append([each._replace(operations=dict(each.operations)) for each in growth])
    kept = decode(encode(state)).packed
    return found, {tag: (one.start_at, dict(one.operations.items())) for tag, one in kept.items()}


@pytest.mark.extended
@given(st.lists(st.tuples(entry, st.integers(0, 3)), min_size=1, max_size=5))
def test_packed_counters_grow_as_others_do(said: list[tuple[Given, int]]) -> None:
    entries = [packed(one, growth) for one, growth in said]
    assert grown(entries) == grown([plain(one) for one in entries])


@given(entry, st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_an_entry_that_goes_on_grows_by_what_was_added(said: Given, steps: list[int]) -> None:
    sums = [sum(steps[:end]) for end in range(len(steps) + 1)]
    entries = [packed(said, each) for each in sums]
    assert grown(entries) == grown([plain(one) for one in entries])


def test_the_usual_growth_is_found_without_unpacking() -> None:
    first = JobEntry("7", 5, 1, PackedCounts(b"read_bytes;bytes;3;12288;4K: 3\nopen;reqs;2;0;-"))
    second = JobEntry("7", 9, 1, PackedCounts(
        b"read_bytes;bytes;5;16777216;4K: 4, 1M: 1\nopen;reqs;2;0;-"))  # fmt: skip
    _, state = grow_entries(EntryState(50.0), TargetJobs("s", "OST0000", (first,), (), 1, True))
    assert isinstance(state.packed["7"], KeptCounts)
    (growth,), state = grow_entries(state, TargetJobs("s", "OST0000", (second,), (), 1))
    assert growth.operations == {
        "read_bytes": OperationCount(2, "bytes", 16777216 - 12288, ((4096, 1), (1 << 20, 1)))
    }
    restored = decode(encode(state))
    assert grow_entries(restored, TargetJobs("s", "OST0000", (second,), (), 1))[0] == []
