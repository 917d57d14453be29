# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which patterns lie in pieces in the file, and that a study without a trace goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from stripewise.model import Distribution, Pattern, PatternKind, ProgramFacts
from stripewise.study._pattern_facts import interleaved, moved_bytes, with_pattern

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


def test_without_a_readable_container_the_facts_stay(tmp_path: Path) -> None:
    broken = tmp_path / "host.sw"
    broken.write_bytes(b"not a container")
    facts = ProgramFacts(n_ranks=4)
    assert with_pattern(facts, [broken]) is facts
    assert with_pattern(facts, []) == facts
