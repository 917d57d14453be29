# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Small random workloads, and the sums that a stack's two answers must agree on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from stripewise.evidence.patterns import Distribution, Pattern, PatternKind
from stripewise.storage.stacks import Phase, Requests, Workload


def pattern_of(
    extents: Sequence[int],
    grid: Sequence[int],
    kinds: Sequence[str] = (),
    rule: str = "",
    **other: object,
) -> Pattern:
    """Return a pattern; kinds are "BLOCK" (cut by `rule`), "*" or, as a number, CYCLIC(k)."""
    words = kinds or ["BLOCK"] * len(grid)
    parts = tuple(
        Distribution("CYCLIC", int(word))
        if word.isdigit()
        else Distribution(word, rule=rule if word == "BLOCK" else "")
        for word in words
    )
    ranks = math.prod(grid)
    plain: dict[str, object] = {"file": "out", "writing": True, "element_bytes": 8}
    return Pattern(
        dataset="x",
        kind=PatternKind.DISTRIBUTED,
        distributions=parts,
        extents=tuple(extents),
        grid=tuple(grid),
        block=tuple(-(-n // p) for n, p in zip(extents, grid, strict=True)),
        n_ranks=ranks,
        active_ranks=ranks,
        **{**plain, **other},  # type: ignore[arg-type]
    )


@st.composite
def patterns(draw: st.DrawFn, ranks: int, **other: object) -> Pattern:
    """Draw a pattern of so many ranks with 1 to 3 dimensions."""
    n_dims = draw(st.integers(1, 3))
    grid = [1] * n_dims
    left = ranks
    for d in range(n_dims - 1):
        grid[d] = draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0]))
        left //= grid[d]
    grid[-1] = left
    kinds = [
        "*" if parts == 1 else draw(st.sampled_from(["BLOCK", "BLOCK", "1", "2"]))
        for parts in grid
    ]
    extents = [draw(st.integers(parts, 3 * parts + 2)) for parts in grid]
    return pattern_of(
        extents, grid, kinds,
        element_bytes=draw(st.sampled_from([1, 4, 8, 1000])),
        steps=draw(st.integers(1, 2)),
        writing=draw(st.booleans()),
        collective=float(draw(st.booleans())),
        file_offset=draw(st.sampled_from([0, 4096, 7])),
        **other,
    )  # fmt: skip


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Draw a workload of one or two patterns on 1 to 12 ranks."""
    nodes = draw(st.integers(1, 4))
    ranks_per_node = draw(st.integers(1, 3))
    names = draw(st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=2))
    drawn = [draw(patterns(nodes * ranks_per_node, file=name)) for name in names]
    return Workload(tuple(drawn), nodes, ranks_per_node)


def sums_of_phases(phases: Iterable[Phase]) -> dict[bool, tuple[float, float]]:
    """Return requests and bytes, written (True) and read."""
    sums = {True: (0.0, 0.0), False: (0.0, 0.0)}
    for phase in phases:
        for flow in phase.flows:
            n = phase.repeats * flow.processes * flow.count
            count, size = sums[flow.writing]
            sums[flow.writing] = count + n, size + n * flow.size
    return sums


def sums_of_requests(requests: Requests) -> dict[bool, tuple[float, float]]:
    """Return requests and bytes, written (True) and read."""
    return {
        way: (
            float(np.count_nonzero(requests["writing"] == way)),
            float(requests["size"][requests["writing"] == way].sum()),
        )
        for way in (True, False)
    }
