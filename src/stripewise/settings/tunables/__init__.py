# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes every tunable: its effect, conditions and values, and the search space."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.settings.tunables._base import Layer as Layer
    from stripewise.settings.tunables._base import SafetyClass as SafetyClass
    from stripewise.settings.tunables._base import Tunable as Tunable
    from stripewise.settings.tunables._base import size_bytes as size_bytes
    from stripewise.settings.tunables._build import all_settings as all_settings
    from stripewise.settings.tunables._build import build_configuration as build_configuration
    from stripewise.settings.tunables._build import canonical_value as canonical_value
    from stripewise.settings.tunables._build import check_configuration as check_configuration
    from stripewise.settings.tunables._build import (
        configuration_warnings as configuration_warnings,
    )
    from stripewise.settings.tunables._build import misspelt_settings as misspelt_settings
    from stripewise.settings.tunables._build import refused_variables as refused_variables
    from stripewise.settings.tunables._build import settings_class as settings_class
    from stripewise.settings.tunables._build import with_implied as with_implied
    from stripewise.settings.tunables._conditions import STRIPE_STEP as STRIPE_STEP
    from stripewise.settings.tunables._hdf5 import DATASET_KEYS as DATASET_KEYS
    from stripewise.settings.tunables._registry import PointKey as PointKey
    from stripewise.settings.tunables._registry import acts_per_file as acts_per_file
    from stripewise.settings.tunables._registry import all_tunables as all_tunables
    from stripewise.settings.tunables._registry import find as find
    from stripewise.settings.tunables._registry import first_problem as first_problem
    from stripewise.settings.tunables._registry import format_settings as format_settings
    from stripewise.settings.tunables._registry import get as get
    from stripewise.settings.tunables._registry import hint_text as hint_text
    from stripewise.settings.tunables._registry import key_of as key_of
    from stripewise.settings.tunables._registry import scoped as scoped
    from stripewise.settings.tunables._registry import scopes as scopes
    from stripewise.settings.tunables._registry import setting_name as setting_name
    from stripewise.settings.tunables._registry import settings_by_files as settings_by_files
    from stripewise.settings.tunables._registry import settings_on as settings_on
    from stripewise.settings.tunables._registry import settings_text as settings_text
    from stripewise.settings.tunables._registry import split_scope as split_scope
    from stripewise.settings.tunables._registry import suggest as suggest
    from stripewise.settings.tunables._registry import suggest_key as suggest_key
    from stripewise.settings.tunables._registry import tunable_of as tunable_of
    from stripewise.settings.tunables._space import Dimension as Dimension
    from stripewise.settings.tunables._space import Space as Space
    from stripewise.settings.tunables._space import find_space as find_space
    from stripewise.settings.tunables._space import is_valid as is_valid
    from stripewise.settings.tunables._space import lustre_aggregators as lustre_aggregators
    from stripewise.settings.tunables._space import lustre_stripes as lustre_stripes
    from stripewise.settings.tunables._vary import parse_vary as parse_vary
else:
    __getattr__, __all__ = lazy_exports(__name__)
