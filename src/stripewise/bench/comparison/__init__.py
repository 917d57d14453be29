# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares campaigns: systems, nights and targets, and systems for surveyed applications."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench.comparison._cells import ComparisonCell as ComparisonCell
    from stripewise.bench.comparison._cells import case_words as case_words
    from stripewise.bench.comparison._compare import COMPARISON_METHOD as COMPARISON_METHOD
    from stripewise.bench.comparison._compare import ComparedCell as ComparedCell
    from stripewise.bench.comparison._compare import Comparison as Comparison
    from stripewise.bench.comparison._compare import FactorTable as FactorTable
    from stripewise.bench.comparison._compare import Ratio as Ratio
    from stripewise.bench.comparison._compare import compare as compare
    from stripewise.bench.comparison._compare import factor_tables as factor_tables
    from stripewise.bench.comparison._history import FigureHistory as FigureHistory
    from stripewise.bench.comparison._history import Finding as Finding
    from stripewise.bench.comparison._history import History as History
    from stripewise.bench.comparison._history import add_night as add_night
    from stripewise.bench.comparison._history import day_of as day_of
    from stripewise.bench.comparison._targets import changed_targets as changed_targets
    from stripewise.bench.comparison._targets import difference_words as difference_words
    from stripewise.bench.comparison._targets import slow_targets as slow_targets
    from stripewise.bench.comparison._what_if import Candidate as Candidate
    from stripewise.bench.comparison._what_if import SystemPrediction as SystemPrediction
    from stripewise.bench.comparison._what_if import WhatIf as WhatIf
    from stripewise.bench.comparison._what_if import answer_json as answer_json
    from stripewise.bench.comparison._what_if import find_survey as find_survey
    from stripewise.bench.comparison._what_if import parse_survey as parse_survey
    from stripewise.bench.comparison._what_if import survey_names as survey_names
    from stripewise.bench.comparison._what_if import what_if as what_if
else:
    __getattr__, __all__ = lazy_exports(__name__)
