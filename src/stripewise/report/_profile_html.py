# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The profile of a run as one self-contained page; scripts only add comfort."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from stripewise.diagnosis import Diagnosis, size_labels
from stripewise.diagnosis.heat_cells import LAYER_NAMES
from stripewise.model import Evidence, Figured, Pattern, total
from stripewise.report import _profile_view as view
from stripewise.report._page import page_template
from stripewise.report._profile_groups import MOST_PATTERNS, pattern_groups
from stripewise.report._text import (
    amount_words,
    evidence_figure,
    format_bytes,
    format_count,
    format_percent,
    format_seconds,
    known,
)

_MOST = {"files": 25, "variance": 30, "requests": 30, "patterns": MOST_PATTERNS, "names": 6}
"""Rows of each table, and names of datasets at one pattern; the page counts the others."""


def render_profile_html(
    diagnosis: Diagnosis, evidence: Evidence, patterns: Sequence[Pattern] = ()
) -> str:
    """Render the page; the same arguments give the same page.

    Names of files, users, hosts and commands are data: they are escaped, and control
    characters made visible.
    """
    profile = evidence.profile
    figures = diagnosis.figures
    return page_template("profile.html.j2", _FILTERS).render(
        d=diagnosis,
        f=figures,
        profile=profile,
        cards=view.cards(figures),
        run_parts=view.run_parts(figures),
        time_parts=view.time_parts(figures),
        costs=[view.cost_parts(finding, figures) for finding in diagnosis.findings],
        timeline=view.timeline(diagnosis, profile),
        size_names=size_labels(),
        sizes=view.size_tables(profile),
        patterns=pattern_groups(patterns),
        missing=view.missing(diagnosis, profile),
        notes=list(dict.fromkeys(diagnosis.notes)),
        most=_MOST,
        layer_names=LAYER_NAMES,
        trace=evidence.trace,
    )


_SHOWN = {
    **dict.fromkeys(("read_bytes", "write_bytes"), format_bytes),
    **dict.fromkeys(("elapsed_seconds", "cumulated_seconds", "own_seconds"), format_seconds),
}


def _told(row: Figured, name: str) -> str:
    return amount_words(row, name, _SHOWN[name])


def _order(value: float | None) -> float | str:
    """Return what a table is sorted by; "": not known, which comes last either way."""
    return "" if value is None or not math.isfinite(value) else value


def _together(rows: Sequence[Figured], name: str) -> str:
    return total(row.amount(name) for row in rows).words(_SHOWN[name])


_FILTERS: dict[str, Callable[..., Any]] = {
    "told": _told,
    "together": _together,
    "order": _order,
    "known_order": lambda row, name: _order(row.amount(name).value),
    "percent": lambda value: known(value, format_percent, "–"),
    "number": lambda value: known(value, format_count, "–"),
    "maybe_seconds": lambda value: known(value, format_seconds, "–"),
    "mean": lambda value: known(value, format_bytes, "–"),
    "figure": evidence_figure,
    "base": lambda path: path.rstrip("/").rpartition("/")[2] or path,
    "parent": lambda path: path.rstrip("/").rpartition("/")[0],
}
