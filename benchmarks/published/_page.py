# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents published tables and predictions: lines, JSON, scores in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from published._repeats import repeats
from published._tables import UNITS, Table
from published._validate import SETS, Predicted, Score, Validation, score
from stripewise.present import finite, plural

_SHORT = {
    "cray_cb_nodes_multiplier": "multiplier",
    "striping_factor": "stripes",
    "striping_unit": "stripe size",
    "NumAggregators": "aggregators",
    "cb_nodes": "aggregators",
}
_WORDS = ("kernel", "ranks", "nodes", "mode", "file")


def validation_json(found: Sequence[Validation]) -> dict[str, Any]:
    """Return all numbers, and how well they are predicted."""
    document = {
        "sets": [
            {"name": name, **_scores_json(members)} for name, members in sets_of(found) if members
        ],
        "tables": [_table_json(one) for one in found],
    }
    result: dict[str, Any] = finite(document)
    return result


def _scores_json(found: Sequence[Validation]) -> dict[str, Any]:
    return {
        name: {"cells": one.number, "median_error": one.error, "rho": one.rho}
        for name, one in (
            ("calibrated", score(found, calibrated=True)),
            ("validated", score(found, calibrated=False)),
        )
    }


def _table_json(found: Validation) -> dict[str, Any]:
    table = found.table
    return {
        "name": table.name, "title": table.title, "machine": table.machine,
        "unit": "s" if table.is_time else "ratio" if table.unit == "ratio" else "B/s",
        "source": table.source, "rule": table.rule, "assumed": table.assumed,
        **_scores_json([found]),
        "cells": [
            {
                "settings": {key: str(value) for key, value in one.cell.settings.items()},
                "workload": {key: one.cell.workload[key] for key in (*_WORDS, "ranks_per_node")
                             if key in one.cell.workload},
                "measured": one.cell.value, "predicted": one.predicted,
                "calibrated": one.cell.calibrate, "bound": one.cell.bound,
            }
            for one in found.cells
        ],
    }  # fmt: skip


def validation_lines(found: Sequence[Validation]) -> Iterator[str]:
    """Yield every cell of every table, then the scores of the sets."""
    for one in found:
        table = one.table
        yield f"{table.name}: {table.title}"
        yield f"  on {table.machine}, {table.unit}; * is marked for the fit; {table.source}"
        yield f"  marked by rule: {table.rule}"
        yield from (f"  assumed: {one}" for one in table.assumed)
        if not one.cells:
            yield "  not predicted: its software stack is not there"
        for cell in one.cells:
            mark = "*" if cell.cell.calibrate else " "
            yield f"  {mark} {label(cell):<44} {_numbers(table, cell)}"
        yield f"  {score_words([one])}"
        yield ""
    for name, members in sets_of(found):
        yield f"{name}: {score_words(members)}"


def label(found: Predicted) -> str:
    """Return what distinguishes the cell from the others of its table."""
    own = found.cell.own
    words = [
        plural(own[key], key[:-1]) if key in ("ranks", "nodes") else str(own[key])
        for key in _WORDS
        if key in own
    ]
    for key, value in own.get("settings", {}).items():
        shown = "all" if value == -1 else value
        words.append(f"{_SHORT.get(key, key)} {shown}")
    return ", ".join(words) or "one number"


def _numbers(table: Table, found: Predicted) -> str:
    unit = UNITS[table.unit]
    bound = f"{found.cell.bound} " if found.cell.bound else ""
    measured, predicted = f"{bound}{found.cell.value / unit:.4g}", found.predicted / unit
    return f"{measured:>12} measured {predicted:>9.4g} predicted {found.ratio:>6.2f}"


def score_words(found: Sequence[Validation]) -> str:
    used, others = score(found, calibrated=True), score(found, calibrated=False)
    parts = [
        f"{one.number} cells {name}: median error {one.error:.1%}"
        + (f", rho {one.rho:.3f}" if isfinite(one.rho) else "")
        for one, name in ((used, "marked for the fit"), (others, "predicted only"))
        if one.number
    ]
    return "; ".join(parts) or "nothing to compare"


def sets_of(found: Sequence[Validation]) -> list[tuple[str, list[Validation]]]:
    """Return the sets of which at least one table is given, with these tables."""
    sets = [(name, [one for one in found if one.table.name in tables])
            for name, tables in SETS.items()]  # fmt: skip
    return [(name, members) for name, members in sets if members]


# ---- scores ----------------------------------------------------------------------------------


def validation_scores(
    found: Sequence[Validation], simpler: Sequence[Sequence[Validation]] = ()
) -> str:
    """Return the scores of sets and tables, in Markdown.

    Args:
        found: Predicted tables.
        simpler: Some of them, predicted by a simpler model instead.
    """
    lines = ["## Sets", "", *_score_rows(sets_of(found)), ""]
    if simpler:
        lines += ["## Against a soft minimum of three limits", ""]
        lines += [*_score_rows(_beside(found, simpler)), ""]
    lines += _repeat_rows(found)
    lines += ["## Tables", "", *_score_rows([(one.table.name, [one]) for one in found])]
    return "\n".join(lines)


def _beside(
    found: Sequence[Validation], simpler: Sequence[Sequence[Validation]]
) -> list[tuple[str, Sequence[Validation]]]:
    """Return rows of scores for the same tables, from the laws and from the simpler model."""
    rows: list[tuple[str, Sequence[Validation]]] = []
    for others in simpler:
        names = [one.table.name for one in others]
        ours = [one for one in found if one.table.name in names]
        name = ", ".join(names)
        rows += [(f"laws: {name}", ours), (f"soft minimum: {name}", others)]
    return rows


def _repeat_rows(found: Sequence[Validation]) -> list[str]:
    """Return the limit for any model: the scores of the numbers against themselves."""
    rows = [(name, again) for name, members in sets_of(found) if (again := repeats(members))]
    if not rows:
        return []
    return [
        "## As far as the numbers repeat",
        "",
        "Some cases were published more than once. A model that knew the mean of each case would "
        "score no better than this on the cells that are only predicted:",
        "",
        "| | cases published twice | greatest ratio | median error | rho |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {one.number} | {one.most:.2f} | {one.score.error:.1%} | "
            f"{one.score.rho:.3f} |"
            for name, one in rows
        ),
        "",
    ]


def _score_rows(rows: Sequence[tuple[str, Sequence[Validation]]]) -> Iterator[str]:
    yield "| | cells marked | median error | cells only predicted | median error | rho |"
    yield "|---|---|---|---|---|---|"
    for name, members in rows:
        used, others = score(members, calibrated=True), score(members, calibrated=False)
        yield f"| {name} | {_score_cells(used, False)} | {_score_cells(others, True)} |"


def _score_cells(one: Score, with_rho: bool) -> str:
    error = f"{one.error:.1%}" if one.number else "–"
    rho = (f" | {one.rho:.3f}" if isfinite(one.rho) else " | –") if with_rho else ""
    return f"{one.number} | {error}{rho}"


def scores_of(page: str) -> Mapping[str, tuple[str, ...]]:
    """Return the rows of the scores on a page: name to cells as written."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.count("|") == 7]
    return {row[0]: tuple(row[1:]) for row in rows if len(row) == 6}
