# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The page of one's own account: tokens for programs, made, shown once, revoked."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from stripewise.errors import UsageError
from stripewise.text import printable
from stripewise.web import _render
from stripewise.web._forms import form_of, is_own_form
from stripewise.web._gate import Guest, PortalGate
from stripewise.web._serve_page import Desk


class AccountPages:
    """The routes of one's own account."""

    def __init__(self, desk: Desk, gate: PortalGate) -> None:
        self.desk = desk
        self.gate = gate

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        for path, call, method in (
            ("/account", self.show, "GET"),
            ("/account/tokens", self.make, "POST"),
            ("/account/tokens/{token:int}/revoke", self.revoke, "POST"),
        ):
            app.add_route(path, call, methods=[method], include_in_schema=False)

    def show(self, request: Request) -> Response:
        """Show the account."""
        return self._page(request)

    async def make(self, request: Request) -> Response:
        """Make a token, and show it once."""
        return await run_in_threadpool(self._make, request, await form_of(request))

    def _make(self, request: Request, form: Mapping[str, str]) -> Response:
        guest = self._guest(request)
        if not self._may(request, guest, form):
            return self._refused(request)
        scopes = ["read", "read:files"] if form.get("files") else ["read"]
        try:
            days = int(form.get("days", ""))
            name = printable(form.get("name", "")).strip()
            login = guest.viewer.login
            secret, _ = self.gate.tokens.make(login, name, scopes, by=login, days=days)
        except UsageError as error:
            return self._page(request, trouble=f"{error}.", code=400)
        except (ValueError, OverflowError):
            return self._page(request, trouble="Give the number of days as a number.", code=400)
        return self._page(request, secret=secret)

    async def revoke(self, request: Request) -> Response:
        """Revoke a token of one's own."""
        return await run_in_threadpool(self._revoke, request, await form_of(request))

    def _revoke(self, request: Request, form: Mapping[str, str]) -> Response:
        guest = self._guest(request)
        if not self._may(request, guest, form):
            return self._refused(request)
        number = request.path_params["token"]
        if not 0 < number < 1 << 62:
            return self.desk.missing(request)
        try:
            login = guest.viewer.login
            self.gate.tokens.revoke(number, by=login, login=login)
        except UsageError:
            return self.desk.missing(request)
        return RedirectResponse("/account", 303)

    def _guest(self, request: Request) -> Guest:
        with self.desk.connected(request) as connection:
            return self.gate.guest(connection, request)

    def _may(self, request: Request, guest: Guest, form: Mapping[str, str]) -> bool:
        is_own = is_own_form(request, self.desk.settings.server)
        return is_own and guest.viewer.role is not None and guest.sent(form.get("csrf", ""))

    def _refused(self, request: Request) -> Response:
        text = "The form is old or came from elsewhere; load the page again."
        return self.desk.error(request, 403, "This was not accepted", text)

    def _page(
        self, request: Request, *, secret: str = "", trouble: str = "", code: int = 200
    ) -> Response:
        with self.desk.connected(request) as connection:
            guest = self.gate.guest(connection, request)
            frame = self.desk.frame(connection, request, guest)
        if guest.viewer.role is None or not guest.csrf:  # nor is a token shown its siblings
            return RedirectResponse("/login?next=/account", 303)
        tokens = self.gate.tokens.list(guest.viewer.login)
        text = _render.template(
            "account.html.j2", frame=frame, tokens=tokens, secret=secret, trouble=trouble,
            most_days=self.gate.tokens.limits.token_days,
        )  # fmt: skip
        return HTMLResponse(text, code)
