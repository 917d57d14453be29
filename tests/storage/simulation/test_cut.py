# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that are moved in several calls."""

from dataclasses import replace

import numpy as np
import pytest

from stripewise.evidence.patterns import generate
from stripewise.storage.simulation import in_steps, simulate, workload_from_notation
from support.storages import described


def pattern(notation):
    (one,) = workload_from_notation(notation, 4, 1, element_bytes=1).patterns
    return one


def boxes(one):
    """Of each rank: first byte and bytes."""
    found = generate(one)
    assert (found.count * found.block > 0).all()
    return found.rank.tolist(), np.prod(found.count * found.block, axis=1).tolist()


@pytest.mark.parametrize(
    ("notation", "calls", "each"),
    [
        ("<2D,(*,BLOCK),(4,4096)>", 16, 1024),  # segments, and transfers within them
        ("<2D,(*,BLOCK),(4,4096)>", 2, 8192),
        ("<1D,BLOCK,4096>", 4, 1024),
        ("<2D,(BLOCK,BLOCK),(8,512)>", 8, 512),  # row by row
        ("<1D,(*),(4096)>", 8, 512),
    ],
)
def test_each_call_moves_an_equal_part(notation, calls, each):
    one = pattern(notation)
    key = (one.file, one.dataset, True)
    size = workload_from_notation(notation, 4, 1, element_bytes=1).bytes
    (found,) = in_steps([one], {key: size}, {(one.file, True): calls})
    ranks, sizes = boxes(replace(found, steps=1))
    assert found.steps == calls
    assert ranks == boxes(one)[0]
    assert set(sizes) == {each}


def test_ranks_are_as_far_apart_as_they_are():
    one = pattern("<2D,(*,BLOCK),(4,4096)>")
    (found,) = in_steps([one], {(one.file, one.dataset, True): 4 * 4 * 4096}, {("", True): 16})
    table = generate(replace(found, steps=1))
    place = np.cumprod([1, *found.extents[:0:-1]])[::-1]
    begin = (table.start * place).sum(axis=1)
    assert np.diff(begin).tolist() == [4096] * 3


@pytest.mark.parametrize("calls", [1, 3, 5000])
def test_calls_that_do_not_fit_leave_the_pattern(calls):
    one = pattern("<2D,(*,BLOCK),(4,4096)>")
    found = in_steps([one], {(one.file, one.dataset, True): 4 * 4 * 4096}, {("", True): calls})
    assert found == [one]


def test_independent_calls_of_a_trace_follow_each_other_without_waiting():
    storage = described({"locks.revoke": 0.1, "client.process_write": 32768})
    one = replace(pattern("<2D,(*,BLOCK),(1,4096)>"), collective=0.0, steps=8)
    work = workload_from_notation("<1D,BLOCK,4096>", 4, 1)
    waiting, flowing = (
        simulate(storage, replace(work, patterns=(one,), flowing=flowing), "ompio").seconds
        for flowing in (False, True)
    )
    assert waiting == pytest.approx(8 * (4 * 0.1 + 0.125))
    assert flowing == pytest.approx(8 * 4 * 0.1 + 0.125)
