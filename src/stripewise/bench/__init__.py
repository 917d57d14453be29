# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Benchmark campaigns: suites, runs, limits, comparisons."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench._campaign import Campaign as Campaign
    from stripewise.bench._case import Case as Case
    from stripewise.bench._case import case_of as case_of
    from stripewise.bench._import import import_campaign as import_campaign
    from stripewise.bench._limits import Law as Law
    from stripewise.bench._limits import Limit as Limit
    from stripewise.bench._limits import Limits as Limits
    from stripewise.bench._limits import Predicted as Predicted
    from stripewise.bench._plan import PlannedRun as PlannedRun
    from stripewise.bench._sample import CaseRun as CaseRun
    from stripewise.bench._sample import Sample as Sample
    from stripewise.bench._statistics import CaseFigures as CaseFigures
    from stripewise.bench._statistics import Flag as Flag
    from stripewise.bench._statistics import figures_of as figures_of
    from stripewise.bench._suite import Place as Place
    from stripewise.bench._suite import Suite as Suite
    from stripewise.bench._suite import find_suite as find_suite
    from stripewise.bench._suite import parse_suite as parse_suite
    from stripewise.bench._suite import suite_names as suite_names
else:
    __getattr__, __all__ = lazy_exports(__name__)
