# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Foreign values made such that SQLite and PostgreSQL both take them: the one place for it.

What a number cannot be is not known (NULL); where a column must have one, it is the nearest.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Boolean, Float, Integer, LargeBinary, String

from stripewise.fleet.tables import Base, Reasons
from stripewise.text import printable

_REFUSED = re.compile("[\x00\ud800-\udfff]+")
_Fit = Callable[[Any], Any]


def fitted(table: type[Base], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table with values that every database takes."""
    fits = _fits(table)
    return {name: None if value is None else fits[name](value) for name, value in row.items()}


def key_text(name: str, longest: int) -> str:
    """Return a name as it is kept: on one line; two that differ stay different.

    Args:
        name: Foreign.
        longest: Characters that its column takes.
    """
    shown = printable(name)
    if shown == name and len(shown) <= longest:
        return shown
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{shown[: longest - 13]}~{digest}"


def storable(text: str, longest: int | None = None) -> str:
    """Return text without characters that PostgreSQL refuses, cut to a length."""
    return _REFUSED.sub(lambda found: printable(found[0]), text)[:longest]


@cache
def _fits(table: type[Base]) -> dict[str, _Fit]:
    return {
        column.name: _fit_of(column.type, bool(column.nullable))
        for column in table.__table__.columns
    }


def _fit_of(kind: Any, is_nullable: bool) -> _Fit:
    if isinstance(kind, LargeBinary):
        return bytes
    if isinstance(kind, Reasons):
        return lambda value: {str(key): storable(str(text)) for key, text in value.items()}
    if isinstance(kind, Boolean):
        return bool
    if isinstance(kind, String):
        return lambda value: storable(str(value), kind.length)
    if isinstance(kind, Integer):
        bits = 63 if isinstance(kind, BigInteger) else 31
        return lambda value: _integer(value, (1 << bits) - 1, is_nullable)
    assert isinstance(kind, Float)
    return lambda value: _real(value, is_nullable)


def _integer(value: Any, most: int, is_nullable: bool) -> int | None:
    if isinstance(value, float) and not math.isfinite(value):
        value = 0 if value != value else most if value > 0 else -most
        return None if is_nullable else value
    number = int(value)
    if -most <= number <= most:
        return number
    return None if is_nullable else max(-most, min(number, most))


def _real(value: Any, is_nullable: bool) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isfinite(number):
        return number
    if is_nullable:
        return None
    return 0.0 if number != number else math.copysign(1.7e308, number)
