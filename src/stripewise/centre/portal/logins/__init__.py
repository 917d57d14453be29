# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Back ends by which people log in to the portal."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.centre.portal.logins._base import Departure as Departure
    from stripewise.centre.portal.logins._base import Identity as Identity
    from stripewise.centre.portal.logins._base import Login as Login
    from stripewise.centre.portal.logins._base import throttle_keys as throttle_keys
    from stripewise.centre.portal.logins._entrance import Entrance as Entrance
else:
    __getattr__, __all__ = lazy_exports(__name__)
