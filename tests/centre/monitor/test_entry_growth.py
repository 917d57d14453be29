# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Growth of entries: new ones, those that went on, those that began again; states as bytes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.monitor._records import JobEntry, OperationCount, TargetJobs
from stripewise.centre.monitor.sinks._store_growth import (
    EntryState,
    JobGrowth,
    KeptCounts,
    decode,
    encode,
    grow_entries,
)
from support.mutations import mutate

COUNT = OperationCount(10, "bytes", 1000, ((64, 4), (128, 6)))
NUMBERS = st.integers(0, 2**64 - 1)
COUNTS = st.builds(
    OperationCount,
    NUMBERS,
    st.sampled_from(["bytes", "usecs", "", "reqs", "pages"]),
    NUMBERS,
    st.none() | st.lists(st.tuples(NUMBERS, NUMBERS), max_size=4).map(tuple),
)
NAMES = st.sampled_from(["read_bytes", "open", "a_new_one", "write"])


def grow(
    state: EntryState, *entries: JobEntry, gone: tuple[str, ...] = (), count: int | None = None,
    is_first: bool = False,
) -> tuple[list[JobGrowth], EntryState]:  # fmt: skip
    number = len(entries) if count is None else count
    return grow_entries(state, TargetJobs("fs", "t", entries, gone, number, is_first))


def entry(count: OperationCount = COUNT, start_at: int | None = 50, tag: str = "1") -> JobEntry:
    return JobEntry(tag, 100, start_at, {"write_bytes": count})


def begun(*entries: JobEntry) -> EntryState:
    return grow(EntryState(since_at=1000.0), *entries, is_first=True)[1]


def test_what_was_before_the_monitoring_is_only_the_base() -> None:
    growths, state = grow(
        EntryState(1000.0), entry(), entry(tag="2", start_at=None), is_first=True
    )
    assert growths == []
    more = entry(COUNT._replace(samples=11, total=1500, sizes=((64, 5), (128, 6))))
    (growth,), _ = grow(state, more)
    assert growth.operations == {"write_bytes": OperationCount(1, "bytes", 500, ((64, 1),))}
    assert not growth.is_new


def test_an_entry_that_began_with_the_monitoring_counts_at_the_first_reading() -> None:
    (growth,), _ = grow(EntryState(1000.0), entry(start_at=1001), is_first=True)
    assert growth == JobGrowth("1", 100, 1001, True, {"write_bytes": COUNT})


@pytest.mark.parametrize("start_at", [None, 50, 2000])
def test_new_entries_count_wholly(start_at: int | None) -> None:
    (growth,), _ = grow(begun(entry(tag="0")), entry(start_at=start_at))
    assert growth.is_new
    assert growth.operations == {"write_bytes": COUNT}


def test_an_old_entry_that_the_first_reading_left_out_is_only_the_base() -> None:
    _, state = grow(EntryState(1000.0), entry(tag="0"), count=2, is_first=True)
    assert grow(state, entry(start_at=50))[0] == []
    assert len(grow(state, entry(start_at=1500))[0]) == 1


@pytest.mark.parametrize(
    "now",
    [
        entry(COUNT._replace(samples=9, total=2000, sizes=None)),
        entry(COUNT._replace(total=999)),
        entry(COUNT._replace(sizes=((64, 3), (128, 7)))),
        entry(COUNT._replace(unit="usecs")),
        entry(COUNT._replace(samples=99, total=9999), start_at=51),
        JobEntry("1", 100, 50, {"open": COUNT}),
    ],
)
def test_a_new_segment_counts_wholly(now: JobEntry) -> None:
    (growth,), _ = grow(begun(entry()), now)
    assert growth.is_new
    assert growth.operations == now.operations


def test_gone_tags_begin_at_zero() -> None:
    _, state = grow(begun(entry(start_at=None)), gone=("1",))
    assert len(state) == 0
    (growth,), _ = grow(state, entry(start_at=None))
    assert growth.operations == {"write_bytes": COUNT}


def test_the_same_again_is_no_growth() -> None:
    state = begun(entry())
    growths, after = grow(state, entry(), is_first=True)
    assert growths == []
    assert dict(after.packed) == dict(state.packed)


def test_a_start_that_is_no_longer_told_is_kept() -> None:
    _, state = grow(begun(entry()), entry(start_at=None))
    (growth,), _ = grow(state, entry(start_at=51))
    assert growth.is_new


def test_a_histogram_that_was_not_told_is_caught_up_with() -> None:
    (first,), state = grow(begun(entry()), entry(OperationCount(12, "bytes", 1200, None)))
    assert first.operations["write_bytes"] == OperationCount(2, "bytes", 200, None)
    then = OperationCount(13, "bytes", 1300, ((64, 4), (128, 9)))
    (second,), _ = grow(state, entry(then))
    assert second.operations["write_bytes"] == OperationCount(1, "bytes", 100, ((128, 3),))


def test_entries_that_went_while_nobody_looked_are_forgotten() -> None:
    state = begun(entry(tag="1"), entry(tag="2"))
    _, once = grow(state, entry(tag="2"), is_first=True)
    assert set(once.packed) == {"1", "2"}
    assert set(grow(decode(encode(once)))[1].packed) == {"2"}
    assert set(grow(once, entry(tag="2"), is_first=True)[1].packed) == {"2"}
    left_out = grow(state, entry(tag="2"), is_first=True, count=2)[1]
    assert set(left_out.packed) == {"1", "2"}


def test_an_entry_that_a_new_reader_missed_once_is_not_counted_again() -> None:
    state = begun(entry(tag="1", start_at=None), entry(tag="2"))
    _, state = grow(state, entry(tag="2"), is_first=True)
    growths, state = grow(state, entry(tag="1", start_at=None), count=2)
    assert growths == []
    assert set(state.packed) == {"1", "2"}


def test_growth_leaves_the_state_before_as_it_was() -> None:
    state = begun(entry())
    more = entry(COUNT._replace(samples=20, total=5000, sizes=None))
    assert grow(state, more) == grow(state, more)


@given(st.none() | st.integers(0, 2**63), st.dictionaries(NAMES, COUNTS))
def test_packed_counters(start_at: int | None, counts: dict[str, OperationCount]) -> None:
    kept = KeptCounts.of(start_at, counts)
    assert (kept.start_at, dict(kept.operations.items())) == (start_at, counts)


@pytest.mark.extended
@given(st.dictionaries(st.text(max_size=20), st.dictionaries(NAMES, COUNTS), max_size=5))
def test_states_as_bytes(jobs: dict[str, dict[str, OperationCount]]) -> None:
    state = begun(*(JobEntry(tag, 1, 2, counts) for tag, counts in jobs.items()))
    assert decode(encode(state)) == state


def test_damaged_states_are_refused() -> None:
    data = encode(begun(entry(), entry(tag="2")))
    chance = random.Random(1)
    for _ in range(2000):
        damaged = mutate(data, chance)
        if damaged != data:
            with pytest.raises(ValueError, match="stored state"):
                decode(damaged)


def test_an_entry_takes_under_60_bytes_where_it_is_stored() -> None:
    chance = random.Random(2)
    entries = []
    for number in range(2000):
        sizes = tuple((1 << bit, chance.randrange(1, 5000)) for bit in (12, 16, 20))
        samples = sum(n for _, n in sizes)
        data = OperationCount(samples, "bytes", samples * chance.randrange(1 << 20), sizes)
        times = OperationCount(samples, "usecs", samples * chance.randrange(10**4))
        one = {"write_bytes": data, "write": times, "setattr": OperationCount(3, "usecs", 99)}
        entries.append(JobEntry(str(10**7 + number), 1, 1_700_000_000 + number, one))
    assert len(encode(begun(*entries))) / len(entries) < 60
