# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what programs of a Lustre client did to each file system, through `lctl`."""

from __future__ import annotations

from collections.abc import Iterator

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor._host import Host
from stripewise.centre.monitor._privileges import rights_remedy
from stripewise.centre.monitor._records import Metric, Reading, TargetJobs
from stripewise.centre.monitor.collectors._base import (
    FirstTexts,
    Problem,
    Sums,
)
from stripewise.centre.monitor.collectors.lustre._parameters import (
    parse_mount,
)
from stripewise.centre.monitor.collectors.lustre._state import LustreCollector, LustreSettings
from stripewise.centre.monitor.collectors.lustre._stats import (
    USECS_PER_SECOND,
    Stats,
    bytes_of,
    named_problems,
    operations_of,
    parse_stats,
)

_PATTERNS = ("llite.*.stats", "llite.*.kbytestotal")
_NO_OPERATIONS = (
    *("opencount", "openclosetime", "hybrid_", "getxattr_hits"),
    *("dirty_pages_", "brw_", "osc_"),  # in old versions
)
"""Prefixes of counters that describe operations or pages, but do not count operations."""
_MOST_SERIES = 1000
_Key = tuple[Metric, tuple[str, ...]]


class LustreClient(LustreCollector):
    """Counters of the file systems that this host has mounted.

    Several mounts of one file system are summed; what a mount has counted before it is removed
    stays in the sum. Bytes are those that programs requested, including those served by the cache.
    """

    name = "lustre-client"
    summary = "Lustre clients: bytes and operations of programs by file system"
    metrics = metrics.metrics_named("lustre_mount_", "lustre_version_")
    settings_class = LustreSettings
    signs = _PATTERNS
    nothing = "no mounts: mount a Lustre file system on this host, or leave this collector out"

    def __init__(self, settings: LustreSettings) -> None:
        """Store the settings."""
        super().__init__(settings)
        self._sums: Sums[_Key] = Sums(_MOST_SERIES)
        self._firsts = FirstTexts()

    def patterns(self) -> tuple[str, ...]:
        """Return the patterns of all parameters that it reads."""
        return _PATTERNS

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        """Read the counters of all mounts."""
        self._parameters.begin(host)
        statistics = [name for name in self._parameters.names if name.endswith(".stats")]
        values: dict[str, str] = {}
        yield from self.read(host, statistics, values)
        if self._parameters.names and not statistics:
            reason = f"mounts list no stats, which root alone may read: {rights_remedy()}"
            yield Problem(reason, "denied")
        for name in statistics:
            if name in values:
                yield from self._take(name, values[name])
        self._forget(set(self._parameters.names))
        self._firsts.end(self._parameters.names)
        for (metric, labels), value in self._sums.items():
            is_time = metric is metrics.MOUNT_OPERATION_SECONDS
            yield Reading(metric, labels, value / USECS_PER_SECOND if is_time else value)

    def _take(self, name: str, text: str) -> Iterator[Problem]:
        fs = parse_mount(name.split(".")[1])
        if not fs:
            yield Problem(f"{name}: this is not a mount of a file system")
            return
        stats = parse_stats(text)
        yield from named_problems(name, stats.problems)
        is_base = self.is_repeated and self._firsts.is_base(name)
        for key, value in _counters(fs, stats):
            self._sums.add(name, key, value, is_base=is_base)
        if stats.is_whole:
            self._firsts.note(name)

    def _forget(self, there: set[str]) -> None:
        for part in self._sums.parts():
            if part not in there:
                self._sums.forget(part, self._sums.known(part))


def _counters(fs: str, stats: Stats) -> Iterator[tuple[_Key, int]]:
    """Yield the counters of one mount as whole numbers: bytes, operations, microseconds."""
    for metric, kind in (
        (metrics.MOUNT_READ_BYTES, "read_bytes"),
        (metrics.MOUNT_WRITE_BYTES, "write_bytes"),
    ):
        value = bytes_of(stats.rows, kind, stats.is_whole)
        if value is not None:
            yield (metric, (fs,)), value
    for operation, row in operations_of(stats.rows):
        if operation.startswith(_NO_OPERATIONS):
            continue
        yield (metrics.MOUNT_OPERATIONS, (fs, operation)), row.samples
        if row.unit == "usecs" and row.total is not None:
            yield (metrics.MOUNT_OPERATION_SECONDS, (fs, operation)), row.total
