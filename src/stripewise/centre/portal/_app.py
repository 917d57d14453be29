# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Assembles the portal as a web application, with safe headers and clean addresses."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stripewise.centre.portal._api import PREFIX, ROUTES, ETags
from stripewise.centre.portal._entry import AccountPages, LoginPages
from stripewise.centre.portal._gate import Gate, PortalGate, RateLimit, Turns
from stripewise.centre.portal._serve_page import PAGES, Desk
from stripewise.centre.portal._settings import PortalSettings
from stripewise.centre.portal._workers import Elsewhere, Workers
from stripewise.centre.portal.logins._entrance import Entrance
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.present import printable
from stripewise.present.renderers import page_script

API_VERSION = "1.0"
_ABOUT = (
    "Statistics of the I/O of jobs, for programs. Send `Authorization: Bearer TOKEN`; tokens are "
    "made on the page of your account. Lists come in parts: give `next` of one as `after` of the "
    "following request. Answers have ETags. Within version 1 fields may be added; none changes."
)
_LOG = logging.getLogger("stripewise.centre.portal")


class _Key(IntegerConvertor):
    """A key in an address, with limited digits, as Python refuses to convert thousands."""

    regex = "[0-9]{1,18}"


register_url_convertor("int", _Key())


def create_app(
    engine: Engine,
    gate: Gate | None = None,
    settings: PortalSettings | None = None,
    workers: Workers | None = None,
) -> FastAPI:
    """Return the portal of a database.

    Args:
        engine: Engine of the database, whose tables are up to date.
        gate: Identifies who sends a request; None to use accounts, with which people can log in.
        settings: Settings of the portal.
        workers: Processes that make pages, once they have started; None to make them in this one.

    Raises:
        RuntimeMissingError: A way to log in needs something that is not installed.
    """
    settings = settings or PortalSettings()
    app = FastAPI(
        title="Stripewise portal",
        version=API_VERSION,
        description=_ABOUT,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    own = gate or PortalGate(engine, settings, Entrance(settings, engine, callback(settings)))
    desk = Desk(engine, own, settings)
    for routes in ROUTES:
        app.include_router(routes(desk).router)
    if isinstance(own, PortalGate):
        LoginPages(desk, own).add_to(app)
        AccountPages(desk, own).add_to(app)
    for page in PAGES:
        app.add_route(page.path, desk.endpoint(page), methods=["GET"], include_in_schema=False)
    app.mount("/static", Static())
    _handle_errors(app, desk)
    app.add_middleware(ETags, prefix=PREFIX)
    if workers is not None:
        app.add_middleware(Elsewhere, workers=workers)
    if isinstance(own, PortalGate):
        app.add_middleware(Turns, settings=settings.server)
        app.add_middleware(RateLimit, settings=settings.server)
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=_hosts(settings))
    app.add_middleware(WithoutNul)
    app.add_middleware(SafeHeaders, is_secure=settings.server.is_secure)
    return app


class Static(StaticFiles):
    """Serves the static files, and the script of the pages, which is made on first use."""

    def __init__(self) -> None:
        super().__init__(
            packages=[("stripewise.centre.portal", "static"), ("stripewise.present", "static")]
        )

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer one request; the script may be cached, as its address changes with it."""
        if path != "page.js" or scope["method"] not in ("GET", "HEAD"):
            return await super().get_response(path, scope)
        script, request_headers = page_script(), Headers(scope=scope)
        coding = "gzip" if "gzip" in request_headers.get("accept-encoding", "") else "identity"
        headers = {"etag": f'"{script.version}-{coding}"', "vary": "accept-encoding", **_KEPT_LONG}
        if self.is_not_modified(Headers(headers), request_headers):
            return Response(status_code=304, headers=headers)
        body: str | bytes = await run_in_threadpool(lambda: script.text)
        if coding == "gzip":
            headers["content-encoding"] = coding
            body = await run_in_threadpool(lambda: script.compressed)
        return Response(body, headers=headers, media_type="text/javascript")


_KEPT_LONG = {"cache-control": "public, max-age=31536000, immutable"}


def callback(settings: PortalSettings) -> str:
    """Return the address to which identity providers send browsers back."""
    return f"{settings.server.origin}/login/oidc/callback"


def _hosts(settings: PortalSettings) -> list[str]:
    """Return the host names that are accepted in requests, so that other names are refused."""
    name = urlsplit(settings.server.origin).hostname or ""
    name = f"[{name}]" if ":" in name else name
    return [name] if settings.server.url else list(dict.fromkeys([name, "localhost", "127.0.0.1"]))


def _handle_errors(app: FastAPI, desk: Desk) -> None:
    def unusable(request: Request, error: Exception) -> Response:
        return desk.error(request, 400, "This cannot be shown", f"{error}.")

    def refused(request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 500
        if code == 404:
            return desk.missing(request)
        if code == 401:
            answer = desk.error(request, 401, "Log in first", "Send a valid token, or log in.")
            answer.headers["www-authenticate"] = "Bearer"
            return answer
        text = "This address does not take such a request." if code == 405 else "Not accepted."
        return desk.error(request, code, "This was not accepted", text)

    def unreachable(request: Request, error: Exception) -> Response:
        _LOG.error("%s: %s", printable(request.url.path), error)
        answer = desk.error(request, 503, "The database does not answer",
                            "Try again in a few minutes.", is_known=False)  # fmt: skip
        answer.headers["retry-after"] = "60"
        return answer

    def broken(request: Request, error: Exception) -> Response:
        # The server logs the traceback; this answer bypasses all middleware.
        text = "The portal failed here; its log has the reason. Please tell its staff."
        answer = desk.error(request, 500, "This does not work", text, is_known=False)
        answer.headers.update(safe_headers(is_secure=desk.settings.server.is_secure))
        return answer

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        name = ".".join(str(one) for one in first["loc"][1:])
        text = f"{printable(name)[:60]}: {first['msg']}."
        return desk.error(request, 400, "This cannot be shown", text)

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(UsageError, unusable)
    app.add_exception_handler(StripewiseError, unreachable)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, broken)
    app.add_exception_handler(DBAPIError, unreachable)
    app.add_exception_handler(PoolTimeout, unreachable)


# Security headers of every answer of the portal.

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_YEAR_SECONDS = 365 * 86400


def safe_headers(*, is_secure: bool) -> dict[str, str]:
    """Return the headers for answers that do not set them otherwise.

    Args:
        is_secure: Whether browsers reach the portal by https.
    """
    headers = {**_HEADERS, "cache-control": "no-store"}
    if is_secure:
        headers["strict-transport-security"] = f"max-age={_YEAR_SECONDS}"
    return headers


class SafeHeaders:
    """Adds the headers to every answer; caches store nothing from the database."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self.app = app
        self.headers = safe_headers(is_secure=is_secure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_safely if scope["type"] == "http" else send)


# NUL in addresses, which no name contains and which PostgreSQL refuses.

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class WithoutNul:
    """Replaces NUL by the replacement character, as for bytes that are not UTF-8."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            query: bytes = scope["query_string"]
            for nul in (b"%00", b"\0"):
                query = query.replace(nul, b"%EF%BF%BD")
            scope = {
                **scope,
                "path": scope["path"].replace("\0", _UNKNOWN),
                "query_string": query,
            }
        await self.app(scope, receive, send)
