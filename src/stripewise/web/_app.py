# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The portal as an application for a web server."""

from __future__ import annotations

import logging
from importlib.resources import files
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from stripewise.errors import StripewiseError, UsageError
from stripewise.text import printable
from stripewise.web._account import AccountPages
from stripewise.web._entry import Entry
from stripewise.web._gate import Gate, PortalGate
from stripewise.web._headers import SafeHeaders, safe_headers
from stripewise.web._limits import RateLimit
from stripewise.web._nul import WithoutNul
from stripewise.web._serve_page import Desk
from stripewise.web._settings import PortalSettings
from stripewise.web._turns import Turns
from stripewise.web._workers import Elsewhere, Workers
from stripewise.web.api import PREFIX, ROUTES, ETags
from stripewise.web.logins import Entrance
from stripewise.web.pages import PAGES

API_VERSION = "1.0"
_ABOUT = (
    "Statistics of the I/O of jobs, for programs. Send `Authorization: Bearer TOKEN`; tokens are "
    "made on the page of your account. Lists come in parts: give `next` of one as `after` of the "
    "following request. Answers have ETags. Within version 1 fields may be added; none changes."
)
_LOG = logging.getLogger("stripewise.web")


class _Key(IntegerConvertor):
    """A key in an address: Python refuses to read a number of thousands of digits."""

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
        engine: Of the database, whose tables are up to date.
        gate: Tells who sends a request; None: accounts do, and people can log in.
        settings: Of the portal.
        workers: Processes that make pages, once they have begun; None: this one makes them.

    Raises:
        RuntimeMissingError: What a way to log in needs is not installed.
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
        Entry(desk, own).add_to(app)
        AccountPages(desk, own).add_to(app)
    for page in PAGES:
        app.add_route(page.path, desk.endpoint(page), methods=["GET"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=str(files("stripewise.web") / "static")))
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


def callback(settings: PortalSettings) -> str:
    """Return the address that identity providers send browsers back to."""
    return f"{settings.server.origin}/login/oidc/callback"


def _hosts(settings: PortalSettings) -> list[str]:
    """Return the names that requests may be for: another site's name is no way in."""
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
        # The server notes the trace; this answer goes past all middleware.
        text = "The portal failed here, and its log says why. Tell its staff."
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
