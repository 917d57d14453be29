# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the portal about the storage, as a viewer sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from stripewise.centre.database._records import Record
from stripewise.centre.database.queries import NOBODY, Viewer
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.portal import PAGES
from stripewise.centre.portal import _serve_page as _render
from stripewise.centre.portal.pages._base import Page, PageRequest
from stripewise.present.blocks import Content
from stripewise.present.renderers import as_json
from support.storage_samples import NOW, viewer_named


def stored(engine: Engine, *records: Record) -> None:
    """Store records."""
    with engine.execution_options(writing=True).begin() as connection:
        Writer(connection).store(records)


def page_at(path: str) -> Page:
    """Return the page of a path as the registry has it."""
    return next(page for page in PAGES if page.path == path)


class Portal:
    """The pages of one database for one viewer.

    Attributes:
        engine: Of the database.
        viewer: Who looks: a user by name, somebody else, or nobody.
        advice: File with the advice of the site.
    """

    def __init__(
        self, engine: Engine, viewer: Viewer | str = NOBODY, advice: Path | None = None
    ) -> None:
        self.engine = engine
        self.viewer = viewer
        self.advice = advice

    def content(
        self, path: str, words: Mapping[str, str] | None = None, *, now: float = NOW + 30,
        **parts: str,
    ) -> Content | None:  # fmt: skip
        """Return what a page says."""
        page = page_at(path)
        with self.engine.connect() as connection:
            viewer = self._viewer(connection)
            assert page.audience.admits(viewer)
            request = PageRequest(
                connection, viewer, parts, words or {}, now, "Centre", self.advice
            )
            found = page.build(request)
        assert found is None or isinstance(found, Content)
        return found

    def data(self, path: str, words: Mapping[str, str] | None = None, **given: Any) -> Any:
        """Return the JSON of a page."""
        content = self.content(path, words, **given)
        assert content is not None
        return json.loads(as_json(content))

    def html(self, path: str, words: Mapping[str, str] | None = None, **given: Any) -> str:
        """Return the HTML of a page; no text of a database may have become an element."""
        content = self.content(path, words, **given)
        assert content is not None
        found = _render.html(content, _render.Frame(path, words or {}, "Storage", ()))
        assert set(Elements.of(found)) <= KNOWN_ELEMENTS
        return found

    def _viewer(self, connection: Connection) -> Viewer:
        return (
            viewer_named(connection, self.viewer) if isinstance(self.viewer, str) else self.viewer
        )


KNOWN_ELEMENTS = frozenset(
    "html head meta title link script body a header div nav ul li main h1 h2 h3 h4 h5 p section "
    "table caption thead tbody tr th td span time code pre dl dt dd small figure form label input "
    "select option button footer strong em ol hr blockquote details summary".split()
)


class Elements(HTMLParser):
    """Names of all elements of a page, and attributes that no page may have.

    Attributes:
        names: Of elements, as they come.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    @classmethod
    def of(cls, text: str) -> list[str]:
        """Return the elements of a page."""
        reader = cls()
        reader.feed(text)
        return reader.names

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.names.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name != "style", tag
            assert not (value or "").strip().lower().startswith("javascript:"), (tag, value)
            assert tag != "script" or name != "src" or (value or "").startswith("/static/")
