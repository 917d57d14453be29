# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists rows in pages by key: page 1,000 costs as much as page 1, and no row is shown twice."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from stripewise.core.errors import UsageError
from stripewise.present import printable

MOST_ROWS = 500
COUNTED = 500
"""Rows are counted up to this number, then shown as "500+". So many are collected and sorted."""
LOOKED_AT = 4_000
"""Places along an index that are examined before the query is left to the database: this takes
some ms, and fills a page with rows that meet a condition for a few in a hundred."""
_LONGEST_CURSOR = 1000


@dataclass(frozen=True)
class Order:
    """Order of a list.

    Attributes:
        column: Column to sort by; rows without a value come last in either direction.
        key: Unique column that decides between equal values.
        descending: Whether the largest comes first.
        is_known: Whether some rows may have a value; otherwise none is searched for.
    """

    column: InstrumentedAttribute[Any]
    key: InstrumentedAttribute[Any]
    descending: bool = True
    is_known: bool = True

    @property
    def name(self) -> str:
        """The column with its direction, such as "-start_at"."""
        return ("-" if self.descending else "") + self.column.key


@dataclass(frozen=True)
class Cursor:
    """The row after which a page begins.

    Attributes:
        value: Value of the sorted column in that row; None if it has none.
        key: Key of that row.
    """

    value: int | float | str | None
    key: int | str


@dataclass(frozen=True)
class Listing:
    """One page of a list.

    Attributes:
        rows: Rows of the page.
        next: Cursor of the next page; "" if this is the last.
        total: Number of rows of the whole list, at most one more than `COUNTED`; None if not
            counted.
    """

    rows: Sequence[Any]
    next: str = ""
    total: int | None = None


def page(
    connection: Connection,
    query: Select[Any],
    order: Order,
    after: str = "",
    limit: int = 50,
    *,
    places: Select[Any] | None = None,
    few: Select[Any] | None = None,
    most: int | None = None,
) -> Listing:
    """Return one page of a query.

    Args:
        connection: Connection to the database.
        query: Query whose columns include the sorted one and the key, under their own names.
        order: Order of the list.
        after: Cursor that the page before returned; "" for the first page.
        limit: Number of rows in the page, at most `MOST_ROWS`.
        places: Query for only the keys of all rows; None to use `query`.
        few: The same query, written so that few rows of many are found fast: they are collected
            and sorted, instead of following an index of the sorted column through all the others.
        most: Up to how many rows count as few; None for `COUNTED`.

    Raises:
        UsageError: The cursor does not belong to this list.
    """
    limit = min(max(limit, 1), MOST_ROWS)
    begin = _read(after, order) if after else None
    total = None
    places = query.with_only_columns(order.key) if places is None else places
    found: list[Cursor] | None = None
    if few is not None:
        enough = COUNTED if most is None else most
        some = _places(connection, few, order, enough + 1)
        total = min(len(some), COUNTED + 1)
        if len(some) <= enough:
            found = _behind(some, order, begin)
        else:
            near = _ahead(connection, places, order, begin, limit + 1)
            found = near if len(near) > limit else None
    if found is None:
        found = _along(connection, places, order, begin, limit + 1)
    shown = found[:limit]
    rows = _rows(connection, query, order, shown)
    following = "" if len(found) <= limit else _write(order, shown[-1].value, shown[-1].key)
    return Listing(rows, following, total)


def _ahead(
    connection: Connection, query: Select[Any], order: Order, begin: Cursor | None, limit: int
) -> list[Cursor]:
    """Return those of the next `LOOKED_AT` places along the index for which a query has rows.

    Databases know how many rows meet a condition, not where they are: they may sort all of them
    although the page is among the first places, or follow the index through all the others.
    """
    if not order.is_known or (begin is not None and begin.value is None):
        return []
    near = _known(select(order.key), order, begin).limit(LOOKED_AT)
    return _places(connection, _in_order(query.where(order.key.in_(near)), order), order, limit)


def _along(
    connection: Connection, query: Select[Any], order: Order, begin: Cursor | None, limit: int
) -> list[Cursor]:
    """Return the places after a given one, along the index of the sorted column."""
    found: list[Cursor] = []
    if order.is_known and (begin is None or begin.value is not None):
        found = _places(connection, _known(query, order, begin), order, limit)
        begin = None
    if len(found) < limit:
        unknown = query.where(order.column.is_(None))
        if begin is not None:
            unknown = unknown.where(_beyond(order.key, begin.key, order.descending))
        unknown = unknown.order_by(_sorted(order.key, order.descending))
        found += _places(connection, unknown, order, limit - len(found))
    return found


def _places(connection: Connection, query: Select[Any], order: Order, limit: int) -> list[Cursor]:
    page = query.add_columns(order.column).limit(limit)
    return [Cursor(row[-1], row[0]) for row in connection.execute(page)]


def _rows(
    connection: Connection, query: Select[Any], order: Order, places: Sequence[Cursor]
) -> list[Any]:
    """Return the rows at the given places, in their order."""
    if not places:
        return []
    found = connection.execute(query.where(order.key.in_([place.key for place in places])))
    by_key = {row._mapping[order.key.key]: row for row in found}
    return [by_key[place.key] for place in places if place.key in by_key]


def _behind(few: Sequence[Cursor], order: Order, begin: Cursor | None) -> list[Cursor]:
    """Return places in order, only those after a given one."""
    known = sorted(((one.value, one.key) for one in few if one.value is not None),
                   reverse=order.descending)  # fmt: skip
    unknown = sorted((one.key for one in few if one.value is None), reverse=order.descending)
    if begin is not None and begin.value is None:
        known, unknown = [], [key for key in unknown if _is_beyond(key, begin.key, order)]
    elif begin is not None:
        place: Any = (begin.value, begin.key)
        known = [one for one in known if _is_beyond(one, place, order)]
    return [*(Cursor(*one) for one in known), *(Cursor(None, key) for key in unknown)]


def _is_beyond(one: Any, other: Any, order: Order) -> bool:
    return bool(one < other if order.descending else one > other)


def count(connection: Connection, query: Select[Any], key: Any, most: int = COUNTED) -> int:
    """Count the rows of a query, at most one more than a limit."""
    some = query.with_only_columns(key).order_by(None).limit(most + 1).subquery()
    return connection.scalar(select(func.count()).select_from(some)) or 0


def _known(query: Select[Any], order: Order, begin: Cursor | None) -> Select[Any]:
    query = query.where(order.column.is_not(None))
    if begin is not None:
        further = _beyond(order.column, begin.value, order.descending)
        tie = and_(order.column == begin.value, _beyond(order.key, begin.key, order.descending))
        not_before = (
            order.column <= begin.value if order.descending else order.column >= begin.value
        )
        query = query.where(not_before, or_(further, tie))
    return _in_order(query, order)


def _in_order(query: Select[Any], order: Order) -> Select[Any]:
    return query.order_by(
        _sorted(order.column, order.descending), _sorted(order.key, order.descending)
    )


def _beyond(column: Any, value: Any, descending: bool) -> ColumnElement[bool]:
    found: ColumnElement[bool] = column < value if descending else column > value
    return found


def _sorted(column: Any, descending: bool) -> Any:
    return column.desc() if descending else column.asc()


def _write(order: Order, value: Any, key: int | str) -> str:
    text = json.dumps([order.name, value, key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(text: str, order: Order) -> Cursor:
    try:
        if len(text) > _LONGEST_CURSOR:
            raise ValueError
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        name, value, key = json.loads(data)
        wanted = order.column.type.python_type
        if wanted is float and isinstance(value, int):
            value = float(value)
        is_one = value is None or (isinstance(value, wanted) and not isinstance(value, bool))
        if name != order.name or not is_one or type(key) is not order.key.type.python_type:
            raise ValueError
        for part in (value, key):
            if isinstance(part, int) and abs(part) >= 1 << 63:
                raise ValueError
            if isinstance(part, str) and printable(part) != part:
                raise ValueError
    except (ValueError, TypeError, OverflowError, binascii.Error, RecursionError) as error:
        raise UsageError(
            "after: this is not a place in this list; begin at its first page"
        ) from error
    return Cursor(value, key)
