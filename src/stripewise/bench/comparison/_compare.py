# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares campaigns cell by cell with intervals and verdicts, and in tables of factors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite, sqrt

import numpy as np

from stripewise.bench._case import Case
from stripewise.bench.campaign import DATA, Campaign, OfOperation
from stripewise.bench.comparison._cells import (
    ComparisonCell,
    PooledNoise,
    cells_of,
    chance_of,
    holm,
    matched,
    pooled_noise,
    reference,
    student,
)
from stripewise.bench.comparison._targets import TargetFinding, changed_targets, slow_targets
from stripewise.core.errors import UsageError
from stripewise.present import count_text, plural

COMPARISON_METHOD = (
    "ratio of medians; interval of 95 % by a parametric bootstrap of log rates whose variances "
    "are pooled over cells; verdicts at 5 % over all cells (Holm) and targets together"
)
_LEVEL = 0.025
"""Error level of all cells together; targets have the same, so a comparison has 5 %."""


@dataclass(frozen=True)
class Ratio:
    """Rate of one campaign relative to that of the first.

    Attributes:
        value: Ratio of the medians; above 1 if it is faster than the first.
        low / high: Interval of 95 %; NaN if no cell has two runs.
        chance: Probability of such a ratio without a difference, adjusted for all cells.
        unlike: Why the cells are not alike, in words; empty if they are.
    """

    value: float
    low: float
    high: float
    chance: float = 1.0
    unlike: str = ""

    @property
    def verdict(self) -> str:
        """Verdict: "faster", "slower", "no difference", or "too few runs"."""
        if not isfinite(self.low):
            return "too few runs"
        if self.chance >= _LEVEL:
            return "no difference"
        return "faster" if self.value > 1 else "slower"


@dataclass(frozen=True)
class ComparedCell(OfOperation):
    """Cell of the first campaign beside those of the others.

    Attributes:
        case: Case of the first campaign that has it.
        operation: Operation as in the samples.
        cells: Cell of each campaign; None if it has no matching one.
        ratios: Ratio of each campaign to the first; None for the first, and if one is missing.
    """

    case: Case
    operation: str
    cells: tuple[ComparisonCell | None, ...]
    ratios: tuple[Ratio | None, ...]


@dataclass(frozen=True)
class Comparison:
    """Campaigns side by side; the others are compared with the first.

    Attributes:
        names: Names of the campaigns, each different.
        campaigns: Campaigns in the same order.
        cells: Cells that at least one campaign has, in the order of the suites.
        slow: For each campaign, targets that are slower than its others.
        changed: For each campaign, targets that changed relative to the first; empty for the
            first.
        noises: Noise of single runs, for data (True) and metadata (False).
    """

    names: tuple[str, ...]
    campaigns: tuple[Campaign, ...]
    cells: tuple[ComparedCell, ...]
    slow: tuple[tuple[TargetFinding, ...], ...]
    changed: tuple[tuple[TargetFinding, ...], ...]
    noises: Mapping[bool, PooledNoise]

    def interval(self, cell: ComparisonCell) -> tuple[float, float]:
        """Return the interval of 95 % of a cell's median; NaN if no cell has two runs."""
        noise, number = self.noises[cell.of_data], len(cell.logs)
        degrees = noise.degrees + number - 1
        if degrees <= 0:
            return float("nan"), float("nan")
        own = float(np.var(cell.logs, ddof=1)) if number > 1 else 0.0
        half = student(1.96, degrees) * sqrt(noise.of_case(own, number - 1) / number)
        half *= 1.2533 if number > 2 else 1.0
        return cell.median * exp(-half), cell.median * exp(half)

    def differing(self, place: int) -> list[ComparedCell]:
        """Return cells in which a campaign differs from the first, the largest factor first."""
        found = [
            (abs(np.log(ratio.value)), cell)
            for cell in self.cells
            if (ratio := cell.ratios[place]) is not None
            and not ratio.unlike
            and ratio.verdict in ("faster", "slower")
        ]
        return [cell for _, cell in sorted(found, key=lambda one: -one[0])]

    def alike(self, place: int) -> int:
        """Return the number of cells that a campaign has in common with the first."""
        return sum(1 for cell in self.cells if (ratio := cell.ratios[place]) and not ratio.unlike)

    def nodes(self, place: int) -> set[int]:
        """Return the numbers of nodes on which a campaign has cells."""
        return {one.case.nodes for cell in self.cells if (one := cell.cells[place])}


def compare(campaigns: Sequence[Campaign]) -> Comparison:
    """Compare campaigns with the first of them.

    Raises:
        UsageError: There are fewer than two, or they have no operation in common.
    """
    if len(campaigns) < 2:
        raise UsageError("a comparison needs two campaigns or more: give another one")
    own = [cells_of(one) for one in campaigns]
    noises = {
        data: pooled_noise([one.logs for cells in own for one in cells if one.of_data == data])
        for data in (True, False)
    }
    rows = _rows(own, noises)
    operations = [dict.fromkeys(cell.operation for cell in cells) for cells in own]
    if not any(set(operations[0]) & set(other) for other in operations[1:]):
        what = "; ".join(
            f"{name} has {', '.join(some) or 'no good run'}"
            for name, some in zip(_names(campaigns), operations, strict=True)
        )
        raise UsageError(
            f"the campaigns have no operation in common ({what}): give campaigns that measured "
            "the same"
        )
    first, *others = campaigns
    return Comparison(
        _names(campaigns),
        tuple(campaigns),
        tuple(_adjusted(rows, len(campaigns))),
        tuple(slow_targets(one) for one in campaigns),
        ((), *(changed_targets(first, one) for one in others)),
        noises,
    )


def _names(campaigns: Sequence[Campaign]) -> tuple[str, ...]:
    """Return distinct names: a number is appended to those that occur several times."""
    found: list[str] = []
    for one in campaigns:
        name, number = one.name or "campaign", 2
        while name in found:
            name, number = f"{one.name or 'campaign'} ({number})", number + 1
        found.append(name)
    return tuple(found)


def _rows(
    own: Sequence[Sequence[ComparisonCell]], noises: Mapping[bool, PooledNoise]
) -> list[ComparedCell]:
    """Return a row for each cell of the first campaign, then those that only others have."""
    number = len(own)
    rows: dict[int, list[ComparisonCell | None]] = {
        id(cell): [cell, *([None] * (number - 1))] for cell in own[0]
    }
    reasons: dict[tuple[int, int], str] = {}
    for place in range(1, number):
        left = list(own[place])
        for one, two, why in matched(own[0], own[place]):
            rows[id(one)][place] = two
            reasons[id(one), place] = why
            left.remove(two)
        for cell in left:
            rows[id(cell)] = [cell if at == place else None for at in range(number)]
    found = []
    for key, cells in rows.items():
        shown = next(cell for cell in cells if cell)
        ratios = [
            ratio_of(cells[0], cell, noises, reasons.get((key, place), "")) if place else None
            for place, cell in enumerate(cells)
        ]
        found.append(ComparedCell(shown.case, shown.operation, tuple(cells), tuple(ratios)))
    return found


def ratio_of(
    first: ComparisonCell | None,
    other: ComparisonCell | None,
    noises: Mapping[bool, PooledNoise],
    unlike: str = "",
) -> Ratio | None:
    """Return the ratio of two cells; None if one is missing."""
    if first is None or other is None:
        return None
    noise = noises[first.of_data]
    distance = float(np.median(other.logs) - np.median(first.logs))
    one, two = len(first.logs), len(other.logs)
    degrees = one + two - 2
    if noise.degrees + degrees <= 0:
        return Ratio(exp(distance), float("nan"), float("nan"), unlike=unlike)
    own = sum(float(np.sum((cell.logs - cell.logs.mean()) ** 2)) for cell in (first, other))
    deviation = sqrt(noise.of_case(own / max(degrees, 1), degrees))
    drawn = reference(one, two, noise.degrees)
    half = deviation * float(drawn[int(0.95 * len(drawn))])
    return Ratio(
        exp(distance), exp(distance - half), exp(distance + half),
        chance_of(distance / deviation, drawn), unlike,
    )  # fmt: skip


def _adjusted(rows: Sequence[ComparedCell], number: int) -> list[ComparedCell]:
    """Return rows whose probabilities are adjusted for the number of cells."""
    adjusted = [list(row.ratios) for row in rows]
    for place in range(1, number):
        seen = [(at, ratio) for at, row in enumerate(rows) if (ratio := row.ratios[place])]
        for (at, ratio), chance in zip(seen, holm([one.chance for _, one in seen]), strict=True):
            adjusted[at][place] = replace(ratio, chance=chance)
    return [replace(row, ratios=tuple(ratios)) for row, ratios in zip(rows, adjusted, strict=True)]


# The tables of a comparison: throughput and metadata, one node and many, factors.
#
# Source of their form: T. Nakagawa, Approach to provide supercomputer storage I/O information
# toward users, 28th Workshop on Sustained Simulation Performance, Stuttgart 2018, slides
# "Performance of DA storage from 32 nodes" and "from 1 node".


@dataclass(frozen=True)
class FactorRow(OfOperation):
    """Best results of each campaign in one operation.

    Attributes:
        operation: "write", "create", ...
        best: Cell with the highest median of each campaign; None if it has none.
        factors: Ratio of each campaign to the first; None for the first, and if one is missing.
    """

    operation: str
    best: tuple[ComparisonCell | None, ...]
    factors: tuple[Ratio | None, ...]


@dataclass(frozen=True)
class FactorTable:
    """Rows for one number of nodes.

    Attributes:
        title: "1 node", "32 nodes", "32 and 16 nodes", "32 and 16 nodes, per node".
        nodes: Number of nodes of each campaign.
        rows: Rows of data, then of metadata.
    """

    title: str
    nodes: tuple[int, ...]
    rows: tuple[FactorRow, ...]


def factor_tables(comparison: Comparison) -> tuple[FactorTable, ...]:
    """Return a table for one node and one for many, if the campaigns have both.

    Without a number of nodes in common, many is the most of each, and a further table has the
    rates per node.
    """
    own = [cells_of(one) for one in comparison.campaigns]
    counts = [{cell.case.nodes for cell in cells} for cells in own]
    found = []
    if any(1 in one for one in counts):
        found.append(_table(own, [1] * len(own), comparison.noises))
    common = set.intersection(*counts) - {1}
    many = [max(common)] * len(own) if common else [max(one, default=1) for one in counts]
    if max(many) > 1:
        found.append(_table(own, many, comparison.noises))
    if len(set(many)) > 1:
        shares = [list(map(_per_node, cells)) for cells in own]
        table = _table(shares, many, comparison.noises)
        found.append(replace(table, title=f"{table.title}, per node"))
    return tuple(found)


def _per_node(cell: ComparisonCell) -> ComparisonCell:
    return replace(cell, rates=tuple(rate / cell.case.nodes for rate in cell.rates))


def _table(
    own: Sequence[Sequence[ComparisonCell]],
    nodes: Sequence[int],
    noises: Mapping[bool, PooledNoise],
) -> FactorTable:
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
    words = " and ".join(map(count_text, dict.fromkeys(nodes)))
    title = plural(nodes[0], "node") if len(set(nodes)) == 1 else f"{words} nodes"
    return FactorTable(title, tuple(nodes), tuple(rows))


def _best(cells: Iterable[ComparisonCell]) -> ComparisonCell | None:
    return max(cells, key=lambda cell: cell.median, default=None)


def _unlike(first: ComparisonCell | None, other: ComparisonCell | None) -> str:
    """Return how the best cells of two campaigns differ; empty if they are the same case."""
    if first is None or other is None or first.case.key == other.case.key:
        return ""
    if first.case.series != other.case.series:
        return f"{first.case.series} against {other.case.series}"
    if first.case.nodes != other.case.nodes:
        return f"{plural(first.case.nodes, 'node')} against {plural(other.case.nodes, 'node')}"
    return f"{plural(first.case.ranks, 'rank')} against {plural(other.case.ranks, 'rank')}"
