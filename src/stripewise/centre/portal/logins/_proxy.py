# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A proxy in front of the portal that logs people in, and names them in a header."""

from __future__ import annotations

import hmac
import ipaddress
import logging
from collections.abc import Iterable

from stripewise.centre.portal._settings import ProxySettings
from stripewise.centre.portal.logins._base import Identity, Login, is_listed
from stripewise.present import printable

_log = logging.getLogger("stripewise.centre.portal")


class Proxy(Login):
    """The user of a header, if the socket's peer is a listed proxy and knows the secret.

    Everything else that brings such a header is somebody who pretends: the header is ignored, and
    the log says so.
    """

    name = "proxy"
    reads_headers = True

    def __init__(self, settings: ProxySettings) -> None:
        """Take the settings."""
        self._networks = [ipaddress.ip_network(text) for text in settings.networks]
        self._user_header = settings.user_header.lower()
        self._secret_header = settings.secret_header.lower()
        self._secret = settings.secret.get_secret_value().encode()

    def from_headers(self, peer: str, headers: Iterable[tuple[str, str]]) -> Identity | None:
        """Return whom a listed proxy names; None: nobody."""
        users: list[str] = []
        secrets: list[str] = []
        for key, value in headers:
            if key.lower() == self._user_header:
                users.append(value)
            elif key.lower() == self._secret_header:
                secrets.append(value)
        if not users and not secrets:
            return None
        if why := self._doubt(peer, users, secrets):
            _log.warning("login by a header ignored: %s (peer %s)", why, printable(peer[:64]))
            return None
        return Identity(users[0], self.name) if users[0] else None

    def _doubt(self, peer: str, users: list[str], secrets: list[str]) -> str:
        """Say why headers are not to be believed; "" if they are."""
        if not is_listed(peer, self._networks):
            return "the peer is not in login.proxy.networks"
        if len(secrets) != 1 or len(users) > 1:
            return "the user or the secret does not come exactly once"
        given = secrets[0].encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(given, self._secret):
            return "the secret is wrong"
        return "" if users else "no user is named"
