# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Partitions of samples, a month each, on PostgreSQL; other databases have none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, text

LAST = 4_102_444_800
"""Samples from 2100 on cannot be."""
_NAME = re.compile(r"sample_(\d{4})_(\d{2})")


class _Month(NamedTuple):
    year: int
    month: int

    @property
    def name(self) -> str:
        return f"sample_{self.year:04}_{self.month:02}"

    @property
    def start(self) -> int:
        return int(datetime(self.year, self.month, 1, tzinfo=UTC).timestamp())

    @property
    def next(self) -> _Month:
        return _Month(self.year + self.month // 12, self.month % 12 + 1)


def make_months(connection: Connection, moments: Iterable[int]) -> None:
    """Make the partitions of the months that moments lie in."""
    if connection.dialect.name != "postgresql":
        return
    found = (datetime.fromtimestamp(day * 86400, UTC) for day in {at // 86400 for at in moments})
    for month in sorted({_Month(one.year, one.month) for one in found} - set(_months(connection))):
        connection.execute(text(
            f"CREATE TABLE {month.name} PARTITION OF sample "
            f"FOR VALUES FROM ({month.start}) TO ({month.next.start})"
        ))  # fmt: skip


def drop_months(connection: Connection, before: int) -> int:
    """Drop the partitions that end before a moment; return how many rows they had."""
    if connection.dialect.name != "postgresql":
        return 0
    gone = 0
    for month in _months(connection):
        if month.next.start <= before:
            gone += connection.scalar(text(f"SELECT count(*) FROM {month.name}")) or 0
            connection.execute(text(f"DROP TABLE {month.name}"))
    return gone


def _months(connection: Connection) -> list[_Month]:
    query = text(
        "SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid "
        "WHERE inhparent = 'sample'::regclass"
    )
    names = (_NAME.fullmatch(name) for name in connection.scalars(query))
    return [_Month(int(found[1]), int(found[2])) for found in names if found]
