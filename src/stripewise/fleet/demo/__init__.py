# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A year of a synthetic centre, to look at the portal and for tests; nothing was measured."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.fleet.demo._centre import JOBS as JOBS
    from stripewise.fleet.demo._centre import Centre as Centre
    from stripewise.fleet.demo._centre import make_centre as make_centre
    from stripewise.fleet.demo._logins import Login as Login
    from stripewise.fleet.demo._logins import open_accounts as open_accounts
    from stripewise.fleet.demo._survey import CASES as CASES
    from stripewise.fleet.demo._survey import Case as Case
else:
    __getattr__, __all__ = lazy_exports(__name__)
