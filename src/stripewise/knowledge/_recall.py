# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What earlier studies say to a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stripewise.knowledge._fit import fit
from stripewise.knowledge._phrases import effect_phrase, failure_phrase, summary
from stripewise.knowledge._records import Case, Lesson
from stripewise.knowledge._similarity import NEAR, behaviour_distance, compare
from stripewise.knowledge._support import Support, choose
from stripewise.model import ProgramFacts, Proposal, Value
from stripewise.tunables import PointKey, Space, key_of, settings_text


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
    warnings: tuple[str, ...] = field(default=())


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
    avoided = _avoided(case, lessons, space, facts)
    chosen = choose(
        alike,
        lambda settings: fit(settings, space, facts),
        lambda point: not any(a.settings.items() <= point.items() for a in avoided),
    )
    seeds = tuple(Proposal(e.settings, _reason(e)) for e in chosen)
    shown = chosen[0].shown if chosen else None
    return Recollection(
        case,
        seeds,
        avoided,
        summary(alike, len(lessons), [settings_text(s.settings) for s in seeds], shown),
        tuple(f"{settings_text(a.settings)} {a.why}; it is tried last" for a in avoided),
    )


def _avoided(
    case: Case, lessons: Sequence[Lesson], space: Space, facts: ProgramFacts
) -> tuple[Avoided, ...]:
    """Return what failed for the program of this name under this MPI, whatever the machine."""
    found: dict[PointKey, Avoided] = {}
    for lesson in lessons:
        if not _is_same_work(case, lesson.case):
            continue
        for tried in lesson.bad:
            if tried.settings and fit(tried.settings, space, facts) == dict(tried.settings):
                why = failure_phrase(tried.state, lesson)
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
