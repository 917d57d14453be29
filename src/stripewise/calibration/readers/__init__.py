# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Results of benchmarks: one reader for each form."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.calibration.readers._base import Measured as Measured
    from stripewise.calibration.readers._base import Reader as Reader
    from stripewise.calibration.readers._base import Results as Results
    from stripewise.calibration.readers._record import Data as Data
    from stripewise.calibration.readers._record import Found as Found
    from stripewise.calibration.readers._record import Metadata as Metadata
    from stripewise.calibration.readers._record import Test as Test
    from stripewise.calibration.readers._record import Timed as Timed
    from stripewise.calibration.readers._registry import read_results as read_results
    from stripewise.calibration.readers._registry import read_tests as read_tests
else:
    __getattr__, __all__ = lazy_exports(__name__)
