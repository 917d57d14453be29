# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Serves a page as HTML, CSV or JSON: checks rights, builds its content, and writes the audit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, select
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from stripewise.centre.database import transaction
from stripewise.centre.database.accounts import record_access
from stripewise.centre.database.queries import Viewer
from stripewise.centre.database.tables import Ledger
from stripewise.centre.portal._gate import Gate, Guest
from stripewise.centre.portal._settings import PortalSettings
from stripewise.centre.portal.pages import all_pages
from stripewise.centre.portal.pages._base import Audience, Page, PageRequest, address
from stripewise.core.errors import UsageError
from stripewise.present.blocks import Content, Download
from stripewise.present.renderers import as_csv, as_json, slug, template_environment

FORMS = ("html", "json", "csv")


class Desk:
    """Serves the pages of one database.

    Attributes:
        engine: Engine of the database.
        gate: Identifies who sends a request.
        settings: Settings of the portal.
    """

    def __init__(self, engine: Engine, gate: Gate, settings: PortalSettings) -> None:
        self.engine = engine
        self.gate = gate
        self.settings = settings

    @contextmanager
    def connected(self, request: Request) -> Iterator[Connection]:
        """Yield the only connection of a request, whichever function needs it first."""
        held: Connection | None = getattr(request.state, "connection", None)
        if held is not None:
            yield held
            return
        with self.engine.connect() as connection:
            request.state.connection = connection
            try:
                yield connection
            finally:
                request.state.connection = None

    def endpoint(self, page: Page) -> Callable[[Request], Response]:
        """Return the function that answers requests for a page."""

        def answer(request: Request) -> Response:
            return self._answer(page, request)

        return answer

    def frame(self, connection: Connection, request: Request, guest: Guest) -> Frame:
        """Return the frame of a page that is not a `Page`."""
        return self._frame(connection, request, guest, {}, "")

    def _answer(self, page: Page, request: Request) -> Response:
        words = dict(request.query_params)
        form = words.pop("as", "html")
        if form not in FORMS:
            raise UsageError(f"as={form[:40]!r}: a page is shown as {', '.join(FORMS)}")
        with self.connected(request) as connection:
            guest = self.gate.guest(connection, request)
            if not page.audience.admits(guest.viewer):
                return self._not_admitted(page, request, guest, form)
            content = page.build(
                PageRequest(connection, guest.viewer, dict(request.path_params), words,
                      time.time(), self.settings.site.name, self.settings.site.advice)
            )  # fmt: skip
            if content is None:
                return self.missing(request)
            audited = content.audited
            if not audited and page.lists_others and guest.viewer.is_staff:
                audited = address(request.url.path, words)
            if audited:
                self.audit(connection, guest.viewer, audited)
            if isinstance(content, Download):
                return _download(content)
            if form == "json":
                return Response(as_json(content), media_type="application/json")
            if form == "csv":
                table = words.pop("table", "")
                return _csv(content, table)
            frame = self._frame(connection, request, guest, words, page.section)
            return HTMLResponse(html(content, frame))

    def missing(self, request: Request) -> Response:
        """Answer that nothing is there, whether it does not exist or may not be seen."""
        return self.error(request, 404, "There is nothing here",
                          "No such page, or none that you may see.")  # fmt: skip

    def error(
        self, request: Request, code: int, title: str, text: str, *, is_known: bool = True
    ) -> Response:
        """Answer with an error, as HTML or JSON.

        Args:
            request: Request that cannot be answered otherwise.
            code: HTTP status.
            title: Title, in a few words.
            text: Description of the error.
            is_known: Whether the page may name the logged-in user, which needs the database to
                work.
        """
        is_page = "as" not in request.query_params and not request.url.path.startswith("/api/")
        if not is_page:
            return JSONResponse({"error": {"code": code, "message": text}}, code)
        frame = Frame("/", {}, "", (), site=self.settings.site.name)
        try:
            if is_known:
                with self.connected(request) as connection:
                    guest = self.gate.guest(connection, request)
                    frame = self.frame(connection, request, guest)
        except Exception:  # the database itself may fail
            pass
        return HTMLResponse(template("error.html.j2", frame=frame, title=title, text=text), code)

    def _not_admitted(self, page: Page, request: Request, guest: Guest, form: str) -> Response:
        if page.audience is Audience.LOGIN and guest.viewer.role is None:
            if form == "html":
                target = address(request.url.path, dict(request.query_params))
                return RedirectResponse(address("/login", {"next": target}), 303)
            return JSONResponse({"error": {"code": 401, "message": "Log in first."}}, 401)
        return self.missing(request)

    def _frame(
        self,
        connection: Connection,
        request: Request,
        guest: Guest,
        words: Mapping[str, str],
        section: str,
    ) -> Frame:
        viewer = guest.viewer
        site = self.settings.site
        return Frame(
            request.url.path,
            words,
            section,
            menu_of(viewer),
            login=viewer.login,
            role=viewer.role or "",
            csrf=guest.csrf,
            site=site.name,
            help=site.help,
            fresh_at=connection.scalar(select(func.max(Ledger.at))),
        )

    def audit(self, connection: Connection, viewer: Viewer, target: str) -> None:
        """Record that a viewer looked at another user's data; reads before it end first."""
        with transaction(connection, writing=True):
            record_access(connection, viewer.login, target)


def menu_of(viewer: Viewer) -> list[tuple[str, str]]:
    """Return the menu entries for a viewer."""
    open_to: dict[str, Any] = {page.path: page.audience for page in PAGES}
    return [
        (title, target)
        for title, target in MENU
        if target in open_to and open_to[target].admits(viewer)
    ]


def _download(content: Download) -> Response:
    headers = {"content-disposition": f'attachment; filename="{content.name}"'}
    return Response(content.text, media_type=content.media_type, headers=headers)


def _csv(content: Content, table: str) -> Response:
    name = slug(content.title) or "page"
    headers = {"content-disposition": f'attachment; filename="{name}.csv"'}
    text = as_csv(content, table)
    return Response(text, media_type="text/csv", headers=headers)


# Makes HTML from the content of a page.


@dataclass(frozen=True)
class Frame:
    """Everything around the content of a page.

    Attributes:
        path: Path of the page.
        words: Parameters of its query.
        section: Menu entry to which it belongs.
        menu: (title, address) of the menu entries for this viewer.
        login: Name of the viewer's account; "" if nobody is logged in.
        role: Role of the viewer.
        csrf: CSRF token of the session; "" without a session.
        site: Name of the centre.
        help: Address of the centre's help desk.
        fresh_at: Time of the last ingest; None if there was none.
    """

    path: str
    words: Mapping[str, str]
    section: str
    menu: Sequence[tuple[str, str]]
    login: str = ""
    role: str = ""
    csrf: str = ""
    site: str = ""
    help: str = ""
    fresh_at: float | None = None

    def twin(self, form: str, table: str = "") -> str:
        """Return the address of this page as CSV or JSON."""
        return address(self.path, {**self.words, "as": form, "table": table})


def html(content: Content, frame: Frame) -> str:
    """Return the HTML of a page."""
    return template("page.html.j2", page=content, frame=frame)


def template(name: str, **values: Any) -> str:
    """Return a page without content from the database, such as the login form or an error."""
    return template_environment(_HERE).get_template(name).render(**values)


def prepare() -> None:
    """Load the templates of pages, which would otherwise delay the first pages."""
    environment = template_environment(_HERE)
    for name in ("page.html.j2", "blocks.html.j2", "error.html.j2", "login.html.j2"):
        environment.get_template(name)


_HERE = "stripewise.centre.portal"


# All pages, and the menu.

PAGES: tuple[Page, ...] = all_pages()
MENU = (
    ("My jobs", "/jobs"),
    ("Programs", "/programs"),
    ("Storage", "/storage"),
    ("Staff", "/staff"),
)
"""Menu entries; one whose page does not admit the viewer is left out."""
