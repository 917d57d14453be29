# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Back ends by which people log in to the portal (a family), and their settings."""

from stripewise.web.logins._base import Arrival, Departure, Identity, Login, throttle_keys
from stripewise.web.logins._entrance import Entrance
from stripewise.web.logins._registry import make_logins
from stripewise.web.logins._settings import (
    AccessSettings,
    AccountSettings,
    LdapSettings,
    LocalSettings,
    LoginSettings,
    OidcSettings,
    ProxySettings,
    read_settings,
)

__all__ = [
    "AccessSettings",
    "AccountSettings",
    "Arrival",
    "Departure",
    "Entrance",
    "Identity",
    "LdapSettings",
    "LocalSettings",
    "Login",
    "LoginSettings",
    "OidcSettings",
    "ProxySettings",
    "make_logins",
    "read_settings",
    "throttle_keys",
]
