# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever jobs, targets and the agent do: the growth is what was done, to the digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.centre.monitor._records import TargetJobs
from stripewise.centre.monitor.collectors import JobStatsReader
from stripewise.centre.monitor.collectors.lustre._job_stats import raw_id, tag_of
from stripewise.centre.monitor.sinks._store_growth import EntryState, decode, encode, grow_entries
from support.job_stats_text import MDT_ROWS, OST_ROWS, VERSIONS, Target, printed_id

IDS = (b"1", b"22", b"dd.0", b"my job", b"@x", b"u:1:n", b'"q"', b"back\\x41", b"100%", b"~")
BYTES = st.sampled_from([0, 1, 512, 4096, 4097, 1 << 20, 1 << 30])


class Monitored:
    """A target, its reader and the state that is stored; sums what grew."""

    def __init__(self, version: str, names: tuple[str, ...]) -> None:
        self.target = Target(version, names)
        self.reader = JobStatsReader()
        self.stored = encode(EntryState(since_at=self.target.seconds + 10**6))
        self.grown: dict[str, dict[str, list[int]]] = {}

    def look(self, size: int, is_settled: bool = True) -> None:
        """Take a reading, store its growth and the state after it."""
        text = self.target.text()
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        read = self.reader.read(pieces, is_settled=is_settled)
        assert read.problems == ()
        jobs = TargetJobs("fs", "t", read.changed, read.gone, read.count, read.is_first)
        growths, state = grow_entries(decode(self.stored), jobs)
        self.stored = encode(state)
        for growth in growths:
            for name, count in growth.operations.items():
                sums = self.grown.setdefault(growth.tag, {}).setdefault(name, [0, 0])
                sums[0] += count.samples
                sums[1] += count.total
                told = count.sizes is not None
                assert not told or sum(n for _, n in count.sizes or ()) == count.samples

    def drop(self, raw: bytes) -> None:
        """Let an entry be gone, after a pause in which readings met it."""
        for _ in range(3):  # one of them may miss it
            self.look(1000, is_settled=False)
        self.target.drop(raw)

    def clear(self) -> None:
        """Let all entries be gone, after such a pause."""
        self.drop(b"")
        self.target.clear()

    def restart(self) -> None:
        """Start the agent anew."""
        self.reader = JobStatsReader()


def _steps(names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    raw = st.sampled_from(IDS)
    work = st.tuples(st.just("work"), raw, st.sampled_from(names[:6]), BYTES, st.integers(1, 5))
    look = st.tuples(st.just("look"), st.sampled_from([37, 1000, 1 << 20]), st.booleans())
    rare = st.sampled_from([("clear",), ("restart",)])
    loss = st.tuples(st.sampled_from(["drop", "skip"]), raw)
    return st.lists(st.one_of(work, work, look, loss, rare), max_size=40)


@pytest.mark.extended
@given(st.data(), st.sampled_from(VERSIONS), st.sampled_from([OST_ROWS, MDT_ROWS]))
@settings(max_examples=150, deadline=None)
def test_growth_is_what_was_done(
    data: st.DataObject, version: str, names: tuple[str, ...]
) -> None:
    monitored = Monitored(version, names)
    target = monitored.target
    actions: dict[str, Callable[..., None]] = {
        "work": target.work, "drop": monitored.drop, "clear": monitored.clear,
        "look": monitored.look, "restart": monitored.restart,
        "skip": target.skip,
    }  # fmt: skip
    for action, *parts in data.draw(_steps(names)):
        actions[action](*parts)
    for _ in range(2):  # one of them may miss an entry
        monitored.look(1 << 20)
    assert monitored.grown == _expected(target)


def _expected(target: Target) -> dict[str, dict[str, list[int]]]:
    """Return what was shown, by tag; rows without a sum as the version prints them."""
    expected: dict[str, dict[str, list[int]]] = {}
    for raw, rows in target.shown.items():
        tag = tag_of(raw_id(printed_id(raw, target.version)))
        for name, (samples, total) in rows.items():
            has_sum = target.version >= "2.14" or name.endswith("_bytes")
            if samples:
                expected.setdefault(tag, {})[name] = [samples, total if has_sum else 0]
    return expected
