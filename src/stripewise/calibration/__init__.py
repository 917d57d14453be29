# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions fitted to measurements."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.calibration._blank import blank_storage as blank_storage
    from stripewise.calibration._cases import Case as Case
    from stripewise.calibration._fit import Fitted as Fitted
    from stripewise.calibration._fit import fit_figures as fit_figures
    from stripewise.calibration._fit import fit_results as fit_results
    from stripewise.calibration._predict import bandwidth as bandwidth
else:
    __getattr__, __all__ = lazy_exports(__name__)
