# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Infers the limits of a storage from campaigns, and tests common laws about storage."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench.limits._cells import Law as Law
    from stripewise.bench.limits._cells import Limit as Limit
    from stripewise.bench.limits._cells import Limits as Limits
    from stripewise.bench.limits._cells import Predicted as Predicted
    from stripewise.bench.limits._cells import results_of as results_of
    from stripewise.bench.limits._find import find_limits as find_limits
else:
    __getattr__, __all__ = lazy_exports(__name__)
