# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which patterns lie in pieces in the file, and that a study without a trace goes on."""

from __future__ import annotations

import json

import pytest

from stripewise.model import (
    Distribution,
    Evidence,
    Pattern,
    PatternKind,
    ProgramFacts,
    RunProfile,
    from_json,
    to_json,
)
from stripewise.study._pattern_facts import (
    MOST_SUMMARIES,
    interleaved,
    moved_bytes,
    summaries,
    with_pattern,
)

BLOCK, WHOLE = Distribution("BLOCK"), Distribution("*")


def pattern(
    distributions: tuple[Distribution, ...],
    block: tuple[int, ...],
    extents: tuple[int, ...],
    **more: object,
) -> Pattern:
    options: dict[str, object] = {"n_ranks": 4, "active_ranks": 4, "element_bytes": 8, **more}
    return Pattern(
        "f", "/x", True, PatternKind.DISTRIBUTED, distributions, block, (4,), extents, **options
    )


@pytest.mark.parametrize(
    ("distributions", "block", "extents", "expected"),
    [
        ((BLOCK, WHOLE), (6, 24), (24, 24), False),
        ((BLOCK, WHOLE, WHOLE), (1, 8, 8), (4, 8, 8), False),
        ((WHOLE, BLOCK), (24, 6), (24, 24), True),
        ((WHOLE, BLOCK), (1, 6), (1, 24), False),
        ((BLOCK, BLOCK), (12, 12), (24, 24), True),
        ((BLOCK, BLOCK), (1, 12), (2, 24), False),
        ((Distribution("CYCLIC", 2), WHOLE), (6, 24), (24, 24), True),
        ((WHOLE, WHOLE), (24, 24), (24, 24), False),
    ],
)
def test_a_part_is_one_piece_or_not(
    distributions: tuple[Distribution, ...],
    block: tuple[int, ...],
    extents: tuple[int, ...],
    expected: bool,
) -> None:
    assert interleaved(pattern(distributions, block, extents)) is expected


def test_one_rank_interleaves_with_nobody() -> None:
    assert not interleaved(pattern((WHOLE, BLOCK), (24, 6), (24, 24), active_ranks=1))


def test_bytes_are_those_of_all_ranks_and_steps() -> None:
    assert moved_bytes(pattern((BLOCK,), (6,), (24,), steps=3)) == 6 * 8 * 4 * 3


def test_without_a_trace_the_facts_stay() -> None:
    facts = ProgramFacts(n_ranks=4)
    assert with_pattern(facts, Evidence(RunProfile(""))) is facts


def test_datasets_of_one_structure_are_summed_up_the_largest_first() -> None:
    large = [pattern((BLOCK, WHOLE), (64, 64), (256, 64), collective=1.0) for _ in range(3)]
    small = pattern((WHOLE, BLOCK), (8, 2), (8, 8), steps=2)
    first, second = summaries([small, *large])
    assert (first.distributions, first.datasets, first.collective) == (("BLOCK", "*"), 3, 1.0)
    assert (second.distributions, second.datasets, second.steps) == (("*", "BLOCK"), 1, 2)
    assert first.share + second.share == pytest.approx(1, abs=1e-3)
    assert first.share > 0.9


def test_there_is_an_end_of_summaries() -> None:
    many = [pattern((BLOCK,), (size,), (4 * size,)) for size in range(1, 40)]
    found = summaries(many)
    assert len(found) == MOST_SUMMARIES
    assert found[0].block == (39,)


def test_summaries_survive_a_journal() -> None:
    facts = ProgramFacts(patterns=summaries([pattern((BLOCK, WHOLE), (4, 4), (16, 4))]))
    assert from_json(ProgramFacts, json.loads(json.dumps(to_json(facts)))) == facts
