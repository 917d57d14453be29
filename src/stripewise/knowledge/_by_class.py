# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What studies say to each class of a program's files, put together to one configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from stripewise.knowledge._match import matches_of
from stripewise.knowledge._parts import parts_of
from stripewise.knowledge._records import Case, Lesson
from stripewise.knowledge._support import Alike, Support
from stripewise.model import Value
from stripewise.tunables import acts_per_file, scoped

Choose = Callable[[Alike], Sequence[Support]]
"""Studies alike -> the settings that they speak for, the best first."""


def by_class(case: Case, lessons: Sequence[Lesson], choose: Choose) -> dict[str, Value]:
    """Return settings for each class of files, as the studies nearest to that class found them.

    What acts on the whole job cannot differ: the class with most I/O time decides on it.

    Returns:
        Empty unless at least two classes get settings, and these differ.

    Args:
        case: That is looked up.
        lessons: Everything that may be alike.
        choose: What the studies near a class speak for.
    """
    _, *parts = parts_of(case)
    found: dict[str, Mapping[str, Value]] = {}
    for part in parts:
        alike = [(match.lesson, match.likeness) for match in matches_of(part.case, lessons)]
        best = next(iter(choose(alike)), None)
        found[part.match] = best.settings if best is not None else {}
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
