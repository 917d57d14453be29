# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes rounds in InfluxDB's line protocol, and queues them in bounded memory.

A measurement is named after the metric, and has the field "value". A histogram has a line for each
bucket, with the tag "le" and the number of values not above it; if the sum is known, it is a
measurement with the suffix "_sum".

Tags cannot contain a newline, and each database interprets a backslash before a space, comma,
equals sign, backslash or the end differently: these become U+FFFD. Empty tags are left out, since
the protocol has none.
"""

from __future__ import annotations

import gzip
import re
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stripewise.centre.monitor._records import Kind, Metric, Round
from stripewise.centre.monitor.sinks._exposition import Buckets, CollectorSeries, clean

_UNSAFE = re.compile(r"\\(?=[\\ ,=]|\Z)|[\x00\n\r]")
_SPECIAL = re.compile(r"([ ,=])")
_WHOLE = frozenset((
    "blocks", "bytes", "clients", "deliveries", "files", "jobs", "lines", "locks", "operations",
    "packets", "pages", "readings", "requests", "rounds", "steps", "threads",
))  # fmt: skip
"""Units of integer counters: a field has one type for good, so values cannot decide it."""
_LARGEST = (1 << 63) - 1
_BACK_SECONDS = 3600.0
"""A clock that is set back by more was wrong before, and is trusted now (assumed)."""


class LineWriter:
    """Writes rounds as lines.

    Attributes:
        problems: Number of readings that were left out so far.
    """

    def __init__(self, server: str) -> None:
        """Start without any series.

        Args:
            server: Value of the tag "server" of every line.
        """
        self._server = server
        self._series: dict[str, CollectorSeries] = {}
        self._last: dict[str, tuple[int, float]] = {}
        self._left_out = 0

    @property
    def problems(self) -> int:
        """Number of readings that were left out so far."""
        return self._left_out + sum(series.problems for series in list(self._series.values()))

    def lines(self, found: Round) -> Iterator[str]:
        """Yield the lines of a round, each with its newline."""
        end = f" {self._time_ns(found)}\n"
        series = self._series.setdefault(found.collector, CollectorSeries(self._begin))
        for metric, begin, value in series.of(found):
            if isinstance(value, Buckets):
                yield from _histogram(begin, value, end)
            elif metric.kind is Kind.COUNTER and metric.unit in _WHOLE:
                if abs(value) > _LARGEST:
                    self._left_out += 1
                else:
                    yield f"{begin} value={int(value)}i{end}"
            else:
                yield f"{begin} value={float(value)!r}{end}"

    def _begin(self, metric: Metric, labels: tuple[str, ...]) -> str:
        tags = {"server": self._server, **dict(zip(metric.labels, labels, strict=True))}
        shown = ((key, tag_text(value)) for key, value in sorted(tags.items()))
        return ",".join((metric.name, *(f"{key}={value}" for key, value in shown if value)))

    def _time_ns(self, found: Round) -> int:
        """Return the time of a round, which is later than that of the collector's previous round.

        If the clock was set back, times continue by the monotonic clock: a series never has two
        values at one time, and rates stay correct.
        """
        at_ns = int(found.at * 1e9)
        before_ns, monotonic = self._last.get(found.collector, (at_ns - 1, found.monotonic))
        if at_ns <= before_ns and before_ns - at_ns <= _BACK_SECONDS * 1e9:
            passed_ns = int((found.monotonic - monotonic) * 1e9)
            at_ns = before_ns + max(1, passed_ns)
        self._last[found.collector] = (at_ns, found.monotonic)
        return at_ns


def tag_text(text: str) -> str:
    """Return the value of a tag in the form of the line protocol."""
    return _SPECIAL.sub(r"\\\1", _UNSAFE.sub("\ufffd", clean(text)))


def _histogram(begin: str, value: Buckets, end: str) -> Iterator[str]:
    for bound, count in zip(value.bounds, value.counts, strict=True):
        yield f"{begin},le={bound} value={count}i{end}"
    if value.total is not None:
        name, *tags = begin.split(",", 1)
        yield f"{','.join((f'{name}_sum', *tags))} value={float(value.total)!r}{end}"


# Rounds that wait for a database: compressed, and bounded in number and in memory.


@dataclass(frozen=True)
class Packed:
    """A round as compressed lines.

    Attributes:
        pieces: Members of a gzip file: concatenated, also with those of other rounds, they are one
            text again.
        lines_bytes: Uncompressed size of each piece.
    """

    pieces: tuple[bytes, ...]
    lines_bytes: tuple[int, ...]

    @property
    def packed_bytes(self) -> int:
        """Memory that the pieces take, in bytes."""
        return sum(map(len, self.pieces))


def pack(lines: Iterable[str], piece_bytes: int) -> Packed:
    """Compress lines into pieces of bounded uncompressed size; a longer line is its own piece."""
    pieces: list[bytes] = []
    sizes: list[int] = []
    waiting: list[bytes] = []
    size = 0

    def close() -> None:
        pieces.append(gzip.compress(b"".join(waiting), compresslevel=1, mtime=0))
        sizes.append(size)
        waiting.clear()

    for line in lines:
        data = line.encode()
        if waiting and size + len(data) > piece_bytes:
            close()
            size = 0
        waiting.append(data)
        size += len(data)
    if waiting:
        close()
    return Packed(tuple(pieces), tuple(sizes))


class RoundQueue:
    """Rounds in order of time; the oldest are dropped if there are too many.

    One thread adds rounds, another removes them.
    """

    def __init__(self, most_rounds: int, most_bytes: int) -> None:
        """Start empty.

        Args:
            most_rounds: Maximum number of waiting rounds.
            most_bytes: Maximum memory that they take.
        """
        self._most_rounds = most_rounds
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._waiting: deque[Packed] = deque()
        self._waiting_bytes = 0
        self._out = 0
        self._lost = 0

    def __len__(self) -> int:
        """Return the number of waiting rounds, including those being delivered."""
        with self._lock:
            return len(self._waiting) + self._out

    @property
    def lost(self) -> int:
        """Number of rounds that were dropped so far."""
        with self._lock:
            return self._lost

    def put(self, found: Packed) -> None:
        """Add a round."""
        with self._lock:
            self._waiting.append(found)
            self._waiting_bytes += found.packed_bytes
            self._drop()

    def take(self, lines_bytes: int) -> list[Packed]:
        """Remove and return the oldest rounds, at least one if there is any.

        Args:
            lines_bytes: Maximum total uncompressed size.
        """
        with self._lock:
            found: list[Packed] = []
            while self._waiting:
                lines_bytes -= sum(self._waiting[0].lines_bytes)
                if found and lines_bytes < 0:
                    break
                found.append(self._waiting.popleft())
                self._waiting_bytes -= found[-1].packed_bytes
            self._out = len(found)
            return found

    def settle(self, lost: int = 0) -> None:
        """Mark the removed rounds as done; `lost` of them are lost."""
        with self._lock:
            self._out = 0
            self._lost += lost

    def give_back(self, found: Sequence[Packed]) -> None:
        """Put removed rounds back."""
        with self._lock:
            self._out = 0
            self._waiting.extendleft(reversed(found))
            self._waiting_bytes += sum(one.packed_bytes for one in found)
            self._drop()

    def _drop(self) -> None:
        while len(self._waiting) > self._most_rounds or (
            self._waiting_bytes > self._most_bytes and len(self._waiting) > 1
        ):
            self._waiting_bytes -= self._waiting.popleft().packed_bytes
            self._lost += 1
