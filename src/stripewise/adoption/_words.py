# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The one line of an answer: level, distance, source, and what to expect."""

from __future__ import annotations

from collections.abc import Mapping

from stripewise.adoption._question import Level
from stripewise.knowledge import Lesson, Likeness
from stripewise.model import ProgramFacts, Value
from stripewise.patterns import pattern_of
from stripewise.text import format_ratio, plural
from stripewise.tunables import settings_text


def study_sentence(
    level: Level,
    lesson: Lesson,
    likeness: Likeness,
    settings: Mapping[str, Value],
    ratio: float | None,
    facts: ProgramFacts,
    by: str = "",
) -> str:
    """Say that settings come from a study.

    Args:
        level: PROGRAM or PATTERN.
        lesson: Of the study.
        likeness: Of its case and the one at hand.
        settings: That are set.
        ratio: How many times as fast the I/O is expected to be; None: not known.
        facts: Of the program.
        by: Who changed the settings for this program: "the simulation of hopper"; "": nobody.
    """
    program = lesson.case.fingerprint.program
    study = f"study of {lesson.date}"
    if level is Level.PROGRAM:
        origin = f"known program ({study})"
    else:
        near = f"nearest tuned pattern {program}, distance {likeness.distance:.2f} ({study})"
        origin = f"{pattern_words(facts)}: {near}"
    moved = f" (adapted by {by})" if by else ""
    return f"{origin}: sets {settings_text(settings)}{moved}; {expected_words(ratio)}"


def model_sentence(
    model: str, settings: Mapping[str, Value], ratio: float | None, facts: ProgramFacts, why: str
) -> str:
    """Say that settings come from a model alone, and why no study is followed.

    Args:
        model: "the simulation of hopper@1/16".
        settings: That are set.
        ratio: How many times as fast the I/O is expected to be.
        facts: Of the program.
        why: No study is followed.
    """
    origin = f"{pattern_words(facts)}: {why}, so {model}"
    return f"{origin}: sets {settings_text(settings)}; {expected_words(ratio)}"


def default_sentence(why: str) -> str:
    """Say that nothing is set, and why."""
    return f"nothing is set: {why}"


def expected_words(ratio: float | None) -> str:
    """Say what to expect."""
    if ratio is None:
        return "what to expect is not known"
    return f"expect I/O {format_ratio(ratio)}x as fast"


def pattern_words(facts: ProgramFacts) -> str:
    """Name what a program does: "3 datasets <3D, (BLOCK, *, *), (64, 8, 8)>"."""
    if not facts.patterns:
        return "no pattern recognised"
    first = facts.patterns[0]
    notation = facts.pattern or pattern_of(first, facts.n_ranks).notation
    return f"{plural(first.datasets, 'dataset')} {notation}"
