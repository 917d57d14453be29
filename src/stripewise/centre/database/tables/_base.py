# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines what all tables share: names of constraints, and types for SQLite and PostgreSQL.

Times are seconds since 1970 (UTC), amounts are bytes, durations seconds. NULL means that a figure
is unknown; it never means zero.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from sqlalchemy import (
    BigInteger,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, mapped_column

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
Key = Annotated[int, mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)]
Long = Annotated[int, mapped_column(BigInteger)]
Real = Annotated[float, mapped_column(Double)]


def _text(length: int) -> String:
    """Return a text type that both databases sort by bytes."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


class Reasons(TypeDecorator[Mapping[str, str]]):
    """Columns whose figures are unknown or lower bounds, and the reasons.

    They are stored as JSON, or as NULL if everything is known.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:
        """Return the value as it is stored."""
        return json.dumps(dict(value), ensure_ascii=True) if value else None

    def process_result_value(self, value: Any, dialect: Any) -> dict[str, str]:
        """Return the value as it was given."""
        return {} if value is None else dict(json.loads(value))

    @property
    def python_type(self) -> type[Any]:
        """Type of the value in a row."""
        return dict


Missing = Annotated[Mapping[str, str], mapped_column(Reasons)]
Name = Annotated[str, mapped_column(_text(255))]
Word = Annotated[str, mapped_column(_text(64))]
Words = Annotated[str, mapped_column(Text)]
Blob = Annotated[bytes, mapped_column(LargeBinary)]


class Base(DeclarativeBase):
    """Root of all tables."""

    metadata = MetaData(naming_convention=_NAMES)
