# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tunables: what each does, when it can act, and the spaces they span."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.tunables._base import ActsAt as ActsAt
    from stripewise.tunables._base import Layer as Layer
    from stripewise.tunables._base import SafetyClass as SafetyClass
    from stripewise.tunables._base import Tunable as Tunable
    from stripewise.tunables._build import all_settings as all_settings
    from stripewise.tunables._build import build_configuration as build_configuration
    from stripewise.tunables._build import canonical_value as canonical_value
    from stripewise.tunables._build import settings_class as settings_class
    from stripewise.tunables._build import with_implied as with_implied
    from stripewise.tunables._carried import refused_variables as refused_variables
    from stripewise.tunables._check import check_configuration as check_configuration
    from stripewise.tunables._check import configuration_warnings as configuration_warnings
    from stripewise.tunables._check import misspelt_settings as misspelt_settings
    from stripewise.tunables._conditions import STRIPE_STEP as STRIPE_STEP
    from stripewise.tunables._domains import size_bytes as size_bytes
    from stripewise.tunables._hdf5 import DATASET_KEYS as DATASET_KEYS
    from stripewise.tunables._lustre import lustre_aggregators as lustre_aggregators
    from stripewise.tunables._lustre import lustre_stripes as lustre_stripes
    from stripewise.tunables._messages import first_problem as first_problem
    from stripewise.tunables._registry import all_tunables as all_tunables
    from stripewise.tunables._registry import find as find
    from stripewise.tunables._registry import get as get
    from stripewise.tunables._registry import suggest as suggest
    from stripewise.tunables._registry import suggest_key as suggest_key
    from stripewise.tunables._settings import PointKey as PointKey
    from stripewise.tunables._settings import acts_per_file as acts_per_file
    from stripewise.tunables._settings import format_settings as format_settings
    from stripewise.tunables._settings import hint_text as hint_text
    from stripewise.tunables._settings import key_of as key_of
    from stripewise.tunables._settings import said_of_files as said_of_files
    from stripewise.tunables._settings import scoped as scoped
    from stripewise.tunables._settings import scopes as scopes
    from stripewise.tunables._settings import setting_name as setting_name
    from stripewise.tunables._settings import settings_on as settings_on
    from stripewise.tunables._settings import settings_text as settings_text
    from stripewise.tunables._settings import split_scope as split_scope
    from stripewise.tunables._settings import tunable_of as tunable_of
    from stripewise.tunables._space import Dimension as Dimension
    from stripewise.tunables._space import Space as Space
    from stripewise.tunables._space import find_space as find_space
    from stripewise.tunables._space import is_valid as is_valid
else:
    __getattr__, __all__ = lazy_exports(__name__)
