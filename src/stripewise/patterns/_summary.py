# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns, summed up by structure without names and places, and back again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod

from stripewise.errors import ConfigurationError
from stripewise.model import Distribution, Pattern, PatternKind, PatternSummary
from stripewise.patterns._contiguous import all_bytes

MOST_SUMMARIES = 8
_MOST_DIMENSIONS = 32
_MOST = 1 << 62
_WIDTH = re.compile(r"CYCLIC\((\d{1,18})\)")


def moved_bytes(pattern: Pattern) -> int:
    """Return the bytes that all ranks moved, as far as the pattern tells."""
    return all_bytes(pattern) * pattern.steps


def summaries(
    patterns: Sequence[Pattern],
    moved: Callable[[Pattern], int] = moved_bytes,
    file_class: Callable[[Pattern], int] = lambda pattern: 0,
) -> tuple[PatternSummary, ...]:
    """Sum up datasets of one structure, the one that moved most bytes first; at most eight.

    Args:
        patterns: Of a run.
        moved: Bytes that all ranks moved of one of them.
        file_class: Number of the class of files that it belongs to; 0: of none.
    """
    sizes: Counter[PatternSummary] = Counter()
    datasets: Counter[PatternSummary] = Counter()
    for pattern in patterns:
        alike = replace(_summary(pattern), file_class=file_class(pattern))
        sizes[alike] += moved(pattern)
        datasets[alike] += 1
    whole = max(1, sizes.total())
    return tuple(
        replace(one, datasets=datasets[one], share=round(size / whole, 4), bytes=size)
        for one, size in sizes.most_common(MOST_SUMMARIES)
    )


def _summary(pattern: Pattern) -> PatternSummary:
    return PatternSummary(
        pattern.writing,
        tuple(map(str, pattern.distributions)),
        pattern.grid,
        pattern.block,
        pattern.element_bytes,
        pattern.steps,
        round(pattern.collective, 2),
        kind=str(pattern.kind),
        extents=pattern.extents,
        halo=pattern.halo,
        active_ranks=pattern.active_ranks,
    )


@lru_cache(512)
def pattern_of(summary: PatternSummary, n_ranks: int, dataset: str = "") -> Pattern:
    """Return the pattern that a summary tells of; places and order of ranks are assumed.

    What neighbours overlap by is shared between both sides; an array of unknown extents is as
    large as all blocks together.

    Args:
        summary: Of a run.
        n_ranks: Ranks of that run.
        dataset: Name that the pattern gets.

    Raises:
        ConfigurationError: The summary contradicts itself.
    """
    _check(summary)
    kind = PatternKind(summary.kind)
    return Pattern(
        file="",
        dataset=dataset,
        writing=summary.writing,
        kind=kind,
        distributions=_distributions(summary),
        block=summary.block,
        grid=summary.grid,
        extents=summary.extents or _extents(summary),
        element_bytes=summary.element_bytes,
        n_ranks=n_ranks,
        active_ranks=summary.active_ranks or prod(summary.grid),
        rank_order="other" if kind == PatternKind.MULTIPARTITION else "C",
        steps=summary.steps,
        halo=summary.halo,
        collective=summary.collective,
    )


def _distributions(summary: PatternSummary) -> tuple[Distribution, ...]:
    halo = summary.halo or (0,) * len(summary.distributions)
    return tuple(map(_distribution, summary.distributions, halo))


def _distribution(text: str, halo: int) -> Distribution:
    match = _WIDTH.fullmatch(text)
    if match:
        return Distribution("CYCLIC", int(match[1]))
    if text == "CYCLIC":
        return Distribution(text, 1)
    return Distribution(text, ghost=(halo // 2, halo - halo // 2) if text == "BLOCK" else (0, 0))


def _extents(summary: PatternSummary) -> tuple[int, ...]:
    if not summary.distributions:  # an irregular pattern
        return summary.block
    parts = zip(summary.block, summary.grid, summary.distributions, strict=True)
    return tuple(size if name == "*" else size * places for size, places, name in parts)


def _most(summary: PatternSummary) -> int:
    """Return the largest of the numbers that follow from a summary."""
    block = prod(summary.block) * summary.element_bytes
    ranks = max(prod(summary.grid), summary.active_ranks)
    return max(block, ranks, prod(summary.extents), summary.steps, summary.datasets, summary.bytes)


def _check(summary: PatternSummary) -> None:
    """Raise ConfigurationError unless all that is told has as many dimensions, and is possible."""
    if summary.kind not in list(PatternKind):
        raise ConfigurationError(f"pattern: {summary.kind!r} is no kind of pattern")
    known = (summary.distributions, summary.grid, summary.block, summary.extents, summary.halo)
    dimensions = {len(part) for part in known if part}
    if len(dimensions) > 1 or (summary.distributions and not (summary.grid and summary.block)):
        lengths = ", ".join(str(len(part)) for part in known)
        raise ConfigurationError(
            "pattern: distributions, grid, block, extents and halo differ in their number of "
            f"dimensions ({lengths})"
        )
    for text in summary.distributions:
        if text not in ("BLOCK", "CYCLIC", "*") and not _WIDTH.fullmatch(text):
            raise ConfigurationError(f"pattern: {text!r} is no distribution")
    least = (*summary.grid, summary.element_bytes, summary.steps, summary.datasets)
    if max(dimensions, default=0) > _MOST_DIMENSIONS or _most(summary) > _MOST:
        raise ConfigurationError("pattern: it has too many dimensions, or moves more than 4 EiB")
    sizes = (summary.active_ranks, summary.bytes, summary.file_class)
    if min(least) < 1 or min((*sizes, *(size for part in known[2:] for size in part))) < 0:
        raise ConfigurationError("pattern: a size is negative, or a number of processes is 0")
