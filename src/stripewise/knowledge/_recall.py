# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What earlier studies say to a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from stripewise.knowledge._fit import fit
from stripewise.knowledge._phrases import effect_phrase, failure_phrase, summary
from stripewise.knowledge._records import Case, Lesson, Tried
from stripewise.knowledge._similarity import NEAR, Likeness, behaviour_distance, compare
from stripewise.model import ProgramFacts, Value
from stripewise.strategies import PointKey, Proposal, describe, key_of
from stripewise.tunables import Space

MOST_SEEDS = 3
WORTH = 1 / 3
"""A seed has at least so much of what speaks for the best one."""
DOUBT = 0.5
"""Weight of the assumption that a configuration does nothing, against that of the studies."""
TRIED_WEIGHT = 0.25
"""Of a trial's one or two runs, against the fresh pairs of a winner."""
HALF = 0.5
"""A part of the best configuration is tried too if it gave at least so much of its gain."""
_SMALLEST_RATIO = 0.01


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


@dataclass
class _Evidence:
    """All that is known of one configuration."""

    settings: dict[str, Value]
    weight: float = DOUBT
    gain: float = 0.0
    shown: tuple[Lesson, Likeness] | None = None

    def add(self, weight: float, gain: float) -> None:
        self.weight += weight
        self.gain += weight * gain

    @property
    def score(self) -> float:
        """Return the mean logarithm of the speed-up, drawn towards none."""
        return self.gain / self.weight


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
    chosen = _chosen(alike, avoided, space, facts)
    seeds = tuple(Proposal(e.settings, _reason(e)) for e in chosen)
    shown = chosen[0].shown if chosen else None
    return Recollection(
        case,
        seeds,
        avoided,
        summary(alike, len(lessons), [describe(s.settings) for s in seeds], shown),
        tuple(f"{describe(a.settings)} {a.why}; it is tried last" for a in avoided),
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


def _chosen(
    alike: Sequence[tuple[Lesson, Likeness]],
    avoided: Sequence[Avoided],
    space: Space,
    facts: ProgramFacts,
) -> list[_Evidence]:
    evidence: dict[PointKey, _Evidence] = {}
    for lesson, likeness in alike:
        low = lesson.effect.low if lesson.effect else None
        point = fit(lesson.candidate, space, facts)
        if lesson.improved and low is not None and low > 1 and _is_allowed(point, avoided):
            known = evidence.setdefault(key_of(point), _Evidence(point))
            known.shown = known.shown or (lesson, likeness)
    for lesson, likeness in alike:
        _weigh(evidence, lesson, likeness, space, facts)
    ranked = sorted(evidence.values(), key=lambda e: -e.score)
    if not ranked or ranked[0].score <= 0:
        return []
    others = [e for e in ranked[1:] if e.score >= WORTH * ranked[0].score]
    part = _part_of(ranked[0], alike, avoided)
    if part is None:
        return [ranked[0], *others][:MOST_SEEDS]
    same = key_of(part.settings)
    shown = next((e for e in ranked if key_of(e.settings) == same), part)
    others = [e for e in others if e is not shown]
    return [ranked[0], shown, *others][:MOST_SEEDS]


def _part_of(
    best: _Evidence, alike: Sequence[tuple[Lesson, Likeness]], avoided: Sequence[Avoided]
) -> _Evidence | None:
    """Return the fastest tried point that sets a part of the best one and gives half as much.

    Without it a setting that once won by luck would be handed on from study to study.
    """
    parts = [
        tried
        for lesson, _ in alike
        for tried in lesson.tried
        if not tried.state.is_bad
        and tried.settings.items() < best.settings.items()
        and _is_allowed(tried.settings, avoided)
        and _gain(tried) >= HALF * best.score
    ]
    if not parts:
        return None
    fastest = max(parts, key=_gain)
    return _Evidence(dict(fastest.settings))


def _weigh(
    evidence: Mapping[PointKey, _Evidence],
    lesson: Lesson,
    likeness: Likeness,
    space: Space,
    facts: ProgramFacts,
) -> None:
    """Add what one study says of each configuration: its pairs, or else its trial."""
    weight = max(likeness.closeness, 0.01)
    proved = key_of(fit(lesson.candidate, space, facts))
    if proved in evidence and lesson.effect is not None:
        bound = lesson.effect.low if lesson.improved else lesson.effect.median
        evidence[proved].add(weight, log(max(bound or 1.0, _SMALLEST_RATIO)))
    for tried in lesson.tried:
        key = key_of(tried.settings)
        if key in evidence and key != proved:
            evidence[key].add(TRIED_WEIGHT * weight, _gain(tried))


def _gain(tried: Tried) -> float:
    return -log(max(tried.io_ratio, _SMALLEST_RATIO)) if tried.io_ratio else 0.0


def _is_allowed(point: Mapping[str, Value], avoided: Sequence[Avoided]) -> bool:
    """Whether a point holds no settings that failed."""
    return bool(point) and not any(a.settings.items() <= point.items() for a in avoided)


def _reason(evidence: _Evidence) -> str:
    if evidence.shown is None:
        return "memory: a part of these may do"
    lesson, likeness = evidence.shown
    return f"memory: {effect_phrase(lesson)}, {likeness.words}"
