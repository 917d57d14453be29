# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A study whose program, or a class of its files, is like a case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from stripewise.knowledge._parts import WHOLE, as_part, parts_of
from stripewise.knowledge._records import Case, Lesson
from stripewise.knowledge._similarity import Likeness, compare


@dataclass(frozen=True)
class Match:
    """What is like a case.

    Attributes:
        study: As it is kept.
        match: Glob of the class of files that is alike; "" for the whole program.
        likeness: Of the case and that part.
    """

    study: Lesson
    match: str
    likeness: Likeness

    @cached_property
    def lesson(self) -> Lesson:
        """What the study says of a case like this part of its own.

        The same program has files of the same names: settings for some of them stay.
        """
        if self.likeness.same_program and self.match == WHOLE:
            return self.study
        return as_part(self.study, self.match)

    @property
    def order(self) -> tuple[float, bool, float]:
        """The nearest first; of equal ones the whole before a part, then the newest."""
        newest = -self.study.recorded_unix_seconds
        return (self.likeness.distance, self.match != WHOLE, newest)


def match_of(case: Case, lesson: Lesson, place: int | None = None) -> Match | None:
    """Return how a study is like a case; None where it is not, or cannot be learned from.

    Args:
        case: That is looked up.
        lesson: A study.
        place: Of the part that is compared; None: the most alike.
    """
    if lesson.case.synced != case.synced:
        return None
    parts = parts_of(lesson.case)
    if place is not None:
        parts = parts[place : place + 1]
    found = [Match(lesson, part.match, compare(case, part.case)) for part in parts]
    near = [match for match in found if match.likeness.is_near]
    return min(near, key=lambda match: match.order, default=None)


def matches_of(case: Case, lessons: Iterable[Lesson]) -> list[Match]:
    """Return the studies that are like a case, the nearest first."""
    found = [match for lesson in lessons if (match := match_of(case, lesson)) is not None]
    return sorted(found, key=lambda match: match.order)
