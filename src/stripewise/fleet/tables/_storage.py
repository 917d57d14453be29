# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The storage: what its servers counted, its benchmarks, its events."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from stripewise.fleet.tables._base import (
    Base,
    Blob,
    Key,
    Long,
    Name,
    Real,
    Word,
    Words,
)


class FileSystem(Base):
    """A file system of the centre.

    Attributes:
        mount: Where files lie below; several are separated by lines.
    """

    __tablename__ = "file_system"
    id: Mapped[Key]
    name: Mapped[Name] = mapped_column(unique=True)
    mount: Mapped[Words] = mapped_column(default="")


class Series(Base):
    """What is sampled: one metric of one part of a file system.

    Attributes:
        server / target: Names; "" for the whole.
        metric: As in "read_bytes": of a counter the growth in each interval, of a level its mean.
        unit: "bytes", "operations", "share", "seconds".
    """

    __tablename__ = "series"
    __table_args__ = (
        Index("uq_series", "file_system_id", "server", "target", "metric", unique=True),
    )
    id: Mapped[Key]
    file_system_id: Mapped[int] = mapped_column(ForeignKey("file_system.id"))
    server: Mapped[Name]
    target: Mapped[Name]
    metric: Mapped[Word]
    unit: Mapped[Word]
    is_counter: Mapped[bool]


class Sample(Base):
    """Growth of a counter, or the mean of a level, in one interval that begins at `at`.

    PostgreSQL keeps a partition a month.
    """

    __tablename__ = "sample"
    __table_args__ = {  # noqa: RUF012
        "sqlite_with_rowid": False,
        "postgresql_partition_by": "RANGE (at)",
    }
    series_id: Mapped[Long] = mapped_column(primary_key=True)
    at: Mapped[Long] = mapped_column(primary_key=True)
    seconds: Mapped[Real]
    value: Mapped[Real]


class Rollup(Base):
    """Samples of a minute, an hour or a day together.

    Attributes:
        resolution_seconds: 60, 3600 or 86400.
        covered_seconds: Of the interval that samples cover: the rest is a gap, not zero.
        total: Growth of a counter; of a level the sum of value times seconds.
        low / high: Least and greatest rate, or level, of a sample.
    """

    __tablename__ = "rollup"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"), primary_key=True)
    resolution_seconds: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[Long] = mapped_column(primary_key=True)
    covered_seconds: Mapped[Real]
    total: Mapped[Real]
    low: Mapped[Real]
    high: Mapped[Real]


class Event(Base):
    """Something that happened to a storage, or advice of the site."""

    __tablename__ = "event"
    id: Mapped[Key]
    file_system_id: Mapped[int | None] = mapped_column(ForeignKey("file_system.id"))
    at: Mapped[Long] = mapped_column(index=True)
    until: Mapped[Long | None]
    kind: Mapped[Word]
    text: Mapped[Words]


class CampaignRow(Base):
    """A campaign of benchmarks."""

    __tablename__ = "campaign"
    id: Mapped[Key]
    digest: Mapped[Word] = mapped_column(unique=True)
    name: Mapped[Name]
    suite: Mapped[Name]
    storage: Mapped[Name]
    made_at: Mapped[Long] = mapped_column(index=True)
    is_emulated: Mapped[bool]
    document: Mapped[Blob]


class CampaignFigure(Base):
    """Median of one case of a campaign, with its spread."""

    __tablename__ = "campaign_figure"
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[Words]
    operation: Mapped[Word]
    nodes: Mapped[int]
    ranks: Mapped[int]
    run_count: Mapped[int]
    median: Mapped[Real]
    low: Mapped[Real]
    high: Mapped[Real]
    unit: Mapped[Word]
