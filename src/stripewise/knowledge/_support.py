# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which remembered configurations are worth a trial, weighed over all studies that are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from stripewise.knowledge._records import Lesson, Tried
from stripewise.knowledge._similarity import Likeness
from stripewise.model import Value
from stripewise.tunables import PointKey, key_of

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

Alike = Sequence[tuple[Lesson, Likeness]]
"""Studies like the one at hand, the nearest first."""
Fit = Callable[[Mapping[str, Value]], dict[str, Value]]
IsAllowed = Callable[[Mapping[str, Value]], bool]


@dataclass(eq=False)
class Support:
    """All that is known of one configuration.

    Attributes:
        settings: The configuration, in the present space.
        weight / gain: Of what was added: sum of weights, weighted sum of log speed-ups.
        shown: The nearest study that proved it; None if none did.
    """

    settings: dict[str, Value]
    weight: float = DOUBT
    gain: float = 0.0
    shown: tuple[Lesson, Likeness] | None = None

    def add(self, weight: float, gain: float) -> None:
        """Add what one study says."""
        self.weight += weight
        self.gain += weight * gain

    @property
    def score(self) -> float:
        """Return the mean logarithm of the speed-up, drawn towards none."""
        return self.gain / self.weight


def choose(alike: Alike, fits: Fit, is_allowed: IsAllowed) -> list[Support]:
    """Return what to try first, the best first.

    Args:
        alike: What to learn from.
        fits: Brings settings into the space; empty if nothing of them can be tried.
        is_allowed: Whether a point holds nothing that failed.
    """
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
    """Add what one study says of each configuration: its pairs, or else its trial."""
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
    """Return the fastest tried point that sets a part of the best one and gives half as much.

    Without it a setting that once won by luck would be handed on from study to study.
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
