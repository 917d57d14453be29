# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import time
from dataclasses import replace

import pytest
from lessons import KNOB, OTHER, case, lesson

from stripewise.learning.knowledge import Tried, TriedState, recall
from stripewise.settings.tunables import SafetyClass, Space, find_space
from support.strategy_suite import romio_facts

FACTS = romio_facts()
SPACE = find_space(FACTS)
LADDER = next(d.values for d in SPACE.dimensions if d.tunable.name == OTHER)


def seeds(*lessons, space=SPACE, of=None):
    return [dict(s.settings) for s in recall(of or case(), lessons, space, FACTS).seeds]


def test_nothing_kept_nothing_said():
    found = recall(case(), [], SPACE, FACTS)
    assert (found.seeds, found.avoided, found.text, found.warnings) == ((), (), "", ())


def test_a_study_like_this_one_gives_the_first_trial():
    at = time.mktime((2026, 11, 3, 12, 0, 0, 0, 0, -1))
    found = recall(case(), [lesson(median=4.8, at=at)], SPACE, FACTS)
    (seed,) = found.seeds
    assert seed.settings == {KNOB: "disable"}
    assert found.text == (
        "1 study like this one (like I/O, same stack): starts with romio_ds_write=disable "
        "(4.8x [4.3-5.3], 2026-11-03)"
    )
    assert seed.reason == "memory: 4.8x [4.3-5.3], 2026-11-03, like I/O, same stack"


def test_what_is_unlike_is_not_used():
    far = case()
    far = replace(far, stack=replace(far.stack, mpi_family="openmpi"))
    found = recall(case(), [lesson(of=far)], SPACE, FACTS)
    assert not found.seeds
    assert found.text == "1 study kept, none like this one"


def test_synced_and_unsynced_studies_are_not_mixed():
    assert not seeds(lesson(of=case(synced=False)))


def test_no_improvement_is_said_and_nothing_is_seeded():
    found = recall(case(), [lesson(improved=False, median=1.0)] * 2, SPACE, FACTS)
    assert not found.seeds
    assert "2 studies" in found.text
    assert found.text.endswith("none found an improvement")


def test_the_best_comes_first_and_there_are_at_most_three():
    points = [{KNOB: "disable"}, *({OTHER: value} for value in LADDER)]
    lessons = [lesson(p, median=4 + i) for i, p in enumerate(points)]
    found = seeds(*lessons)
    assert len(found) == min(3, len(points))
    assert found[0] == points[-1]


def test_weak_ones_take_no_runs_beside_a_strong_one():
    assert seeds(lesson(median=5.0), lesson({OTHER: LADDER[0]}, median=1.2)) == [{KNOB: "disable"}]


def test_the_same_settings_are_one_seed():
    assert seeds(lesson(), lesson(), lesson()) == [{KNOB: "disable"}]


def test_the_nearer_study_counts_more():
    far = case()
    far = replace(far, fingerprint=replace(far.fingerprint, bytes_per_call_log2=25.0))
    assert seeds(lesson({OTHER: LADDER[0]}, median=2.2, of=far), lesson(median=2.0))[0] == {
        KNOB: "disable"
    }


def test_studies_that_contradict_weaken_a_seed():
    against = [lesson(improved=False, median=0.9) for _ in range(9)]
    assert not seeds(lesson(median=1.3), *against)


def test_a_part_that_gave_as_much_is_tried_too():
    both = {KNOB: "disable", OTHER: LADDER[0]}
    tried = (Tried({KNOB: "disable"}, io_ratio=0.55), Tried(both, io_ratio=0.5))
    assert seeds(lesson(both, tried=tried)) == [both, {KNOB: "disable"}]
    tried = (Tried({KNOB: "disable"}, io_ratio=0.95), Tried(both, io_ratio=0.5))
    assert seeds(lesson(both, tried=tried)) == [both]


def test_only_what_the_space_holds_is_seeded():
    def denied(tunable):
        return "policy" if tunable.name == KNOB else ""

    space = find_space(FACTS, denied)
    assert seeds(lesson({KNOB: "disable", OTHER: LADDER[0]}), space=space) == [{OTHER: LADDER[0]}]
    found = recall(case(), [lesson()], space, FACTS)
    assert not found.seeds
    assert found.text.endswith("nothing that can be tried here")
    safe = find_space(FACTS, classes=frozenset({SafetyClass.SAFE}))
    assert not seeds(lesson({"hdf5.alignment": (0, 1 << 20)}), space=safe)
    assert not seeds(lesson(), space=Space((), {}))


def test_numbers_go_to_the_nearest_rung():
    (found,) = seeds(lesson({OTHER: LADDER[-1] * 2 - 1}))
    assert found == {OTHER: LADDER[-1]}


def test_settings_that_contradict_one_another_are_not_seeded():
    assert not seeds(lesson({"mpiio.romio_cb_write": "disable", "mpiio.cb_nodes": 2}))


@pytest.mark.parametrize("state", [TriedState.REJECTED, TriedState.HUNG, TriedState.FAILED])
def test_what_failed_is_avoided_and_warned_of(state):
    bad = lesson(improved=False, tried=(Tried({KNOB: "disable"}, state),))
    good = lesson({KNOB: "disable", OTHER: LADDER[0]}, tried=(Tried({}, io_ratio=1.0),))
    found = recall(case(), [bad, good], SPACE, FACTS)
    assert not found.seeds
    assert [dict(a.settings) for a in found.avoided] == [{KNOB: "disable"}]
    (warning,) = found.warnings
    assert warning.startswith("romio_ds_write=disable ")
    assert warning.endswith("; it is tried last")


def test_what_failed_in_another_program_is_not_avoided():
    bad = lesson(
        of=case(program="other"), improved=False, tried=(Tried({KNOB: "disable"}, "rejected"),)
    )
    assert not recall(case(), [bad], SPACE, FACTS).avoided


def test_studies_that_contradict_the_best_one_are_counted_and_told():
    good = [lesson(median=3.0), lesson(median=2.5)]
    bad = lesson(improved=False, median=1.0)
    found = recall(case(), [*good, bad], SPACE, FACTS)
    assert found.seeds
    assert "but 1 study saw no gain from it" in found.text
    assert "saw no gain" not in recall(case(), good, SPACE, FACTS).text


def test_the_studies_that_are_kept_may_be_more_than_those_that_are_read():
    far = replace(case(), synced=False)
    assert recall(case(), [lesson(of=far)], SPACE, FACTS, known=70).text.startswith("70 studies")
