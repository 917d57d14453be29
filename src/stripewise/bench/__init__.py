# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Benchmark campaigns: suites, runs, limits, comparisons."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench._anonymous import anonymised as anonymised
    from stripewise.bench._campaign import Campaign as Campaign
    from stripewise.bench._case import Case as Case
    from stripewise.bench._case import case_of as case_of
    from stripewise.bench._cells import Cell as Cell
    from stripewise.bench._cells import case_words as case_words
    from stripewise.bench._compare import COMPARISON_METHOD as COMPARISON_METHOD
    from stripewise.bench._compare import ComparedCell as ComparedCell
    from stripewise.bench._compare import Comparison as Comparison
    from stripewise.bench._compare import Ratio as Ratio
    from stripewise.bench._compare import compare as compare
    from stripewise.bench._directory import read_directory as read_directory
    from stripewise.bench._directory import run_campaign as run_campaign
    from stripewise.bench._doubts import Ceiling as Ceiling
    from stripewise.bench._exchange import campaign_json as campaign_json
    from stripewise.bench._exchange import campaign_text as campaign_text
    from stripewise.bench._exchange import parse_campaign as parse_campaign
    from stripewise.bench._exchange import write_campaign as write_campaign
    from stripewise.bench._exchange_form import exchange_schema as exchange_schema
    from stripewise.bench._factors import FactorRow as FactorRow
    from stripewise.bench._factors import FactorTable as FactorTable
    from stripewise.bench._factors import factor_tables as factor_tables
    from stripewise.bench._fit_here import fitted_suite as fitted_suite
    from stripewise.bench._history import Finding as Finding
    from stripewise.bench._history import History as History
    from stripewise.bench._history import Series as Series
    from stripewise.bench._history import day_of as day_of
    from stripewise.bench._import import import_campaign as import_campaign
    from stripewise.bench._interference import flags_of_campaign as flags_of_campaign
    from stripewise.bench._limit_cells import results_of as results_of
    from stripewise.bench._limits import Law as Law
    from stripewise.bench._limits import Limit as Limit
    from stripewise.bench._limits import Limits as Limits
    from stripewise.bench._limits import Predicted as Predicted
    from stripewise.bench._limits_find import find_limits as find_limits
    from stripewise.bench._model import ModelCase as ModelCase
    from stripewise.bench._model import model_case as model_case
    from stripewise.bench._options import CampaignOptions as CampaignOptions
    from stripewise.bench._plan import PlannedRun as PlannedRun
    from stripewise.bench._read import read_campaign as read_campaign
    from stripewise.bench._run import CampaignObserver as CampaignObserver
    from stripewise.bench._sample import CaseRun as CaseRun
    from stripewise.bench._sample import Sample as Sample
    from stripewise.bench._simulated import simulated_run as simulated_run
    from stripewise.bench._statistics import CaseFigures as CaseFigures
    from stripewise.bench._statistics import Flag as Flag
    from stripewise.bench._statistics import coverage_of as coverage_of
    from stripewise.bench._statistics import figures_of as figures_of
    from stripewise.bench._suite import Place as Place
    from stripewise.bench._suite import Suite as Suite
    from stripewise.bench._suite import bytes_of as bytes_of
    from stripewise.bench._suite import find_suite as find_suite
    from stripewise.bench._suite import parse_suite as parse_suite
    from stripewise.bench._suite import suite_names as suite_names
    from stripewise.bench._survey import Application as Application
    from stripewise.bench._survey import Survey as Survey
    from stripewise.bench._survey import find_survey as find_survey
    from stripewise.bench._survey import parse_survey as parse_survey
    from stripewise.bench._survey import survey_names as survey_names
    from stripewise.bench._targets import TargetFinding as TargetFinding
    from stripewise.bench._targets import changed_targets as changed_targets
    from stripewise.bench._targets import difference_words as difference_words
    from stripewise.bench._targets import slow_targets as slow_targets
    from stripewise.bench._what_if import Answer as Answer
    from stripewise.bench._what_if import Candidate as Candidate
    from stripewise.bench._what_if import WhatIf as WhatIf
    from stripewise.bench._what_if import answer_json as answer_json
    from stripewise.bench._what_if import what_if as what_if
else:
    __getattr__, __all__ = lazy_exports(__name__)
