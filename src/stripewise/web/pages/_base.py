# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a page of the portal is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection

from stripewise.fleet.queries import Viewer
from stripewise.web.content import Content, Download


class Audience(StrEnum):
    """Who may open a page; what it shows them is the queries' affair."""

    PUBLIC = "public"
    LOGIN = "login"
    STAFF = "staff"
    ADMIN = "admin"

    def admits(self, viewer: Viewer) -> bool:
        """Whether a viewer may open such a page."""
        if self is Audience.PUBLIC:
            return True
        if self is Audience.LOGIN:
            return viewer.role is not None
        return viewer.is_admin if self is Audience.ADMIN else viewer.is_staff


@dataclass(frozen=True)
class Asked:
    """What is asked of a page.

    Attributes:
        connection: To the database, to read.
        viewer: Who asks.
        path: Parts of the path by name, as integers or text.
        words: Of the query; the last of several with one name.
        now: Seconds since 1970.
        site: Name of the centre.
        advice: File with advice of the site; None: there is none.
    """

    connection: Connection
    viewer: Viewer
    path: Mapping[str, int | str]
    words: Mapping[str, str]
    now: float
    site: str = ""
    advice: Path | None = None


class Page(ABC):
    """A page of the portal.

    Attributes:
        path: As Starlette writes it: "/jobs/{job:int}".
        section: Entry of the menu under which it stands.
        audience: Who may open it.
        lists_others: It lists jobs of others to staff: that they look is audited.
    """

    path: str
    section: str
    audience: Audience = Audience.LOGIN
    lists_others: bool = False

    @abstractmethod
    def build(self, asked: Asked) -> Content | Download | None:
        """Return what the page says; None: there is nothing at this address for this viewer.

        Raises:
            UsageError: A word of the query cannot be used.
        """
