# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The files of a diagnosis as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

from stripewise.diagnosis import Diagnosis, FileRow, size_labels
from stripewise.text import csv_cell

_CSV_COLUMNS = (
    *("path", "interface", "read_bytes", "write_bytes", "read_calls", "write_calls"),
    *("collective", "sequential", "consecutive", "opens", "meta_operations"),
    *("elapsed_seconds", "cumulated_seconds", "rank_count", "data_rank_count", "extent_bytes"),
)


def files_to_csv(diagnosis: Diagnosis) -> str:
    """A row for each file; the sizes of requests in columns of their own."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    sizes = [f"{way} {label}" for way in ("reads", "writes") for label in size_labels()]
    writer.writerow([*_CSV_COLUMNS, "stripe_bytes", "stripe_count", *sizes, "missing"])
    for row in diagnosis.files:
        values = [_cell(_value(row, name)) for name in _CSV_COLUMNS]
        layout = [row.layout.stripe_bytes or "", row.layout.stripe_count or ""]
        missing = csv_cell("; ".join(f"{name}: {why}" for name, why in row.missing.items()))
        writer.writerow([*values, *layout, *row.read_sizes, *row.write_sizes, missing])
    return text.getvalue()


def _value(row: FileRow, name: str) -> Any:
    """Return a figure, the least that it can be, or None; the column `missing` says why."""
    return row.amount(name).value if name in row.missing else getattr(row, name)


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if value != value else f"{value:.9g}"
    return csv_cell(value)
