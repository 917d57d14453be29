# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The profile of a run as one self-contained page; scripts only add comfort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stripewise.diagnosis import Diagnosis, size_labels
from stripewise.diagnosis.heat_cells import LAYER_NAMES
from stripewise.model import Evidence, Pattern
from stripewise.report import _profile_view as view
from stripewise.report._page import page_template
from stripewise.report._profile_groups import MOST_PATTERNS, pattern_groups
from stripewise.report._profile_words import evidence_figure
from stripewise.report._text import (
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


_FILTERS: dict[str, Callable[..., Any]] = {
    "percent": lambda value: known(value, format_percent, "–"),
    "number": lambda value: known(value, format_count, "–"),
    "maybe_seconds": lambda value: known(value, format_seconds, "–"),
    "mean": lambda value: known(value, format_bytes, "–"),
    "figure": evidence_figure,
    "base": lambda path: path.rstrip("/").rpartition("/")[2] or path,
    "parent": lambda path: path.rstrip("/").rpartition("/")[0],
}
