# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Decides what to set from studies of this program, its pattern or a model, in this order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import exp, hypot, sqrt
from typing import TypeGuard

from stripewise.core import FileClass, PatternSummary, ProgramFacts, Value
from stripewise.learning.adoption._known import Judged, KnownSettings, Level, default_answer
from stripewise.learning.adoption._promises import (
    Measured,
    best_of,
    carried_over,
    promise,
)
from stripewise.learning.adoption._question import (
    Question,
    model_sentence,
    study_sentence,
)
from stripewise.learning.knowledge import (
    Avoided,
    Lesson,
    Likeness,
    StudiedCase,
    compare,
    failures,
    fit,
    matches_of,
    parts_of,
    supported,
)
from stripewise.learning.performance import Fitted, Model
from stripewise.settings.tunables import (
    STRIPE_STEP,
    Dimension,
    Space,
    acts_per_file,
    build_configuration,
    is_valid,
    scoped,
    settings_text,
    split_scope,
)

WORTH = 1.05
"""Smallest predicted speed-up that counts as a gain (assumed)."""
EVEN = 0.05
"""Largest difference of distance at which two cases count as equally near (assumed)."""
MEASURED = 0.05
"""Standard deviation of the logarithm of a ratio that was measured in a few runs (assumed)."""
OTHER = 0.15
"""Standard deviation added by each setting that was different or unset there (assumed)."""
SHARED = 0.8
"""Share of the variance between two programs that is common to all settings (assumed)."""


Near = Sequence[tuple[Lesson, Likeness]]


def answer(
    question: Question, lessons: Sequence[Lesson], models: Sequence[Model] = ()
) -> KnownSettings:
    """Return the settings for a program that is about to run.

    Settings come from a study of the program itself, otherwise from the nearest study with
    similar I/O, adjusted by a model where there is one, otherwise from the model, otherwise
    nothing is set.  Classes of files with different patterns get separate answers.  Settings
    that were judged useless are not set again until there is newer evidence.

    Args:
        question: Program and conditions to decide for.
        lessons: Lessons of past studies; those of dissimilar programs are ignored.
        models: Performance models; those that do not apply here are ignored.
    """
    facts = question.facts
    if facts is None:
        return default_answer("no earlier run of this program is known; this one is recorded")
    judged = max(question.judged, key=lambda one: one.unix_seconds, default=None)
    if judged is not None:
        lessons = [one for one in lessons if one.recorded_unix_seconds > judged.unix_seconds]
        models = [one for one in models if one.trained_unix_seconds > judged.unix_seconds]
        question = replace(question, storage=None)
    # Studies are used here whether or not their runs waited for the storage.
    synced = question.case.synced
    lessons = [replace(one, case=replace(one.case, synced=synced)) for one in lessons]
    whole = _answer_alike(question, lessons, models)
    if whole.level is Level.DEFAULT and judged is not None:
        return default_answer(_judged_words(judged))
    if whole.level is Level.PROGRAM:
        return whole
    parts = [
        (match, _answer_alike(part, lessons, models)) for match, part in class_questions(question)
    ]
    return join_answers(whole, parts, facts)


def _answer_alike(
    question: Question, lessons: Sequence[Lesson], models: Sequence[Model]
) -> KnownSettings:
    """Return one answer for all files, without distinguishing classes of files."""
    facts = question.facts
    assert facts is not None
    near = [(match.lesson, match.likeness) for match in matches_of(question.case, lessons)]
    known = [pair for pair in near if pair[1].same_program]
    bad = (*failures(question.case, lessons), *_avoided_by_judgement(question))
    if not question.only_rungs:
        question = replace(question, space=with_tried(question.space, lessons))
    if (own := _answer_of_program(question, facts, known, bad)) is not None:
        return own
    promised = promise(question, facts, models)
    found = _answer_of_pattern(question, facts, near, promised, bad)
    if isinstance(found, KnownSettings):
        return found
    why = found or _why_none_is_near(question.case, lessons)
    found = _answer_of_model(question, facts, promised, why, bad)
    refused = _refused(question, near)
    if isinstance(found, str):
        return default_answer(found, refused)
    return replace(found, refused=refused)


def _answer_of_program(
    question: Question, facts: ProgramFacts, known: Near, bad: Sequence[Avoided]
) -> KnownSettings | None:
    """Return what studies of this program found, even if nothing helps; None without a study."""
    if not known:
        return None
    supports = supported(known, question.space, facts, bad)
    if supports and supports[0].shown is not None:
        lesson, likeness = supports[0].shown
        settings = supports[0].settings
        ratio = lesson.effect.median if lesson.effect and supports[0].settings else None
        sentence = study_sentence(Level.PROGRAM, lesson, likeness, settings, ratio, facts)
        return _answer(Level.PROGRAM, question, settings, sentence, lesson, 0.0, ratio)
    if any(lesson.improved for lesson, _ in known):
        return None
    lesson = known[0][0]
    words = f"a study of this program on {lesson.date} found no improvement"
    plain = default_answer(words)
    program = lesson.case.fingerprint.program
    return replace(plain, level=Level.PROGRAM, source=program, distance=0.0, expected_ratio=1.0)


def _answer_of_pattern(
    question: Question,
    facts: ProgramFacts,
    near: Near,
    promised: Fitted,
    bad: Sequence[Avoided],
) -> KnownSettings | str:
    """Return the settings of the nearest tuned pattern, adjusted by the model, or why not."""
    supports = supported(_nearest(near), question.space, facts, bad)
    supports = supports or supported(near, question.space, facts, bad)
    if not supports or supports[0].shown is None:
        return _why_no_gain(near)
    lesson, likeness = supports[0].shown
    settings, ratio = dict(supports[0].settings), exp(supports[0].score)
    by = ""
    if promised.prediction is not None:
        space = question.space
        measured = list(_measured(_nearest(near), space, facts))
        moved = carried_over(
            settings, space, facts, promised.prediction, measured, partial(_is_allowed, bad)
        )
        if moved is not None:
            by = promised.why if moved.settings != settings else ""
            settings, ratio = dict(moved.settings), moved.expected_ratio
    if not settings or ratio < WORTH or not _is_allowed(bad, settings):
        name = lesson.case.fingerprint.program
        return f"the settings that helped {name} are not expected to help here"
    sentence = study_sentence(Level.PATTERN, lesson, likeness, settings, ratio, facts, by)
    distance = likeness.distance
    return _answer(Level.PATTERN, question, settings, sentence, lesson, distance, ratio)


def _nearest(near: Near) -> Near:
    """Return studies up to about the distance of the nearest improvement; others say little."""
    first = next((likeness.distance for lesson, likeness in near if lesson.improved), None)
    return [pair for pair in near if first is not None and pair[1].distance <= first + EVEN]


def _measured(near: Near, space: Space, facts: ProgramFacts) -> Iterator[Measured]:
    """Yield ratios measured with similar programs, with more uncertainty at larger distance."""
    for number, (lesson, likeness) in enumerate(near):
        shift, own = (likeness.log_loss * sqrt(part) for part in (SHARED, 1 - SHARED))
        for settings, ratio in lesson.ratios():
            here = fit(settings, space, facts)
            changed = sum(here.get(name) != value for name, value in settings.items())
            if here:
                yield Measured(here, ratio, hypot(MEASURED, own, OTHER * changed), shift, number)


def _answer_of_model(
    question: Question, facts: ProgramFacts, promised: Fitted, why: str, bad: Sequence[Avoided]
) -> KnownSettings | str:
    """Return the settings that the model predicts to be best, or the reason to set nothing."""
    if promised.prediction is None:
        return "; ".join(filter(None, (why, promised.why)))
    best = best_of(question.space, facts, promised.prediction)
    source = promised.prediction.source
    if best is None or best.expected_ratio < WORTH or not _is_allowed(bad, best.settings):
        return f"{why}; {promised.why} predicts no gain"
    sentence = model_sentence(promised.why, best.settings, best.expected_ratio, facts, why)
    return KnownSettings(
        Level.MODEL,
        best.settings,
        build_configuration(best.settings, facts),
        sentence,
        source,
        None,
        best.expected_ratio,
    )


def _answer(
    level: Level,
    question: Question,
    settings: Mapping[str, Value],
    sentence: str,
    lesson: Lesson,
    distance: float,
    ratio: float | None,
) -> KnownSettings:
    return KnownSettings(
        level,
        dict(settings),
        build_configuration(settings, question.facts),
        sentence,
        lesson.case.fingerprint.program,
        round(distance, 3),
        ratio,
        tuple(_refused_settings(question, lesson.candidate, settings)),
    )


def _is_allowed(bad: Sequence[Avoided], settings: Mapping[str, Value]) -> bool:
    return not any(one.settings.items() <= settings.items() for one in bad)


def _avoided_by_judgement(question: Question) -> list[Avoided]:
    return [Avoided(one.settings, one.words) for one in question.judged]


def _refused(question: Question, near: Near) -> tuple[str, ...]:
    """Return which settings of improvements must not be set here, and why."""
    found = (
        line
        for lesson, _ in near
        if lesson.improved
        for line in _refused_settings(question, lesson.candidate, {})
    )
    return tuple(dict.fromkeys(found))


def _refused_settings(
    question: Question, candidate: Mapping[str, Value], settings: Mapping[str, Value]
) -> list[str]:
    reasons = question.space.left_out
    names = {split_scope(name)[0]: name for name in candidate if name not in settings}
    return [
        f"{settings_text({full: candidate[full]})}: {reasons[name]}"
        for name, full in names.items()
        if name in reasons
    ]


def _why_no_gain(near: Near) -> str:
    if not near:
        return ""
    name = near[0][0].case.fingerprint.program
    if any(lesson.improved for lesson, _ in near):
        return (
            f"none of the settings that helped similar programs ({name}) may or can be applied "
            "here"
        )
    return f"no study of similar programs ({name}) found an improvement"


def _why_none_is_near(case: StudiedCase, lessons: Sequence[Lesson]) -> str:
    if not lessons:
        return "no study of a similar program is stored"
    compared = [(compare(case, lesson.case).distance, lesson) for lesson in lessons]
    distance, lesson = min(compared, key=lambda pair: pair[0])
    name = lesson.case.fingerprint.program
    return f"no tuned pattern is near (nearest: {name}, distance {distance:.2f})"


def _judged_words(judged: Judged) -> str:
    text = settings_text(judged.settings)
    return f"{text} {judged.words}; `stripewise tune` may find better ones"


# Classes of files that behave differently: one question for each, combined into one answer.

_ORDER = list(Level)


def class_questions(question: Question) -> Iterator[tuple[str, Question]]:
    """Yield the glob and the question for each class of files whose patterns are known."""
    facts = question.facts
    if facts is None:
        return
    cases = parts_of(question.case)
    for number, one in enumerate(facts.file_classes, start=1):
        own = tuple(pattern for pattern in facts.patterns if pattern.file_class == number)
        if one.match in cases and one.match and own:
            yield one.match, _part(question, facts, one, own, cases[one.match])


def join_answers(
    whole: KnownSettings, parts: Sequence[tuple[str, KnownSettings]], facts: ProgramFacts
) -> KnownSettings:
    """Return the answer for all files, with better settings for some classes of files.

    Settings that act on the whole job are taken from the answer for all files.  That answer is
    returned unchanged if all classes get the same settings or theirs cannot be combined.
    """
    of_job = {n: v for n, v in whole.settings.items() if not acts_per_file(n)}
    own = {
        match: {name: value for name, value in part.settings.items() if acts_per_file(name)}
        for match, part in parts
    }
    if len(own) < 2 or all(each == next(iter(own.values())) for each in own.values()):
        return whole
    settings: dict[str, Value] = dict(of_job)
    for match, values in own.items():
        settings |= {scoped(name, match): value for name, value in values.items()}
    if not settings or not is_valid(settings, facts):
        return whole
    found = [(match, part) for match, part in parts if part.level is not Level.DEFAULT]
    level = max((part.level for _, part in found), key=_ORDER.index)
    distances = [part.distance for _, part in found if part.distance is not None]
    return KnownSettings(
        level,
        settings,
        build_configuration(settings, facts),
        "; ".join(f"{match}: {part.sentence}" for match, part in parts),
        ", ".join(dict.fromkeys(part.source for _, part in found if part.source)),
        max(distances, default=None),
        _joint_ratio(parts, facts),
        tuple(dict.fromkeys(line for _, part in parts for line in part.refused)),
    )


def _joint_ratio(parts: Sequence[tuple[str, KnownSettings]], facts: ProgramFacts) -> float | None:
    """Return the expected speed-up of the whole: class ratios weighted by share of I/O time."""
    shares = {one.match: one.io_share for one in facts.file_classes}
    after = sum(shares[match] / (part.expected_ratio or 1.0) for match, part in parts)
    rest = max(0.0, 1.0 - sum(shares[match] for match, _ in parts))
    return 1 / (after + rest) if after + rest > 0 else None


def _part(
    question: Question,
    facts: ProgramFacts,
    one: FileClass,
    own: tuple[PatternSummary, ...],
    case: StudiedCase,
) -> Question:
    """Return the question for one class of files, as if the program had no other files."""
    whole = sum(pattern.share for pattern in own) or 1.0
    patterns = tuple(replace(each, share=round(each.share / whole, 4)) for each in own)
    written = sum(each.bytes for each in own if each.writing)
    read = sum(each.bytes for each in own if not each.writing)
    moved = written + read
    collective = moved if one.collective and "mpiio" in one.layers else 0
    independent = moved - collective if "mpiio" in one.layers else 0
    part = replace(
        facts,
        patterns=patterns,
        pattern="",
        file_classes=(),
        write_bytes=written,
        read_bytes=read,
        collective_bytes=collective,
        independent_bytes=independent,
        posix_bytes=moved - collective - independent,
        noncontiguous=one.noncontiguous,
    )
    return replace(question, facts=part, case=case)


# What may be set, including the values that were tried with other programs.
#
# A study's own ladders are coarse because it climbs them by runs.  A measurement between two
# rungs would otherwise be attributed to the nearest rung, where it does not apply.

MOST_ADDED = 12
"""Maximum number of values added to a ladder, the most frequently tried first: more add little
information, and each has to be predicted (assumed).
"""


def with_tried(space: Space, lessons: Iterable[Lesson]) -> Space:
    """Return a space whose numeric ladders also contain the values that studies tried.

    Only values between the ends of a ladder are added.  The ladders are then sorted; negative
    values, which stand for "all", come last.  Stripe sizes that Lustre does not allow are left
    out.
    """
    tried: dict[str, Counter[int]] = {}
    for lesson in lessons:
        for settings, _ in lesson.ratios():
            for name, value in settings.items():
                if _is_number(value):
                    tried.setdefault(split_scope(name)[0], Counter())[value] += 1
    dimensions = (
        _with_tried_values(d, tried.get(d.tunable.name, Counter())) for d in space.dimensions
    )
    return replace(space, dimensions=tuple(dimensions))


def _with_tried_values(dimension: Dimension, tried: Counter[int]) -> Dimension:
    numbers = [value for value in dimension.values if _is_number(value)]
    ends = [value for value in numbers if value > 0]
    if not ends or len(numbers) < len(dimension.values) or dimension.tunable.domain.kind != "int":
        return dimension
    step = STRIPE_STEP if dimension.tunable.name == "mpiio.striping_unit" else 1
    between = (
        value
        for value, _ in tried.most_common()
        if min(ends) < value < max(ends) and value not in numbers and value % step == 0
    )
    added = [value for value, _ in zip(between, range(MOST_ADDED), strict=False)]
    values = sorted((*numbers, *added), key=lambda value: (value < 0, value))
    return Dimension(dimension.tunable, tuple(values))


def _is_number(value: Value) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
