# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Determines who sends a request and from which page, limits requests, and queues them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import math
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter, SlidingWindowCounterRateLimiter
from sqlalchemy import Connection, Engine
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stripewise.centre.database.accounts import Sessions, Tokens
from stripewise.centre.database.queries import NOBODY, Viewer, viewer_of
from stripewise.centre.portal._settings import LOGINS_AT_ONCE, PortalSettings, ServerSettings
from stripewise.centre.portal.logins._base import IpNetwork, is_listed, throttle_keys
from stripewise.centre.portal.logins._entrance import Entrance
from stripewise.core.errors import LoginError


@dataclass(frozen=True)
class Guest:
    """The sender of a request.

    Attributes:
        viewer: The viewer; `NOBODY` if not logged in.
        csrf: Secret of the session that forms contain; "" without a session.
    """

    viewer: Viewer = NOBODY
    csrf: str = ""

    def sent(self, csrf: str) -> bool:
        """Return whether a form comes from a page that was shown to this guest."""
        return bool(self.csrf) and hmac.compare_digest(self.csrf.encode(), csrf.encode())


class Gate(ABC):
    """Identifies who sends a request.

    It uses the connection of the request, and ends transactions on it, so it must be called before
    anything else is read.
    """

    @abstractmethod
    def guest(self, connection: Connection, request: Request) -> Guest:
        """Return who sends a request."""


class PortalGate(Gate):
    """The gate of a portal with accounts.

    Attributes:
        cookie: Name of the session cookie.
    """

    def __init__(self, engine: Engine, settings: PortalSettings, entrance: Entrance) -> None:
        limits = settings.accounts.limits()
        self.cookie = "__Host-stripewise" if settings.server.is_secure else "stripewise"
        self.sessions = Sessions(engine, limits)
        self.tokens = Tokens(engine, limits)
        self.entrance = entrance
        self._key = secrets.token_bytes(32)

    def guest(self, connection: Connection, request: Request) -> Guest:
        """Return who sends a request; without proof of identity, it is nobody.

        A header of another scheme than Bearer is not meant for the portal: a proxy that logs users
            in by Kerberos or by a password passes on what browsers send to it.
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


# Forms that change something, which must come from the portal's own pages.

MOST_BYTES = 16_384
_FORM = "application/x-www-form-urlencoded"


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form; of several with the same name, the last.

    Raises:
        HTTPException: It is not a form, or too large.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise HTTPException(415)
    length = 0
    parts = []
    async for part in request.stream():
        length += len(part)
        if length > MOST_BYTES:
            raise HTTPException(413)
        parts.append(part)
    request._body = b"".join(parts)
    found = await request.form(max_fields=40)
    return {name: value for name, value in found.items() if not isinstance(value, UploadFile)}


def is_own_form(request: Request, server: ServerSettings) -> bool:
    """Return whether a browser sends a form from a page of this portal.

    Browsers send the origin with every form that changes something; a client that sends none is
    not a browser, and has no cookies that others could misuse.
    """
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return True
    host = request.headers.get("host", "")
    own = {server.origin} if server.url else {f"http://{host}", f"https://{host}"}
    return origin in own


# Limits on the requests of one address, and on failed logins.


def client_of(request: Request, proxies: Sequence[IpNetwork]) -> str:
    """Return the address of a client; behind a listed proxy, the last one that it reports.

    The header may occur several times: what a client sends itself precedes what a proxy adds.
    """
    peer = request.client.host if request.client else ""
    if not is_listed(peer, proxies):
        return peer
    addresses = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    given = (one.strip() for one in reversed(addresses))
    return next((one for one in given if one and not is_listed(one, proxies)), peer)


class FailedLogins:
    """Counts failed logins, by name and by address."""

    def __init__(self, settings: ServerSettings) -> None:
        self._item = RateLimitItemPerMinute(settings.logins_per_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._proxies = [ipaddress.ip_network(one) for one in settings.proxies]

    def wait_seconds(self, user: str, request: Request) -> int:
        """Return how many seconds this name or address has to wait; 0 if it may try."""
        keys = throttle_keys(user, client_of(request, self._proxies))
        waits = [
            self._limiter.get_window_stats(self._item, key).reset_time - time.time()
            for key in keys
            if not self._limiter.test(self._item, key)
        ]
        return max((math.ceil(max(wait, 1)) for wait in waits), default=0)

    def count(self, user: str, request: Request) -> None:
        """Count a failed login."""
        for key in throttle_keys(user, client_of(request, self._proxies)):
            self._limiter.hit(self._item, key)


class RateLimit:
    """Refuses requests of an address that sends too many, except those for static files."""

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


# Limits how many requests are processed at a time; the others queue.

WAIT_SECONDS = 30.0
"""Longest wait of a request for its turn, after which it is refused."""
_FILES_AT_ONCE = 16


class Turns:
    """Lets a limited number of requests into the portal, in the order in which they arrived.

    The limit is the number of connections to the database: a request that waited for a connection
    inside the portal would occupy a thread meanwhile. The turn begins when the request has arrived
    completely and ends when its answer is made, so that a slow client does not occupy one. A
    client that has disconnected passes its turn to the next. Static files have turns of their own,
    since each takes a descriptor.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app = app
        self._pages = asyncio.Semaphore(settings.requests_at_once)
        self._logins = asyncio.Semaphore(LOGINS_AT_ONCE)
        self._files = asyncio.Semaphore(_FILES_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client = _Client(receive)
        await client.read()
        turns = self._turns_for(scope)
        answer: list[Message] = []

        async def keep(message: Message) -> None:
            answer.append(message)

        has_turn = False
        try:
            has_turn = await _turn(turns, client)
            if client.is_gone:
                return
            await (self.app if has_turn else _overfull)(scope, client.say, keep)
        finally:
            if has_turn:
                turns.release()
            client.forget()
        for message in answer:
            await send(message)

    def _turns_for(self, scope: Scope) -> asyncio.Semaphore:
        if scope["path"].startswith("/static/"):
            return self._files
        return self._logins if _is_login(scope) else self._pages


async def _turn(turns: asyncio.Semaphore, client: _Client) -> bool:
    """Wait for a turn; return False if that takes too long, or the client has gone."""
    if not turns.locked():
        return await turns.acquire()
    turn = asyncio.ensure_future(turns.acquire())
    try:
        awaited: set[asyncio.Future[Any]] = {turn, *client.leaving()}
        await asyncio.wait(awaited, timeout=WAIT_SECONDS,
                           return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
        return turn.done()
    finally:
        if not turn.done():
            turn.cancel()


class _Client:
    """A client's request, read before its turn and then passed to the portal.

    Attributes:
        is_gone: Whether it has closed the connection, or was cut off.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._sent: list[Message] = []
        self._is_whole = False
        self._leaving: asyncio.Future[Message] | None = None
        self.is_gone = False

    async def read(self) -> None:
        """Read the body, unless it is larger than the portal accepts."""
        length = 0
        while not self._is_whole and length <= MOST_BYTES:
            message = await self._receive()
            self._sent.append(message)
            length += len(message.get("body", b""))
            self.is_gone = message["type"] == "http.disconnect"
            self._is_whole = not message.get("more_body", False)

    def leaving(self) -> set[asyncio.Future[Message]]:
        """Return the futures that complete when the client disconnects."""
        if not self._is_whole:
            return set()
        self._leaving = asyncio.ensure_future(self._leave())
        return {self._leaving}

    async def _leave(self) -> Message:
        message = await self._receive()
        self.is_gone = message["type"] == "http.disconnect"
        return message

    def forget(self) -> None:
        """Stop waiting for the client to disconnect."""
        if self._leaving is not None:
            self._leaving.cancel()

    async def say(self) -> Message:
        """Provide messages to the portal in place of `receive`."""
        if self._sent:
            return self._sent.pop(0)
        return await (self._leaving or self._receive())


def _is_login(scope: Scope) -> bool:
    """Return whether a request may wait for an identity provider, or computes a password hash."""
    path: str = scope["path"]
    return path.startswith("/login/") or (path == "/login" and scope["method"] == "POST")


async def _overfull(scope: Scope, receive: Receive, send: Send) -> None:
    message = "The portal has too much to do: try again in a moment."
    answer = JSONResponse({"error": {"code": 503, "message": message}}, 503)
    answer.headers["retry-after"] = "10"
    await answer(scope, receive, send)
