# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The back ends that the settings switch on."""

from __future__ import annotations

from stripewise.fleet.accounts import Accounts, Attempts
from stripewise.web.logins._base import Login
from stripewise.web.logins._local import Local
from stripewise.web.logins._oidc import Oidc
from stripewise.web.logins._proxy import Proxy
from stripewise.web.logins._settings import LoginSettings


def make_logins(
    settings: LoginSettings, accounts: Accounts, attempts: Attempts, callback_url: str
) -> tuple[Login, ...]:
    """Return the back ends, in the order in which they are asked.

    Args:
        settings: Of all of them.
        accounts: The local ones.
        attempts: Logins under way.
        callback_url: Address of the portal that identity providers send browsers back to.

    Raises:
        RuntimeMissingError: What one needs is not installed.
    """
    made: list[Login] = []
    if settings.local.enabled:
        made.append(Local(accounts))
    if settings.oidc is not None:
        made.append(Oidc(settings.oidc, attempts, callback_url))
    if settings.proxy is not None:
        made.append(Proxy(settings.proxy))
    return tuple(made)
