# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a model says of one point, without numpy: one point at a time this is faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stripewise.performance._records import Term, Tree


def regressed(terms: Sequence[Term], row: Mapping[str, float]) -> float:
    """Return the seconds that a regression predicts."""
    return sum(term.coefficient * term.of(row) for term in terms)


def added(trees: Sequence[Tree], row: Sequence[float]) -> float:
    """Return the sum of what trees say of a row."""
    total = 0.0
    for tree in trees:
        node = 0
        while tree.feature[node] >= 0:
            low = row[tree.feature[node]] <= tree.threshold[node]
            node = tree.left[node] if low else tree.right[node]
        total += tree.value[node]
    return total
