# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a comparison: throughput and metadata, one node and many, factors.

Source of their form: T. Nakagawa, Approach to provide supercomputer storage I/O information toward
users, 28th Workshop on Sustained Simulation Performance, Stuttgart 2018, slides "Performance of DA
storage from 32 nodes" and "from 1 node".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stripewise.bench._cells import DATA, Cell, cells_of
from stripewise.bench._compare import Comparison, Ratio, ratio_of
from stripewise.bench._pooled import pooled_noise
from stripewise.text import plural


@dataclass(frozen=True)
class FactorRow:
    """One operation: the best that each campaign reached.

    Attributes:
        operation: "write", "create", ...
        best: Cell of the highest median, by campaign; None: it has none.
        factors: To the first campaign, by campaign; None for the first, and where one is missing.
    """

    operation: str
    best: tuple[Cell | None, ...]
    factors: tuple[Ratio | None, ...]

    @property
    def of_data(self) -> bool:
        """Whether rates are bytes a second, otherwise operations a second."""
        return self.operation in DATA


@dataclass(frozen=True)
class FactorTable:
    """Rows for one number of nodes.

    Attributes:
        title: "1 node", "32 nodes", "32 and 16 nodes".
        nodes: By campaign.
        rows: Data first, then metadata.
    """

    title: str
    nodes: tuple[int, ...]
    rows: tuple[FactorRow, ...]


def factor_tables(comparison: Comparison) -> tuple[FactorTable, ...]:
    """Return a table for one node and one for many, as far as the campaigns have both."""
    own = [cells_of(one) for one in comparison.campaigns]
    counts = [{cell.case.nodes for cell in cells} for cells in own]
    found = []
    if any(1 in one for one in counts):
        found.append(_table(own, [1] * len(own)))
    common = set.intersection(*counts) - {1}
    many = [max(common)] * len(own) if common else [max(one, default=1) for one in counts]
    if max(many) > 1:
        found.append(_table(own, many))
    return tuple(found)


def _table(own: Sequence[Sequence[Cell]], nodes: Sequence[int]) -> FactorTable:
    noises = {
        data: pooled_noise([one.logs for cells in own for one in cells if one.of_data == data])
        for data in (True, False)
    }
    operations = dict.fromkeys(cell.operation for cells in own for cell in cells)
    ordered = sorted(operations, key=lambda one: one not in DATA)
    rows = []
    for operation in ordered:
        best = [
            _best(cell for cell in cells if (cell.operation, cell.case.nodes) == (operation, n))
            for cells, n in zip(own, nodes, strict=True)
        ]
        if any(best):
            first = best[0]
            factors = [
                ratio_of(first, one, noises, _unlike(first, one)) if place else None
                for place, one in enumerate(best)
            ]
            rows.append(FactorRow(operation, tuple(best), tuple(factors)))
    words = " and ".join(f"{one:,}" for one in dict.fromkeys(nodes))
    title = plural(nodes[0], "node") if len(set(nodes)) == 1 else f"{words} nodes"
    return FactorTable(title, tuple(nodes), tuple(rows))


def _best(cells: Iterable[Cell]) -> Cell | None:
    return max(cells, key=lambda cell: cell.median, default=None)


def _unlike(first: Cell | None, other: Cell | None) -> str:
    """Say how the best cells of two campaigns differ; "": they are the same case."""
    if first is None or other is None or first.case.key == other.case.key:
        return ""
    if first.case.series != other.case.series:
        return f"{first.case.series} against {other.case.series}"
    return f"{plural(first.case.ranks, 'rank')} against {plural(other.case.ranks, 'rank')}"
