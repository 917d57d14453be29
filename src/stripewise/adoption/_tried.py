# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What may be set, with the values that were tried with other programs.

A study's own ladders are coarse: it climbs them by runs.  What was measured between their rungs
would be moved to the nearest one, and would say of it what is not so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeGuard

from stripewise.knowledge import Lesson
from stripewise.model import Value
from stripewise.tunables import STRIPE_STEP, Dimension, Space, split_scope

MOST_ADDED = 12
"""Values that a ladder is given at most, those that were tried most often: more of them tell
little more, and each is predicted (assumed)."""


def with_tried(space: Space, lessons: Iterable[Lesson]) -> Space:
    """Return a space whose ladders of numbers hold what studies tried between their ends.

    The ladders are then in order; what stands for all, below 0, comes last.  Stripe sizes that
    a Lustre file cannot have are left out.
    """
    tried: dict[str, Counter[int]] = {}
    for lesson in lessons:
        for settings, _ in lesson.ratios():
            for name, value in settings.items():
                if _is_number(value):
                    tried.setdefault(split_scope(name)[0], Counter())[value] += 1
    dimensions = (_with(d, tried.get(d.tunable.name, Counter())) for d in space.dimensions)
    return replace(space, dimensions=tuple(dimensions))


def _with(dimension: Dimension, tried: Counter[int]) -> Dimension:
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
