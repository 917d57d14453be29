# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A year of a synthetic centre, to look at the portal and for tests; nothing was measured."""

from synthetic_centre._centre import JOBS, Centre, make_centre
from synthetic_centre._logins import Login, open_accounts
from synthetic_centre._survey import CASES, Case

__all__ = ["CASES", "JOBS", "Case", "Centre", "Login", "make_centre", "open_accounts"]
