# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs expand to the calls that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.core.errors import TraceError
from stripewise.evidence.trace import expand
from stripewise.evidence.trace._trace import levels_of, moved
from support.trace_samples import MPI, OUT, one_thread, rank, trace_of
from support.traces import FakeCall, FakeThread, FakeTrace


def test_three_levels() -> None:
    call = FakeCall(
        OUT,
        count=12,
        offset=5,
        bytes=8,
        inner=(2, 3),
        stride=(10, 100, 1000),
        sequence=1,
        sequence_stride=(1, 2, 6),
    )
    calls = expand(trace_of(rank(0, 1, one_thread(call))))
    expected = [
        5 + 10 * i + 100 * j + 1000 * k for k in range(2) for j in range(3) for i in (0, 1)
    ]
    assert calls["offset"].tolist() == expected
    assert calls["sequence"].tolist() == list(range(1, 13))
    assert set(calls["bytes"]) == {8}


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 200),
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
    st.tuples(*[st.integers(-1000, 1000)] * 3),
)
def test_levels_are_those_of_the_format(count: int, inner: tuple, stride: tuple) -> None:
    found = moved(
        levels_of(np.arange(count), np.array([inner] * count)), np.array([stride] * count)
    )
    endless = 10**9
    for k in range(count):
        i, rest = k % (inner[0] or endless), k // (inner[0] or endless)
        j, plane = rest % (inner[1] or endless), rest // (inner[1] or endless)
        assert found[k] == i * stride[0] + j * stride[1] + plane * stride[2]


def test_times_of_a_run_are_spread() -> None:
    call = FakeCall(OUT, count=5, start_ns=100, step_ns=250, duration_ns=40)
    calls = expand(trace_of(rank(0, 1, one_thread(call))))
    assert calls["start_ns"].tolist() == [100, 350, 600, 850, 1100]
    assert set(calls["duration_ns"]) == {40}


def test_parents_are_found_in_folded_runs() -> None:
    """Each MPI_File_write makes two pwrites: sequence 1 (2 3) 4 (5 6) 7 (8 9)."""
    top = FakeCall(
        OUT, "MPI_File_write", layer=MPI, count=3, sequence=1, sequence_stride=(3, 0, 0)
    )
    low = FakeCall(
        OUT,
        "pwrite",
        count=6,
        inner=(2, 0),
        sequence=2,
        sequence_stride=(1, 3, 0),
        parent="MPI_File_write",
        depth=1,
    )
    calls = expand(trace_of(rank(0, 1, one_thread(top, low))))
    assert calls["sequence"].tolist() == list(range(1, 10))
    assert calls["parent_index"].tolist() == [-1, 0, 0, -1, 3, 3, -1, 6, 6]


def test_a_parent_that_was_lost_is_not_guessed() -> None:
    other = FakeCall(OUT, "H5Fopen", sequence=1)
    orphan = FakeCall(OUT, "pwrite", sequence=5, parent="H5Dwrite", depth=1)
    calls = expand(trace_of(rank(0, 1, one_thread(other, orphan))))
    assert calls["parent_index"].tolist() == [-1, -1]


def test_parents_do_not_cross_threads() -> None:
    one = FakeThread(1, log=[FakeCall(OUT, "H5Dwrite", sequence=1)])
    two = FakeThread(2, log=[FakeCall(OUT, "pwrite", sequence=1, parent="H5Dwrite", depth=1)])
    assert expand(trace_of(rank(0, 1, FakeTrace([one, two]))))["parent_index"].tolist() == [-1, -1]


def test_some_rows_only() -> None:
    calls = [FakeCall(OUT, sequence=i, offset=i) for i in (1, 2, 3)]
    trace = trace_of(rank(0, 1, one_thread(*calls)))
    assert expand(trace, trace.rows[1:])["offset"].tolist() == [2, 3]
    assert len(expand(trace, trace.rows[:0])) == 0


def test_too_many_calls_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = trace_of(rank(0, 1, one_thread(FakeCall(OUT, count=10**15))))
    with pytest.raises(TraceError, match="1000000000000000 calls"):
        expand(trace)
    monkeypatch.setattr("stripewise.evidence.trace._calls.MOST_CALLS", 10)
    with pytest.raises(TraceError, match="more than the 10 "):
        expand(trace_of(rank(0, 1, one_thread(FakeCall(OUT, count=11)))))
