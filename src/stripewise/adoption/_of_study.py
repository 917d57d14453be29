# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A program that `run --auto` has not seen yet, but that was tuned here."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from stripewise.adoption._identity import Identity
from stripewise.adoption._question import Answer, Level
from stripewise.adoption._unasked import why_not_unasked
from stripewise.adoption._words import expected_words
from stripewise.knowledge import Case, Lesson, Machine, Store, compare
from stripewise.policy import Policy
from stripewise.tunables import build_configuration, settings_text, split_scope, tunable_of

SAME_MACHINE = 0.05
"""Machines that differ by no more are one: kernels are updated (assumed)."""


def study_of(identity: Identity, machine: Machine, stores: Iterable[Store]) -> Lesson | None:
    """Return the newest study of this executable, on as many ranks, on such a machine."""
    found = [
        lesson
        for store in stores
        for lesson in store.lessons(program=identity.program, most=100)
        if lesson.case.fingerprint.executable_sha256 == identity.executable_sha256
        and lesson.case.fingerprint.n_ranks == identity.n_ranks
        and compare(Case(machine), lesson.case).machine <= SAME_MACHINE
    ]
    return max(found, key=lambda lesson: lesson.recorded_unix_seconds, default=None)


def answer_of_study(lesson: Lesson, policy: Policy, taken: Container[str]) -> Answer | None:
    """Return what a study of this very program says, as far as it may be set unasked.

    Args:
        lesson: Of the study.
        policy: What the site and the user allow.
        taken: Names of tunables that the user has set by other means.

    Returns:
        None: it found no improvement, or nothing of it may be set.
    """
    if not lesson.improved:
        return None
    refused, settings = [], {}
    for name, value in lesson.candidate.items():
        tunable = tunable_of(name)
        own = "it is set in the environment" if split_scope(name)[0] in taken else ""
        if why := policy.why_not(tunable) or why_not_unasked(tunable) or own:
            refused.append(f"{settings_text({name: value})}: {why}")
        else:
            settings[name] = value
    if not settings:
        return None
    ratio = lesson.effect.median if lesson.effect and not refused else None
    said = f"known program (study of {lesson.date}): sets {settings_text(settings)}"
    answer = Answer(
        Level.PROGRAM,
        settings,
        build_configuration(settings),
        f"{said}; {expected_words(ratio)}",
        lesson.case.fingerprint.program,
        0.0,
        ratio,
    )
    return replace(answer, refused=tuple(refused))
