# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who sends a request: by a token, a session, or the word of a trusted proxy."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass

from sqlalchemy import Connection, Engine
from starlette.requests import Request

from stripewise.errors import LoginError
from stripewise.fleet.accounts import Sessions, Tokens
from stripewise.fleet.queries import NOBODY, Viewer, viewer_of
from stripewise.web._settings import PortalSettings
from stripewise.web.logins import Entrance


@dataclass(frozen=True)
class Guest:
    """Who sends a request.

    Attributes:
        viewer: `NOBODY` if they are not logged in.
        csrf: Secret of their session that forms carry; "" without a session.
    """

    viewer: Viewer = NOBODY
    csrf: str = ""

    def sent(self, csrf: str) -> bool:
        """Whether a form comes from a page that this guest was shown."""
        return bool(self.csrf) and hmac.compare_digest(self.csrf.encode(), csrf.encode())


class Gate(ABC):
    """Tells who sends a request.

    It works on the connection of the request, and ends transactions there: it is asked before
    anything else is read.
    """

    @abstractmethod
    def guest(self, connection: Connection, request: Request) -> Guest:
        """Return who sends a request."""


class PortalGate(Gate):
    """The gate of a portal with accounts.

    Attributes:
        cookie: Name of the cookie of a session.
    """

    def __init__(self, engine: Engine, settings: PortalSettings, entrance: Entrance) -> None:
        limits = settings.accounts.limits()
        self.cookie = "__Host-stripewise" if settings.server.is_secure else "stripewise"
        self.sessions = Sessions(engine, limits)
        self.tokens = Tokens(engine, limits)
        self.entrance = entrance
        self._key = secrets.token_bytes(32)

    def guest(self, connection: Connection, request: Request) -> Guest:
        """Return who sends a request; whatever proves nothing makes them nobody.

        A header of another scheme than Bearer is not for the portal: a proxy that logs people in
        by Kerberos or by a password hands on what browsers send it.
        """
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._by_token(connection, secret.strip())
        if secret := request.cookies.get(self.cookie, ""):
            visit = self.sessions.find(secret, connection)
            if visit is not None:
                return Guest(viewer_of(connection, visit.account.login), visit.csrf)
        return self._by_headers(connection, request)

    def _by_token(self, connection: Connection, secret: str) -> Guest:
        bearer = self.tokens.find(secret, connection)
        if bearer is None or "read" not in bearer.scopes:
            return Guest()
        names = "read:files" in bearer.scopes
        return Guest(viewer_of(connection, bearer.account.login, may_read_names=names))

    def _by_headers(self, connection: Connection, request: Request) -> Guest:
        peer = request.client.host if request.client else ""
        try:
            account = self.entrance.by_headers(peer, request.headers.items(), connection)
        except LoginError:
            return Guest()
        if account is None:
            return Guest()
        message = f"csrf {account.login}".encode()
        csrf = hmac.new(self._key, message, hashlib.sha256).hexdigest()
        return Guest(viewer_of(connection, account.login), csrf)
