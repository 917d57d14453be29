# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Selects settings of earlier studies that are worth a trial in a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log, log2

from stripewise.core import ProgramFacts, Proposal, Value
from stripewise.learning.knowledge._records import (
    WHOLE,
    Lesson,
    StudiedCase,
    Tried,
    TriedState,
    parts_of,
)
from stripewise.learning.knowledge._similarity import (
    NEAR,
    Likeness,
    behaviour_distance,
    matches_of,
)
from stripewise.present import plural, ratio_text
from stripewise.settings.tunables import (
    Dimension,
    PointKey,
    Space,
    acts_per_file,
    is_valid,
    key_of,
    scoped,
    settings_text,
    split_scope,
)

_FAILURES = {
    TriedState.REJECTED: "changed the output of this program",
    TriedState.HUNG: "made this program run into its time limit",
    TriedState.FAILED: "made this program fail",
}
_BY_CLASS = "memory: each class of files as in the studies nearest to it"
_WORSE = 2.0
"""Ratio assumed for a failed trial, which has none."""


@dataclass(frozen=True)
class Avoided:
    """Settings that should not be tried first, and the reason."""

    settings: Mapping[str, Value]
    why: str


@dataclass(frozen=True)
class Recollection:
    """Suggestions of earlier studies for a new one.

    Attributes:
        case: Case of the new study.
        seeds: Settings to try first, the best first.
        avoided: Settings to try last because they failed with this program.
        text: One line for the user; empty if no study is stored.
        warnings: Warnings for the user.
    """

    case: StudiedCase
    seeds: tuple[Proposal, ...] = ()
    avoided: tuple[Avoided, ...] = ()
    text: str = ""
    warnings: tuple[str, ...] = ()


def recall(
    case: StudiedCase,
    lessons: Sequence[Lesson],
    space: Space,
    facts: ProgramFacts,
    known: int | None = None,
) -> Recollection:
    """Select what a study should try first and last.

    Args:
        case: Case of the study.
        lessons: Stored lessons, either all or those of similar cases.
        space: Space of permitted settings.
        facts: Facts of the program.
        known: Total number of stored studies; None if `lessons` contains them all.
    """
    alike = [(match.lesson, match.likeness) for match in matches_of(case, lessons)]
    bad = failures(case, lessons)
    avoided = tuple(one for one in bad if fit(one.settings, space, facts) == dict(one.settings))
    chosen = supported(alike, space, facts, avoided)
    seeds = [Proposal(support.settings, _reason(support)) for support in chosen]
    described_storage = any(support.shown and support.shown[1].same_program for support in chosen)
    own = by_class(case, lessons, space, facts, avoided)
    if own and not described_storage and is_valid(own, facts):
        seeds = [Proposal(own, _BY_CLASS), *seeds][:MOST_SEEDS]
    return Recollection(
        case,
        tuple(seeds),
        avoided,
        _summary(alike, len(lessons) if known is None else known, chosen),
        tuple(f"{settings_text(a.settings)} {a.why}; it is tried last" for a in avoided),
    )


def effect_phrase(lesson: Lesson) -> str:
    """Return the effect of a study's candidate in words: "4.8x [4.1-5.6], 2026-11-03"."""
    effect = lesson.effect
    if effect is None:
        return f"no effect shown, {lesson.date}"
    if effect.low is None or effect.high is None:
        return f"{ratio_text(effect.median)}x, {lesson.date}"
    bounds = f"{ratio_text(effect.low)}-{ratio_text(effect.high)}"
    return f"{ratio_text(effect.median)}x [{bounds}], {lesson.date}"


def supported(
    alike: Alike, space: Space, facts: ProgramFacts, avoided: Sequence[Avoided] = ()
) -> list[Support]:
    """Return settings that similar studies recommend, fitted into a space, the best first.

    Args:
        alike: Similar studies, the nearest first.
        space: Space of permitted settings.
        facts: Facts of the program.
        avoided: Settings that no point may contain.
    """
    fits = partial(fit, space=space, facts=facts)

    def is_allowed(point: Mapping[str, Value]) -> bool:
        return not any(one.settings.items() <= point.items() for one in avoided)

    found = _improvements(alike, fits, is_allowed)
    for lesson, likeness in alike:
        _weigh(found, lesson, max(likeness.closeness, 0.01), fits)
    ranked = sorted(found.values(), key=lambda support: -support.score)
    if not ranked or ranked[0].score <= 0:
        return []
    best = ranked[0]
    part = _part_of(best, alike, fits, is_allowed)
    first = [best] if part is None else [best, found.get(key_of(part.settings), part)]
    others = [e for e in ranked if e not in first and e.score >= WORTH * best.score]
    return [*first, *others][:MOST_SEEDS]


def failures(case: StudiedCase, lessons: Sequence[Lesson]) -> tuple[Avoided, ...]:
    """Return settings that failed for a program of this name and MPI, on any machine."""
    found: dict[PointKey, Avoided] = {}
    for lesson in lessons:
        if not _is_same_work(case, lesson.case):
            continue
        for tried in lesson.bad:
            if tried.settings:
                why = f"{_FAILURES[tried.state]} in a study of {lesson.date}"
                found.setdefault(key_of(tried.settings), Avoided(dict(tried.settings), why))
    return tuple(found.values())


def _is_same_work(case: StudiedCase, other: StudiedCase) -> bool:
    """Return whether failures of one also concern the other: same name, same MPI, similar I/O."""
    mine, theirs = case.fingerprint, other.fingerprint
    return (
        mine.program == theirs.program
        and case.stack.mpi_family == other.stack.mpi_family
        and behaviour_distance(mine, theirs) <= NEAR
    )


def _reason(support: Support) -> str:
    if support.shown is None:
        return "memory: a part of these may be enough"
    lesson, likeness = support.shown
    return f"memory: {effect_phrase(lesson)}, {likeness.words}"


def _summary(alike: Alike, known: int, chosen: Sequence[Support]) -> str:
    """Return one line that says what is known and what follows from it.

    Args:
        alike: Studies similar to the present one, the nearest first.
        known: Total number of stored studies.
        chosen: Settings that are tried first.
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
    """Return the number of similar studies in which these settings brought no gain."""
    return sum(
        any(
            dict(tried.settings) == dict(settings) and (tried.io_ratio or _WORSE) >= 1
            for tried in lesson.tried
        )
        or (dict(lesson.candidate) == dict(settings) and not lesson.improved)
        for lesson, _ in alike
    )


# Selection of remembered configurations, weighed over all similar studies.

MOST_SEEDS = 3
WORTH = 1 / 3
"""Least share of the best configuration's score that a seed must have."""
DOUBT = 0.5
"""Weight of the prior assumption that a configuration has no effect."""
TRIED_WEIGHT = 0.25
"""Weight of a trial with one or two runs, relative to the confirmation pairs of a winner."""
HALF = 0.5
"""Least share of the best configuration's gain at which a part of it is tried as well."""
_SMALLEST_RATIO = 0.01

Alike = Sequence[tuple[Lesson, Likeness]]
"""Studies similar to the present one, the nearest first."""
Fit = Callable[[Mapping[str, Value]], dict[str, Value]]
IsAllowed = Callable[[Mapping[str, Value]], bool]


@dataclass(eq=False)
class Support:
    """Evidence for one configuration from all studies.

    Attributes:
        settings: The configuration, in the present space.
        weight / gain: Sum of the weights that were added; weighted sum of log speed-ups.
        shown: Nearest study that proved the configuration; None if there is none.
    """

    settings: dict[str, Value]
    weight: float = DOUBT
    gain: float = 0.0
    shown: tuple[Lesson, Likeness] | None = None

    def add(self, weight: float, gain: float) -> None:
        """Add the evidence of one study."""
        self.weight += weight
        self.gain += weight * gain

    @property
    def score(self) -> float:
        """Return the mean logarithm of the speed-up, shrunk towards zero."""
        return self.gain / self.weight


def _improvements(alike: Alike, fits: Fit, is_allowed: IsAllowed) -> dict[PointKey, Support]:
    found: dict[PointKey, Support] = {}
    for lesson, likeness in alike:
        low = lesson.effect.low if lesson.effect else None
        point = fits(lesson.candidate)
        if lesson.improved and low is not None and low > 1 and point and is_allowed(point):
            known = found.setdefault(key_of(point), Support(point))
            known.shown = known.shown or (lesson, likeness)
    return found


def _weigh(found: Mapping[PointKey, Support], lesson: Lesson, weight: float, fits: Fit) -> None:
    """Add a study's evidence for each configuration: its pairs or, without them, its trial."""
    proved = key_of(fits(lesson.candidate))
    if proved in found and lesson.effect is not None:
        median = lesson.effect.median
        bound = (lesson.effect.low or 1.0) if lesson.improved else min(1.0, median)
        found[proved].add(weight, log(max(bound, _SMALLEST_RATIO)))
    for tried in lesson.tried:
        key = key_of(tried.settings)
        if key in found and key != proved:
            found[key].add(TRIED_WEIGHT * weight, _gain(tried))


def _part_of(best: Support, alike: Alike, fits: Fit, is_allowed: IsAllowed) -> Support | None:
    """Return the fastest tried part of the best configuration with enough of its gain.

    Otherwise a setting that once won by chance would be passed on from study to study.
    """
    parts = [
        tried
        for lesson, _ in alike
        for tried in lesson.tried
        if not tried.state.is_bad
        and tried.settings
        and tried.settings.items() < best.settings.items()
        and fits(tried.settings) == dict(tried.settings)
        and is_allowed(tried.settings)
        and _gain(tried) >= HALF * best.score
    ]
    return Support(dict(max(parts, key=_gain).settings)) if parts else None


def _gain(tried: Tried) -> float:
    return -log(max(tried.io_ratio, _SMALLEST_RATIO)) if tried.io_ratio else 0.0


# Recommendations for each class of a program's files, combined into one configuration.


def by_class(
    case: StudiedCase,
    lessons: Sequence[Lesson],
    space: Space,
    facts: ProgramFacts,
    avoided: Sequence[Avoided],
) -> dict[str, Value]:
    """Return settings for each class of files, from the studies nearest to that class.

    Settings of the whole job cannot differ; the class with most I/O time decides on them.

    Returns:
        Empty unless at least two classes get settings and these differ.

    Args:
        case: Case that is looked up.
        lessons: Lessons that may be similar.
        space: Space of permitted settings.
        facts: Facts of the program.
        avoided: Settings that no point may contain.
    """
    found: dict[str, Mapping[str, Value]] = {}
    for glob, part in parts_of(case).items():
        if glob != WHOLE:
            alike = [(match.lesson, match.likeness) for match in matches_of(part, lessons)]
            best = next(iter(supported(alike, space, facts, avoided)), None)
            found[glob] = best.settings if best is not None else {}
    if len(found) < 2 or all(one == next(iter(found.values())) for one in found.values()):
        return {}
    first, *others = found.values()
    common = {n: v for n, v in first.items() if all(one.get(n, None) == v for one in others)}
    together: dict[str, Value] = {}
    for match, settings in found.items():
        for name, value in settings.items():
            if acts_per_file(name) and name not in common:
                together[scoped(name, match)] = value
            else:
                together.setdefault(name, value)
    return together


# Settings of another study, fitted into the present space.


def fit(settings: Mapping[str, Value], space: Space, facts: ProgramFacts) -> dict[str, Value]:
    """Return those of the settings that can be tried here; empty if there are none.

    The space is limited by the program, the stack, the policy, the safety class and the user.
    Tunables outside of it are left out, as are settings for classes of files that this program
    does not have; numbers are moved to the nearest rung of the ladder.
    """
    dimensions = {d.tunable.name: d for d in space.dimensions}
    globs = {"", *(one.match for one in facts.file_classes)}
    point: dict[str, Value] = {}
    for name, value in settings.items():
        tunable, match = split_scope(name)
        known = tunable in dimensions and match in globs
        rung = _rung(dimensions[tunable], value) if known else None
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
