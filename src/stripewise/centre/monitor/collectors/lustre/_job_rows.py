# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses one entry of job_stats, and keeps its counters as short text until they are needed.

Most rows of most entries belong to operations that never happened, and are equal in all entries:
such a row is parsed once and then recognised by its bytes, which makes reading fast.
"""

from __future__ import annotations

import re
from collections.abc import ItemsView, Iterator, Mapping
from typing import NamedTuple, TypeVar

from stripewise.centre.monitor._records import OperationCount

# Counters of an entry, kept as a short text until they are used.
#
# The first reading of a busy target returns all its entries at once. As objects they would take
# more memory than the text itself, and the garbage collector would visit each of them repeatedly.

_MOST_DIGITS = 20
_SIZES = {
    b"%d%b" % (1 << bit, letter): 1 << bit + shift
    for letter, shift in ((b"", 0), (b"K", 10), (b"M", 20), (b"G", 30))
    for bit in range(10)
}


class PackedCounts(Mapping[str, OperationCount]):
    """Counters by operation, which are unpacked anew at each access: `items` is the cheapest.

    Attributes:
        rows: "NAME;UNIT;SAMPLES;SUM;HISTOGRAM", one row per line; the histogram as Lustre prints
            it, or "-" if not reported.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: bytes) -> None:
        """Store rows made by `pack_row`, one per line."""
        self.rows = rows

    def items(self) -> ItemsView[str, OperationCount]:
        """Return all counters."""
        return self._unpacked().items()

    def __getitem__(self, name: str) -> OperationCount:
        return self._unpacked()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._unpacked())

    def __len__(self) -> int:
        return len(self._unpacked())

    def __repr__(self) -> str:
        return repr(self._unpacked())

    def _unpacked(self) -> dict[str, OperationCount]:
        return dict(map(_unpack, self.rows.split(b"\n"))) if self.rows else {}


def pack_counts(operations: Mapping[str, OperationCount]) -> PackedCounts:
    """Return counters in packed form; those from the job_stats reader already are."""
    if isinstance(operations, PackedCounts):
        return operations
    rows = []
    for name, (samples, unit, total, sizes) in operations.items():
        bins = None if sizes is None else b", ".join([b"%d: %d" % size for size in sizes])
        rows.append(pack_row(name.encode(), unit.encode(), b"%d" % samples, b"%d" % total, bins))
    return PackedCounts(b"\n".join(rows))


def pack_row(
    name: bytes, unit: bytes | None, samples: bytes, total: bytes | None, bins: bytes | None
) -> bytes:
    """Return the parts of a row as one line; None stands for not reported."""
    return b";".join((name, unit or b"", samples, total or b"0", b"-" if bins is None else bins))


def count_sizes(text: bytes) -> int:
    """Return the sum of a histogram "4K: 3, 1M: 7" whose sizes ascend, or -1 if it is damaged."""
    total = last = 0
    text = text.strip(b" ")
    for item in text.split(b", ") if text else ():
        key, _, said = item.partition(b": ")
        size = _SIZES.get(key, 0)
        if size <= last or not said.isdigit() or len(said) > _MOST_DIGITS:
            return -1
        total += int(said)
        last = size
    return total


def added_sizes(before: bytes, now: bytes) -> tuple[tuple[int, int], ...] | None:
    """Return what was added to the histogram of a row, or None if neither reading reports it.

    Raises:
        ValueError: Only one of them reports it, or a count is less than before.
    """
    if before == now:
        return None if now == b"-" else ()
    if b"-" in (before, now):
        raise ValueError
    last = dict([item.split(b": ") for item in before.strip(b" ").split(b", ") if item])
    found = []
    for item in filter(None, now.strip(b" ").split(b", ")):
        key, said = item.split(b": ")
        added = int(said) - int(last.pop(key, 0))
        if added < 0:
            raise ValueError
        if added:
            found.append((_size_of(key), added))
    if last:
        raise ValueError
    return tuple(found)


def _unpack(row: bytes) -> tuple[str, OperationCount]:
    name, unit, samples, total, bins = row.split(b";")
    items = filter(None, bins.strip(b" ").split(b", "))
    sizes = None if bins == b"-" else tuple(map(_bin, items))
    return name.decode(), OperationCount(int(samples), unit.decode(), int(total), sizes)


def _bin(item: bytes) -> tuple[int, int]:
    key, _, said = item.partition(b": ")
    return _size_of(key), int(said)


def _size_of(key: bytes) -> int:
    """Return a size that Lustre printed as "4K" or in digits."""
    return _SIZES.get(key) or int(key)


# One entry of job_stats: its times, and a row for each kind of operation.

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

MOST_VALUE = (1 << 64) - 1
_MOST_REMEMBERED = 1024
"""Maximum number of cached rows without samples, and of names; a target has 20 to 40."""
_CONTRADICTION = "its numbers contradict each other"
_TOO_LARGE = "a number is beyond 64 bits"
_HEAD = re.compile(
    rb" *snapshot_time:? +(\d{1,18})(?:\.\d{1,9})?(?: secs\.nsecs)? *\n"
    rb"(?: *start_time:? +(\d{1,18})(?:\.\d{1,9})?(?: secs\.nsecs)? *\n"
    rb" *elapsed_time:? +\d{1,20}(?:\.\d{1,9})?(?: secs\.nsecs)? *\n)?"
)
"""In 2.14.56 to 2.15.52, the times have no indentation and no colons. The numbers of digits fit 63
bits, so that an entry that is not parsed, because it did nothing, has no impossible times."""
_ROW = re.compile(
    rb" *+([A-Za-z0-9_]{1,64}+): *+\{ samples: *+(\d{1,20}+)(?:, unit: *+([a-z/]{1,16}+))?"
    rb"(?:, min: *+(\d{1,20}+), max: *+(\d{1,20}+), sum: *+(\d{1,20}+)"
    rb"(?:, sumsq: *+\d{1,20}+)?)?(?:, hist: \{ ([^{}]*+)\})? \} *+"
)
"""No possessive groups: with them, Python 3.11.2 accepts a row with an empty unit."""


class EntryError(Exception):
    """An invalid entry.

    Attributes:
        reason: Why it is invalid, without the value.
        excerpt: The line.
        certain: Whether it is certain whose entry it is, and where it ends.
    """

    def __init__(self, reason: str, excerpt: bytes = b"", *, certain: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.excerpt, self.certain = reason, excerpt, certain


class EntryContent(NamedTuple):
    """Content of an entry.

    Attributes:
        snapshot_at / start_at: Seconds since 1970, by the target's clock; None if not reported.
        names: Names of all rows, in order.
        counts: Counters of operations that happened.
        bad_histogram: A row whose histogram does not add up and is left out; b"" if there is none.
    """

    snapshot_at: int
    start_at: int | None
    names: tuple[str, ...]
    counts: PackedCounts
    bad_histogram: bytes


def split_times(entry: bytes, start: int) -> tuple[re.Match[bytes] | None, bytes]:
    """Return the times of an entry, and the text of its rows, starting after the line with the id.

    Times that cannot be read are None, and stay in the text of the rows.
    """
    head = _HEAD.match(entry, start)
    return head, entry[start:] if head is None else entry[head.end() :]


class RowReader:
    """Parses entries, and caches rows of operations that never happened."""

    def __init__(self) -> None:
        self._idle: dict[bytes, str] = {}
        self._words: dict[bytes, str] = {}
        self._last: list[str | None] = []
        self._order: tuple[str, ...] = ()

    def read(self, head: re.Match[bytes] | None, text: bytes) -> EntryContent:
        """Parse an entry, as split by `split_times`.

        Raises:
            EntryError: It is damaged.
        """
        if head is None:
            raise EntryError("its times cannot be read", text)
        lines = text.split(b"\n")
        if lines[-1] == b"job_stats:":  # 2.16 prints the header late if two read at once
            lines.pop()
        names: list[str | None] = list(map(self._idle.get, lines))
        rows: list[bytes] = []
        bad = b""
        for place, name in enumerate(names):
            if name is None:
                names[place], row, fits = self._row(lines[place])
                if row:
                    rows.append(row)
                if not fits:
                    bad = lines[place]
        if names != self._last:
            self._order = self._order_of(names, lines)
            self._last = names
        began = None if head[2] is None else int(head[2])
        return EntryContent(int(head[1]), began, self._order, PackedCounts(b"\n".join(rows)), bad)

    def _order_of(self, names: list[str | None], lines: list[bytes]) -> tuple[str, ...]:
        """Return the names of rows if each occurs once."""
        order: tuple[str, ...] = tuple(names)  # type: ignore[arg-type]
        for place, name in enumerate(order):
            if name in order[:place]:
                raise EntryError("a row is there twice", lines[place])
        return order

    def _row(self, line: bytes) -> tuple[str, bytes, bool]:
        """Return the name of a row, its packed counters, and whether its histogram is valid."""
        found = _ROW.fullmatch(line)
        if found is None:
            raise EntryError("a line cannot be read", line)
        label, said, unit, least, most, total, bins = found.groups()
        samples = int(said)
        if total is not None:
            _check(samples, int(least), int(total), int(most), line)
        elif samples > MOST_VALUE:
            raise EntryError(_TOO_LARGE, line, certain=True)
        name = self._words.get(label) or _remember(self._words, label, label.decode())
        if not samples:
            if bins and bins.strip(b" "):
                raise EntryError(_CONTRADICTION, line, certain=True)
            return _remember(self._idle, line, name), b"", True
        fits = bins is None or _fits(bins, samples, line)
        return name, pack_row(label, unit, said, total, bins if fits else None), fits


def _fits(bins: bytes, samples: int, line: bytes) -> bool:
    """Return whether a histogram has as many counts as there are samples.

    Raises:
        EntryError: It is damaged.
    """
    counted = count_sizes(bins)
    if counted < 0:
        raise EntryError("a histogram cannot be read", line)
    return counted == samples


def _check(samples: int, least: int, total: int, most: int, line: bytes) -> None:
    """Check that the numbers of a row are consistent.

    Raises:
        EntryError: They are not.
    """
    if not samples * least <= total <= samples * most or (not samples and least + most):
        raise EntryError(_CONTRADICTION, line, certain=True)
    if samples > MOST_VALUE or total > MOST_VALUE or most > MOST_VALUE:
        raise EntryError(_TOO_LARGE, line, certain=True)


def _remember(known: dict[_Key, _Value], key: _Key, value: _Value) -> _Value:
    if len(known) >= _MOST_REMEMBERED:
        known.clear()
    known[key] = value
    return value
