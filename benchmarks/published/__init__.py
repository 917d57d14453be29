# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Published measurements of others, and predictions from descriptions of their machines."""

from published._fit import fit_published
from published._page import scores_of, validation_json, validation_lines, validation_scores
from published._picture import draw_validation
from published._plans import PLANS
from published._repeats import repeats
from published._soft_minimum import soft_minimum
from published._tables import UNITS, load_table, table_names
from published._validate import SETS, Predicted, Validation, names_of, score, validate

__all__ = [
    "PLANS",
    "SETS",
    "UNITS",
    "Predicted",
    "Validation",
    "draw_validation",
    "fit_published",
    "load_table",
    "names_of",
    "repeats",
    "score",
    "scores_of",
    "soft_minimum",
    "table_names",
    "validate",
    "validation_json",
    "validation_lines",
    "validation_scores",
]
