# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A diagnosis as data for JSON; docs/reference/profile.schema.json is the schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stripewise.diagnosis._records import Diagnosis
from stripewise.model import SIZE_EDGES, Pattern, to_json, with_unknown

VERSION = 1
_BOUNDED = ("files", "variance", "requests", "mpiio_stats")


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
    listed = replace(diagnosis, **{name: getattr(diagnosis, name)[:files] for name in _BOUNDED})
    document |= to_json(listed)
    document["figures"] = with_unknown(document["figures"], diagnosis.figures)
    for name in ("files", "layers"):
        rows = zip(document[name], getattr(listed, name), strict=True)
        document[name] = [with_unknown(data, row) for data, row in rows]
    document |= {f"{name}_total": len(getattr(diagnosis, name)) for name in _BOUNDED}
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
