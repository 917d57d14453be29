# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The files of a diagnosis as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

from stripewise.diagnosis import Diagnosis, size_labels
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
    writer.writerow([*_CSV_COLUMNS, "stripe_bytes", "stripe_count", *sizes])
    for row in diagnosis.files:
        values = [_cell(getattr(row, name)) for name in _CSV_COLUMNS]
        layout = [row.layout.stripe_bytes or "", row.layout.stripe_count or ""]
        writer.writerow([*values, *layout, *row.read_sizes, *row.write_sizes])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "" if value != value else f"{value:.9g}"
    return csv_cell(value)
