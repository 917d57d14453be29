# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs people in and out, and shows the page of the user's own account with its tokens."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from stripewise.centre.database.accounts import Account
from stripewise.centre.portal import _serve_page as _render
from stripewise.centre.portal._gate import FailedLogins, Guest, PortalGate, form_of, is_own_form
from stripewise.centre.portal._serve_page import Desk
from stripewise.centre.portal.pages._base import address, is_own
from stripewise.core.errors import LoginError, LoginServiceError, UsageError
from stripewise.present import printable

_WRONG = "Name or password is wrong."
_ATTEMPT = "stripewise-attempt"
_ATTEMPT_SECONDS = 600


class LoginPages:
    """Pages for logging in and out."""

    def __init__(self, desk: Desk, gate: PortalGate) -> None:
        self.desk = desk
        self.gate = gate
        self.server = desk.settings.server
        self.failed = FailedLogins(self.server)
        # without the prefix, another host of the domain could set it, and have its own login end
        # here
        self.attempt = f"__Host-{_ATTEMPT}" if self.server.is_secure else _ATTEMPT

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        for path, call, method in (
            ("/login", self.show, "GET"),
            ("/login", self.try_password, "POST"),
            ("/logout", self.leave, "POST"),
            ("/login/{name}", self.depart, "GET"),
            ("/login/{name}/callback", self.arrive, "GET"),
        ):
            app.add_route(path, call, methods=[method], include_in_schema=False)

    def show(self, request: Request) -> Response:
        """Show the login form."""
        return self._page(request, request.query_params.get("next", ""))

    async def try_password(self, request: Request) -> Response:
        """Log a user in by name and password."""
        form = await form_of(request)
        return await run_in_threadpool(self._try, request, form)

    def _try(self, request: Request, form: Mapping[str, str]) -> Response:
        user, target = form.get("user", "").strip(), form.get("next", "")
        if not is_own_form(request, self.server):
            return self._page(request, target, "The form came from elsewhere; try again.", 403)
        if wait := self.failed.wait_seconds(user, request):
            text = f"Too many attempts; wait {wait} s."
            answer = self._page(request, target, text, 429)
            answer.headers["retry-after"] = str(wait)
            return answer
        try:
            account = self.gate.entrance.by_password(user, form.get("secret", ""))
            if account is None:
                self.failed.count(user, request)
                return self._page(request, target, _WRONG, 401)
            return self._enter(request, account, target, "password")
        except LoginError as error:
            return self._page(request, target, _sentence(error), 403)

    def depart(self, request: Request) -> Response:
        """Redirect a user to an identity provider."""
        target = request.query_params.get("next", "")
        try:
            departure = self.gate.entrance.leave(
                request.path_params["name"], target if is_own(target) else "/"
            )
        except LoginError as error:
            return self._page(request, target, _sentence(error), 404)
        except LoginServiceError as error:
            return self._page(request, target, _sentence(error), 503)
        answer = RedirectResponse(departure.url, 303)
        self._set(answer, self.attempt, departure.cookie, _ATTEMPT_SECONDS)
        return answer

    def arrive(self, request: Request) -> Response:
        """Process the return of a user from an identity provider."""
        cookie = request.cookies.get(self.attempt, "")
        name = request.path_params["name"]
        try:
            account, target = self.gate.entrance.come_back(name, request.query_params, cookie)
            answer = self._enter(request, account, target, name)
        except LoginError as error:
            answer = self._page(request, "", _sentence(error), 403)
        except LoginServiceError as error:
            answer = self._page(request, "", _sentence(error), 503)
        answer.delete_cookie(self.attempt, path="/", secure=self.server.is_secure)
        return answer

    async def leave(self, request: Request) -> Response:
        """Log a user out."""
        form = await form_of(request)
        return await run_in_threadpool(self._leave, request, form)

    def _leave(self, request: Request, form: Mapping[str, str]) -> Response:
        with self.desk.connected(request) as connection:
            guest = self.gate.guest(connection, request)
        if not is_own_form(request, self.server) or not guest.sent(form.get("csrf", "")):
            return self.desk.error(request, 403, "This was not accepted",
                                   "The form has expired or came from elsewhere.")  # fmt: skip
        self.gate.sessions.end(request.cookies.get(self.gate.cookie, ""))
        answer = RedirectResponse("/", 303)
        answer.delete_cookie(self.gate.cookie, path="/", secure=self.server.is_secure)
        answer.headers["clear-site-data"] = '"cache"'
        return answer

    def _enter(self, request: Request, account: Account, target: str, backend: str) -> Response:
        old = request.cookies.get(self.gate.cookie, "")
        session = self.gate.sessions.start(account, backend=backend, old=old)
        answer = RedirectResponse(target if is_own(target) else "/", 303)
        self._set(answer, self.gate.cookie, session.secret, None)
        return answer

    def _set(self, answer: Response, name: str, value: str, seconds: int | None) -> None:
        answer.set_cookie(
            name, value, max_age=seconds, path="/", secure=self.server.is_secure, httponly=True,
            samesite="lax",
        )  # fmt: skip

    def _page(self, request: Request, target: str, trouble: str = "", code: int = 200) -> Response:
        with self.desk.connected(request) as connection:
            guest = self.gate.guest(connection, request)
            frame = self.desk.frame(connection, request, guest)
        words = {"next": target if is_own(target) else ""}
        providers = [
            (title or name, address(f"/login/{name}", words))
            for name, title in self.gate.entrance.providers.items()
        ]
        text = _render.template(
            "login.html.j2", frame=frame, trouble=trouble, next=words["next"],
            has_form=self.gate.entrance.has_form, providers=providers,
        )  # fmt: skip
        return HTMLResponse(text, code)


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


# The page of the user's own account: tokens for programs are made, shown once, and revoked.


class AccountPages:
    """Pages of the user's own account."""

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
        """Create a token, and show it once."""
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
        """Revoke a token of the user."""
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
        text = "The form has expired or came from elsewhere; load the page again."
        return self.desk.error(request, 403, "This was not accepted", text)

    def _page(
        self, request: Request, *, secret: str = "", trouble: str = "", code: int = 200
    ) -> Response:
        with self.desk.connected(request) as connection:
            guest = self.gate.guest(connection, request)
            frame = self.desk.frame(connection, request, guest)
        if guest.viewer.role is None or not guest.csrf:  # a token must not reveal other tokens
            return RedirectResponse("/login?next=/account", 303)
        tokens = self.gate.tokens.list(guest.viewer.login)
        text = _render.template(
            "account.html.j2", frame=frame, tokens=tokens, secret=secret, trouble=trouble,
            most_days=self.gate.tokens.limits.token_days,
        )  # fmt: skip
        return HTMLResponse(text, code)
