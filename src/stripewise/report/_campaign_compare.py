# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns side by side: lines for a terminal, JSON."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from stripewise.bench import (
    COMPARISON_METHOD,
    Cell,
    Comparison,
    FactorTable,
    Ratio,
    case_words,
    difference_words,
    factor_tables,
)
from stripewise.report._campaign_figures import rate_text
from stripewise.report._columns import aligned
from stripewise.text import finite, plural, printable

_MOST_LINES = 20


# ---- words -----------------------------------------------------------------------------------


def factor_words(ratio: Ratio | None) -> str:
    """Return a factor with its interval: "9.0x [8.1, 9.9]"."""
    if ratio is None:
        return ""
    if not isfinite(ratio.low):
        return f"{ratio.value:.3g}x"
    return f"{ratio.value:.3g}x [{ratio.low:.3g}, {ratio.high:.3g}]"


def operation_name(operation: str) -> str:
    return printable(operation.replace("-", " "))


def rate_words(cell: Cell | None) -> str:
    return rate_text(cell.median, cell.of_data) if cell else "–"


def sentences(found: Comparison, place: int) -> list[str]:
    """Return what differs between a campaign and the first, in sentences."""
    name, first = found.names[place], found.names[0]
    differing = found.differing(place)
    said = [
        f"{operation_name(cell.operation)} of {case_words(cell.case.key)} is "
        f"{difference_words(ratio)} on {name}"
        for cell in differing[:_MOST_LINES]
        if (ratio := cell.ratios[place])
    ]
    if len(differing) > _MOST_LINES:
        said.append(f"and {len(differing) - _MOST_LINES} more differ: --json has all")
    said += [f"{name}: {one.sentence}" for one in found.changed[place]]
    alike = found.alike(place)
    if not said and alike:
        said.append(
            f"no difference between {name} and {first} is certain in {plural(alike, 'cell')}"
        )
    if not alike:
        said.append(f"{name} and {first} have no cell that is like for like")
    return said


def headline_of(found: Comparison) -> str:
    """Return the comparison in one line."""
    parts = []
    for place in range(1, len(found.names)):
        verdicts = [
            ratio.verdict
            for cell in found.cells
            if (ratio := cell.ratios[place]) and not ratio.unlike
        ]
        slower, faster = verdicts.count("slower"), verdicts.count("faster")
        parts.append(
            f"{found.names[place]}: {slower} slower, {faster} faster of "
            f"{plural(len(verdicts), 'cell')}"
        )
    return f"against {found.names[0]} – {'; '.join(parts)}"


def comparison_lines(found: Comparison) -> Iterator[str]:
    """Yield the comparison for a terminal: the tables of factors, then what differs."""
    for table in factor_tables(found):
        yield from _table_lines(table, found)
        yield ""
    for place in range(1, len(found.names)):
        yield from sentences(found, place)
    for name, slow in zip(found.names, found.slow, strict=True):
        yield from (f"{name}: {one.sentence}" for one in slow)
    unlike = sum(any(ratio and ratio.unlike for ratio in cell.ratios) for cell in found.cells)
    if unlike:
        verb = "is" if unlike == 1 else "are"
        yield f"{plural(unlike, 'cell')} {verb} not like for like: --json and the page say why"


def _table_lines(table: FactorTable, found: Comparison) -> list[str]:
    head = [f"best, on {table.title}", found.names[0]]
    for name in found.names[1:]:
        head += [name, "factor"]
    rows = [head]
    for row in table.rows:
        cells = [operation_name(row.operation), rate_words(row.best[0])]
        for best, factor in zip(row.best[1:], row.factors[1:], strict=True):
            mark = " *" if factor and factor.unlike else ""
            cells += [rate_words(best), factor_words(factor) + mark]
        rows.append(cells)
    lines = aligned(rows)
    if any(one and one.unlike for row in table.rows for one in row.factors):
        lines.append("* the best are of different cases")
    return lines


# ---- JSON ------------------------------------------------------------------------------------


def comparison_to_json(found: Comparison) -> dict[str, Any]:
    """Return all cells, factors, tables and targets."""
    document = {
        "method": COMPARISON_METHOD,
        "campaigns": list(found.names),
        "tables": [_table_json(one) for one in factor_tables(found)],
        "cells": [
            {
                "case": cell.case.key,
                "operation": cell.operation,
                "medians": [one.median if one else None for one in cell.cells],
                "runs": [len(one.logs) if one else 0 for one in cell.cells],
                "ratios": [_ratio_json(one) for one in cell.ratios],
            }
            for cell in found.cells
        ],
        "slow_targets": [[_target_json(one) for one in slow] for slow in found.slow],
        "changed_targets": [[_target_json(one) for one in some] for some in found.changed],
    }
    result: dict[str, Any] = finite(document)
    return result


def _table_json(table: FactorTable) -> dict[str, Any]:
    return {
        "title": table.title,
        "nodes": list(table.nodes),
        "rows": [
            {
                "operation": row.operation,
                "best": [one.median if one else None for one in row.best],
                "cases": [one.case.key if one else None for one in row.best],
                "factors": [_ratio_json(one) for one in row.factors],
            }
            for row in table.rows
        ],
    }


def _ratio_json(ratio: Ratio | None) -> dict[str, Any] | None:
    if ratio is None:
        return None
    return {
        "value": ratio.value, "low": ratio.low, "high": ratio.high, "chance": ratio.chance,
        "verdict": ratio.verdict, "unlike": ratio.unlike,
    }  # fmt: skip


def _target_json(one: Any) -> dict[str, Any]:
    return {
        "target": one.target, "operation": one.operation, "ratio": one.ratio, "low": one.low,
        "high": one.high, "runs": one.runs, "chance": one.chance, "sentence": one.sentence,
    }  # fmt: skip
