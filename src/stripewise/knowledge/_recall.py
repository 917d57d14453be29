# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What earlier studies say to a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log2

from stripewise.knowledge._records import Case, Lesson, TriedState
from stripewise.knowledge._similarity import NEAR, behaviour_distance, compare
from stripewise.knowledge._support import Alike, Support, choose
from stripewise.model import ProgramFacts, Proposal, Value
from stripewise.text import format_ratio, plural
from stripewise.tunables import Dimension, PointKey, Space, is_valid, key_of, settings_text

_FAILURES = {
    TriedState.REJECTED: "changed the output of this program",
    TriedState.HUNG: "made this program run into its time limit",
    TriedState.FAILED: "made this program fail",
}


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
    case: Case, lessons: Sequence[Lesson], space: Space, facts: ProgramFacts
) -> Recollection:
    """Choose what a study should try first, and last.

    Args:
        case: The study's.
        lessons: Everything that is kept.
        space: What may be tried.
        facts: Of the program.
    """
    alike = [
        (lesson, likeness)
        for lesson in lessons
        if lesson.case.synced == case.synced
        for likeness in (compare(case, lesson.case),)
        if likeness.is_near
    ]
    alike.sort(key=lambda pair: (pair[1].distance, -pair[0].recorded_unix_seconds))
    fits = partial(_fit, space=space, facts=facts)
    bad = failures(case, lessons)
    avoided = tuple(one for one in bad if fits(one.settings) == dict(one.settings))
    chosen = supported(alike, space, facts, avoided)
    return Recollection(
        case,
        tuple(Proposal(support.settings, _reason(support)) for support in chosen),
        avoided,
        _summary(alike, len(lessons), chosen),
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


def _fit(settings: Mapping[str, Value], space: Space, facts: ProgramFacts) -> dict[str, Value]:
    """Return what of the settings can be tried here; empty if nothing can.

    The space holds what the program, the stack, the policy, the class and the user allow.
    Tunables outside of it are left out, numbers go to the nearest rung of the ladder.
    """
    dimensions = {d.tunable.name: d for d in space.dimensions}
    point: dict[str, Value] = {}
    for name, value in settings.items():
        rung = _rung(dimensions[name], value) if name in dimensions else None
        if rung is not None:
            point[name] = rung
    for name in tuple(point):
        if not is_valid(point, facts) and not is_valid({name: point[name]}, facts):
            del point[name]
    return point if is_valid(point, facts) else {}


def _rung(dimension: Dimension, value: Value) -> Value | None:
    for rung in dimension.values:
        if rung == value and isinstance(rung, bool) == isinstance(value, bool):
            return rung
    kind = dimension.tunable.domain.kind
    if kind != "int" or isinstance(value, bool) or not isinstance(value, int):
        return None
    rungs = [r for r in dimension.values if isinstance(r, int) and r > 0]
    if value <= 0 or not rungs:
        return None
    return min(rungs, key=lambda rung: abs(log2(rung) - log2(value)))


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
        partial(_fit, space=space, facts=facts),
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
    return f"{text}starts with {first} ({effect_phrase(shown[0])}){more}"
