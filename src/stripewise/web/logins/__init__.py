# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Back ends by which people log in to the portal (a family), and their settings."""

from stripewise.web.logins._base import (
    Arrival,
    Departure,
    Identity,
    IpNetwork,
    Login,
    is_listed,
    throttle_keys,
)
from stripewise.web.logins._entrance import Entrance
from stripewise.web.logins._registry import make_logins
from stripewise.web.logins._settings import (
    AccessSettings,
    AccountSettings,
    LocalSettings,
    LoginSettings,
    Network,
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
    "IpNetwork",
    "LocalSettings",
    "Login",
    "LoginSettings",
    "Network",
    "OidcSettings",
    "ProxySettings",
    "is_listed",
    "make_logins",
    "read_settings",
    "throttle_keys",
]
