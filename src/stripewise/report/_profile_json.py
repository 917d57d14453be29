# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A diagnosis as data for JSON and CSV; docs/reference/profile.schema.json is the schema."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from stripewise.diagnosis import Diagnosis, size_labels
from stripewise.model import SIZE_EDGES, Pattern, to_json
from stripewise.text import csv_cell

VERSION = 1

_CSV_COLUMNS = (
    *("path", "interface", "read_bytes", "write_bytes", "read_calls", "write_calls"),
    *("collective", "sequential", "consecutive", "opens", "meta_operations"),
    *("elapsed_seconds", "cumulated_seconds", "rank_count", "data_rank_count", "extent_bytes"),
)


def profile_to_json(
    diagnosis: Diagnosis, patterns: Sequence[Pattern] = (), *, files: int | None = None
) -> dict[str, Any]:
    """One document.

    Args:
        diagnosis: What is told.
        patterns: Of the same evidence.
        files: Most files, shared files and requests to list; None: all.
    """
    document: dict[str, Any] = {"version": VERSION, "size_edges": list(SIZE_EDGES)}
    document |= to_json(diagnosis)
    for name in ("files", "variance", "requests", "mpiio_stats"):
        document[f"{name}_total"] = len(document[name])
        document[name] = document[name][:files]
    document["findings"] = findings_to_json(diagnosis)
    document["patterns"] = [
        to_json(pattern) | {"notation": pattern.notation} for pattern in patterns
    ]
    return document


def findings_to_json(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Findings with their titles, and what to do first."""
    return [
        to_json(found) | {"title": found.title, "advice": found.advice}
        for found in diagnosis.findings
    ]


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
