# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings come from the program's study, else a pattern's, else a model's, else from nowhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from learning.adoption.questions import HOPPER, facts_of, question, tuned
from learning.knowledge.lessons import lesson
from stripewise.core import FileClass
from stripewise.learning.adoption import Judged, Level, answer
from stripewise.learning.knowledge import Tried, TriedState
from stripewise.settings import Policy

CB = {"mpiio.romio_cb_write": "disable"}
WIDE = {"mpiio.striping_factor": 64}
NARROW = {"mpiio.striping_factor": 4}


def far_from(asked):
    """The case of a program under another MPI on another kind of storage."""
    case = tuned(asked, "other")
    stack = replace(case.stack, mpi_family="openmpi", mpiio="ompio")
    machine = replace(case.machine, filesystem="ext4", device="virtual")
    return replace(case, stack=stack, machine=machine)


@pytest.fixture
def executable(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF")
    return path


def test_without_a_run_that_is_known_nothing_is_set():
    found = answer(replace(question(), facts=None), [lesson(CB)])
    assert (found.level, found.settings) == (Level.DEFAULT, {})
    assert found.configuration.is_empty
    assert found.sentence == (
        "nothing is set: no earlier run of this program is known; this one is recorded"
    )


def test_the_programs_own_study_comes_first(executable):
    asked = question(executable=executable, storage=HOPPER)
    lessons = [lesson(CB, of=asked.case, median=3.0), lesson(WIDE, of=tuned(asked), median=9.0)]
    found = answer(asked, lessons)
    assert (found.level, found.settings, found.expected_ratio) == (Level.PROGRAM, CB, 3.0)
    assert (found.source, found.distance) == ("asked", 0.0)
    assert found.configuration.files[0].mpiio == {"romio_cb_write": "disable"}
    assert found.sentence.startswith("known program (study of ")
    assert found.sentence.endswith(": sets romio_cb_write=disable; expect I/O 3.0x as fast")


def test_a_study_that_found_nothing_is_an_answer_too(executable):
    asked = question(executable=executable, storage=HOPPER)
    found = answer(asked, [lesson(CB, of=asked.case, improved=False, median=1.0)])
    assert (found.level, found.settings, found.expected_ratio) == (Level.PROGRAM, {}, 1.0)
    assert "found no improvement" in found.sentence


def test_another_program_with_the_same_pattern_gives_its_settings():
    asked = question()
    less = tuned(question(facts_of(collective=0.0)), "other")
    found = answer(asked, [lesson(CB, of=less, median=9.0), lesson(WIDE, of=tuned(asked))])
    assert (found.level, found.settings, found.source) == (Level.PATTERN, WIDE, "vpic")
    assert found.distance == 0.0
    assert 1.05 < found.expected_ratio <= 2.0, "drawn towards none: it is another program"
    assert "6 datasets <1D, (BLOCK), (1048576)>" in found.sentence
    assert "nearest tuned pattern vpic, distance 0.00" in found.sentence


def test_the_distance_grows_with_what_differs():
    asked = question()
    other = tuned(question(facts_of(block=(1 << 17,))))
    found = answer(asked, [lesson(WIDE, of=other)])
    assert found.level is Level.PATTERN
    assert found.distance > 0.01
    assert f"distance {found.distance:.2f}" in found.sentence


def test_settings_that_do_not_fit_this_pattern_are_changed_by_the_model():
    asked = question(facts_of(grid=(64,), n_hosts=64), storage=HOPPER)
    one = lesson(NARROW, of=tuned(asked), median=1.3)
    plain = answer(replace(asked, storage=None), [one])
    assert plain.settings == NARROW
    found = answer(asked, [one])
    assert found.level is Level.PATTERN
    assert found.settings["mpiio.striping_factor"] == -1, "all targets"
    assert "adapted by the simulation of hopper@1/16" in found.sentence
    assert found.expected_ratio > 2


def test_a_gain_that_was_measured_is_not_given_up_for_a_smaller_promise():
    asked = question(storage=HOPPER)
    found = answer(asked, [lesson(NARROW, of=tuned(asked), median=2.0)])
    assert (found.level, found.settings) == (Level.PATTERN, NARROW)
    assert "adapted" not in found.sentence
    assert found.expected_ratio == pytest.approx(2, rel=0.1)


def test_a_new_pattern_gets_what_the_model_holds_for_best():
    asked = question(storage=HOPPER)
    far = far_from(asked)
    found = answer(asked, [lesson(CB, of=far)])
    assert (found.level, found.source, found.distance) == (Level.MODEL, "hopper@1/16", None)
    assert found.settings
    assert found.expected_ratio > 1.05
    assert "no tuned pattern is near (nearest: other, distance 0." in found.sentence


def test_a_pattern_that_is_too_far_without_a_model_is_left_alone():
    asked = question()
    found = answer(asked, [lesson(CB, of=far_from(asked))])
    assert (found.level, found.settings) == (Level.DEFAULT, {})
    assert "nothing is set: no tuned pattern is near (nearest: other" in found.sentence
    assert (
        answer(question(), []).sentence
        == "nothing is set: no study of a similar program is stored"
    )


def test_settings_of_a_dangerous_class_are_refused_and_said(executable):
    asked = question(executable=executable)
    settings = {**WIDE, "hdf5.alignment": (1, 1 << 20), "hdf5.transfer": "independent"}
    found = answer(asked, [lesson(settings, of=asked.case)])
    assert found.settings == WIDE
    assert any("alignment=1,1048576: class layout" in line for line in found.refused)
    assert any("transfer=independent: " in line for line in found.refused)


@pytest.mark.parametrize(
    "policy",
    [Policy(denied=("mpiio.*",)), Policy(allowed=(("hdf5.*",),)), Policy(lock_layout=True)],
)
def test_the_policy_stands_above_everything(policy, executable):
    asked = question(policy=policy, executable=executable, storage=HOPPER)
    found = answer(asked, [lesson(WIDE, of=asked.case)])
    assert "mpiio.striping_factor" not in found.settings
    assert any(line.startswith("striping_factor=64: policy: ") for line in found.refused)


def test_variables_and_parameters_that_are_not_listed_are_never_set(executable):
    given = {"mpi_family": "openmpi", "mpi_version": "Open MPI v4.1.4", "mpiio_driver": ""}
    facts = facts_of(**given, mpiio_implementation="ompio", mpiio_alternatives=("romio321",))
    asked = question(facts, executable=executable)
    settings = {"mca.io": "romio321", "environment.FI_OFI_RXM_SAR_LIMIT": 65536}
    found = answer(asked, [lesson(settings, of=asked.case)])
    assert found.settings == {"mca.io": "romio321"}
    assert dict(found.configuration.job.mca) == {"io": "romio321"}
    assert not found.configuration.job.environment
    only = {"mca.io_ompio_cycle_buffer_size": 1 << 26}
    assert answer(asked, [lesson(only, of=asked.case)]).settings == {}


def test_settings_that_were_judged_are_not_set_until_something_newer_is_known(executable):
    asked = question(executable=executable, storage=HOPPER)
    judged = (Judged(WIDE, 1_790_000_100.0, "made its I/O 1.3x slower on 2026-09-22"),)
    asked = replace(asked, judged=judged)
    older = lesson(WIDE, of=asked.case, at=1_790_000_000.0)
    found = answer(asked, [older])
    assert (found.level, found.settings) == (Level.DEFAULT, {})
    assert "striping_factor=64 made its I/O 1.3x slower on 2026-09-22" in found.sentence
    newer = lesson(CB, of=asked.case, at=1_790_000_200.0)
    assert answer(asked, [older, newer]).settings == CB
    again = lesson(WIDE, of=asked.case, at=1_790_000_200.0)
    assert answer(asked, [again]).settings == {}, "the same settings once more are no news"


def test_settings_under_which_the_program_failed_are_not_set():
    asked = question()
    failed = lesson(
        CB,
        of=tuned(asked, "asked"),
        improved=False,
        tried=(Tried(WIDE, TriedState.HUNG, None, 1),),
    )
    found = answer(asked, [failed, lesson(WIDE, of=tuned(asked), median=9.0)])
    assert found.settings == {}


def test_studies_that_contradict_each_other_are_weighed():
    asked = question()
    against = [lesson(WIDE, of=tuned(asked), improved=False, median=0.3) for _ in range(3)]
    found = answer(asked, [lesson(WIDE, of=tuned(asked), median=1.2), *against])
    assert found.settings == {}


def test_classes_of_files_with_other_patterns_get_settings_of_their_own():
    large, small = facts_of().patterns[0], facts_of(block=(1 << 9,), collective=0.0).patterns[0]
    classes = (
        FileClass(
            "plt*",
            4,
            ("hdf5", "mpiio"),
            writes=True,
            collective=True,
            shared=True,
            io_share=0.7,
            call_bytes=1 << 22,
        ),
        FileClass(
            "chk*", 4, ("hdf5", "mpiio"), writes=True, shared=True, io_share=0.3, call_bytes=2048
        ),
    )
    patterns = (replace(large, file_class=1, share=0.9), replace(small, file_class=2, share=0.1))
    facts = facts_of(patterns=patterns, file_classes=classes)
    asked = question(facts)
    of_large = tuned(question(), "large")
    of_small = tuned(question(facts_of(block=(1 << 9,), collective=0.0)), "small")
    lessons = [lesson(WIDE, of=of_large), lesson({"mpiio.striping_factor": 4}, of=of_small)]
    found = answer(asked, lessons)
    assert found.settings == {
        "mpiio.striping_factor@plt*": 64,
        "mpiio.striping_factor@chk*": 4,
    }
    assert [rule.match for rule in found.configuration.files] == ["plt*", "chk*"]
    assert "plt*: " in found.sentence
    assert "chk*: " in found.sentence
    assert found.source == "large, small"


def test_classes_that_need_the_same_share_one_rule():
    one = facts_of().patterns[0]
    classes = tuple(
        FileClass(
            name,
            4,
            ("hdf5", "mpiio"),
            writes=True,
            collective=True,
            shared=True,
            io_share=0.5,
            call_bytes=1 << 22,
        )
        for name in ("plt*", "chk*")
    )
    patterns = tuple(replace(one, file_class=n, share=0.5) for n in (1, 2))
    asked = question(facts_of(patterns=patterns, file_classes=classes))
    assert answer(asked, [lesson(WIDE, of=tuned(asked))]).settings == WIDE
