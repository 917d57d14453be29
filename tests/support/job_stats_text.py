# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A target's counters of jobs, and their text as the versions of Lustre print it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

OST_ROWS = (
    *("read_bytes", "write_bytes", "read", "write", "getattr", "setattr", "punch", "sync"),
    *("destroy", "create", "statfs", "get_info", "set_info", "quotactl", "prealloc"),
)
MDT_ROWS = (
    *("open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr"),
    *("setattr", "getxattr", "setxattr", "statfs", "sync", "samedir_rename"),
    *("parallel_rename_file", "parallel_rename_dir", "crossdir_rename", "read_bytes"),
    *("write_bytes", "read", "write", "punch", "migrate", "fallocate"),
)
VERSIONS = ("2.12", "2.14", "2.14.56", "2.15", "2.15.53", "2.16", "2.17")
BARE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.@-_:/")


@dataclass
class Row:
    """Counter of one kind of operation."""

    samples: int = 0
    least: int = 0
    most: int = 0
    total: int = 0
    squares: int = 0
    sizes: dict[int, int] = field(default_factory=dict)

    def add(self, value: int, times: int = 1) -> None:
        """Count operations of that many bytes or microseconds."""
        self.least = min(self.least, value) if self.samples else value
        self.most = max(self.most, value)
        self.samples += times
        self.total += value * times
        self.squares = (self.squares + value * value * times) % (1 << 64)
        bucket = 1 << max(value - 1, 0).bit_length()
        self.sizes[bucket] = self.sizes.get(bucket, 0) + times


@dataclass
class Job:
    """An entry."""

    raw: bytes
    start_ns: int
    latest_ns: int
    rows: dict[str, Row] = field(default_factory=dict)


def render(jobs: Iterable[Job], version: str, names: tuple[str, ...] = OST_ROWS) -> bytes:
    """Return the text of a target's job_stats."""
    entries = [_entry(job, version, names) for job in jobs]
    if not entries and version >= "2.16":
        return b""
    return b"job_stats:\n" + b"".join(entries)


def printed_id(raw: bytes, version: str) -> bytes:
    """Return an id as a version prints it."""
    if version < "2.15.53":
        return bytes(byte if 0x20 <= byte < 0x7F else 0x3F for byte in raw)
    text = b"".join(b"%c" % byte if byte in BARE else b"\\x%02X" % byte for byte in raw)
    odd = b"\\" in text or b":" in text or text.startswith(b"@")
    return b'"%b"' % text if odd else text


def _entry(job: Job, version: str, names: tuple[str, ...]) -> bytes:
    head = b"- %-16b %b\n" % (b"job_id:", printed_id(job.raw, version))
    return head + _times(job, version) + b"".join(_row(n, job, version) for n in names)


def _times(job: Job, version: str) -> bytes:
    if version < "2.14.56":
        return b"  %-16b %d\n" % (b"snapshot_time:", job.latest_ns // 10**9)
    indent, colon = (b"", b"") if version < "2.15.53" else (b"  ", b":")
    fields = (
        (b"snapshot_time", job.latest_ns),
        (b"start_time", job.start_ns),
        (b"elapsed_time", job.latest_ns - job.start_ns),
    )
    return b"".join(
        b"%b%-16b %d.%09d secs.nsecs\n" % (indent, name + colon, *divmod(ns, 10**9))
        for name, ns in fields
    )


def _row(name: str, job: Job, version: str) -> bytes:
    row = job.rows.get(name, Row())
    is_bytes = name.endswith("_bytes")
    label = name.encode()
    text = b"  %b:%b { samples: %11d" % (label, b" " * (15 - min(len(label), 15)), row.samples)
    if version < "2.14" and not is_bytes:
        return text + b", unit:  reqs }\n"
    text += b", unit: %5b" % (b"bytes" if is_bytes else b"usecs")
    gap = b"" if version < "2.14" else b" "
    text += b", min:%b%8d, max:%b%8d, sum:%b%16d" % (
        *(gap, row.least, gap, row.most, gap, row.total),
    )
    if version >= "2.14":
        text += b", sumsq: %18d" % row.squares
    if is_bytes and version >= "2.15.53":
        sizes = b", ".join(b"%b: %d" % (_size(s), n) for s, n in sorted(row.sizes.items()))
        text += b", hist: { %b }" % sizes
    return text + b" }\n"


def _size(size: int) -> bytes:
    for letter, shift in ((b"G", 30), (b"M", 20), (b"K", 10)):
        if size >> shift:
            return b"%d%b" % (size >> shift, letter)
    return b"%d" % size


class Target:
    """What really happens on a target, and how much of it readings can show.

    `shown` has by job what was counted in entries that a reading met, beyond what they had when
    they were met first by the first reading.
    """

    def __init__(self, version: str, names: tuple[str, ...]) -> None:
        self.version, self.names = version, names
        self.seconds = 1_700_000_000
        self.jobs: dict[bytes, Job] = {}
        self.shown: dict[bytes, dict[str, list[int]]] = {}
        self.n_readings = 0
        self._skipped: dict[bytes, int] = {}
        self._met: dict[int, tuple[Job, dict[str, tuple[int, int]]]] = {}
        self._dropped: dict[bytes, int] = {}

    def work(self, raw: bytes, name: str, value: int, times: int) -> None:
        """Let a job do something."""
        self.seconds += 1
        if raw not in self.jobs:
            if self.version < "2.14.56" and self._dropped.get(raw, -9) > self.n_readings - 2:
                return  # without its start, nobody could tell it from the entry before
            self.jobs[raw] = Job(raw, self.seconds * 10**9 + 123, 0)
        job = self.jobs[raw]
        job.latest_ns = self.seconds * 10**9 + 456_789
        job.rows.setdefault(name, Row()).add(value, times)

    def drop(self, raw: bytes) -> None:
        """Let an entry expire, or be removed by its id."""
        self.seconds += 1
        if self.jobs.pop(raw, None):
            self._dropped[raw] = self.n_readings

    def clear(self) -> None:
        """Remove all entries, as writing "clear" or a restart of the target does."""
        for raw in list(self.jobs):
            self.drop(raw)

    def skip(self, raw: bytes) -> None:
        """Let the next reading miss an entry, as until 2.15 when another expires meanwhile."""
        if self.n_readings and self._skipped.get(raw, -9) < self.n_readings - 1:
            self._skipped[raw] = self.n_readings

    def text(self) -> bytes:
        """Return what a reading now gives, and remember what it showed."""
        shown = {r: j for r, j in self.jobs.items() if self._skipped.get(r) != self.n_readings}
        for raw, job in shown.items():
            _, before = self._met.get(id(job), (job, {}))
            now = {name: (row.samples, row.total) for name, row in job.rows.items()}
            if self.n_readings:
                self._show(raw, before, now)
            self._met[id(job)] = (job, now)  # the job is kept, so that its id stays its own
        self.n_readings += 1
        return render(shown.values(), self.version, self.names)

    def _show(
        self, raw: bytes, before: dict[str, tuple[int, int]], now: dict[str, tuple[int, int]]
    ) -> None:
        for name, (samples, total) in now.items():
            old = before.get(name, (0, 0))
            sums = self.shown.setdefault(raw, {}).setdefault(name, [0, 0])
            sums[0] += samples - old[0]
            sums[1] += total - old[1]
