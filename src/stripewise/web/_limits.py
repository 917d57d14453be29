# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How often one address may ask, and how often a login may fail."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Sequence

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter, SlidingWindowCounterRateLimiter
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from stripewise.web._settings import ServerSettings
from stripewise.web.logins import IpNetwork, is_listed, throttle_keys


def client_of(request: Request, proxies: Sequence[IpNetwork]) -> str:
    """Return the address of a client: behind a listed proxy, what it says last.

    The header may come several times: what a client sent itself stands before what a proxy adds.
    """
    peer = request.client.host if request.client else ""
    if not is_listed(peer, proxies):
        return peer
    told = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    given = (one.strip() for one in reversed(told))
    return next((one for one in given if one and not is_listed(one, proxies)), peer)


class FailedLogins:
    """Counts logins that fail, by name and by address."""

    def __init__(self, settings: ServerSettings) -> None:
        self._item = RateLimitItemPerMinute(settings.logins_per_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._proxies = [ipaddress.ip_network(one) for one in settings.proxies]

    def wait_seconds(self, user: str, request: Request) -> int:
        """Return how long this name or address has to wait; 0: it may try."""
        keys = throttle_keys(user, client_of(request, self._proxies))
        waits = [
            self._limiter.get_window_stats(self._item, key).reset_time - time.time()
            for key in keys
            if not self._limiter.test(self._item, key)
        ]
        return max((math.ceil(max(wait, 1)) for wait in waits), default=0)

    def count(self, user: str, request: Request) -> None:
        """Count a login that failed."""
        for key in throttle_keys(user, client_of(request, self._proxies)):
            self._limiter.hit(self._item, key)


class RateLimit:
    """Refuses requests of an address that asks too often; files of the portal's own are free."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app = app
        self._item = RateLimitItemPerMinute(settings.requests_per_minute)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._proxies = [ipaddress.ip_network(one) for one in settings.proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"].startswith("/static/"):
            await self.app(scope, receive, send)
            return
        _, key = throttle_keys("", client_of(Request(scope), self._proxies))
        if self._limiter.hit(self._item, key):
            await self.app(scope, receive, send)
            return
        message = "Too many requests: wait a minute."
        answer = JSONResponse({"error": {"code": 429, "message": message}}, 429)
        answer.headers["retry-after"] = "60"
        await answer(scope, receive, send)
