# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What earlier studies say to a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from stripewise.knowledge._by_class import by_class
from stripewise.knowledge._fit import fit
from stripewise.knowledge._match import matches_of
from stripewise.knowledge._records import Case, Lesson, TriedState
from stripewise.knowledge._similarity import NEAR, behaviour_distance
from stripewise.knowledge._support import MOST_SEEDS, Alike, Support, choose
from stripewise.model import ProgramFacts, Proposal, Value
from stripewise.text import format_ratio, plural
from stripewise.tunables import PointKey, Space, is_valid, key_of, settings_text

_FAILURES = {
    TriedState.REJECTED: "changed the output of this program",
    TriedState.HUNG: "made this program run into its time limit",
    TriedState.FAILED: "made this program fail",
}
_BY_CLASS = "memory: each class of files as in the studies nearest to it"
_WORSE = 2.0
"""Of a trial without a ratio: it failed."""


@dataclass(frozen=True)
class Avoided:
    """Settings that are not to be tried first, and why."""

    settings: Mapping[str, Value]
    why: str


@dataclass(frozen=True)
class Recollection:
    """What a study begins with.

    Attributes:
        case: The study's own.
        seeds: To be tried first, the best first.
        avoided: Of this program; to be tried last.
        text: One line for the user; "" if nothing is remembered at all.
        warnings: For the user.
    """

    case: Case
    seeds: tuple[Proposal, ...] = ()
    avoided: tuple[Avoided, ...] = ()
    text: str = ""
    warnings: tuple[str, ...] = ()


def recall(
    case: Case,
    lessons: Sequence[Lesson],
    space: Space,
    facts: ProgramFacts,
    known: int | None = None,
) -> Recollection:
    """Choose what a study should try first, and last.

    Args:
        case: The study's.
        lessons: What is kept, all of it or what is near.
        space: What may be tried.
        facts: Of the program.
        known: Studies that are kept in all; None: the lessons are all.
    """
    alike = [(match.lesson, match.likeness) for match in matches_of(case, lessons)]
    bad = failures(case, lessons)
    avoided = tuple(one for one in bad if fit(one.settings, space, facts) == dict(one.settings))
    chosen = supported(alike, space, facts, avoided)
    seeds = [Proposal(support.settings, _reason(support)) for support in chosen]
    known_here = any(support.shown and support.shown[1].same_program for support in chosen)
    own = by_class(case, lessons, lambda near: supported(near, space, facts, avoided))
    if own and not known_here and is_valid(own, facts):
        seeds = [Proposal(own, _BY_CLASS), *seeds][:MOST_SEEDS]
    return Recollection(
        case,
        tuple(seeds),
        avoided,
        _summary(alike, len(lessons) if known is None else known, chosen),
        tuple(f"{settings_text(a.settings)} {a.why}; it is tried last" for a in avoided),
    )


def effect_phrase(lesson: Lesson) -> str:
    """Say what a study's candidate gave: "4.8x [4.1-5.6], 2026-11-03"."""
    effect = lesson.effect
    if effect is None:
        return f"no effect shown, {lesson.date}"
    if effect.low is None or effect.high is None:
        return f"{format_ratio(effect.median)}x, {lesson.date}"
    bounds = f"{format_ratio(effect.low)}-{format_ratio(effect.high)}"
    return f"{format_ratio(effect.median)}x [{bounds}], {lesson.date}"


def supported(
    alike: Alike, space: Space, facts: ProgramFacts, avoided: Sequence[Avoided] = ()
) -> list[Support]:
    """Return the settings that studies alike speak for, brought into a space, the best first.

    Args:
        alike: The studies, the nearest first.
        space: What may be set.
        facts: Of the program.
        avoided: Settings that no point may contain.
    """
    return choose(
        alike,
        partial(fit, space=space, facts=facts),
        lambda point: not any(one.settings.items() <= point.items() for one in avoided),
    )


def failures(case: Case, lessons: Sequence[Lesson]) -> tuple[Avoided, ...]:
    """Return what failed for the program of this name under this MPI, whatever the machine."""
    found: dict[PointKey, Avoided] = {}
    for lesson in lessons:
        if not _is_same_work(case, lesson.case):
            continue
        for tried in lesson.bad:
            if tried.settings:
                why = f"{_FAILURES[tried.state]} in a study of {lesson.date}"
                found.setdefault(key_of(tried.settings), Avoided(dict(tried.settings), why))
    return tuple(found.values())


def _is_same_work(case: Case, other: Case) -> bool:
    """Whether failures of one are to be expected of the other: name, MPI, and like I/O."""
    mine, theirs = case.fingerprint, other.fingerprint
    return (
        mine.program == theirs.program
        and case.stack.mpi_family == other.stack.mpi_family
        and behaviour_distance(mine, theirs) <= NEAR
    )


def _reason(support: Support) -> str:
    if support.shown is None:
        return "memory: a part of these may do"
    lesson, likeness = support.shown
    return f"memory: {effect_phrase(lesson)}, {likeness.words}"


def _summary(alike: Alike, known: int, chosen: Sequence[Support]) -> str:
    """Say in one line what is remembered, and what follows from it.

    Args:
        alike: Studies like the one at hand, the nearest first.
        known: Studies that are kept in all.
        chosen: What is tried first.
    """
    if not known:
        return ""
    if not alike:
        return f"{plural(known, 'study', 'studies')} kept, none like this one"
    shown = chosen[0].shown if chosen else None
    _, likeness = shown or alike[0]
    text = f"{plural(len(alike), 'study', 'studies')} like this one ({likeness.words}): "
    if shown is None:
        improved = any(lesson.improved for lesson, _ in alike)
        found = "nothing that can be tried here" if improved else "none found an improvement"
        return f"{text}{found}"
    first, *others = (settings_text(support.settings) for support in chosen)
    more = f", then {'; '.join(others)}" if others else ""
    against = _against(alike, chosen[0].settings)
    but = f", but {plural(against, 'study', 'studies')} saw no gain from it" if against else ""
    return f"{text}starts with {first} ({effect_phrase(shown[0])}{but}){more}"


def _against(alike: Alike, settings: Mapping[str, Value]) -> int:
    """Return how many studies alike contradict: these settings brought them no gain."""
    return sum(
        any(
            dict(tried.settings) == dict(settings) and (tried.io_ratio or _WORSE) >= 1
            for tried in lesson.tried
        )
        or (dict(lesson.candidate) == dict(settings) and not lesson.improved)
        for lesson, _ in alike
    )
