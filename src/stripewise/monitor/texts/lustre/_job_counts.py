# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of an entry, kept as a short text until somebody looks at them.

The first reading of a busy target gives all its entries at once. As objects they would take more
memory than the text itself, and the collector of garbage would look at each again and again.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping

from stripewise.monitor._records import OperationCount

_MOST_DIGITS = 20
_SIZES = {
    b"%d%b" % (1 << bit, letter): 1 << bit + shift
    for letter, shift in ((b"", 0), (b"K", 10), (b"M", 20), (b"G", 30))
    for bit in range(10)
}


class PackedCounts(Mapping[str, OperationCount]):
    """Counters by operation; unpacked anew at each look: `items` is the cheapest.

    Attributes:
        rows: "NAME;UNIT;SAMPLES;SUM;HISTOGRAM", a row a line; the histogram as Lustre prints it,
            and "-" where it is not told.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: bytes) -> None:
        """Take rows of `pack_row`, one on each line."""
        self.rows = rows

    def items(self) -> ItemsView[str, OperationCount]:
        """Return all of them."""
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


def pack_row(
    name: bytes, unit: bytes | None, samples: bytes, total: bytes | None, bins: bytes | None
) -> bytes:
    """Return a row's parts as one line; None: not told."""
    return b";".join((name, unit or b"", samples, total or b"0", b"-" if bins is None else bins))


def count_sizes(text: bytes) -> int:
    """Return the sum of a histogram, "4K: 3, 1M: 7", whose sizes ascend; -1: it is damaged."""
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
    """Return what was added to a histogram of a row; None: neither reading tells it.

    Raises:
        ValueError: One of them alone tells it, or a count is less than before.
    """
    if before == now:
        return None if now == b"-" else ()
    if b"-" in (before, now):
        raise ValueError
    last = dict([item.split(b": ") for item in before.strip(b" ").split(b", ") if item])
    found = []
    for item in now.strip(b" ").split(b", "):
        key, said = item.split(b": ")
        added = int(said) - int(last.pop(key, 0))
        if added < 0:
            raise ValueError
        if added:
            found.append((_SIZES[key], added))
    if last:
        raise ValueError
    return tuple(found)


def _unpack(row: bytes) -> tuple[str, OperationCount]:
    name, unit, samples, total, bins = row.split(b";")
    sizes = None if bins == b"-" else tuple(map(_bin, bins.strip(b" ").split(b", ")))
    return name.decode(), OperationCount(int(samples), unit.decode(), int(total), sizes)


def _bin(item: bytes) -> tuple[int, int]:
    key, _, said = item.partition(b": ")
    return _SIZES[key], int(said)
