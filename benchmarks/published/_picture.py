# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws predicted against measured bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from published._page import label
from published._validate import SETS, Validation
from stripewise.core.errors import UsageError
from stripewise.present import chart
from stripewise.present.chart import against


def draw_validation(found: Sequence[Validation], path: Path) -> None:
    """Draw a dot for each bandwidth, a cross if it is used for the fit, and a band of 15 %.

    Raises:
        UsageError: The suffix is not that of a picture, or there is no bandwidth to draw.
        StorageError: The file cannot be written.
    """
    rows = _rows(found)
    if not rows:
        raise UsageError("these tables have no bandwidth to draw: choose others with --set")
    chart.write_picture(chart.column(_spec(rows)), path)


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
