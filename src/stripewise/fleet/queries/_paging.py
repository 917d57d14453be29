# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists in pages by key: page 1,000 costs what page 1 costs, and nothing is shown twice."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from stripewise.errors import UsageError
from stripewise.text import printable

MOST_ROWS = 500
COUNTED = 1_000
"""Rows are counted up to here: beyond, a list says "1,000+".  So many are gathered and sorted."""
_LONGEST_CURSOR = 1000


@dataclass(frozen=True)
class Order:
    """How a list is sorted.

    Attributes:
        column: By what; rows without a value come last, either way.
        key: Unique, decides between equal values.
        descending: The largest first.
        is_known: Some rows may have a value: otherwise none is looked for.
    """

    column: InstrumentedAttribute[Any]
    key: InstrumentedAttribute[Any]
    descending: bool = True
    is_known: bool = True

    @property
    def name(self) -> str:
        """The column with its direction: "-start_at"."""
        return ("-" if self.descending else "") + self.column.key


@dataclass(frozen=True)
class Cursor:
    """After which row a page begins.

    Attributes:
        value: Of the column that is sorted by; None: that row has none.
        key: Of that row.
    """

    value: int | float | str | None
    key: int | str


@dataclass(frozen=True)
class Listing:
    """One page of a list.

    Attributes:
        rows: Of the page.
        next: Cursor of the page that follows, "" if this is the last.
        total: Rows of the whole list, up to one more than `COUNTED`; None: not counted.
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
    is_narrow: bool = False,
    long: Select[Any] | None = None,
) -> Listing:
    """Return one page of a query.

    Args:
        connection: To the database.
        query: Its columns have the sorted one and the key among them, under their own names.
        order: How it is sorted.
        after: Cursor that the page before gave; "" for the first.
        limit: Rows of the page, at most `MOST_ROWS`.
        is_narrow: The query may have few rows of many: these are then gathered and sorted, where
            an index of the sorted column would be followed through all the others.
        long: The same query, for when it turns out not to have few rows.

    Raises:
        UsageError: The cursor is none of this list.
    """
    limit = min(max(limit, 1), MOST_ROWS)
    begin = _read(after, order) if after else None
    total = None
    if is_narrow:
        places = query.with_only_columns(order.column, order.key).order_by(None).limit(COUNTED + 1)
        few = [Cursor(row[0], row[1]) for row in connection.execute(places)]
        if len(few) <= COUNTED:
            listing = _page_of_few(connection, query, order, _behind(few, order, begin), limit)
            return replace(listing, total=len(few))
        total, query = len(few), query if long is None else long
    rows: list[Any] = []
    if order.is_known and (begin is None or begin.value is not None):
        known = _known(query, order, begin).limit(limit + 1)
        rows += connection.execute(known).all()
        begin = None
    if len(rows) <= limit:
        unknown = query.where(order.column.is_(None))
        if begin is not None:
            unknown = unknown.where(_beyond(order.key, begin.key, order.descending))
        unknown = unknown.order_by(_sorted(order.key, order.descending))
        rows += connection.execute(unknown.limit(limit + 1 - len(rows))).all()
    if len(rows) <= limit:
        return Listing(rows, total=total)
    last = rows[limit - 1]._mapping
    following = _write(order, last[order.column.key], last[order.key.key])
    return Listing(rows[:limit], following, total)


def _page_of_few(
    connection: Connection, query: Select[Any], order: Order, places: Sequence[Cursor], limit: int
) -> Listing:
    shown = places[:limit]
    found = connection.execute(query.where(order.key.in_([place.key for place in shown]))).all()
    by_key = {row._mapping[order.key.key]: row for row in found}
    rows = [by_key[place.key] for place in shown if place.key in by_key]
    if len(places) <= limit:
        return Listing(rows)
    return Listing(rows, _write(order, shown[-1].value, shown[-1].key))


def _behind(few: Sequence[Cursor], order: Order, begin: Cursor | None) -> list[Cursor]:
    """Return places in their order, those behind one of them."""
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


def count(connection: Connection, query: Select[Any], key: Any) -> int:
    """Count the rows of a query, up to one more than `COUNTED`."""
    some = query.with_only_columns(key).order_by(None).limit(COUNTED + 1).subquery()
    return connection.scalar(select(func.count()).select_from(some)) or 0


def reversed_order(order: Order) -> Order:
    """Return the same order the other way round."""
    return replace(order, descending=not order.descending)


def _known(query: Select[Any], order: Order, begin: Cursor | None) -> Select[Any]:
    query = query.where(order.column.is_not(None))
    if begin is not None:
        further = _beyond(order.column, begin.value, order.descending)
        tie = and_(order.column == begin.value, _beyond(order.key, begin.key, order.descending))
        not_before = (
            order.column <= begin.value if order.descending else order.column >= begin.value
        )
        query = query.where(not_before, or_(further, tie))
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
            "after: this is no place in this list; begin at its first page"
        ) from error
    return Cursor(value, key)
