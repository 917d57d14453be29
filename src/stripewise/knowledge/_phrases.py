# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is remembered, in words."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.knowledge._records import Lesson, TriedState
from stripewise.knowledge._similarity import Likeness
from stripewise.text import format_ratio, plural

_FAILURES = {
    TriedState.REJECTED: "changed the output of this program",
    TriedState.HUNG: "made this program run into its time limit",
    TriedState.FAILED: "made this program fail",
}


def effect_phrase(lesson: Lesson) -> str:
    """Say what a study's candidate gave: "4.8x [4.1-5.6], 2026-11-03"."""
    effect = lesson.effect
    if effect is None:
        return f"no effect shown, {lesson.date}"
    if effect.low is None or effect.high is None:
        return f"{format_ratio(effect.median)}x, {lesson.date}"
    bounds = f"{format_ratio(effect.low)}-{format_ratio(effect.high)}"
    return f"{format_ratio(effect.median)}x [{bounds}], {lesson.date}"


def failure_phrase(state: TriedState, lesson: Lesson) -> str:
    """Say how settings failed, and when."""
    return f"{_FAILURES[state]} in a study of {lesson.date}"


def summary(
    alike: Sequence[tuple[Lesson, Likeness]],
    known: int,
    seeds: Sequence[str],
    shown: tuple[Lesson, Likeness] | None,
) -> str:
    """Say in one line what is remembered, and what follows from it.

    Args:
        alike: Studies like the one at hand, the nearest first.
        known: Studies that are kept in all.
        seeds: The settings that are tried first.
        shown: The study that speaks for the first of them.
    """
    if not known:
        return ""
    if not alike:
        return f"{plural(known, 'study', 'studies')} kept, none like this one"
    likeness = shown[1] if shown else alike[0][1]
    text = f"{plural(len(alike), 'study', 'studies')} like this one ({likeness.words}): "
    if shown is None or not seeds:
        improved = any(lesson.improved for lesson, _ in alike)
        found = "nothing that can be tried here" if improved else "none found an improvement"
        return f"{text}{found}"
    more = f", then {'; '.join(seeds[1:])}" if len(seeds) > 1 else ""
    return f"{text}starts with {seeds[0]} ({effect_phrase(shown[0])}){more}"
