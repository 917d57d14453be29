# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What pages with figures over many jobs have in common: periods, columns, sorting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stripewise.errors import UsageError
from stripewise.fleet.queries import Period
from stripewise.web._urls import address, part
from stripewise.web.content import Column, Field, Search

Spec = tuple[str, str, str]
"""Name, title and kind of a column."""
ROWS = 100
"""Rows of a page of a list that is computed as a whole."""


def period_search(
    path: str,
    period: Period,
    fields: Sequence[Field] = (),
    kept: Mapping[str, str] | None = None,
) -> Search:
    """Return the form in which the period of a page is chosen.

    Args:
        path: Address of the page.
        period: That is shown.
        fields: Further ones, before the period.
        kept: Further words of the address.
    """
    days = [
        Field("since", "From", period.words.get("since", ""), kind="date"),
        Field("until", "Before", period.words.get("until", ""), kind="date"),
    ]
    return Search("search", "", path, [*fields, *days], kept=kept or {}, button="Show")


def columns(specs: Iterable[Spec], links: Mapping[str, str] | None = None) -> list[Column]:
    """Return columns of a table; `links`: the key with the address, by name of column."""
    return [Column(*spec, link=(links or {}).get(spec[0], "")) for spec in specs]


def sorted_columns(
    specs: Iterable[Spec],
    path: str,
    words: Mapping[str, str],
    sort: str,
    links: Mapping[str, str] | None = None,
) -> list[Column]:
    """Return columns by which a table can be sorted, the largest first.

    Args:
        specs: Of the columns.
        path: Address of the page, with its words.
        words: Of the address, besides the sort.
        sort: What it is sorted by now: "job_count", or "-job_count" with the largest first.
        links: As of `columns`.
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


def some(
    rows: Sequence[Mapping[str, Any]], path: str, words: Mapping[str, str], begin: str
) -> tuple[Sequence[Mapping[str, Any]], str]:
    """Return the rows of a page of a list, and the address of the next one; "" at the end.

    Args:
        rows: Of the whole list.
        path: Address of the page.
        words: Of the address.
        begin: Word "from": how many rows come before.

    Raises:
        UsageError: That is no number.
    """
    if begin and not (begin.isascii() and begin.isdecimal() and len(begin) < 10):
        raise UsageError(f"from={begin[:40]!r}: give a number of rows, such as {ROWS}")
    first = int(begin or 0)
    more = first + ROWS
    following = address(path, {**words, "from": more}) if more < len(rows) else ""
    return rows[first:more], following


def program_url(name: str | None) -> str:
    """Return the address of the page of a program; "" without a name."""
    return "" if not name else address(f"/programs/{part(name)}")


def not_estimated(number: int) -> str:
    """Say that a sum of what can be avoided is the least; "": it is exact."""
    if not number:
        return ""
    return (
        f"{counted(number, 'job')} with a profile {'has' if number == 1 else 'have'} no estimate"
    )


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: "1 job", "1,200 jobs"."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
