# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The queue of packed rounds: nothing is lost without being counted, and nothing comes twice."""

from __future__ import annotations

import gzip

from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.monitor.sinks._lines import Packed, RoundQueue, pack


def item(number: int, size: int = 10) -> Packed:
    return Packed((bytes([number]) * size,), (100,))


@given(st.lists(st.text("ab\n", max_size=50)), st.integers(1, 100))
def test_packed_lines_are_one_text_again(lines: list[str], piece_bytes: int):
    packed = pack(lines, piece_bytes)
    text = "".join(lines)
    assert (gzip.decompress(b"".join(packed.pieces)) if packed.pieces else b"") == text.encode()
    sizes = [len(gzip.decompress(piece)) for piece in packed.pieces]
    assert sizes == list(packed.lines_bytes)
    longest = max(map(len, lines), default=0)
    assert all(size <= max(piece_bytes, longest) for size in sizes)


def test_the_oldest_go_first():
    queue = RoundQueue(3, 1000)
    for number in range(5):
        queue.put(item(number))
    assert (len(queue), queue.lost) == (3, 2)
    assert queue.take(250) == [item(2), item(3)]
    assert len(queue) == 3
    queue.settle()
    assert queue.take(1) == [item(4)]  # one at least
    queue.settle(lost=1)
    assert (queue.take(1), len(queue), queue.lost) == ([], 0, 3)


def test_memory_is_bounded_too():
    queue = RoundQueue(100, 25)
    for number in range(5):
        queue.put(item(number))
    assert (len(queue), queue.lost) == (2, 3)
    queue.put(item(9, size=1000))
    assert (queue.take(100), queue.lost) == ([item(9, size=1000)], 5)


def test_what_comes_back_keeps_its_place_unless_there_is_no_room():
    queue = RoundQueue(3, 1000)
    for number in range(3):
        queue.put(item(number))
    out = queue.take(200)
    queue.put(item(3))
    queue.put(item(4))
    queue.give_back(out)
    assert queue.lost == 2
    assert queue.take(1000) == [item(2), item(3), item(4)]


@given(st.lists(st.sampled_from(["put", "take", "settle", "back"]), max_size=60))
def test_every_round_is_delivered_lost_or_waits(steps: list[str]):
    queue = RoundQueue(4, 45)
    out: list[Packed] = []
    put = delivered = 0
    for step in steps:
        if step == "put":
            queue.put(item(put % 250))
            put += 1
        elif step == "take" and not out:
            out = queue.take(250)
        elif step == "settle":
            delivered += len(out)
            queue.settle()
            out = []
        elif step == "back":
            queue.give_back(out)
            out = []
        assert put == delivered + queue.lost + len(queue)
