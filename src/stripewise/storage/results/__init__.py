# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the results of benchmarks."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.storage.results._base import FIGURES as FIGURES
    from stripewise.storage.results._base import Data as Data
    from stripewise.storage.results._base import Found as Found
    from stripewise.storage.results._base import Measured as Measured
    from stripewise.storage.results._base import MetadataTest as MetadataTest
    from stripewise.storage.results._base import Name as Name
    from stripewise.storage.results._base import Results as Results
    from stripewise.storage.results._base import RunFigure as RunFigure
    from stripewise.storage.results._base import Seconds as Seconds
    from stripewise.storage.results._base import Test as Test
    from stripewise.storage.results._base import Timed as Timed
    from stripewise.storage.results._ior import HintLines as HintLines
    from stripewise.storage.results._registry import parse_tests as parse_tests
    from stripewise.storage.results._registry import read_results as read_results
    from stripewise.storage.results._registry import read_tests as read_tests
else:
    __getattr__, __all__ = lazy_exports(__name__)
