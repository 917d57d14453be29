# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of predicted against measured bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stripewise.calibration import SETS, Validation
from stripewise.errors import UsageError
from stripewise.report import _chart as chart
from stripewise.report._against import against
from stripewise.report._page import page_template
from stripewise.report._validation import cell_rows, label, score_words, sets_of


def draw_validation(found: Sequence[Validation], path: Path) -> None:
    """Draw a dot for each bandwidth, a cross where it is marked for the fit, and a band of 15 %.

    Raises:
        UsageError: The suffix is of no picture, or there is no bandwidth to draw.
        StorageError: The file cannot be written.
    """
    rows = _rows(found)
    if not rows:
        raise UsageError("these tables have no bandwidth to draw: choose others with --set")
    chart.write_picture(chart.column(_spec(rows)), path)


def render_validation_html(found: Sequence[Validation]) -> str:
    """Render a page with the picture and all numbers."""
    rows = _rows(found)
    words = f"{len(rows)} published bandwidths and their predictions."
    tables = [
        {
            "name": one.table.name, "title": one.table.title, "unit": one.table.unit,
            "source": one.table.source, "rule": one.table.rule, "score": score_words([one]),
            "rows": list(cell_rows(one)),
        }
        for one in found
    ]  # fmt: skip
    return page_template("validation.html.j2", {}).render(
        picture=chart.Chart(chart.column(_spec(rows)), words) if rows else None,
        sets=[f"{name}: {score_words(members)}" for name, members in sets_of(found)],
        tables=tables,
    )


def _rows(found: Sequence[Validation]) -> list[dict[str, object]]:
    return [
        {
            "measured": one.cell.value / (1 << 30), "predicted": one.predicted / (1 << 30),
            "set": next((name for name, tables in SETS.items() if table.table.name in tables), ""),
            "fitted": "marked for the fit" if one.cell.calibrate else "only predicted",
            "cell": f"{table.table.name}: {label(one)}",
        }
        for table in found for one in table.cells
        if not table.table.is_time and table.table.unit != "ratio"
    ]  # fmt: skip


def _spec(rows: list[dict[str, object]]) -> chart.Spec:
    title = "Published bandwidths and their predictions"
    return against(rows, "GiB/s", title, shapes=("marked for the fit", "only predicted"))
