# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits descriptions of storage to measurements."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.storage.fit._fit import Fitted as Fitted
    from stripewise.storage.fit._fit import blank_storage as blank_storage
    from stripewise.storage.fit._fit import fit_figures as fit_figures
    from stripewise.storage.fit._fit import fit_results as fit_results
    from stripewise.storage.fit._predict import ModelCase as ModelCase
    from stripewise.storage.fit._predict import bandwidth as bandwidth
else:
    __getattr__, __all__ = lazy_exports(__name__)
