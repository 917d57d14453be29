# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Distances: 0 for equal patterns, symmetric, and larger for what is less alike."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.evidence.patterns import (
    Distribution,
    Pattern,
    PatternKind,
    describe,
    distance,
    distance_parts,
    dominant,
    group_patterns,
    run_bytes,
)
from stripewise.evidence.patterns._structure import _PARTS


def pattern(
    names: str, block: tuple[int, ...], grid: tuple[int, ...] = (), **other: object
) -> Pattern:
    parts = tuple(
        Distribution("CYCLIC", int(name[7:-1])) if "(" in name else Distribution(name)
        for name in names.split()
    )
    grid = tuple(1 if part.kind == "*" else 4 for part in parts)
    extents = tuple(b * g for b, g in zip(block, grid, strict=True))
    given: dict[str, object] = {
        "file": "f", "dataset": "d", "writing": True, "kind": PatternKind.DISTRIBUTED,
        "distributions": parts, "block": block, "grid": grid, "extents": extents,
        "element_bytes": 8, "n_ranks": 64, "active_ranks": 64, "collective": 1.0,
    }  # fmt: skip
    return Pattern(**(given | other))  # type: ignore[arg-type]


VPIC = pattern("BLOCK", (8388608,), element_bytes=4)
GCRM = pattern("* * BLOCK", (1, 26, 327680))
VORPAL = pattern("BLOCK BLOCK BLOCK", (60, 100, 300))
FLASH = pattern("BLOCK * * *", (80, 8, 8, 8))
RESEMBLING = pattern("BLOCK BLOCK BLOCK", (64, 128, 256))
CYCLIC = pattern("CYCLIC(4)", (4096,))
NONE = Pattern("f", "d", True, PatternKind.IRREGULAR, block=(7, 3))
ALL = [VPIC, GCRM, VORPAL, FLASH, RESEMBLING, CYCLIC, NONE]

patterns = st.sampled_from(ALL).flatmap(
    lambda one: st.builds(
        replace, st.just(one), writing=st.booleans(), element_bytes=st.sampled_from([1, 4, 8]),
        active_ranks=st.integers(1, 1 << 20), collective=st.floats(0, 1),
    )
)  # fmt: skip


@given(patterns, patterns)
def test_symmetric_and_bounded(a: Pattern, b: Pattern) -> None:
    assert distance(a, b) == pytest.approx(distance(b, a))
    assert 0 <= distance(a, b) <= 1 + 1e-12


@given(patterns)
def test_identity(one: Pattern) -> None:
    assert distance(one, one) == 0
    assert distance(one, replace(one, file="other", dataset="x", notes=("n",))) == 0


def test_weights_sum_to_one() -> None:
    assert sum(weight for weight, _ in _PARTS.values()) == pytest.approx(1)
    assert set(distance_parts(VPIC, GCRM)) == set(_PARTS)


@pytest.mark.parametrize("field", ["active_ranks", "element_bytes"])
def test_grows_with_octaves(field: str) -> None:
    further = [
        distance(VPIC, replace(VPIC, **{field: getattr(VPIC, field) << k})) for k in (1, 2, 3)
    ]
    assert further == sorted(further)
    assert further[0] > 0


def test_grows_with_the_block() -> None:
    sizes = [pattern("BLOCK", (1 << k,)) for k in range(10, 20)]
    further = [distance(sizes[0], other) for other in sizes]
    assert further == sorted(further)
    assert len(set(further)) == len(further)


def test_what_resembles_is_nearest() -> None:
    others = [one for one in ALL if one is not RESEMBLING]
    assert min(others, key=lambda one: distance(RESEMBLING, one)) is VORPAL
    assert distance(RESEMBLING, VORPAL) < 0.02
    assert distance(CYCLIC, replace(CYCLIC, distributions=(Distribution("CYCLIC", 8),))) < 0.05
    assert distance(VPIC, CYCLIC) > 0.2


def test_runs() -> None:
    assert run_bytes(FLASH) == 80 * 512 * 8
    assert run_bytes(GCRM) == 327680 * 8
    assert run_bytes(VORPAL) == 300 * 8
    assert run_bytes(CYCLIC) == 32


def test_dominant() -> None:
    assert dominant([]) is None
    assert dominant([FLASH, VPIC, CYCLIC]) is VPIC


def test_equal_patterns_share_a_line() -> None:
    members = [replace(FLASH, dataset=f"/unk_{n:02}") for n in range(24)]
    flash, other = group_patterns([*members, replace(VPIC, dataset="/x")])
    assert (flash.name, len(flash.members)) == ("f:/unk_*", 24)
    assert other.name == "f:/x"


def test_in_words() -> None:
    text = describe(replace(VORPAL, steps=20, n_deviating=20, deviating_ranks=(3,)))
    assert "each process has 60 x 100 x 300 (14400000 bytes, in pieces of 2400 bytes)" in text
    assert "in 20 steps" in text
    assert "exceptions: rank 3 and 19 more" in text
    assert "no regular pattern" in describe(NONE)
