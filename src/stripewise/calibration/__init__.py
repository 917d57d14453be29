# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions against measurements: fitted, validated."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.calibration._blank import blank_storage as blank_storage
    from stripewise.calibration._cases import Case as Case
    from stripewise.calibration._fit import Fitted as Fitted
    from stripewise.calibration._fit import fit_figures as fit_figures
    from stripewise.calibration._fit import fit_results as fit_results
    from stripewise.calibration._plans import PLANS as PLANS
    from stripewise.calibration._plans import Free as Free
    from stripewise.calibration._plans import Plan as Plan
    from stripewise.calibration._predict import Predictor as Predictor
    from stripewise.calibration._predict import bandwidth as bandwidth
    from stripewise.calibration._published import fit_published as fit_published
    from stripewise.calibration._repeats import Repeats as Repeats
    from stripewise.calibration._repeats import repeats as repeats
    from stripewise.calibration._soft_minimum import soft_minimum as soft_minimum
    from stripewise.calibration._tables import UNITS as UNITS
    from stripewise.calibration._tables import Cell as Cell
    from stripewise.calibration._tables import Table as Table
    from stripewise.calibration._tables import load_table as load_table
    from stripewise.calibration._tables import table_names as table_names
    from stripewise.calibration._validate import SETS as SETS
    from stripewise.calibration._validate import Predicted as Predicted
    from stripewise.calibration._validate import Score as Score
    from stripewise.calibration._validate import Validation as Validation
    from stripewise.calibration._validate import names_of as names_of
    from stripewise.calibration._validate import score as score
    from stripewise.calibration._validate import validate as validate
else:
    __getattr__, __all__ = lazy_exports(__name__)
