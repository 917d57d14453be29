# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The tunables: what each does, when it can act, and the spaces they span."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.tunables._base import (
        ActsAt,
        Dimension,
        Layer,
        SafetyClass,
        Space,
        Tunable,
    )
    from stripewise.tunables._build import (
        all_settings,
        build_configuration,
        canonical_value,
        hint_text,
        settings_class,
    )
    from stripewise.tunables._carried import refused_variables
    from stripewise.tunables._check import (
        check_configuration,
        configuration_warnings,
        misspelt_settings,
    )
    from stripewise.tunables._hdf5 import DATASET_KEYS
    from stripewise.tunables._messages import first_problem
    from stripewise.tunables._points import PointKey, is_valid, key_of, point_at, settings_text
    from stripewise.tunables._reference import describe_values, reference_markdown
    from stripewise.tunables._registry import all_tunables, find, get, suggest
    from stripewise.tunables._sizes import size_bytes
    from stripewise.tunables._space import find_space, point_problem
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "DATASET_KEYS",
    "ActsAt",
    "Dimension",
    "Layer",
    "PointKey",
    "SafetyClass",
    "Space",
    "Tunable",
    "all_settings",
    "all_tunables",
    "build_configuration",
    "canonical_value",
    "check_configuration",
    "configuration_warnings",
    "describe_values",
    "find",
    "find_space",
    "first_problem",
    "get",
    "hint_text",
    "is_valid",
    "key_of",
    "misspelt_settings",
    "point_at",
    "point_problem",
    "reference_markdown",
    "refused_variables",
    "settings_class",
    "settings_text",
    "size_bytes",
    "suggest",
]
