# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns for the page: datasets of the same pattern together, each drawn once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.model import Pattern, PatternKind
from stripewise.report._chart import Chart
from stripewise.report._profile_pattern import describe, pattern_chart, times
from stripewise.report._text import plural

MOST_PATTERNS = 24


@dataclass(frozen=True)
class PatternGroup:
    """Datasets with the same pattern; `members`: "written" or "read" to their names."""

    pattern: Pattern
    picture: Chart | None
    words: str
    facts: tuple[str, ...]
    members: dict[str, list[str]]


def pattern_groups(patterns: Sequence[Pattern]) -> list[PatternGroup]:
    """Put datasets of the same pattern together and draw each once.

    Distributed ones come first, and among equals those with most elements.  What one rank moves
    alone, or moves irregularly, is one group each way, whatever its size.
    """
    groups: dict[tuple[object, ...], list[Pattern]] = {}
    for pattern in patterns:
        key: tuple[object, ...] = (pattern.kind,)
        if pattern.kind in _DRAWN_BY_SHAPE:
            key += (pattern.notation, pattern.grid, pattern.extents, pattern.rank_order)
            key += (pattern.halo, pattern.active_ranks, pattern.uneven, pattern.deviating_ranks)
        groups.setdefault(key, []).append(pattern)
    order = sorted(groups.values(), key=_importance)
    return [_group(members, place) for place, members in enumerate(order)]


_DRAWN_BY_SHAPE = (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION)
_ORDER = (*_DRAWN_BY_SHAPE, PatternKind.IRREGULAR, PatternKind.REPLICATED, PatternKind.SINGLE)


def _importance(members: Sequence[Pattern]) -> tuple[int, int]:
    kind = members[0].kind
    volume = sum(math.prod(one.extents) * one.element_bytes * one.steps for one in members)
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER), -volume


def _group(members: Sequence[Pattern], place: int) -> PatternGroup:
    first = members[0]
    others = [set(pattern_facts(one)) for one in members[1:]]
    facts = [fact for fact in pattern_facts(first) if all(fact in one for one in others)]
    return PatternGroup(
        pattern=first,
        picture=pattern_chart(first) if place < MOST_PATTERNS else None,
        words="" if first.kind in (PatternKind.IRREGULAR, PatternKind.EMPTY) else describe(first),
        facts=tuple(facts),
        members=_members(members),
    )


def _members(patterns: Sequence[Pattern]) -> dict[str, list[str]]:
    names: dict[str, dict[str, None]] = {"written": {}, "read": {}}
    for pattern in patterns:
        where = f"{pattern.file}:{pattern.dataset}" if pattern.dataset else pattern.file
        names["written" if pattern.writing else "read"][where] = None
    return {direction: list(found) for direction, found in names.items() if found}


def pattern_facts(pattern: Pattern) -> list[str]:
    """What else is known of a pattern, each in a few words."""
    facts = []
    drawn = pattern.kind in _DRAWN_BY_SHAPE
    if pattern.extents and all(pattern.extents) and not drawn:
        facts.append(f"array of {times(pattern.extents)} elements")
    facts.append(f"an element is {plural(pattern.element_bytes, 'byte')} long")
    if 0 < pattern.active_ranks < pattern.n_ranks:
        facts.append(
            f"{pattern.active_ranks} of {pattern.n_ranks} ranks take part"
            + ("; cells are numbered in their order" if drawn else "")
        )
    in_grid = pattern.kind is PatternKind.DISTRIBUTED
    if in_grid and pattern.rank_order == "F":
        facts.append("ranks are dealt out with the first dimension fastest")
    elif in_grid and pattern.rank_order == "other":
        facts.append("ranks lie in the grid in an order of their own")
    if pattern.steps > 1:
        facts.append(f"in {pattern.steps} steps")
    if any(pattern.halo):
        facts.append("neighbours overlap by " + times(pattern.halo) + " elements")
    if pattern.uneven:
        facts.append("the last blocks are smaller")
    facts.append(f"{100 * pattern.collective:.0f} % of the calls are collective")
    if pattern.n_deviating:
        named = ", ".join(map(str, pattern.deviating_ranks))
        more = pattern.n_deviating - len(pattern.deviating_ranks)
        others = f" and {more} more" if more > 0 else ""
        facts.append(f"different from all others: rank {named}{others}")
    origin = {"view": "from file views", "offsets": "from offsets and lengths"}
    facts.append(origin.get(pattern.source, f"from {pattern.source.upper()} selections"))
    return [*facts, *pattern.notes]
