# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a target did: readings of stats and md_stats, and of histograms of its I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stripewise.monitor.collectors._base import Problem
from stripewise.monitor.metrics import Histogram, Metric, Reading, lustre
from stripewise.monitor.texts.lustre import (
    Buckets,
    StatsRow,
    parse_brw_stats,
    parse_stats,
    parse_target,
)

METADATA_KINDS = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr"),
    *("setattr", "getxattr", "setxattr", "statfs", "sync"),
)
"""Operations that clients ask a metadata target for, as the statistics database counts them.
Renames within and across directories are counted a second time by Lustre, and not here."""
USECS_PER_SECOND = 1e6
_DATA_KINDS = ("read", "write")
_BYTES = {"read_bytes": "read", "write_bytes": "write"}
_EARLIEST_SECONDS = 1e9
"""Times before 2001 are times since the server was booted (LU-16231)."""


class Target(NamedTuple):
    """A target of this server.

    Attributes:
        fs / target: As in labels.
        root: Beginning of its parameters, "obdfilter.scratch-OST0004".
        osd: The same of its object storage device, "osd-ldiskfs.scratch-OST0004"; "": none.
        stats: Names of its texts of counters.
    """

    fs: str
    target: str
    root: str
    osd: str = ""
    stats: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, str]:
        """Labels of its readings."""
        return self.fs, self.target

    @property
    def is_metadata(self) -> bool:
        """Whether it is a metadata target."""
        return self.target.startswith("MDT")


def told(name: str, problems: Sequence[str]) -> Iterator[Problem]:
    """Say of which parameter the problems are."""
    for problem in problems:
        yield Problem(f"{name}: {problem}")


def stats_readings(target: Target, values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Return readings of a target's counters.

    A metadata target has md_stats, and in some versions stats beside it; counters of files whose
    data are on the metadata target may be in either.  What is in both counts once.
    """
    rows: dict[str, StatsRow] = {}
    is_whole, starts = bool(target.stats), list[float]()
    for name in target.stats:
        if name not in values:
            is_whole = False
            continue
        stats = parse_stats(values[name])
        yield from told(name, stats.problems)
        rows = {**stats.rows, **rows}
        is_whole = is_whole and stats.is_whole
        starts += [stats.start_seconds] if stats.start_seconds is not None else []
    if _EARLIEST_SECONDS < min(starts, default=0) and len(starts) == len(target.stats):
        yield Reading(lustre.TARGET_STARTED, target.labels, starts[0])
    yield from _bytes(target, rows, is_whole)
    for operation, row in operations_of(rows):
        labels = (*target.labels, operation)
        yield Reading(lustre.TARGET_OPERATIONS, labels, row.samples)
        if row.unit == "usecs" and row.total is not None:
            seconds = row.total / USECS_PER_SECOND
            yield Reading(lustre.TARGET_OPERATION_SECONDS, labels, seconds)
    if is_whole:
        yield from _sums(target, rows)


def operations_of(rows: Mapping[str, StatsRow]) -> Iterator[tuple[str, StatsRow]]:
    """Return the counters of operations, by operation.

    Lustre 2.12 has no counters of reads and writes but of their bytes, which count them as well.
    """
    has_times = any(row.unit == "usecs" for row in rows.values())
    for name, row in rows.items():
        if row.unit != "bytes":
            yield name, row
        elif name in _BYTES and not has_times and _BYTES[name] not in rows:
            yield _BYTES[name], row


def bytes_of(rows: Mapping[str, StatsRow], name: str, is_whole: bool) -> int | None:
    """Return the bytes of a counter; 0 if a whole text does not have it; None: not known."""
    row = rows.get(name)
    if row is None:
        return 0 if is_whole else None
    return row.total if row.unit == "bytes" else None


def _bytes(target: Target, rows: Mapping[str, StatsRow], is_whole: bool) -> Iterator[Reading]:
    for metric, name in (
        (lustre.TARGET_READ_BYTES, "read_bytes"),
        (lustre.TARGET_WRITE_BYTES, "write_bytes"),
    ):
        value = bytes_of(rows, name, is_whole)
        if value is not None:
            yield Reading(metric, target.labels, value)


def _sums(target: Target, rows: Mapping[str, StatsRow]) -> Iterator[Reading]:
    """Return sums over kinds, of a text that is whole: without a row they would seem to fall."""
    kinds = METADATA_KINDS if target.is_metadata else _DATA_KINDS
    found = [rows[kind] for kind in kinds if kind in rows]
    if target.is_metadata:
        samples = sum(row.samples for row in found)
        yield Reading(lustre.METADATA_OPERATIONS, target.labels, samples)
    timed = [row for row in found if row.unit == "usecs" and row.total is not None]
    if not any(row.unit == "usecs" for row in rows.values()):
        return
    seconds = sum(row.total or 0 for row in timed) / USECS_PER_SECOND
    yield Reading(lustre.SERVICE_SECONDS, target.labels, seconds)
    yield Reading(lustre.SERVICE_OPERATIONS, target.labels, sum(row.samples for row in timed))


_HISTOGRAMS: dict[str, tuple[Metric, float]] = {
    "pages": (lustre.RPC_PAGES, 1.0),
    "discontiguous_pages": (lustre.DISCONTIGUOUS_PAGES, 1.0),
    "discontiguous_blocks": (lustre.DISCONTIGUOUS_BLOCKS, 1.0),
    "fragments": (lustre.FRAGMENTS, 1.0),
    "in_flight": (lustre.IN_FLIGHT, 1.0),
    "io_milliseconds": (lustre.IO_TIME, 1e3),
    "io_bytes": (lustre.IO_SIZE, 1.0),
}
"""By section of brw_stats: the metric, and how many units of a key make one base unit."""


def brw_readings(name: str, values: Mapping[str, str]) -> Iterator[Reading | Problem]:
    """Return histograms of a target's I/O, from its "osd-*.scratch-OST0004.brw_stats".

    Bounds are those that Lustre counts by, upper ones that are included: powers of two, so that
    the bucket of 4096 bytes counts sizes above 2048 and up to 4096.
    """
    target = parse_target(name.split(".")[1])
    if target is None or name not in values:
        return
    found = parse_brw_stats(values[name])
    yield from told(name, found.problems)
    for section, (metric, units) in _HISTOGRAMS.items():
        if section in found.sections:
            buckets: Buckets = found.sections[section]
            for direction, counts in (("read", buckets.read), ("write", buckets.write)):
                bounds = tuple([(bound / units, count) for bound, count in counts])
                value = Histogram(bounds or ((float("inf"), 0),))
                yield Reading(metric, (*target, direction), value)
