# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which patterns lie in pieces in the file; patterns summed up, and back again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from stripewise.core import PatternSummary, ProgramFacts, from_json, to_json
from stripewise.core.errors import ConfigurationError
from stripewise.evidence.patterns import (
    Distribution,
    Pattern,
    PatternKind,
    distance,
    interleaved,
    moved_bytes,
    pattern_of,
    summaries,
)
from stripewise.evidence.patterns._structure import MOST_SUMMARIES

BLOCK, WHOLE = Distribution("BLOCK"), Distribution("*")


def pattern(
    distributions: tuple[Distribution, ...],
    block: tuple[int, ...],
    extents: tuple[int, ...],
    **more: object,
) -> Pattern:
    options: dict[str, object] = {"n_ranks": 4, "active_ranks": 4, "element_bytes": 8}
    options |= {"grid": (4,), "kind": PatternKind.DISTRIBUTED, **more}
    return Pattern(
        "f", "/x", True, distributions=distributions, block=block, extents=extents, **options
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


@pytest.mark.parametrize(
    "original",
    [
        pattern((BLOCK, WHOLE), (6, 24), (23, 24), collective=0.5, steps=3, grid=(4, 1)),
        pattern((Distribution("CYCLIC", 4), WHOLE), (8, 2), (32, 2), grid=(4, 1)),
        pattern(
            (Distribution("BLOCK", ghost=(1, 1)), WHOLE), (8, 4), (26, 4),
            grid=(4, 1), halo=(2, 0),
        ),
        pattern((), (), (), grid=(), kind=PatternKind.IRREGULAR, active_ranks=3),
        pattern((BLOCK, BLOCK), (4, 4), (16, 16), kind=PatternKind.MULTIPARTITION, grid=(4, 4)),
    ],
)  # fmt: skip
def test_a_summary_tells_the_pattern(original: Pattern) -> None:
    (summary,) = summaries([original])
    again = pattern_of(summary, original.n_ranks)
    assert distance(original, again) == 0
    for name in ("kind", "distributions", "extents", "active_ranks", "steps", "halo", "grid"):
        assert getattr(again, name) == getattr(original, name), name
    assert summary.bytes == moved_bytes(original)
    assert summaries([again]) == (summary,)


def test_a_summary_of_an_older_version_tells_the_pattern_too() -> None:
    old = PatternSummary(True, ("BLOCK", "*"), (4, 1), (6, 24), 8, 2, 1.0)
    again = pattern_of(old, 8)
    assert (again.extents, again.active_ranks, again.n_ranks) == ((24, 24), 4, 8)
    assert again.kind == PatternKind.DISTRIBUTED


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "odd"},
        {"grid": (4, 1)},
        {"grid": ()},
        {"halo": (1, 1)},
        {"block": (-1,)},
        {"grid": (0,)},
        {"element_bytes": 0},
        {"distributions": ("SPIRAL",)},
        {"active_ranks": -1},
        {"bytes": -1},
    ],
)
def test_a_summary_that_contradicts_itself_is_refused(wrong: dict[str, object]) -> None:
    good = PatternSummary(True, ("BLOCK",), (4,), (6,))
    pattern_of(good, 4)
    with pytest.raises(ConfigurationError, match="pattern:"):
        pattern_of(replace(good, **wrong), 4)
