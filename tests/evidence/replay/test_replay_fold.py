# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Folding loses nothing, and short lists of numbers stand for long ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stripewise.evidence.replay._plan import fold, number_list
from stripewise.evidence.replay._verbs import CALL


def calls_of(key: np.ndarray, offset: np.ndarray) -> np.ndarray:
    calls = np.zeros(len(key), CALL)
    calls["key"], calls["offset"] = key, offset
    return calls


def unfolded(runs: np.ndarray, key: np.ndarray) -> list[tuple[int, int, int]]:
    """(place, key, offset) of every call; offsets count from the first of their run."""
    found = []
    for run in runs:
        first, second = (int(n) or 2**62 for n in run["inner"])
        for k in range(int(run["count"])):
            turn = (k % first, k // first % second, k // first // second)
            place = run["place"] + np.dot(turn, run["place_stride"])
            found.append((int(place), int(key[run["place"]]), int(np.dot(turn, run["stride"]))))
    return sorted(found)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), max_size=60))
def test_every_call_comes_back(calls: list[tuple[int, int]]) -> None:
    key = np.array([call[0] for call in calls], np.int64)
    offset = np.array([call[1] for call in calls], np.int64)
    runs, of_call = fold(calls_of(key, offset))
    found = unfolded(runs, key)
    assert [place for place, *_ in found] == list(range(len(calls)))
    assert [one for _, one, _ in found] == key.tolist()
    for place, _, distance in found:
        assert offset[runs["place"][of_call[place]]] + distance == offset[place]


def test_three_loops_are_one_run() -> None:
    i, j, k = np.meshgrid(np.arange(5), np.arange(4), np.arange(3), indexing="ij")
    offset = (1000 * i + 50 * j + 7 * k).reshape(-1)
    runs, _ = fold(calls_of(np.zeros(60), offset))
    assert runs["count"].tolist() == [60]
    assert runs["inner"].tolist() == [[3, 4]]
    assert runs["stride"].tolist() == [[7, 50, 1000]]


def test_calls_of_a_loop_body_are_a_run_each() -> None:
    key = np.tile(np.arange(3), 100)
    runs, _ = fold(calls_of(key, np.zeros(300)))
    assert runs["count"].tolist() == [100, 100, 100]
    assert runs["place_stride"][:, 0].tolist() == [3, 3, 3]


def read_back(words: str) -> list[int]:
    found = []
    for word in words.split():
        head, _, times = word.partition("*")
        first, _, step = head.partition("+")
        found += [int(first) + n * int(step or 0) for n in range(int(times or 1))]
    return found


@given(st.lists(st.integers(-3, 3) | st.integers(-(2**62), 2**62), max_size=40))
def test_lists_of_numbers(values: list[int]) -> None:
    assert read_back(number_list(np.array(values, np.int64))) == values


def test_regular_lists_are_short() -> None:
    assert number_list(np.array([4, 4, 4, 0, 2, 4, 6, 9])) == "4*3 0+2*4 9"
    assert number_list(np.arange(1000, 0, -1)) == "1000+-1*1000"
