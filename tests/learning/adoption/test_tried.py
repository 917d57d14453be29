# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What was measured between the rungs of a program's own ladders is set, and counts, as it was."""

from __future__ import annotations

from learning.adoption.questions import question, tuned
from learning.knowledge.lessons import lesson
from stripewise.learning.adoption import Level, answer
from stripewise.learning.adoption._answer import MOST_ADDED, with_tried
from stripewise.learning.knowledge import Tried, TriedState

COUNT, SIZE = "mpiio.striping_factor", "mpiio.striping_unit"


def values(space, name):
    return next(d.values for d in space.dimensions if d.tunable.name == name)


def test_values_between_the_ends_join_the_ladders_in_order():
    space = question().space
    least, most = min(values(space, SIZE)), max(values(space, SIZE))
    tried = lesson({COUNT: 5, SIZE: (least + most) // 2})
    found = with_tried(space, [tried, lesson({SIZE: 2 * most, "mpiio.cb_nodes": True})])
    assert values(found, SIZE) == tuple(sorted({*values(space, SIZE), (least + most) // 2}))
    counts = values(found, COUNT)
    assert 5 in counts
    assert with_tried(space, [lesson({SIZE: least + 4096})]) == with_tried(space, [])
    assert counts[-1] == -1, "all targets come last"
    assert list(counts[:-1]) == sorted(counts[:-1])
    assert found.left_out == space.left_out


def test_a_ladder_does_not_grow_without_end():
    space = question().space
    least = min(value for value in values(space, SIZE) if value > 0)
    many = [lesson({SIZE: least + (n << 16)}) for n in range(1, 40)]
    found = with_tried(space, [*many, lesson({SIZE: least + (33 << 16)})])
    assert len(values(found, SIZE)) <= len(values(space, SIZE)) + MOST_ADDED
    assert least + (33 << 16) in values(found, SIZE), "what was tried most often"


def test_a_proved_value_between_the_rungs_is_set_as_it_was_proved():
    asked = question()
    assert 6 not in values(asked.space, COUNT)
    found = answer(asked, [lesson({COUNT: 6}, of=tuned(asked))])
    assert (found.level, found.settings) == (Level.PATTERN, {COUNT: 6})


def test_a_study_is_given_a_rung_of_its_own():
    asked = question(only_rungs=True)
    found = answer(asked, [lesson({COUNT: 6}, of=tuned(asked))])
    assert found.settings[COUNT] in values(asked.space, COUNT)


def test_what_failed_is_no_rung():
    bad = Tried({COUNT: 6}, TriedState.FAILED, None)
    found = with_tried(question().space, [lesson({COUNT: 16}, tried=(bad,))])
    assert 6 not in values(found, COUNT)
