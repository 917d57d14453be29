# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the trace of the first run adds to the facts: how the ranks divide the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from stripewise.model import Evidence, Pattern, PatternKind, PatternSummary, ProgramFacts
from stripewise.patterns import find_patterns

MOST_SUMMARIES = 8
_NAMED = (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION)


def with_pattern(facts: ProgramFacts, evidence: Evidence) -> ProgramFacts:
    """Add the pattern that moved most bytes; unchanged where there is no trace."""
    named = [p for p in find_patterns(evidence.accesses) if p.kind in _NAMED]
    if not named:
        return facts
    pattern = max(named, key=moved_bytes)
    of_hdf5 = pattern.source == "hdf5" and bool(pattern.dataset)
    return replace(
        facts,
        pattern=pattern.notation,
        interleaved=interleaved(pattern),
        block=pattern.block if of_hdf5 else (),
        block_bytes=prod(pattern.block) * pattern.element_bytes if of_hdf5 else 0,
        patterns=summaries(named),
    )


def summaries(patterns: Sequence[Pattern]) -> tuple[PatternSummary, ...]:
    """Sum up datasets of one structure, the one that moved most bytes first; at most eight."""
    moved: Counter[PatternSummary] = Counter()
    datasets: Counter[PatternSummary] = Counter()
    for pattern in patterns:
        alike = PatternSummary(
            pattern.writing,
            tuple(map(str, pattern.distributions)),
            pattern.grid,
            pattern.block,
            pattern.element_bytes,
            pattern.steps,
            round(pattern.collective, 2),
        )
        moved[alike] += moved_bytes(pattern)
        datasets[alike] += 1
    whole = max(1, moved.total())
    return tuple(
        replace(one, datasets=datasets[one], share=round(size / whole, 4))
        for one, size in moved.most_common(MOST_SUMMARIES)
    )


def moved_bytes(pattern: Pattern) -> int:
    """Bytes that all ranks moved, as far as the pattern tells."""
    return prod(pattern.block) * pattern.element_bytes * pattern.active_ranks * pattern.steps


def interleaved(pattern: Pattern) -> bool:
    """Whether, in the file, a rank's part lies in pieces between those of others.

    It is one piece if at most the first dimension of more than one element is cut (C order).
    """
    if pattern.active_ranks < 2:
        return False
    if pattern.kind == PatternKind.MULTIPARTITION:
        return True
    cut = [
        d
        for d, (size, extent) in enumerate(zip(pattern.block, pattern.extents, strict=False))
        if size < extent
    ]
    if not cut:
        return False
    if any(pattern.distributions[d].kind == "CYCLIC" for d in cut):
        return True
    return any(size > 1 for size in pattern.block[: cut[-1]])
