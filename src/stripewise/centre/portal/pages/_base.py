# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines pages, their audience and addresses, and what pages over many jobs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from sqlalchemy import Connection

from stripewise.centre.database.queries import Period, Viewer
from stripewise.core.errors import UsageError
from stripewise.present import plural
from stripewise.present.blocks import Column, Content, Download, Field, Search


class Audience(StrEnum):
    """Who may open a page; the queries decide what it shows them."""

    PUBLIC = "public"
    LOGIN = "login"
    STAFF = "staff"
    ADMIN = "admin"

    def admits(self, viewer: Viewer) -> bool:
        """Return whether a viewer may open such a page."""
        if self is Audience.PUBLIC:
            return True
        if self is Audience.LOGIN:
            return viewer.role is not None
        return viewer.is_admin if self is Audience.ADMIN else viewer.is_staff


@dataclass(frozen=True)
class PageRequest:
    """A request for a page.

    Attributes:
        connection: Connection to the database, for reading.
        viewer: The viewer who asks.
        path: Parts of the path by name, as integers or text.
        words: Parameters of the query; of several with the same name, the last.
        now: Current time, in seconds since 1970.
        site: Name of the centre.
        advice: File with advice of the site; None if there is none.
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
        path: Path as Starlette writes it: "/jobs/{job:int}".
        section: Menu entry to which it belongs.
        audience: Who may open it.
        lists_others: Whether it lists jobs of other users to staff, so that access is audited.
    """

    path: str
    section: str
    audience: Audience = Audience.LOGIN
    lists_others: bool = False

    @abstractmethod
    def build(self, request: PageRequest) -> Content | Download | None:
        """Return the content of the page, or None if there is nothing here for this viewer.

        Raises:
            UsageError: A parameter of the query cannot be used.
        """


# Addresses of the portal, in which everything variable is quoted.


def address(path: str, words: Mapping[str, object] | None = None) -> str:
    """Return a path with query parameters; those that are None or "" are left out.

    Args:
        path: Path with a leading slash, whose parts are quoted already, see `part`.
        words: Parameters of the query.
    """
    given = {name: str(value) for name, value in (words or {}).items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def part(text: object) -> str:
    """Return one part of a path, quoted including slashes."""
    return quote(str(text), safe="")


def is_own(target: str) -> bool:
    """Return whether an address leads to a page of this portal, and nowhere else."""
    is_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    return is_path and target.isprintable() and "\\" not in target


# What pages with figures over many jobs share: periods, columns, sorting.

Spec = tuple[str, str, str]
"""Name, title and kind of a column."""
ROWS = 100
"""Rows of one page of a list that is computed as a whole."""


def period_search(
    path: str,
    period: Period,
    fields: Sequence[Field] = (),
    kept: Mapping[str, str] | None = None,
) -> Search:
    """Return the form for choosing the period of a page.

    Args:
        path: Address of the page.
        period: The period that is shown.
        fields: Further fields, before the period.
        kept: Further parameters of the address.
    """
    days = [
        Field("since", "From", period.words.get("since", ""), kind="date"),
        Field("until", "Before", period.words.get("until", ""), kind="date"),
    ]
    return Search("search", "", path, [*fields, *days], kept=kept or {}, button="Show")


def columns(specs: Iterable[Spec], links: Mapping[str, str] | None = None) -> list[Column]:
    """Return columns of a table; `links` has the key of the address by name of column."""
    return [Column(*spec, link=(links or {}).get(spec[0], "")) for spec in specs]


def sorted_columns(
    specs: Iterable[Spec],
    path: str,
    words: Mapping[str, str],
    sort: str,
    links: Mapping[str, str] | None = None,
) -> list[Column]:
    """Return columns by which a table can be sorted, largest first.

    Args:
        specs: Specifications of the columns.
        path: Address of the page, with its parameters.
        words: Parameters of the address, except the sort.
        sort: Present sort: "job_count", or "-job_count" for the largest first.
        links: See `columns`.
    """
    found = []
    for name, title, kind in specs:
        now = sort.removeprefix("-") == name
        is_down = sort.startswith("-")
        found.append(
            Column(
                name,
                title,
                kind,
                link=(links or {}).get(name, ""),
                sort=address(path, {**words, "sort": name if now and is_down else f"-{name}"}),
                sorted="" if not now else "descending" if is_down else "ascending",
            )
        )
    return found


def in_order(
    rows: Iterable[Mapping[str, Any]], sort: str, specs: Iterable[Spec]
) -> list[Mapping[str, Any]]:
    """Return rows sorted by one of the columns; those without a value come last.

    Raises:
        UsageError: There is no such column.
    """
    names = [spec[0] for spec in specs]
    name = sort.removeprefix("-")
    if name not in names:
        raise UsageError(f"sort={sort[:40]!r}: this list can be sorted by {', '.join(names)}")
    every = list(rows)
    known = [row for row in every if row[name] is not None]
    known.sort(key=lambda row: row[name], reverse=sort.startswith("-"))
    return known + [row for row in every if row[name] is None]


def rows_of_page(
    rows: Sequence[Mapping[str, Any]], path: str, words: Mapping[str, str], begin: str
) -> tuple[Sequence[Mapping[str, Any]], str]:
    """Return the rows of one page of a list, and the address of the next page ("" at the end).

    Args:
        rows: All rows of the list.
        path: Address of the page.
        words: Parameters of the address.
        begin: Parameter "from": the number of rows before the page.

    Raises:
        UsageError: `begin` is not a number.
    """
    if begin and not (begin.isascii() and begin.isdecimal() and len(begin) < 10):
        raise UsageError(f"from={begin[:40]!r}: give a number of rows, such as {ROWS}")
    first = int(begin or 0)
    more = first + ROWS
    following = address(path, {**words, "from": more}) if more < len(rows) else ""
    return rows[first:more], following


def program_url(name: str | None) -> str:
    """Return the address of the page of a program, or "" without a name."""
    return "" if not name else address(f"/programs/{part(name)}")


def not_estimated(number: int) -> str:
    """Return a note that a sum of avoidable time is a lower bound, or "" if it is exact."""
    if not number:
        return ""
    return f"{plural(number, 'job')} with a profile {'has' if number == 1 else 'have'} no estimate"


def share_of(part: float | None, whole: float | None) -> float | None:
    """Return a part's share in the whole, or None if one is unknown or the whole is zero."""
    return None if part is None or not whole else part / whole
