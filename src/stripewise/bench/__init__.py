# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Benchmark campaigns: suites, runs, limits, comparisons."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench._case import Case as Case
    from stripewise.bench._case import case_of as case_of
    from stripewise.bench._sample import CaseRun as CaseRun
    from stripewise.bench._sample import Sample as Sample
    from stripewise.bench._suite import Place as Place
    from stripewise.bench._suite import Suite as Suite
    from stripewise.bench._suite import find_suite as find_suite
    from stripewise.bench._suite import parse_suite as parse_suite
    from stripewise.bench._suite import suite_names as suite_names
else:
    __getattr__, __all__ = lazy_exports(__name__)
