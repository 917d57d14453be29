# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the tables of models.py in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HEADER = (
    "storage", "model", "cases", "refused", "error", "rho", "worst rho", "best within five",
    "runs", "hours",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """Result for a storage and a kind of model.

    Attributes:
        cases: Number of predicted programs at a scale.
        refused: Number of those to which no model applied.
        error / rho / worst: Median error, median and least rank correlation of a pattern.
        hits: Number of cases whose best five predictions include one within 5 % of the optimum.
        runs / hours: Cost of the training.
    """

    storage: str
    kind: str
    cases: int
    refused: int
    error: float
    rho: float
    worst: float
    hits: int
    runs: int
    hours: float


@dataclass(frozen=True)
class Terms:
    """Coefficients by term: published, published terms fitted here, and selected terms."""

    published: Mapping[str, float]
    fitted: Mapping[str, float]
    selected: Mapping[str, float]
    fitted_quality: tuple[float, float]
    selected_quality: tuple[float, float]
    samples: int


def tables(terms: Terms, rows: Sequence[Row]) -> str:
    """Return the terms, a row for each storage and kind, and totals."""
    return "\n".join([*_terms(terms), "", *_rows(rows), "", *_totals(rows)])


def _terms(found: Terms) -> list[str]:
    names = dict.fromkeys((*found.published, *found.selected))
    lines = [
        "| term | published | same terms, simulated | selected, simulated |",
        "|---|--:|--:|--:|",
    ]
    for name in names:
        cells = [_figure(one.get(name)) for one in (found.published, found.fitted, found.selected)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    (r2, error), (own_r2, own_error) = found.fitted_quality, found.selected_quality
    lines.append(f"| R² | | {r2:.3f} | {own_r2:.3f} |")
    lines.append(f"| median error | | {error:.1%} | {own_error:.1%} |")
    return lines


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _rows(rows: Sequence[Row]) -> list[str]:
    lines = [f"| {' | '.join(HEADER)} |", f"|---|---{'|--:' * (len(HEADER) - 2)}|"]
    for one in rows:
        figures = (f"{one.error:.1%}", f"{one.rho:.3f}", f"{one.worst:.3f}")
        seen = figures if one.cases else ("-",) * len(figures)
        cells = (
            one.storage, one.kind, one.cases, one.refused, *seen, f"{one.hits} of {one.cases}",
            one.runs, f"{one.hours:.1f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _totals(rows: Sequence[Row]) -> list[str]:
    lines = []
    for kind in dict.fromkeys(one.kind for one in rows):
        of = [one for one in rows if one.kind == kind]
        hits, cases = sum(one.hits for one in of), sum(one.cases for one in of)
        lines.append(
            f"In all, {kind}: in {hits} of {cases} cases ({hits / max(cases, 1):.0%}) one of the "
            f"best five is within 5 % of the optimum; {sum(one.refused for one in of)} cases "
            "were refused."
        )
    return ["  \n".join(lines)]
