# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a training leaves to programs of like patterns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from stripewise.core import PatternSummary, ProgramFacts
from stripewise.learning.knowledge import Store
from stripewise.learning.performance import Ground, TrainingSample, Way
from stripewise.study.training import TrainingEvidence, keep_lessons, lessons_of

PATTERN = PatternSummary(True, ("BLOCK",), (8,), (1024,), 4, 1, 1.0)
FACTS = ProgramFacts(
    n_ranks=8, mpi_family="mpich", mpiio_implementation="romio", filesystem="lustre",
    write_bytes=1 << 20, write_calls=8, collective_bytes=1 << 20, patterns=(PATTERN,),
)  # fmt: skip
STRIPES, BOTH = {"mpiio.striping_factor": 8}, {"mpiio.striping_factor": 8, "mpiio.cb_nodes": 4}


def evidence(*samples: tuple[dict[str, int], tuple[float, ...]], **more: Any) -> TrainingEvidence:
    found = tuple(TrainingSample(FACTS, settings, seconds) for settings, seconds in samples)
    ground = Ground("hopper@1/16", "12ab34cd", "romio-lustre")
    one = TrainingEvidence(ground, found, 9, 1.0, Way.EMULATED, Path("a"), "vpic", "hopper@1/16")
    return replace(one, **more)


def test_the_best_settings_of_a_pattern_are_kept_like_those_of_a_study():
    (lesson,) = lessons_of(
        [
            evidence(
                ({}, (4.0, 4.2, 4.4)), (STRIPES, (1.0, 1.1, 1.2)), ({"mpiio.cb_nodes": 4}, (3,))
            )
        ]
    )
    assert lesson.improved
    assert lesson.candidate == STRIPES
    assert lesson.effect is not None
    assert round(lesson.effect.median, 2) == 3.82
    assert lesson.effect.low == 4.0 / 1.2
    assert lesson.case.fingerprint.patterns == (PATTERN,)
    assert (lesson.case.machine.emulated, lesson.case.machine.storage) == (
        "hopper@1/16",
        "12ab34cd",
    )


def test_of_settings_that_are_as_good_the_fewest_are_kept():
    (lesson,) = lessons_of([evidence(({}, (4.0,)), (BOTH, (0.99,)), (STRIPES, (1.0,)))])
    assert lesson.candidate == STRIPES


def test_bad_configurations_are_kept_too_where_there_are_many():
    bad = [({"mpiio.striping_unit": n << 16}, (4.0 + n,)) for n in range(1, 300)]
    (lesson,) = lessons_of([evidence(({}, (4.0,)), (STRIPES, (1.0,)), *bad)])
    ratios = [ratio for settings, ratio in lesson.ratios() if settings != STRIPES]
    assert len(lesson.tried) < 150
    assert max(ratios) > 70
    assert min(ratios) == 5.0 / 4
    assert (STRIPES, 0.25) in list(lesson.ratios())


def test_gains_within_the_spread_are_no_improvement():
    (lesson,) = lessons_of([evidence(({}, (1.0, 1.3)), (STRIPES, (0.9, 1.1)))])
    assert not lesson.improved


def test_nothing_is_learned_of_a_study_or_without_the_default():
    assert not list(lessons_of([evidence(({}, (1.0,)), (STRIPES, (0.5,)), program="")]))
    assert not list(lessons_of([evidence((STRIPES, (0.5,)))]))


def test_the_same_measurements_are_kept_once(tmp_path):
    store, found = Store(tmp_path / "k.sqlite"), [evidence(({}, (4.0,)), (STRIPES, (1.0,)))]
    assert keep_lessons(found, store) == 1
    assert keep_lessons(found, store) == 0
    (lesson,) = store.lessons()
    assert lesson.strategy == "training"


def test_a_surface_that_has_grown_takes_the_place_of_what_it_said(tmp_path):
    store, first = Store(tmp_path / "k.sqlite"), ({}, (4.0,))
    assert keep_lessons([evidence(first, (STRIPES, (1.0,)))], store) == 1
    grown = evidence(({}, (4.0, 4.1)), (STRIPES, (1.0,)), (BOTH, (0.5,)), runs=12)
    other = evidence(({}, (4.5,)), (STRIPES, (1.0,)))
    assert keep_lessons([grown, other], store) == 2
    assert sorted(len(one.tried) for one in store.lessons()) == [2, 3]
    assert keep_lessons([evidence(first, (STRIPES, (1.0,)))], store) == 0
    assert max(len(one.tried) for one in store.lessons()) == 3
