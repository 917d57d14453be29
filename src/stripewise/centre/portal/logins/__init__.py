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
    from stripewise.centre.portal.logins._settings import AccessSettings as AccessSettings
    from stripewise.centre.portal.logins._settings import AccountSettings as AccountSettings
    from stripewise.centre.portal.logins._settings import LocalSettings as LocalSettings
    from stripewise.centre.portal.logins._settings import OidcSettings as OidcSettings
    from stripewise.centre.portal.logins._settings import ProxySettings as ProxySettings
    from stripewise.centre.portal.logins._settings import read_settings as read_settings
else:
    __getattr__, __all__ = lazy_exports(__name__)
