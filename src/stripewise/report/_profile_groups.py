# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns for the page: datasets of the same pattern together, each drawn once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from stripewise.model import Pattern
from stripewise.report._profile_pattern_svg import describe, pattern_picture
from stripewise.report._text import plural

MOST_PATTERNS = 24
MOST_NAMES = 12


@dataclass(frozen=True)
class PatternGroup:
    """Datasets with the same pattern."""

    pattern: Pattern
    picture: Markup | None
    words: str
    facts: tuple[str, ...]
    members: tuple[str, ...]
    n_members: int


def pattern_groups(patterns: Sequence[Pattern]) -> list[PatternGroup]:
    """Put datasets of the same pattern together and draw each once."""
    groups: dict[tuple[object, ...], list[Pattern]] = {}
    for pattern in patterns:
        key = (
            pattern.writing, pattern.kind, pattern.notation, pattern.grid, pattern.extents,
            pattern.rank_order, pattern.halo, pattern.steps, pattern.active_ranks,
            pattern.uneven, pattern.n_deviating, pattern.deviating_ranks, pattern.notes,
        )  # fmt: skip
        groups.setdefault(key, []).append(pattern)
    return [_group(members, place) for place, members in enumerate(groups.values())]


def _group(members: Sequence[Pattern], place: int) -> PatternGroup:
    first = members[0]
    return PatternGroup(
        pattern=first,
        picture=pattern_picture(first, f"pattern-{place}") if place < MOST_PATTERNS else None,
        words=describe(first) if first.kind.value not in ("irregular", "empty") else "",
        facts=tuple(pattern_facts(first)),
        members=tuple(_where(pattern) for pattern in members[:MOST_NAMES]),
        n_members=len(members),
    )


def _where(pattern: Pattern) -> str:
    if not pattern.dataset:
        return pattern.file
    return f"{pattern.file}:{pattern.dataset}"


def pattern_facts(pattern: Pattern) -> list[str]:
    """What else is known of a pattern, each in a few words."""
    facts = []
    if pattern.extents and all(pattern.extents):
        sizes = " x ".join(map(str, pattern.extents))
        facts.append(f"array of {sizes} elements of {plural(pattern.element_bytes, 'byte')}")
    if pattern.active_ranks < pattern.n_ranks:
        facts.append(
            f"{pattern.active_ranks} of {pattern.n_ranks} ranks take part"
            + ("; cells are numbered in their order" if pattern.active_ranks > 1 else "")
        )
    if pattern.rank_order == "F":
        facts.append("ranks are dealt out with the first dimension fastest")
    elif pattern.rank_order == "other":
        facts.append("ranks lie in the grid in an order of their own")
    if pattern.steps > 1:
        facts.append(f"{pattern.steps} such accesses")
    if any(pattern.halo):
        facts.append("neighbours overlap by " + " x ".join(map(str, pattern.halo)) + " elements")
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
