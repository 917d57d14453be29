# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What emulated servers counted: the blocks of a mapping, as values that can be added.

The format is that of native/include/stripewise/emulate.h; a test compares the two.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stripewise.emulation._mapping import METADATA_BYTES, TARGET_BYTES

SIZES = 24
TIMES = 16
TARGET_OPERATIONS = ("punch", "sync", "prealloc")
METADATA_OPERATIONS = (
    "open",
    "close",
    "mknod",
    "link",
    "unlink",
    "mkdir",
    "rmdir",
    "rename",
    "getattr",
    "setattr",
    "getxattr",
    "setxattr",
    "statfs",
    "sync",
)
_WRAPS = (1 << 64) - 1
_TALLY_WORDS = 5
_SUMS = 8
_TRANSFER_WORDS = _SUMS + SIZES + TIMES
_SPAN_WORDS = 2


class Tally(NamedTuple):
    """Samples of one quantity, in the unit that its holder names.

    Attributes:
        samples: How many.
        total / least / most: Of the quantity.
        squares: Sum of the squares; wraps at 2^64 as Lustre's.
    """

    samples: int = 0
    total: int = 0
    squares: int = 0
    least: int = 0
    most: int = 0

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        """Return both together."""
        if not (self.samples and other.samples):
            return self if self.samples else other
        return Tally(
            self.samples + other.samples,
            self.total + other.total,
            (self.squares + other.squares) & _WRAPS,
            min(self.least, other.least),
            max(self.most, other.most),
        )


class Transfers(NamedTuple):
    """Reads or writes of a target.

    Attributes:
        size_bytes: Of each; time_us: how long the target had each. Both have the same samples.
        sizes: [i]: how many had more than 2^(i-1), at most 2^i bytes.
        times: The same in whole milliseconds; [0]: below 2.
    """

    size_bytes: Tally = Tally()
    time_us: Tally = Tally()
    sizes: tuple[int, ...] = (0,) * SIZES
    times: tuple[int, ...] = (0,) * TIMES

    @property
    def samples(self) -> int:
        """How many requests."""
        return self.size_bytes.samples

    def __add__(self, other: Transfers) -> Transfers:  # type: ignore[override]
        """Return both together."""
        return Transfers(
            self.size_bytes + other.size_bytes,
            self.time_us + other.time_us,
            _added(self.sizes, other.sizes),
            _added(self.times, other.times),
        )


class Span(NamedTuple):
    """When something was counted for the first and the last time, by CLOCK_MONOTONIC; 0: never."""

    first_ns: int = 0
    last_ns: int = 0

    def __add__(self, other: Span) -> Span:  # type: ignore[override]
        """Return what covers both."""
        begun = [one.first_ns for one in (self, other) if one.first_ns]
        return Span(min(begun, default=0), max(self.last_ns, other.last_ns))


class TargetTallies(NamedTuple):
    """Of a target, or of one job on it; operations by Lustre's names, in microseconds."""

    span: Span
    reads: Transfers
    writes: Transfers
    operations: Mapping[str, Tally]

    def __add__(self, other: TargetTallies) -> TargetTallies:  # type: ignore[override]
        """Return both together."""
        return TargetTallies(
            self.span + other.span,
            self.reads + other.reads,
            self.writes + other.writes,
            _together(self.operations, other.operations),
        )


class MetadataTallies(NamedTuple):
    """The same of the metadata target."""

    span: Span
    operations: Mapping[str, Tally]

    def __add__(self, other: MetadataTallies) -> MetadataTallies:  # type: ignore[override]
        """Return both together."""
        return MetadataTallies(
            self.span + other.span, _together(self.operations, other.operations)
        )


NO_TALLIES = TargetTallies(Span(), Transfers(), Transfers(), {})


def target_tallies(data: bytes) -> TargetTallies:
    """Read a target's part of a block, `TARGET_BYTES` bytes."""
    words = struct.unpack(f"<{TARGET_BYTES // 8}Q", data)
    begin = _SPAN_WORDS + 2 * _TRANSFER_WORDS
    return TargetTallies(
        Span(*words[:_SPAN_WORDS]),
        _transfers(words[_SPAN_WORDS : _SPAN_WORDS + _TRANSFER_WORDS]),
        _transfers(words[_SPAN_WORDS + _TRANSFER_WORDS : begin]),
        _operations(words[begin:], TARGET_OPERATIONS),
    )


def metadata_tallies(data: bytes) -> MetadataTallies:
    """Read the metadata target's part of a block, `METADATA_BYTES` bytes."""
    words = struct.unpack(f"<{METADATA_BYTES // 8}Q", data)
    return MetadataTallies(
        Span(*words[:_SPAN_WORDS]), _operations(words[_SPAN_WORDS:], METADATA_OPERATIONS)
    )


def _transfers(words: tuple[int, ...]) -> Transfers:
    sizes = words[_SUMS : _SUMS + SIZES]
    samples = sum(sizes)
    return Transfers(
        _tally(samples, *words[:4]),
        _tally(samples, *words[4:_SUMS]),
        sizes,
        words[_SUMS + SIZES :],
    )


def _operations(words: tuple[int, ...], names: Iterable[str]) -> dict[str, Tally]:
    return {
        name: _tally(*words[i * _TALLY_WORDS : (i + 1) * _TALLY_WORDS])
        for i, name in enumerate(names)
    }


def _tally(samples: int, total: int, squares: int, under: int, most: int) -> Tally:
    """`under`: 2^64 - 1 less the least one; 0: there is none."""
    return Tally(samples, total, squares, _WRAPS - under if under else 0, most)


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _together(one: Mapping[str, Tally], other: Mapping[str, Tally]) -> dict[str, Tally]:
    return {name: tally + other[name] for name, tally in one.items()}
